"""The frozen kernel leaves the product of all levels exactly invariant."""

import numpy as np
import pytest

from harness import give_mixtures
from invariance import Case, frozen_run, learnt_run, p_values
from judge import judge_sequentially
from strategies import STRATEGIES, SWEEPS, SYMMETRIC
from temperance.modes.humps import humps_of
from temperance.modes.maps import distinct, make_maps, places_of
from temperance.modes.student import from_parts, most_likely

N_FIRST = 6_000  # what the broken kernels need at most

CASES = [(name, *case) for name in [*STRATEGIES, *SWEEPS] for case in [("long", "power"), ("short", "prior")]]
# Where the ratio of weights matters, a ladder on which leaving it out shows most.
CASES += [(name, "short", "spread") for name in STRATEGIES if name not in SYMMETRIC]


def assert_invariant(run, rng) -> None:
    verdict = judge_sequentially(lambda n, rng: p_values(run, n, rng), rng, n_first=N_FIRST)
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize(("name", "walks", "mode"), CASES)
def test_frozen_kernel_is_exactly_invariant(name, walks, mode, rng) -> None:
    assert_invariant(frozen_run(Case(mode=mode, strategy=(STRATEGIES | SWEEPS)[name], walks=walks)), rng)


@pytest.mark.parametrize("rest_every", [1, 2])
@pytest.mark.parametrize("mode", ["power", "prior"])
@pytest.mark.parametrize("jumps", ["jumps", "refresh", "both"])
@pytest.mark.parametrize("walk", ["covariance", "robust"])
def test_jumps_are_exactly_invariant(walk, jumps, mode, rest_every, rng) -> None:
    """Every combination of walk, jumps of the base, fresh proposals at the hottest level, and rest."""
    case = Case(mode=mode, strategy=SWEEPS["even_odd"], walk=walk, jumps=jumps, rest_every=rest_every)
    assert_invariant(frozen_run(case), rng)


@pytest.mark.parametrize("jumps", ["none", "both"])
@pytest.mark.parametrize("rest_every", [1, 2])
@pytest.mark.parametrize("coordinate_every", [0, 1, 2])
@pytest.mark.parametrize("mode", ["six", "six prior"])
@pytest.mark.parametrize("dim", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_several_dimensions_and_six_levels_are_exactly_invariant(
    dim, mode, coordinate_every, rest_every, jumps, rng
) -> None:
    """Slanted modes; steps in all coordinates, along one, or both; levels at rest; jumps or none."""
    case = Case(
        mode=mode, strategy=SWEEPS["even_odd"], dim=dim, coordinate_every=coordinate_every,
        rest_every=rest_every, jumps=jumps, walk="robust",
    )  # fmt: skip
    assert_invariant(frozen_run(case), rng)


@pytest.mark.parametrize("jumps", ["none", "both"])
@pytest.mark.parametrize("log_width", [-3.0, 0.5, 12.0])
@pytest.mark.parametrize(("mode", "dim", "coordinate_every"), [("power", 1, 0), ("six prior", 2, 2)])
def test_slices_are_exactly_invariant(mode, dim, coordinate_every, log_width, jumps, rng) -> None:
    """Widths that need all steps out and more, a few, and so much shrinking that the budget runs out."""
    case = Case(
        mode=mode, strategy=SWEEPS["even_odd"], dim=dim, coordinate_every=coordinate_every, jumps=jumps,
        walk="slice", log_width=log_width, rest_every=dim,
    )  # fmt: skip
    assert_invariant(frozen_run(case), rng)


@pytest.mark.parametrize("name", [*STRATEGIES, *SWEEPS])
def test_every_strategy_is_exactly_invariant_in_two_dimensions(name, rng) -> None:
    case = Case(mode="six", strategy=(STRATEGIES | SWEEPS)[name], dim=2, coordinate_every=2, rest_every=2)
    assert_invariant(frozen_run(case), rng)


@pytest.mark.parametrize("rest_every", [1, 2])
@pytest.mark.parametrize(
    ("mode", "dim"), [("power", 1), ("prior", 1), ("six", 2), ("six prior", 2), ("power", 5)]
)
@pytest.mark.parametrize("leaps", ["pooled", "own", "humps", "all"])
def test_leaps_are_exactly_invariant(leaps, mode, dim, rest_every, rng) -> None:
    """Each kind of leap, and all of them with jumps."""
    case = Case(
        mode=mode, strategy=SWEEPS["even_odd"], walk="robust", dim=dim, rest_every=rest_every, leaps=leaps,
        jumps="refresh" if leaps == "all" else "none",
    )  # fmt: skip
    assert_invariant(frozen_run(case), rng)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_leaps_between_modes_that_a_real_tuning_learnt_are_exactly_invariant(dim, seed, rng) -> None:
    """Maps and humps from the states of the tuning, centres and shapes as they came."""
    run = learnt_run(seed, dim=dim, n_levels=4, min_levels=4, n_steps=8)
    learner, points = run.now.learner, run.tuning.draws[4_000:]
    modes = distinct(learner.components, learner.pooled, 100.0)
    even = np.full(len(modes), 1.0 / len(modes))
    label = most_likely(points, from_parts(even, modes.centre, modes.covariance))
    maps = make_maps(places_of(modes, learner.pooled, points, label, 0.1))
    assert len(maps.centre) >= 2
    humps = humps_of(points)
    assert len(humps.coordinate) >= 1
    jumps = learner.mixture, 0.2
    give_mixtures(run, jumps, leaps=(maps, humps, [0.25, 0.25, 0.15]))
    assert_invariant(run, rng)


@pytest.mark.parametrize(("dim", "n_levels", "min_levels"), [(1, 4, 2), (2, 5, 2), (2, 7, 6), (3, 6, 5)])
def test_what_a_real_tuning_learnt_is_exactly_invariant(dim, n_levels, min_levels, seed, rng) -> None:
    """The kernel of the draws of a whole run, levels dropped, and the same kernel without rest."""
    run = learnt_run(seed, dim=dim, n_levels=n_levels, min_levels=min_levels, n_steps=8)
    assert run.state.n_levels[0] == min_levels
    learnt = run.now.learner
    assert learnt.mixture.chance[0] > 0.3, "the base must jump"
    assert len(learnt.mixture.centre) > 2**dim, "to every mode, and to the broad component"
    assert run.now.refresh.chance[0] > 0.0, "the hottest level must be drawn afresh"
    assert learnt.rest_every > 1
    assert_invariant(run, rng)
    give_mixtures(run, rest_every=1)
    assert_invariant(run, rng)
