"""Modes by regression, and chains that learn together: against twins, and still exact."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from densities import two_modes
from harness import make_plan
from invariance import p_values, target_of
from judge import judge_sequentially
from records import jumping, learnt_modes, make_result
from temperance import asked
from temperance.executors.threads import Threads
from temperance.modes.components import Components
from temperance.modes.local import best_worth, by_component, weighed
from temperance.modes.mixture import make_mixture, mode_weights
from temperance.modes.policy import REGRESSION
from temperance.modes.quadratics import ridge, ridge_coefficients
from temperance.modes.refine import regressed
from temperance.modes.regress import Known, quadratic_fit
from temperance.modes.student import log_densities, whitened
from temperance.modes.worth import balance, efficiency
from temperance.runs import drive as driving
from temperance.runs import lengthen, together
from temperance.runs.averaging import averaged_ladders, take_ladder
from temperance.runs.chain import ChainRun
from temperance.runs.drive import Crew, drive, meetings
from temperance.runs.levels import covariances
from temperance.runs.plan import NEVER, next_meeting
from temperance.runs.progress import Silent
from temperance.runs.starts import Starts
from temperance.store.memory import InPlace
from temperance.targets import gather, make_target
from temperance.theory import chi_square_quantile

# ---- regression


def known_of(log_density, points, own=None):
    values = np.array([log_density(point) for point in points])
    return Known(points, values, np.ones(len(points), dtype=bool) if own is None else own)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_a_regression_equals_the_naive_one(dim, rng) -> None:
    """On a density that no quadratic fits, so that all coefficients are drawn to zero by something."""
    points = rng.standard_normal((40 + 30 * dim, dim)) * np.linspace(1.0, 2.0, dim)
    known = known_of(lambda x: -0.4 * x @ x - 0.05 * np.sum(x**4) + 0.3 * np.sin(x.sum()), points)
    centre, covariance = np.full(dim, 0.2), 1.3 * np.eye(dim) + 0.2
    found = quadratic_fit(centre, covariance, known)
    expected = naive.quadratic_peak(
        points, known.log_density, centre, covariance,
        reach=REGRESSION.reach * chi_square_quantile(0.99, dim),
        lowest=0.5 * chi_square_quantile(0.999, dim) + REGRESSION.depth,
        prior_sd=REGRESSION.prior_sd, least=REGRESSION.least_ridge,
    )  # fmt: skip
    assert found is not None
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_a_gaussian_is_known_from_points_that_were_not_drawn_from_it(rng) -> None:
    """Points of one half of a mode, evenly spread: their moments are far off, their log densities are not."""
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    precision = np.linalg.inv(covariance)
    points = rng.uniform([0.0, -1.5], [3.0, 1.5], (60, 2))
    known = known_of(lambda x: -0.5 * x @ precision @ x, points)
    centre, found = quadratic_fit(points.mean(axis=0), np.cov(points.T), known)
    np.testing.assert_allclose(centre, 0.0, atol=1e-3)
    np.testing.assert_allclose(found, covariance, rtol=1e-2)
    assert np.linalg.norm(points.mean(axis=0)) > 1.0, "what moments say"


@pytest.mark.parametrize("dim", [1, 3, 7])
def test_the_compiled_ridge_equals_the_one_by_linear_algebra(dim, rng) -> None:
    """With all products, and with the sum of squares in their place."""
    z, weight = rng.standard_normal((60, dim)), rng.uniform(0.1, 1.0, 60)
    response = np.sin(z.sum(axis=1)) + rng.standard_normal(60)
    i, j = np.triu_indices(dim)
    for terms in (z[:, i] * z[:, j], (z**2).sum(axis=1)[:, None]):
        design = np.concatenate([np.ones((60, 1)), z, terms], axis=1)
        found = ridge_coefficients(z, response, weight, design.shape[1])
        np.testing.assert_allclose(found, ridge(design, response, weight), rtol=1e-8, atol=1e-10)


def test_what_cannot_be_regressed_is_told(rng) -> None:
    """A NaN among the points, or no weight at all, leaves nothing to solve."""
    z, response = rng.standard_normal((30, 2)), rng.standard_normal(30)
    assert ridge_coefficients(z, response, np.ones(30), 6) is not None
    assert ridge_coefficients(z, response, np.zeros(30), 6) is None
    z[3, 1] = np.nan
    assert ridge_coefficients(z, response, np.ones(30), 6) is None


@pytest.mark.parametrize("dim", [1, 2, 9])
def test_points_are_whitened_as_linear_algebra_does(dim, rng) -> None:
    """Any order in memory will do; a matrix that is no covariance is refused."""
    half = rng.standard_normal((dim, dim + 2))
    covariance, centre = half @ half.T, rng.standard_normal(dim)
    points = np.asfortranarray(rng.standard_normal((20, dim)))
    z, square, root = whitened(points, centre, covariance)
    np.testing.assert_allclose(root, np.linalg.cholesky(covariance), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(z @ root.T + centre, points, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(square, (z**2).sum(axis=1), rtol=1e-12)
    for bad in (-covariance, np.zeros((dim, dim)), np.full((dim, dim), np.nan)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            whitened(points, centre, bad)


@pytest.mark.parametrize("size", [0.36, 2.0])
def test_few_points_tell_the_size_and_the_place_of_a_known_shape(size, rng) -> None:
    """As a scout brings them: 24 points in eight dimensions, where a whole quadratic has 45 coefficients."""
    shape, truth = np.diag(np.linspace(0.1, 2.0, 8)), np.full(8, 0.7)
    points = truth + rng.standard_normal((24, 8)) @ np.sqrt(shape)
    known = known_of(lambda x: -0.5 * (x - truth) @ np.linalg.inv(shape) @ (x - truth), points)
    centre, covariance = points.mean(axis=0), size * shape
    for _ in range(3):  # the prior at the first guess gives way
        centre, covariance = quadratic_fit(centre, covariance, known)
    np.testing.assert_allclose(centre, truth, atol=0.02)
    np.testing.assert_allclose(covariance, shape, rtol=0.03, atol=1e-3)


def test_without_states_a_component_is_judged_by_the_highest_points(rng) -> None:
    """Refused proposals lie anywhere; those far below the peak say nothing of what jumps would meet."""
    points = np.concatenate([rng.standard_normal((50, 3)), 30.0 + rng.standard_normal((50, 3))])
    known = known_of(lambda x: -0.5 * x @ x, points, own=np.zeros(100, dtype=bool))
    assert 40 < len(known.judges().point) <= 50
    own = np.arange(100) >= 90
    assert len(replace(known, own=own).judges().point) == 10


def test_a_component_as_good_as_without_mass_does_no_harm() -> None:
    """Log peaks may differ by thousands between a mode and what a scout has brought from far away."""
    peaks = np.array([0.0, -5e3])
    components = Components(
        np.array([[0.0], [50.0]]), np.ones((2, 1, 1)), peaks, np.array([10, 10], dtype=np.int64)
    )
    known = known_of(lambda x: -0.5 * float(x[0] ** 2), np.array([[0.1], [50.1]]))
    assert [len(part.point) for part in by_component(components, known)] == [2, 0]


def components_of(points, label):
    groups = [points[label == k] for k in np.unique(label)]
    return Components(
        np.array([group.mean(axis=0) for group in groups]),
        np.array([np.cov(group.T) for group in groups]),
        np.zeros(len(groups)),
        np.array([len(group) for group in groups]),
    )


@pytest.mark.parametrize(("name", "n", "gain"), [("two_bananas", 700, 1.5), ("two_modes", 300, 1.5)])
def test_regression_and_splits_raise_the_efficiency_on_other_draws(name, n, gain, seed) -> None:
    """Of bent modes as well, which get several components; judged by draws that nobody fitted to."""
    problem = tp.zoo.two_bananas() if name == "two_bananas" else tp.zoo.two_modes(10)
    points, others = problem.draw(n, seed), problem.draw(2_000, seed + 1)
    known, judges = known_of(problem.log_density, points), known_of(problem.log_density, others)
    label = problem.nearest_mode(points)
    by_moments = components_of(points, label)
    by_moments = replace(
        by_moments,
        log_peak=np.array([weighed(by_moments.chosen(np.arange(2) == k), known.chosen(label == k)).log_peak[0]
                           for k in range(2)]),
    )  # fmt: skip
    shape = np.diag([20.0, 2.0]) if name == "two_bananas" else by_moments.covariance[0]
    better, _ = regressed(by_moments, known, shape, split=True)

    def worth(components):
        mixture = make_mixture(components, points.mean(axis=0), np.cov(points.T))
        return balance(judges.log_density - log_densities(others, mixture), trimmed=0.005)

    assert worth(better) > gain * worth(by_moments)
    assert (len(better) > 2) == (name == "two_bananas")


def test_components_that_overlap_share_their_mass(rng) -> None:
    """Two normals one width apart, three to one; medians without shares would give both the whole height."""
    weights, centres = np.array([0.75, 0.25]), np.array([[-0.5], [0.5]])

    def log_density(x):
        return float(np.log(weights @ np.exp(-0.5 * (x - centres[:, 0]) ** 2)))

    points = rng.choice(centres, 2_000, p=weights) + rng.standard_normal((2_000, 1))
    start = Components(centres, np.ones((2, 1, 1)), np.zeros(2), np.array([1, 1]))
    found = weighed(start, known_of(lambda x: log_density(x[0]), points))
    share = mode_weights(found)
    assert share[0] > 0.6
    alone = [
        weighed(start.chosen(np.arange(2) == k), known_of(lambda x: log_density(x[0]), points))
        for k in range(2)
    ]
    total = np.exp(found.log_peak).sum()
    assert total == pytest.approx(1.0, rel=0.15)
    assert sum(np.exp(one.log_peak[0]) for one in alone) > 1.3


@pytest.mark.parametrize("dim", [2, 8, 20])
def test_the_best_students_t_is_worth_what_random_numbers_say(dim, rng) -> None:
    points = rng.standard_normal((4_000, dim))
    tried = [
        efficiency(
            make_mixture(
                Components(np.zeros((1, dim)), width * np.eye(dim)[None], np.zeros(1), np.array([1])),
                np.zeros(dim), 25.0 * np.eye(dim),
            ),
            points, -0.5 * (points**2).sum(axis=1),
        )
        for width in (0.8, 0.9, 1.0, 1.1)
    ]  # fmt: skip
    # Judged without two per cent at either end where the other leaves out half a per cent.
    assert best_worth(dim) - 0.03 < max(tried) < best_worth(dim) + 0.12


# ---- meetings

TUNE, DRAWS = 120, 40


def shared_plan(n_chains=3, tune=TUNE, draws=DRAWS, **changes):
    settings = tp.Settings(trimming=tp.Trimming(after=tune // 2, every=5, slack=0.9, min_levels=2), **changes)
    target = make_target(gather(log_density=two_modes), vectorized=False)
    plan = make_plan(target, (1.0, 0.6, 0.3, 0.1), 2, tune=tune, draws=draws, settings=settings)
    return replace(plan, chains=n_chains)


def new_runs(plan):
    starts = Starts(np.full(plan.dim, 0.5), np.random.default_rng(0))
    return [ChainRun(plan, k, starts, np.random.SeedSequence(k)) for k in range(plan.chains)]


def driven(runs, workers=1):
    drive(runs, Crew(Threads(workers), InPlace(runs), Silent()), meetings(runs))
    return runs


def assert_same_draws(runs, others):
    for run, other in zip(runs, others, strict=True):
        assert run.finished
        np.testing.assert_array_equal(run.tuning.draws, other.tuning.draws)
        np.testing.assert_array_equal(run.sampling.draws, other.sampling.draws)
        np.testing.assert_array_equal(run.now.learner.mixture.root, other.now.learner.mixture.root)


def test_threads_and_segments_change_nothing(monkeypatch) -> None:
    expected = driven(new_runs(shared_plan()))
    assert len({run.now.learner.mixture.centre.tobytes() for run in expected}) == 1, "all have one mixture"
    assert np.any(expected[0].sampling.jump >= 0)
    for workers, first in ((3, 64), (2, 1), (1, 7)):
        monkeypatch.setattr(driving, "FIRST_SEGMENT", first)
        assert_same_draws(driven(new_runs(shared_plan()), workers), expected)


def test_the_order_of_the_chains_would_be_seen(monkeypatch) -> None:
    """Chains in the order in which they arrive, say, would give other draws."""
    expected = driven(new_runs(shared_plan()))
    met = together.met

    def reversed_met(plan, chains, traces):
        outcome = met(plan, chains[::-1], traces[::-1])
        return replace(outcome, learners=outcome.learners[::-1], ladders=outcome.ladders[::-1])

    monkeypatch.setattr(driving, "met", reversed_met)
    with pytest.raises(AssertionError):
        assert_same_draws(driven(new_runs(shared_plan())), expected)


def test_snapshots_before_at_and_after_a_meeting_go_on_as_if_nothing_had_been() -> None:
    """Every chain somewhere else: one waits, one is on its way, one has not begun."""
    plan = shared_plan()
    expected = driven(new_runs(plan))
    first = next_meeting(plan, 0)
    assert 0 < first < TUNE // 2
    for places in ((first, first - 2, 0), (first, first, first), (first, first, first - 1)):
        runs = new_runs(plan)
        for run, place in zip(runs, places, strict=True):
            run.advance(place)
            assert run.waits == (place == first)
            run.advance(5 if run.waits else 0)
            assert run.n_done == place, "it waits for the others"
        again = [
            ChainRun.from_snapshot(plan, k, np.random.SeedSequence(k), run.snapshot())
            for k, run in enumerate(runs)
        ]
        assert_same_draws(driven(again, 2), expected)


class Stops:
    """A density that ends the run at one of its calls."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return float(two_modes(x))


