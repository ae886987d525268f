"""Plots: each draws into the axis it is given, and shows what the run says."""

import inspect
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

import temperance as tp
from records import THRESHOLD, jumping, learnt_modes, make_result, with_chains, with_draws

matplotlib.use("Agg")
from matplotlib import pyplot

from temperance.results.plots.canvas import MODE_COLOURS
from temperance.results.plots.levels import CUT, KEPT

ALL = [getattr(tp.plots, name) for name in tp.plots.__all__]
each_plot = pytest.mark.parametrize("plot", ALL, ids=lambda plot: plot.__name__)


@pytest.fixture
def result(rng):
    return make_result(rng, n_draws=300, n_tune=100, n_levels=4, dim=3)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture
def ax():
    return pyplot.subplots(layout="constrained")[1]


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


@each_plot
def test_draws_into_the_axis_given_and_returns_it(plot, result, ax):
    before = list(ax.figure.axes)
    assert plot(result, ax=ax) is ax
    assert before[0] is ax
    assert drawn(ax).has_data() or ax.child_axes


@each_plot
def test_makes_an_axis_when_none_is_given(plot, result):
    ax = plot(result)
    assert ax is not None
    drawn(ax)
    assert len(pyplot.get_fignums()) == 1


@each_plot
def test_all_but_the_result_are_keywords_with_defaults(plot):
    first, *others = inspect.signature(plot).parameters.values()
    assert first.name == "result"
    assert {one.kind for one in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(one.default is not inspect.Parameter.empty for one in others)


@each_plot
@pytest.mark.parametrize("size", [(4.0, 2.8), (12.0, 8.0)])
def test_titles_and_labels_lie_within_the_figure(plot, result, size):
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    plot(result, ax=ax)
    figure.canvas.draw()
    width, height = figure.bbox.size
    for axis in (ax, *ax.child_axes):
        for text in (axis.title, axis.xaxis.label, axis.yaxis.label):
            box = text.get_window_extent()
            if text.get_text() and axis.axison:
                assert min(box.x0, box.y0) > -2
                assert box.x1 < width + 2
                assert box.y1 < height + 2


@each_plot
def test_a_thumbnail_can_be_drawn(plot, result):
    """Where layout finds no room it warns, which is an error here."""
    figure, ax = pyplot.subplots(figsize=(2.6, 2.2), layout="constrained")
    plot(result, ax=ax)
    figure.canvas.draw()


def test_ladder_shows_the_temperatures(result, ax):
    tp.plots.ladder(result, ax=ax)
    for line, temperatures in zip(ax.lines, result.temperatures, strict=True):
        np.testing.assert_allclose(line.get_ydata(), temperatures)
    assert ax.get_yscale() == "log"


def test_scales_shows_the_papers_threshold(result, ax):
    tp.plots.scales(result, ax=ax)
    heights = [line.get_ydata()[0] for line in ax.lines[-2:]]
    assert heights == pytest.approx([2.38 / np.sqrt(3), THRESHOLD])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.exp(result.chains[0].log_scale))


def test_swap_acceptance_shows_the_rates(result, ax):
    chain = result.chains[1]
    tp.plots.swap_acceptance(result, chain=1, ax=ax)
    rates = tp.diagnostics.pair_acceptance(chain.sampling.log_density, chain.beta)
    np.testing.assert_allclose(ax.images[0].get_array(), rates)


def test_replica_paths_are_the_places(result, ax):
    tp.plots.replica_paths(result, ax=ax)
    places = tp.diagnostics.replica_places(result.chains[0].sampling.replica)
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), places[:, 2] + 1)


def test_barrier_names_the_sum_of_rejections(result, ax):
    tp.plots.barrier(result, ax=ax)
    assert f"Λ = {3 * 0.766:.2f}" in ax.lines[0].get_label()


