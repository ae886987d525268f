"""Results for ArviZ: the layout, with whichever version is installed, and back from netCDF."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from environments import Environment, find_python
from records import jumping, learnt_modes, make_result, with_chains, with_sampling
from temperance.runs.allocate import cut

xarray = pytest.importorskip("xarray")
NAMES = {"mu": (2,), "sigma": ()}


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 0.23 announces 1.0 when imported
        return pytest.importorskip("arviz")


@pytest.fixture
def result(rng):
    made = make_result(rng, n_draws=60, n_tune=30, n_chains=3, dim=3)
    return made.named(NAMES, dims={"mu": ["place"]}, coords={"place": ["north", "south"]})


@pytest.fixture
def trimmed(result):
    """The last chain has dropped its last level, halfway through the draws."""

    def drop(k, chain):
        if k < 2:
            return chain
        columns = {
            name: getattr(chain.sampling, name).copy()
            for name in ("log_density", "walk_accept_prob", "adjacent_swap_accept", "level_draws", "n_levels")
        }
        for name in ("log_density", "walk_accept_prob", "level_draws"):
            columns[name][30:, 3] = np.nan
        columns["adjacent_swap_accept"][30:, 2:] = np.nan
        columns["n_levels"][30:] = 3
        return with_sampling(chain, **columns)

    return with_chains(result, drop)


def test_groups_and_dimensions(result):
    tree = result.to_datatree(warmup=True, levels=True)
    groups = {"posterior", "sample_stats", "tempered_posterior", "warmup_posterior", "warmup_sample_stats"}
    assert set(tree.children) == groups
    assert dict(tree["posterior"].sizes) == {"chain": 3, "draw": 60, "place": 2}
    assert dict(tree["sample_stats"].sizes) == {"chain": 3, "draw": 60, "level": 4, "edge": 3}
    assert dict(tree["warmup_posterior"].sizes) == {"chain": 3, "draw": 30, "place": 2}
    assert dict(tree["tempered_posterior"].sizes) == {"chain": 3, "draw": 60, "level": 4, "place": 2}
    for group in tree.children.values():
        assert set(group.coords) == set(group.dims), "every dimension has a coordinate"
        assert not set(group.data_vars) & set(group.dims), "no variable is named as a dimension"


def test_by_default_there_is_the_posterior_and_its_statistics(result):
    assert set(result.to_datatree().children) == {"posterior", "sample_stats"}


def test_values_are_those_of_the_result(result):
    tree = result.to_datatree(levels=True)
    np.testing.assert_array_equal(tree["posterior"]["mu"], result.draws[:, :, :2])
    np.testing.assert_array_equal(tree["posterior"]["sigma"], result.draws[:, :, 2])
    np.testing.assert_array_equal(tree["posterior"]["mu"].sel(place="south"), result.draws[:, :, 1])
    np.testing.assert_array_equal(tree["sample_stats"]["lp"], result.log_density)
    np.testing.assert_array_equal(tree["tempered_posterior"]["mu"], result.level_draws[..., :2])
    stats = tree["sample_stats"]
    for k, chain in enumerate(result.chains):
        np.testing.assert_array_equal(stats["beta"][k], np.tile(chain.beta, (60, 1)))
        np.testing.assert_array_equal(stats["log_scale"][k], np.tile(chain.log_scale, (60, 1)))
        np.testing.assert_array_equal(stats["replica"][k], chain.sampling.replica)
        np.testing.assert_array_equal(
            stats["swap_accept_prob"][k], chain.sampling.adjacent_swap_accept[:, :-1]
        )
        np.testing.assert_array_equal(stats["acceptance_rate"][k], chain.sampling.base_accept_prob)


def test_the_mode_of_each_draw_and_the_weights_of_modes(arviz, seed, tmp_path):
    """As the result has them, also from a file."""
    modes = tp.zoo.two_modes(2, separation=5.0)
    options = {"draws": 300, "tune": 1_000, "chains": 2, "levels": 3, "progress": False}
    made = tp.sample(modes, seed=seed, **options)
    data = made.to_arviz()
    data.to_netcdf(str(tmp_path / "run.nc"))
    for shown in (data, arviz.from_netcdf(str(tmp_path / "run.nc"))):
        label = np.asarray(shown.sample_stats["mode"])
        np.testing.assert_array_equal(label, made.modes.label)
        np.testing.assert_allclose(np.atleast_1d(shown.posterior.attrs["mode_weight"]), made.modes.weight)
        assert shown.posterior.attrs["verdict"] == made.verdict
        assert (
            "counted from 0: what tables and plots call mode 1 is 0" in shown.sample_stats["mode"].description
        )
    heaviest = np.asarray(data.posterior["x"])[np.asarray(data.sample_stats["mode"]) == 0]
    np.testing.assert_allclose(heaviest.mean(axis=0), made.modes.centre[0])
    assert len(made.modes) == 2


def test_jumps_and_evaluations_are_there_and_the_acceptance_is_of_what_was_proposed(result):
    modes = learnt_modes(np.zeros((2, 3)), rest_every=5)
    tree = with_chains(result, lambda k, chain: jumping(chain, modes, accepted=0.75)).to_datatree()
    stats = tree["sample_stats"]
    jumped = np.arange(60) % 100 < 90
    for k in range(3):
        np.testing.assert_array_equal(stats["jumped"][k], jumped)
        np.testing.assert_array_equal(np.isnan(stats["jump_accept_prob"][k]), ~jumped)
        np.testing.assert_allclose(stats["acceptance_rate"][k], np.where(jumped, 0.75, 0.234), rtol=1e-6)
        np.testing.assert_array_equal(stats["evaluations"][k], np.where(np.arange(60) % 5, 1, 4))
    assert stats["jumped"].dtype == bool


def test_the_acceptance_of_real_draws_is_that_of_the_step_the_coordinate_or_the_jump(seed):
    """Every draw has one: where the base jumped, where it walked, and where it moved one coordinate."""
    modes = tp.zoo.two_modes(2, separation=5.0)
    options = {"draws": 400, "tune": 1_000, "chains": 1, "levels": 3, "progress": False}
    real = tp.sample(modes, initial=modes.modes[0], seed=seed, **options)
    stats, trace = real.to_datatree(warmup=True)["sample_stats"], real.chains[0].sampling
    rates = stats["acceptance_rate"].values[0]
    jumped, walked = trace.jump >= 0, ~np.isnan(trace.walk_accept_prob[:, 0])
    assert jumped.any()
    assert walked.any()
    assert not np.all(jumped | walked), "some steps were along one coordinate"
    assert np.all((rates >= 0.0) & (rates <= 1.0)), "NaN is neither"
    of_jumps = stats["jump_accept_prob"].values[0]
    np.testing.assert_array_equal(of_jumps, np.where(jumped, rates, np.nan))
    np.testing.assert_array_equal(rates[walked], trace.walk_accept_prob[walked, 0])
    moved = np.any(np.diff(real.draws[0], axis=0) != 0.0, axis=1)
    alone = (trace.evaluations == 1)[1:]  # no swap: what was accepted is what moved
    assert not np.any(moved[alone] & (rates[1:][alone] == 0.0))


def test_warm_up_has_the_history_of_the_ladder(result):
    tree = result.to_datatree(warmup=True)
    for k, chain in enumerate(result.chains):
        np.testing.assert_array_equal(tree["warmup_sample_stats"]["beta"][k], chain.tuning.beta)
        np.testing.assert_array_equal(tree["warmup_posterior"]["sigma"][k], chain.tuning.draws[:, 2])


def test_dropped_levels_are_nan(trimmed):
    tree = trimmed.to_datatree(levels=True)
    gone = np.isnan(tree["sample_stats"]["log_density"].values)
    assert gone[2, 30:, 3].all()
    assert gone.sum() == 30
    assert np.isnan(tree["tempered_posterior"]["mu"].values[2, 30:, 3]).all()
    assert not np.isnan(tree["posterior"]["mu"]).any()
    np.testing.assert_array_equal(tree["sample_stats"]["n_levels"].values[2, [0, 59]], [4, 3])


def test_a_real_run_that_drops_levels(seed):
    settings = tp.Settings(trimming=tp.Trimming(after=100, every=50, min_levels=2, leniency=0.9))
    options = {
        "draws": 50,
        "tune": 300,
        "chains": 2,
        "levels": 5,
        "progress": False,
        "keep": ("draws", "statistics", "levels"),
    }
    real = tp.sample(
        lambda x: -0.5 * float(x @ x), initial=np.zeros(2), seed=seed, settings=settings, **options
    )
    assert max(real.n_levels) < 5, "or this test says nothing"
    beta = real.to_datatree(levels=True)["sample_stats"]["beta"]
    for k, n_levels in enumerate(real.n_levels):
        assert np.isnan(beta[k, :, n_levels:]).all()
        np.testing.assert_array_equal(beta[k, -1, :n_levels], real.chains[k].beta)


def test_chains_that_were_kept_keep_their_numbers(result):
    cut_short = with_chains(
        result, lambda k, chain: replace(chain, sampling=cut(chain.sampling, 0 if k == 0 else 60))
    )
    tree = replace(cut_short, complete=False).to_datatree(warmup=True)
    assert tree["posterior"]["chain"].values.tolist() == [1, 2]


def test_hot_levels_must_have_been_kept(rng):
    made = make_result(rng, n_draws=5, n_tune=5, keep_levels=False)
    with pytest.raises(tp.InvalidInputError, match="sample with keep="):
        made.to_datatree(levels=True)


def test_one_level_has_no_edges(rng):
    tree = make_result(rng, n_draws=9, n_tune=5, n_levels=1).to_datatree()
    assert "edge" not in tree["sample_stats"].dims


def test_what_is_missing_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(tp.TemperanceError, match=r"xarray: python -m pip install xarray$"):
        result.to_datatree()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(tp.TemperanceError, match=r"arviz: python -m pip install arviz$"):
        result.to_arviz()


# ---- ArviZ itself, 0.23 or 1.x


@pytest.fixture
def data(arviz, result):
    return result.to_arviz(warmup=True, levels=True)


def test_the_type_is_what_this_arviz_works_with(arviz, data):
    new = int(arviz.__version__.split(".")[0]) >= 1
    assert isinstance(data, xarray.DataTree) == new


def test_summary_over_chains_is_ours(arviz, data, result):
    """R-hat and ESS of the base level, over chains; a temperature taken for a chain would change them."""
    table = arviz.summary(data, round_to="none")
    assert list(table.index) == ["mu[north]", "mu[south]", "sigma"]
    ours = result.estimates
    np.testing.assert_allclose(table["mean"].astype(float), ours["mean"], rtol=1e-12)
    np.testing.assert_allclose(table["ess_bulk"].astype(float), ours["ess_bulk"], rtol=1e-10)
    np.testing.assert_allclose(table["r_hat"].astype(float), ours["r_hat"], rtol=1e-10)


def test_a_round_trip_through_netcdf_loses_nothing(arviz, trimmed, tmp_path):
    data = trimmed.to_arviz(warmup=True, levels=True)
    data.to_netcdf(tmp_path / "run.nc")
    back = arviz.from_netcdf(tmp_path / "run.nc")
    original = trimmed.to_datatree(warmup=True, levels=True)
    for group, expected in original.children.items():
        found = back[group] if not hasattr(back[group], "to_dataset") else back[group].to_dataset()
        xarray.testing.assert_equal(found, expected.to_dataset())
        assert found.attrs["inference_library"] == "temperance"


def test_trace_plots_are_drawn(arviz, data):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert arviz.plot_trace(data) is not None
    pyplot.close("all")


def test_ess_works_level_by_level(arviz, data, result):
    tempered = data["tempered_posterior"]
    sizes = arviz.ess(tempered["sigma"])
    sizes = sizes["sigma"] if hasattr(sizes, "data_vars") else sizes
    assert sizes.shape == (4,)


# ---- the other ArviZ, in an environment of its own


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["arviz<1", "arviz>=1"])
def test_both_versions_of_arviz(wanted, tmp_path):
    """This file's own tests, with each version."""
    python = sys.executable if wanted == "arviz<1" else find_python(range(12, 20))
    if python is None:
        pytest.skip("ArviZ 1 needs Python 3.12, and there is none")
    packages = [wanted, "matplotlib", "h5netcdf", "h5py", "hypothesis", "pytest", "scipy"]
    Environment(tmp_path / "env", python, packages).test(Path(__file__).name)