def test_a_run_that_was_stopped_anywhere_goes_on_from_its_folder(tmp_path) -> None:
    """Calls around the meetings among them; commits hold all chains before a meeting or all after it."""
    options = {"initial": np.full(2, 0.5), "levels": 3, "chains": 3, "draws": 20, "tune": 60, "seed": 5}
    counted = Stops(-1)
    whole = tp.sample(counted, **options, progress=False)
    for at in np.linspace(30, counted.calls - 30, 12).astype(int):
        folder = tmp_path / str(at)
        with pytest.warns(tp.IncompleteWarning):
            tp.sample(Stops(at), **options, progress=False, store=folder)
        again = tp.resume(folder, Stops(-1), progress=False, cores=2)
        np.testing.assert_array_equal(again.draws, whole.draws)


def test_chains_that_do_not_share_are_what_they_are_alone() -> None:
    options = {"initial": np.full(2, 0.5), "draws": 50, "tune": 300, "seed": 7, "progress": False}
    apart = tp.Settings(jumps=tp.Jumps(share=False))
    two, three = (tp.sample(two_modes, chains=n, settings=apart, **options) for n in (2, 3))
    np.testing.assert_array_equal(two.draws, three.draws[:2])
    shared = tp.sample(two_modes, chains=2, **options)
    assert not np.array_equal(shared.draws, two.draws)
    assert np.all(np.isnan(two.chains[0].modes.told_at))
    assert not np.any(np.isnan(shared.chains[0].modes.told_at[:-1]))