def test_occupancy_takes_modes(result, ax):
    centres = np.array([[0.0, 0.0, 0.0], [50.0, 50.0, 50.0]])
    tp.plots.occupancy(result, modes=centres, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == [1.0, 0.0]


def test_occupancy_is_that_of_the_modes_learnt(result, rng, ax):
    """Two modes that touch, which no gap tells apart."""
    mode = rng.random(result.draws.shape[:2]) < 0.4
    centres = np.array([[0.0, 0.0, 0.0], [4.5, 0.0, 0.0]])
    touching = with_draws(result, result.draws + centres[mode.astype(int)])
    learnt = with_chains(touching, lambda k, chain: jumping(chain, learnt_modes(centres)))
    tp.plots.occupancy(learnt, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(
        [1.0 - mode.mean(), mode.mean()], abs=0.05
    )


@each_plot
@pytest.mark.parametrize(("rest_every", "first"), [(30, 0), (1_000, 1)])
def test_hot_levels_that_rest_do_not_break_a_plot(plot, result, rest_every, first):
    """Nor does a run that ended before they had moved at all."""
    modes = learnt_modes(np.zeros((1, 3)), rest_every=rest_every)

    def resting(k, chain):
        trace = jumping(chain, modes).sampling
        return replace(chain, sampling=type(trace)._make(column[first:] for column in trace), modes=modes)

    drawn(plot(with_chains(result, resting)))


def test_the_parameter_shown_is_the_worst_unless_named(result, ax):
    slow = result.draws.copy()
    slow[:, :, 1] = np.repeat(slow[:, ::20, 1], 20, axis=1)
    bad = with_draws(result, slow).named(["a", "b", "c"])
    assert tp.plots.trace(bad, ax=ax).get_ylabel() == "b"
    ax.clear()
    assert tp.plots.trace(bad, parameter="c", ax=ax).get_ylabel() == "c"
    with pytest.raises(tp.InvalidInputError, match="got 'd'"):
        tp.plots.ranks(bad, parameter="d", ax=ax)


def test_ranks_are_level_when_chains_agree_and_not_when_they_differ(result, ax):
    counts = tp.results.plots.draws.rank_counts
    even = counts(result.draws[:, :, 0])
    shifted = counts(result.draws[:, :, 0] + np.arange(4)[:, None])
    expected = even.sum() / even.size
    assert np.abs(even / expected - 1.0).max() < 1.5
    assert shifted[0, -1] < 0.2 * expected < 3.0 * expected < shifted[3, -1]
    assert even.sum() == shifted.sum() == result.draws[:, :, 0].size


def test_draws_by_level_has_a_panel_for_each(result, ax):
    tp.plots.draws_by_level(result, pair=("x[2]", 0), ax=ax)
    assert len(ax.child_axes) == 4
    points = ax.child_axes[3].lines[0].get_xydata()
    np.testing.assert_array_equal(points, result.level_draws[0, :, 3][:, [2, 0]])


@pytest.mark.parametrize(
    ("rule", "scales", "last_beta", "n_kept"),
    [
        ("first", [1.2, 0.5, 1.2, 1.2], 0.1, 1),
        ("all_hotter", [1.2, 0.5, 1.2, 1.2], 0.1, 3),
        ("all_hotter", [0.5, 1.2, 1.2, 0.5], 0.0, 2),
        ("all_hotter", [1.2, 0.5, 0.9, 1.2], 0.0, 4),
    ],
)
def test_grey_panels_are_those_that_trimming_would_drop(result, ax, rule, scales, last_beta, n_kept):
    """A cold level in one of its modes passes, and ends the ladder by the paper's rule alone.

    What a level pinned at the prior looks like does not matter.
    """
    log_scale = np.log(result.setup.unimodal_scale * np.array(scales))
    betas = np.append(result.chains[0].beta[:-1], last_beta)
    changed = with_chains(result, lambda k, chain: replace(chain, log_scale=log_scale, beta=betas))
    setup = replace(result.setup, settings={**result.setup.settings, "trimming": {"rule": rule}})
    tp.plots.draws_by_level(replace(changed, setup=setup), ax=ax)
    colours = [panel.lines[0].get_color() for panel in ax.child_axes]
    assert colours == [KEPT] * n_kept + [CUT] * (4 - n_kept)


def test_draws_by_level_needs_kept_levels(rng):
    with pytest.raises(tp.InvalidInputError, match="sample with keep="):
        tp.plots.draws_by_level(make_result(rng, n_draws=9, n_tune=5, keep_levels=False))


@pytest.mark.parametrize(
    "plot",
    [tp.plots.ladder_history, tp.plots.swap_acceptance, tp.plots.replica_paths, tp.plots.draws_by_level],
)
def test_a_chain_that_is_not_there_is_refused(plot, result):
    with pytest.raises(tp.InvalidInputError, match="chain must lie in 0 to 3, got 4"):
        plot(result, chain=4)


def test_without_matplotlib_the_error_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tp.TemperanceError, match=r"plots need matplotlib: python -m pip install matplotlib$"):
        tp.plots.ladder(result)


def test_the_users_screen_is_left_alone(result, monkeypatch):
    """Plots for people must not switch matplotlib to files."""
    used = []
    monkeypatch.setattr(matplotlib, "use", used.append)
    tp.plots.ladder(result)
    assert used == []


# ---- the answer: parameters by mode, weights of modes, all at once


@pytest.fixture
def two_modes(rng):
    """Two modes, of weights 0.7 and 0.3, which lie apart along the second of six coordinates."""
    plain = make_result(rng, n_draws=400, n_tune=50, dim=6)
    shift = np.zeros(plain.draws.shape)
    shift[:, :, 1] = 12.0 * (np.arange(400) % 10 < 3)
    learnt = learnt_modes([[0.0] * 6, [0.0, 12.0, *[0.0] * 4]])
    return with_chains(with_draws(plain, plain.draws + shift), lambda k, chain: jumping(chain, learnt))


@pytest.fixture(scope="module")
def derived():
    """Quantities of all bad kinds beside one that is fine, and an angle around its own cut."""

    def quantities(p):
        root = np.sqrt(p["a"]) if p["a"] > 0.0 else np.nan
        return {
            "one": 0.1 + 0.2,
            "root": root,
            "never": np.inf,
            "huge": 1e200 * p["a"],
            "square": p["a"] ** 2,
        }

    model = tp.Model(
        lambda p: -5.0 * (abs(p["a"]) - 3.0) ** 2 - 2.0 * (1.0 - np.cos(p["phi"])),
        parameters={"a": tp.priors.normal(0.0, 5.0), "phi": tp.priors.angle()},
        derived=quantities,
    )
    return tp.sample(model, draws=200, tune=300, seed=1, cores=1, progress=False)


def areas_of(panel):
    """The area of each mode's part of a stacked histogram, in the order of the modes."""
    corners = [patch.get_xy() for patch in panel.patches]
    areas = [0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) for x, y in (one.T for one in corners)]
    shades = [matplotlib.colors.to_hex(patch.get_facecolor()) for patch in panel.patches]
    return [area for _, area in sorted(zip(map(MODE_COLOURS.index, shades), areas, strict=True))]


