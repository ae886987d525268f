"""Runs with hardly anything in them: every way to look at a result gives something, or says why not."""

import warnings
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

import temperance as tp
from records import make_result, with_chains, with_draws
from temperance.results.report import page
from temperance.runs.allocate import cut

matplotlib.use("Agg")
from matplotlib import pyplot

SHORT = {"n_draws": 30, "n_tune": 20}


def no_draws(rng):
    return with_chains(
        make_result(rng, **SHORT), lambda k, chain: replace(chain, sampling=cut(chain.sampling, 0))
    )


def nothing_at_all(rng):
    """Stopped before the first iteration."""
    empty = no_draws(rng)
    return with_chains(
        replace(empty, complete=False), lambda k, chain: replace(chain, tuning=cut(chain.tuning, 0))
    )


def one_draw(rng):
    return make_result(rng, n_draws=1, n_tune=20)


def one_chain(rng):
    return make_result(rng, n_chains=1, **SHORT)


def one_level(rng):
    return make_result(rng, n_levels=1, **SHORT)


def no_tuning(rng):
    return make_result(rng, n_draws=30, n_tune=0)


def interrupted(rng):
    """Chains of different lengths, one of them without a draw."""
    made = make_result(rng, **SHORT)
    lengths = (0, 30, 12, 20)
    return with_chains(
        replace(made, complete=False),
        lambda k, chain: replace(chain, sampling=cut(chain.sampling, lengths[k]), complete=False),
    )


def constant(rng):
    """One coordinate that never moves."""
    made = make_result(rng, **SHORT)
    draws = made.draws.copy()
    draws[:, :, 0] = 3.0
    return with_draws(made, draws)


def all_constant(rng):
    made = make_result(rng, **SHORT)
    return with_draws(made, np.full_like(made.draws, 3.0))


def one_dimension(rng):
    return make_result(rng, dim=1, **SHORT)


def many_parameters(rng):
    return make_result(rng, dim=200, **SHORT)


def pinned(rng):
    """A last level at β = 0."""
    return with_chains(
        make_result(rng, **SHORT), lambda k, chain: replace(chain, beta=np.array([1.0, 0.3, 0.1, 0.0]))
    )


def many_levels(rng):
    return make_result(rng, n_levels=20, **SHORT)


def many_chains(rng):
    return make_result(rng, n_chains=20, **SHORT)


RUNS = [
    no_draws, nothing_at_all, one_draw, one_chain, one_level, no_tuning, interrupted, constant, all_constant,
    one_dimension, many_parameters, pinned, many_levels, many_chains,
]  # fmt: skip


def saved_and_loaded(result, folder):
    assert str(tp.load(result.save(folder / "run"))) == str(result)


def in_netcdf(result, folder):
    xarray = pytest.importorskip("xarray")
    tree = result.to_datatree(warmup=True, levels=True)
    tree.to_netcdf(folder / "run.nc", engine="h5netcdf")
    with xarray.open_datatree(folder / "run.nc", engine="h5netcdf") as back:
        assert back["posterior"].sizes["draw"] == result.draws.shape[1]


def crowded(result):
    """More panels, labels or lines than usual, which might leave no room for one another."""
    return max(result.dim, len(result.chains), *result.n_levels, 4) > 4


def drawn(name):
    def draw(result, folder):
        figure = getattr(tp.plots, name)(result).figure
        figure.set_dpi(40)
        if not crowded(result):
            figure.set_layout_engine("none")  # it takes longer than the drawing
        figure.canvas.draw()  # as for a file, which would be drawn twice
        pyplot.close("all")

    draw.__name__ = f"plots.{name}"
    return draw


def occupied(result, folder):
    if result.draws.size:
        np.testing.assert_allclose(result.occupancy().sum(axis=1), 1.0)
    else:
        with pytest.raises(tp.InvalidInputError, match="at least one draw"):
            result.occupancy()


def summarised(result, folder):
    text = str(result.summary())
    assert "Parameters" in text
    assert len(result.summary().parameters) == result.dim
    assert result.verdict in repr(result)
    assert result.summary()._repr_html_().count("<table>") >= 2


def reported(result, folder):
    """The figures have tests of their own above, which take long enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "inline_svg", lambda figure, shown: f"<svg>{figure.name}</svg>")
        text = result.report(folder / "run.html").read_text(encoding="utf-8")
    assert result.verdict in text
    assert "<svg>ladder</svg>" in text


LOOKS = [
    lambda result, folder: str(result),
    lambda result, folder: result._repr_html_(),
    lambda result, folder: [str(warning) for warning in result.warnings],
    summarised, occupied, saved_and_loaded, in_netcdf, reported,
    *(drawn(name) for name in tp.plots.__all__),
]  # fmt: skip
NAMES = ["print", "notebook", "warnings", *(look.__name__ for look in LOOKS[3:])]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
@pytest.mark.parametrize("look", LOOKS, ids=NAMES)
def test_every_look_at_every_run(look, run, rng, tmp_path):
    """No traceback, no warning of NumPy or matplotlib (all are errors here), and no NaN that people read."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="h5netcdf")
        shown = look(run(rng), tmp_path)
    if isinstance(shown, str):
        assert "nan" not in shown.lower()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_printed_it_is_short(run, rng):
    """A screen or two, however many parameters or levels there are."""
    text = str(run(rng))
    assert len(text.splitlines()) < 80
    assert max(len(line) for line in text.splitlines()) <= 120


def test_the_faults_of_such_runs_are_named(rng):
    found = {run.__name__: {warning.name for warning in run(rng).warnings} for run in RUNS}
    assert "no draws" in found["no_draws"] & found["nothing_at_all"]
    assert "one chain" in found["one_chain"]
    assert "never moved" in found["constant"] & found["all_constant"]
    assert "incomplete run" in found["interrupted"]
    assert "still adapting" in found["no_tuning"]