def test_without_jumps_and_with_one_chain_nobody_meets() -> None:
    assert next_meeting(shared_plan(1), 0) == NEVER
    assert next_meeting(shared_plan(jumps=tp.Jumps(enabled=False)), 0) == NEVER
    assert next_meeting(shared_plan(jumps=tp.Jumps(share=False)), 0) == NEVER
    assert next_meeting(shared_plan(tune=0), 0) == NEVER
    plan = shared_plan()
    assert next_meeting(plan, TUNE - 1) == TUNE
    assert next_meeting(plan, TUNE) == NEVER


def test_ladders_are_averaged_level_by_level(rng) -> None:
    """One of the chains has fewer levels: those that it has not are averaged over the others."""
    plan = shared_plan(jumps=tp.Jumps(enabled=False))
    runs = new_runs(plan)
    for run in runs:
        run.advance(40)
    runs[1].state.n_levels[0] = 2
    states = [run.state for run in runs]
    before = [covariances(state) for state in states]
    gaps = [state.log_gap.copy() for state in states]
    for state, ladder in zip(states, averaged_ladders(plan, states), strict=True):
        take_ladder(state, ladder, pinned=False)
    for chain, live in enumerate((4, 2, 4)):
        for level in range(live):
            those = [k for k, n_levels in enumerate((4, 2, 4)) if level < n_levels]
            mean = np.mean([before[k][level] for k in those], axis=0)
            np.testing.assert_allclose(covariances(states[chain])[level], mean, rtol=1e-10)
        for edge in range(live - 1):
            those = [k for k, n_levels in enumerate((4, 2, 4)) if edge < n_levels - 1]
            assert states[chain].log_gap[edge] == pytest.approx(np.mean([gaps[k][edge] for k in those]))
        expected = 1.0 / (1.0 + np.cumsum(np.exp(states[chain].log_gap[: live - 1])))
        np.testing.assert_allclose(states[chain].beta[1:live], expected)