def words_of(ax):
    return [text.get_text() for text in ax.texts]


def test_corner_has_marginals_on_and_pairs_below_the_diagonal(result, ax):
    tp.plots.corner(result.named(["a", "b", "c"]), ax=ax)
    assert len(ax.child_axes) == 6
    bottom = ax.child_axes[-3:]
    assert [panel.get_xlabel() for panel in bottom] == ["a", "b", "c"]
    assert [panel.get_ylabel() for panel in ax.child_axes if panel.get_ylabel()] == ["b", "c"]
    x, y = ax.child_axes[1].collections[0].get_offsets().T
    assert set(x) == set(result.draws[:, :, 0].ravel())
    assert set(y) == set(result.draws[:, :, 1].ravel())


def test_corner_colours_are_the_modes_and_areas_their_weights(two_modes, ax):
    """Colours by chain, or marginals without weights, would not do."""
    tp.plots.corner(two_modes, parameters=[1], ax=ax)
    (panel,) = ax.child_axes
    areas = np.array(areas_of(panel))
    assert areas / areas.sum() == pytest.approx([0.7, 0.3], abs=0.01)
    assert ax.get_legend().get_texts()[0].get_text().startswith("1: 0.70 ± 0.0")


@pytest.mark.parametrize(
    ("weight", "error", "text"),
    [
        (0.565, 0.06, "0.56 ± 0.06"),
        (0.1, 0.0008, "0.1000 ± 0.0008"),
        (0.00018, 8e-5, "0.00018 ± 0.00008"),
        (0.5, np.nan, "0.500"),
        (1.0, 0.0, "1.000"),
        (0.5, 3e-9, "0.500000 ± 0.000000"),
    ],
)
def test_weights_are_written_to_the_first_digit_of_their_error(weight, error, text):
    assert sys.modules["temperance.results.plots.corner"].weight_text(weight, error) == text