def test_a_meeting_that_fails_leaves_all_chains_as_they_were(monkeypatch) -> None:
    def fails(*_):
        raise np.linalg.LinAlgError("not to be had")

    monkeypatch.setattr(together, "fitted", fails)
    monkeypatch.setattr(together, "averaged_ladders", fails)
    runs = driven(new_runs(shared_plan()))
    assert all(run.finished for run in runs)
    assert sum("not to be had" in setback for setback in runs[0].now.setbacks) == 2 * 7
    assert not len(runs[0].now.learner.components)


@numba.njit
def three_apart(x):
    total = 0.0
    for centre in (-12.0, 0.0, 12.0):
        total += np.exp(-0.5 * np.sum((x - centre) ** 2))
    return np.log(total + 1e-300)


def test_one_chain_tells_the_others() -> None:
    """Each starts in a mode of its own and cannot leave it: all learn of all, and who found what is kept."""
    starts = np.repeat(np.array([-12.0, 0.0, 12.0])[:, None, None], 2, axis=2)
    result = tp.sample(
        three_apart, initial=starts, chains=3, levels=1, tune=600, draws=600, seed=3, progress=False
    )
    assert len(result.modes) == 3
    assert result.modes.draw_weight.min() > 0.2
    assert np.array_equal(result.modes.found.sum(axis=0), [1, 1, 1]), "each by one chain alone"
    assert np.all(result.modes.learnt)


@pytest.mark.parametrize(("dim", "n_chains"), [(1, 2), (2, 3)])
def test_what_chains_learnt_together_is_exactly_invariant(dim, n_chains, seed, rng) -> None:
    """T3 with a mixture from a regression to what all chains saw, splits included."""
    plan = make_plan(
        target_of(False), np.geomspace(1.0, 0.05, 4), dim, strategy=tp.swaps.even_odd(), tune=2_000,
        draws=8, settings=tp.Settings(trimming=tp.Trimming(min_levels=2)),
    )  # fmt: skip
    plan = replace(plan, chains=n_chains)
    starts = Starts(np.zeros(dim), np.random.default_rng(0))
    runs = driven([ChainRun(plan, k, starts, np.random.SeedSequence([seed, k])) for k in range(n_chains)])
    assert runs[1].now.learner.mixture.chance[0] > 0.3, "the base must jump"
    verdict = judge_sequentially(lambda n, rng: p_values(runs[1], n, rng), rng, n_first=6_000)
    assert verdict.passed, verdict.detail


# ---- what agreement says


def test_a_mode_that_some_were_only_told_of_late_is_named(rng) -> None:
    result = make_result(rng, n_chains=3)
    chains = []
    for k, chain in enumerate(result.chains):
        modes = learnt_modes(result.draws.reshape(-1, result.dim).mean(axis=0)[None])
        modes = replace(
            modes, told_at=np.array([0.8 * result.n_tune, np.nan]), seen=np.array([float(k == 1), np.nan])
        )
        chains.append(jumping(chain, modes))
    late = replace(result, chains=tuple(chains))
    assert late.searched.found_late == 1
    assert "found by one chain alone" in str(late.searched)
    assert not [one for one in late.warnings if one.name == "missed mode"], "the draws are right"
    early = [
        replace(chain, modes=replace(chain.modes, told_at=0.1 * chain.modes.told_at)) for chain in chains
    ]
    assert replace(result, chains=tuple(early)).searched.found_late == 0
    two = [
        replace(chain, modes=replace(chain.modes, seen=np.array([float(k > 0), np.nan])))
        for k, chain in enumerate(chains)
    ]
    assert replace(result, chains=tuple(two)).searched.found_late == 0, "found twice, it is not hard to find"


# ---- tuning as long as it needs


def open_ended(n_chains, monkeypatch, *, factor=4):
    """A plan whose tuning may become longer, and a rule by which it does."""
    monkeypatch.setattr(lengthen, "_have_met", lambda *_: False)
    plan = replace(shared_plan(n_chains), max_tune=factor * TUNE)
    if n_chains == 1:
        changed = replace(lengthen.LEARNING, near_zero=(-1.0, 2.0), rising=0.0)
        monkeypatch.setattr(lengthen, "LEARNING", changed)
    return plan