def test_corner_chooses_what_tells_modes_apart(two_modes, ax):
    tp.plots.corner(two_modes, ax=ax)
    assert ax.get_title(loc="left") == "5 of 6 shown, those that tell modes apart best"
    assert "x[1]" in [panel.get_xlabel() for panel in ax.child_axes]


def test_corner_of_one_mode_chooses_the_fewest_effective_draws(rng, ax):
    plain = make_result(rng, n_draws=400, n_tune=50, dim=7)
    slow = plain.draws.copy()
    slow[:, :, 4] = np.repeat(slow[:, ::20, 4], 20, axis=1)
    tp.plots.corner(with_draws(plain, slow), ax=ax)
    assert ax.get_title(loc="left") == "5 of 7 shown, those with the fewest effective draws"
    assert "x[4]" in [panel.get_xlabel() for panel in ax.child_axes]
    assert ax.get_legend() is None


def test_corner_takes_names_of_arrays_and_of_what_is_derived(two_modes, derived, ax):
    grouped = two_modes.named({"place": (2,), "size": (4,)})
    tp.plots.corner(grouped, parameters=["place", "size[3]"], ax=ax)
    assert [one.get_xlabel() for one in ax.child_axes[-3:]] == ["place[0]", "place[1]", "size[3]"]
    ax.clear()
    tp.plots.corner(derived, parameters="square", ax=ax)
    assert [panel.get_xlabel() for panel in ax.child_axes] == ["square"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (["d"], r"parameter must be one of x\[0\], .*; got 'd'"),
        ([9], "parameter must lie in 0 to 5, got 9"),
        ([], "parameters must be 1 to 12, got 0"),
        (3.5, "parameters must be a list of names or numbers, got 3.5"),
    ],
)
def test_corner_refuses_what_is_not_there(two_modes, parameters, message):
    with pytest.raises(tp.TemperanceError, match=message):
        tp.plots.corner(two_modes, parameters=parameters)


def test_corner_says_why_a_quantity_is_not_drawn(derived, ax):
    tp.plots.corner(derived, parameters=["a", "one", "root", "never", "huge"], ax=ax)
    said = [word for panel in ax.child_axes for word in words_of(panel) if word]
    assert said == ["constant\n0.3", "not finite", "too large\nto draw"]
    partly = ax.child_axes[5].get_title()
    assert partly.endswith("% not finite")
    assert 30.0 < float(partly.split()[0]) < 70.0
    drawn(ax)


def test_corner_by_itself_leaves_such_quantities_out_if_it_can(derived, ax):
    tp.plots.corner(derived, ax=ax)
    bottom = [panel.get_xlabel() for panel in ax.child_axes if panel.get_xlabel()]
    assert {"a", "phi", "root", "square"} < set(bottom)


def test_corner_shows_an_angle_without_its_cut(derived):
    """Around zero, which a turn from 0 to 2 pi cuts in two."""
    shown = tp.results.plots.sample.shown_sample(derived, "phi")
    middle = np.average(shown.values[:, 0], weights=shown.weights)
    assert abs(np.sin(middle)) < 0.3
    assert np.abs(shown.values[:, 0] - middle).max() < 3.5
    assert shown.values.std() < 1.0 < np.pi / 2 < derived["phi"].std()


def test_dots_are_as_many_as_their_weights_ask_for(rng):
    weights = np.array([0.5, 0.0, 0.3, 0.2])
    chosen = tp.results.plots.sample.evenly(weights, 1_000)
    assert np.bincount(chosen, minlength=4).tolist() == [500, 0, 300, 200]


def test_the_weighted_sample_is_what_is_drawn(derived):
    shown = tp.results.plots.sample.shown_sample(derived)
    assert derived.weighted.by == "weighted"
    assert len(shown.mode) == len(shown.values) == len(derived.weighted)
    for mode, weight in enumerate(derived.modes.weight):
        assert shown.weights[shown.mode == mode].sum() == pytest.approx(weight, abs=0.02)