@pytest.mark.parametrize(("n_chains", "factor", "expected"), [(3, 4, 4), (3, 3, 3), (1, 4, 4), (3, 0, 1)])
def test_tuning_goes_on_to_its_cap(n_chains, factor, expected, monkeypatch) -> None:
    runs = driven(new_runs(open_ended(n_chains, monkeypatch, factor=factor)))
    for run in runs:
        assert run.finished
        assert run.n_done == expected * TUNE + DRAWS
        assert len(run.tuning.draws) == expected * TUNE
        assert len(run.now.lengthened) == {1: 0, 3: 2, 4: 2}[expected]
    assert np.all(np.isfinite(runs[0].tuning.log_density[:, 0]))


@pytest.mark.parametrize("n_chains", [1, 2])
def test_a_longer_tuning_is_the_same_whatever_cuts_it(n_chains, monkeypatch) -> None:
    plan = open_ended(n_chains, monkeypatch)
    expected = driven(new_runs(plan))
    for place in (TUNE - 1, TUNE, TUNE + 7, 2 * TUNE, 4 * TUNE + 3):
        runs = new_runs(plan)
        while min(run.n_done for run in runs) < place:
            for run in runs:
                run.advance(min(10, place - run.n_done))
            if all(run.waits for run in runs) and runs[0].n_done < place:
                driving.learn_together(runs)
        again = [
            ChainRun.from_snapshot(plan, k, np.random.SeedSequence(k), run.snapshot())
            for k, run in enumerate(runs)
        ]
        for run, other in zip(driven(again), expected, strict=True):
            first = max(0, place - 4 * TUNE)
            np.testing.assert_array_equal(
                run.rows.drawn(DRAWS).draws[-(DRAWS - first) :], other.sampling.draws[first:]
            )


def test_chains_that_share_no_mode_are_told_to_go_on(rng) -> None:
    """By the rule itself: two chains in different modes have not met, two in the same have."""
    plan = replace(shared_plan(2), max_tune=4 * TUNE)
    runs = driven(new_runs(shared_plan(2)))
    learner = replace(runs[0].now.learner, efficiency=0.9)
    centre = learner.components.centre
    assert len(centre) >= 2
    far = int(np.argmax(((centre - centre[0]) ** 2).sum(axis=1)))
    here, there = (
        runs[0].tuning._replace(draws=centre[k] + 1e-3 * rng.standard_normal((TUNE, 2))) for k in (0, far)
    )
    assert "no mode in common" in lengthen.reason_for_more(plan, [learner] * 2, [here, there], TUNE)
    assert lengthen.reason_for_more(plan, [learner] * 2, [here, here], TUNE) == ""
    poor = replace(learner, efficiency=0.02, efficiency_before=0.005)
    assert "0.02" in lengthen.reason_for_more(plan, [poor] * 2, [here, here], TUNE)
    falling = replace(poor, efficiency_before=0.02)
    assert lengthen.reason_for_more(plan, [falling] * 2, [here, here], TUNE) == ""
    given = replace(plan, max_tune=0)
    assert lengthen.reason_for_more(given, [poor] * 2, [here, there], TUNE) == ""


def test_the_result_says_how_long_tuning_was_and_why(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(lengthen, "_have_met", lambda *_: False)
    monkeypatch.setattr(asked, "default_tune", lambda _: 100)
    options = {"initial": np.full(2, 0.5), "draws": 60, "chains": 2, "seed": 1, "progress": False}
    result = tp.sample(two_modes, store=tmp_path / "run", **options)
    assert result.n_tune == 400
    assert "tuning was made longer: after 100 iterations two chains had no mode in common" in str(result)
    for again in (tp.load(tmp_path / "run"), tp.load(result.save(tmp_path / "saved"))):
        assert again.n_tune == 400
        assert again.complete
        assert again.chains[0].lengthened == result.chains[0].lengthened
    more = tp.resume(tmp_path / "run", two_modes, draws=80, progress=False)
    np.testing.assert_array_equal(more.draws[:, :60], result.draws)
    assert tp.sample(two_modes, tune=100, **options).n_tune == 100, "what was asked for"