def test_frames_hold_rare_modes_and_leave_out_what_has_no_weight(two_modes, ax, monkeypatch):
    """Proposals of hardly any weight far away must not shrink the picture; a mode of 0.2 % is in it."""
    sample = tp.results.plots.sample.shown_sample(two_modes, [1])
    n = len(sample.weights)
    values, weights = sample.values.copy(), np.full(n, 1.0 / n)
    values[:], values[:4], values[-100:] = np.linspace(-1.0, 1.0, n)[:, None], 30.0, 1e4
    weights[:4], weights[-100:] = 5e-4, 1e-12
    changed = sample._replace(values=values, weights=weights)
    monkeypatch.setattr(sys.modules["temperance.results.plots.corner"], "shown_sample", lambda *_: changed)
    tp.plots.corner(two_modes, ax=ax)
    low, high = ax.child_axes[0].get_xlim()
    assert -10.0 < low < -1.0 < 30.0 < high < 50.0


def test_mode_weights_are_those_of_the_modes(two_modes, ax):
    tp.plots.mode_weights(two_modes, ax=ax)
    modes = two_modes.modes
    assert [one.lines[0].get_ydata()[0] for one in ax.containers[:2]] == pytest.approx(modes.weight.tolist())
    for one, error in zip(ax.containers[:2], modes.weight_error, strict=True):
        (low, high) = one.lines[2][0].get_segments()[0][:, 1]
        assert high - low == pytest.approx(4.0 * error)


def test_hundreds_of_modes_can_be_looked_at(rng):
    """The heaviest have colours, the rest is said to be there."""
    centres = rng.uniform(-300.0, 300.0, (120, 2))
    plain = make_result(rng, n_draws=1_000, n_tune=50)
    which = rng.integers(0, 120, plain.draws.shape[:2])
    many = with_chains(
        with_draws(plain, plain.draws + centres[which]), lambda k, c: jumping(c, learnt_modes(centres))
    )
    figure = many.plot()
    figure.canvas.draw()
    legend = figure.axes[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert len(names) == 20
    assert names[-1].startswith(f"{len(many.modes) - 19} more: ")


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("size", [(3.0, 2.5), (5.0, 4.0), (8.0, 7.0)])
def test_names_of_modes_do_not_cover_a_panel(rng, size, dim):
    """As many as there is room for, however small the figure is; without that they lie on the histograms."""
    centres = 20.0 * np.arange(12)[:, None] * np.ones(dim)
    plain = make_result(rng, n_draws=240, n_tune=20, dim=dim)
    spread = with_draws(plain, plain.draws + centres[np.arange(240) % 12])
    many = with_chains(spread, lambda k, chain: jumping(chain, learnt_modes(centres)))
    figure, ax = pyplot.subplots(figsize=size)
    tp.plots.corner(many, ax=ax)
    figure.canvas.draw()
    legend = ax.get_legend()
    if legend is None:
        assert max(size) < 4.0
        return
    box, shown = legend.get_window_extent(), [text.get_text() for text in legend.get_texts()]
    assert not any(box.overlaps(panel.get_window_extent()) for panel in ax.child_axes)
    assert len(shown) == 12 or shown[-1] == f"and {13 - len(shown)} more"


def test_plot_has_the_answer_and_the_verdict(two_modes):
    figure = two_modes.plot(parameters=[1, 2])
    figure.canvas.draw()
    assert two_modes.verdict.split()[0] in figure.get_suptitle()
    assert [ax.get_title(loc="left") for ax in figure.axes[1:]] == ["weights of modes", "ladder", "flow"]
    assert len(figure.axes[0].child_axes) == 3
    assert pyplot.get_fignums() == [figure.number]


def test_plot_is_shown_once_in_a_notebook(two_modes, monkeypatch):
    """Its backend shows what is open, and the notebook what is returned."""
    monkeypatch.setattr(matplotlib, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert two_modes.plot(parameters=[1]).axes
    assert pyplot.get_fignums() == []
