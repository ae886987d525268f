"""Rounds of proposals that teach a mixture: against twins, the same however a run is cut, and still exact."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

import naive
import temperance as tp
from harness import make_plan
from invariance import p_values, target_of
from judge import judge_sequentially
from temperance.core.state import JUMP_DOF
from temperance.modes.blend import (
    Blend,
    acceptance_of,
    blended,
    draws_from,
    em_step,
    log_density_of,
    reaching,
    sums_of,
    worth_of,
    worth_with_tails,
)
from temperance.modes.policy import TEACHING
from temperance.modes.student import log_densities
from temperance.modes.taught import Asked, Taught, weighed_together
from temperance.runs import drive as driving
from temperance.runs import events, teaching, together
from temperance.runs.chain import ChainRun
from temperance.runs.seeds import ROUNDS, keyed
from temperance.runs.starts import Starts
from temperance.targets import gather, make_target
from temperance.targets.answers import Answer
from temperance.targets.batches import ROWS
from test_pool import Here
from test_together import driven, new_runs


@numba.njit
def banana(x):
    return -0.5 * x[0] ** 2 - 0.5 * ((x[1] - x[0] ** 2) / 0.25) ** 2


@numba.njit
def round_mode(x):
    return -0.5 * np.sum(x**2)


def blend_of(rng, n_components, dim):
    root = rng.standard_normal((n_components, dim, dim)) + 2.0 * np.eye(dim)
    weight = rng.uniform(0.2, 1.0, n_components)
    centre = 2.0 * rng.standard_normal((n_components, dim))
    return Blend(weight / weight.sum(), centre, root @ np.swapaxes(root, 1, 2))


# ---- weights


def asked_of(points, log_density, blends, counts):
    """Points with the log of the density of all proposals together, by the naive mixture density."""
    drawn = [
        logsumexp(
            [
                np.log(n) + naive.t_mixture_log_density(x, *parts(blend), JUMP_DOF)
                for blend, n in zip(blends, counts, strict=True)
            ]
        )
        for x in points
    ]
    return Asked(points, np.array([log_density(x) for x in points]), np.array(drawn))


def parts(blend):
    return blend.weight, blend.centre, blend.covariance


def naive_weights(proposals, states, worth):
    """Each weight as it is written in the module, Z where they add up to one."""

    def weights(log_z):
        scale = np.exp(log_z)
        of_proposals = [
            np.exp(density) / (np.exp(drawn) * scale + worth * np.exp(density))
            for density, drawn in zip(proposals.log_density, proposals.log_drawn, strict=True)
        ]
        of_states = [
            worth / len(states.point) * np.exp(density) / (np.exp(drawn) * scale + worth * np.exp(density))
            for density, drawn in zip(states.log_density, states.log_drawn, strict=True)
        ]
        return np.array(of_proposals + of_states)

    log_z = brentq(lambda value: weights(value).sum() - 1.0, -30.0, 30.0, xtol=1e-12)
    return weights(log_z), log_z


def two_rounds(rng):
    """Proposals of a narrow and of a wide mixture, and states, of a banana."""
    blends = [blend_of(rng, 2, 2), blend_of(rng, 3, 2)]
    counts = [60, 90]
    points = np.concatenate([draws_from(b.mixture, n, rng) for b, n in zip(blends, counts, strict=True)])
    x = rng.standard_normal(40)
    states = np.column_stack([x, x**2 + 0.25 * rng.standard_normal(40)])
    proposals = asked_of(points, banana.py_func, blends, counts)
    return blends, counts, proposals, asked_of(states, banana.py_func, blends, counts)


def test_weights_equal_the_naive_ones(rng) -> None:
    _, _, proposals, states = two_rounds(rng)
    taught = weighed_together(proposals, states, 7.5)
    expected, log_z = naive_weights(proposals, states, 7.5)
    np.testing.assert_allclose(taught.weight, expected, rtol=1e-6, atol=1e-12)
    assert taught.log_z == pytest.approx(log_z, abs=1e-7)
    log_all = np.logaddexp(np.append(proposals.log_drawn, states.log_drawn), np.log(7.5) + taught.log_target)
    count = np.append(np.ones(150), np.full(40, 7.5 / 40))
    warm = count * np.exp(TEACHING.warmth * taught.log_target - log_all)
    np.testing.assert_allclose(taught.warm, warm / warm.sum(), rtol=1e-6)


def test_broken_weights_are_caught(rng) -> None:
    """Rounds weighted by their own mixture only, and tempered weights used as they are."""
    blends, counts, proposals, states = two_rounds(rng)
    expected, _ = naive_weights(proposals, states, 7.5)
    first, second = proposals.point[:60], proposals.point[60:]
    own = np.concatenate(
        [
            asked_of(rows, banana.py_func, [blend], [count]).log_drawn
            for rows, blend, count in zip((first, second), blends, counts, strict=True)
        ]
    )
    by_own = weighed_together(replace(proposals, log_drawn=own), states, 7.5)
    assert not np.allclose(by_own.weight, expected, rtol=1e-2)
    taught = weighed_together(proposals, states, 7.5)
    assert not np.allclose(taught.warm, expected, rtol=1e-2)


def test_broken_weights_give_wrong_moments(rng) -> None:
    """What the weights are for: moments of the target, whatever the rounds were drawn from."""
    blends, counts = [blend_of(rng, 2, 2), blend_of(rng, 3, 2)], [20_000, 20_000]
    points = np.concatenate([draws_from(b.mixture, n, rng) for b, n in zip(blends, counts, strict=True)])
    both = list(zip(blends, counts, strict=True))
    drawn = np.logaddexp(*(np.log(n) + log_densities(points, b.mixture) for b, n in both))
    values = -0.5 * np.sum(points**2, axis=1)
    states = rng.standard_normal((500, 2))
    at_states = np.logaddexp(*(np.log(n) + log_densities(states, b.mixture) for b, n in both))
    asked = Asked(states, -0.5 * np.sum(states**2, axis=1), at_states)
    taught = weighed_together(Asked(points, values, drawn), asked, 20.0)
    assert taught.weight @ np.sum(taught.point**2, axis=1) == pytest.approx(2.0, abs=0.1)
    assert taught.log_z == pytest.approx(np.log(2.0 * np.pi), abs=0.05)
    assert taught.warm @ np.sum(taught.point**2, axis=1) == pytest.approx(4.0, abs=0.3)
    assert taught.weight.max() <= 1.0 / 20.0 + 1e-9, "no point outweighs all"


def test_where_no_proposal_has_a_density_nothing_is_taught() -> None:
    nowhere = Asked(np.zeros((3, 1)), np.full(3, -np.inf), np.zeros(3))
    states = Asked(np.zeros((2, 1)), np.zeros(2), np.zeros(2))
    assert weighed_together(nowhere, states, 1.0) is None


# ---- fits


@pytest.mark.parametrize("dim", [1, 3])
def test_sums_of_em_equal_the_naive_ones(dim, rng) -> None:
    blend = blend_of(rng, 3, dim)
    points, weights = 2.0 * rng.standard_normal((50, dim)), rng.uniform(size=50)
    sums = sums_of(points, weights, blend.mixture)
    share = np.array([naive.responsibilities(x, *parts(blend), JUMP_DOF) for x in points]) * weights[:, None]
    np.testing.assert_allclose(sums.mass, share.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(sums.mass_squared, (share**2).sum(axis=0), rtol=1e-9)
    for k in range(3):
        offset = points - blend.centre[k]
        square = np.einsum("ni,ij,nj->n", offset, np.linalg.inv(blend.covariance[k]), offset)
        influence = share[:, k] * (JUMP_DOF + dim) / (JUMP_DOF + square)
        assert sums.influence[k] == pytest.approx(influence.sum())
        np.testing.assert_allclose(sums.first[k], influence @ offset, rtol=1e-9, atol=1e-12)
        second = (influence[:, None] * offset).T @ offset
        np.testing.assert_allclose(sums.second[k], second, rtol=1e-9, atol=1e-12)


def test_em_finds_the_blend_that_points_came_from(rng) -> None:
    truth = Blend(np.array([0.7, 0.3]), np.array([[-4.0], [4.0]]), np.array([[[1.0]], [[4.0]]]))
    points = draws_from(truth.mixture, 20_000, rng)
    blend = Blend(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.array([[[3.0]], [[3.0]]]))
    for _ in range(40):
        blend = em_step(blend, points, np.full(len(points), 1.0 / len(points)))
    np.testing.assert_allclose(blend.weight, truth.weight, atol=0.02)
    np.testing.assert_allclose(blend.centre, truth.centre, atol=0.1)
    np.testing.assert_allclose(blend.covariance, truth.covariance, rtol=0.1)


def test_a_component_that_nothing_supports_goes_and_one_with_little_stays(rng) -> None:
    points = np.concatenate([rng.standard_normal((200, 1)), [[30.0], [30.5], [31.0]]])
    centre = np.array([[0.0], [30.0], [-90.0]])
    blend = Blend(np.array([0.8, 0.1, 0.1]), centre, np.ones((3, 1, 1)))
    made = em_step(blend, points, np.full(203, 1.0 / 203))
    assert len(made) == 2
    assert made.centre[1, 0] == pytest.approx(30.5, abs=0.5)


def test_components_are_added_where_the_mixture_is_thin(rng) -> None:
    points = np.concatenate([rng.standard_normal((300, 2)), rng.standard_normal((60, 2)) + 12.0])
    blend = Blend(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    log_target = np.full(360, -2.0)
    taught = Taught(points, log_target, np.full(360, 1.0 / 360), np.full(360, 1.0 / 360), 0.0)
    before = log_density_of(points, blend.mixture)
    made = reaching(blend, blend.chosen(np.zeros(1, dtype=bool)), taught, before)
    assert 2 <= len(made) <= 1 + TEACHING.added
    after = log_density_of(points, made.mixture)
    assert np.max(log_target - after) < np.max(log_target - before) - 5.0


def test_draws_come_from_the_mixture(rng) -> None:
    blend = blend_of(rng, 3, 2)
    mixture = blended(blend, blend, np.zeros(2), np.eye(2))
    assert mixture.cumulative[-1] == pytest.approx(1.0)
    draws = draws_from(mixture, 40_000, rng)
    variance = np.concatenate([blend.covariance, blend.covariance, np.eye(2)[None]])
    centre = np.concatenate([blend.centre, blend.centre, np.zeros((1, 2))])
    second = JUMP_DOF / (JUMP_DOF - 2) * variance + centre[:, :, None] * centre[:, None, :]
    weight = np.diff(mixture.cumulative, prepend=0.0)
    expected = np.tensordot(weight, second, 1)
    np.testing.assert_allclose(draws.T @ draws / len(draws), expected, rtol=0.1, atol=0.3)


def test_what_a_mixture_is_worth(rng) -> None:
    """One for the target itself, and the closed form for a wider one."""
    assert worth_of(np.zeros(10)) == 1.0
    assert worth_of(np.full(3, -np.inf)) == 0.0
    assert worth_of(np.array([0.0, -np.inf, -np.inf, -np.inf])) == pytest.approx(0.25)
    blend = blend_of(rng, 2, 2)
    points = draws_from(blend.mixture, 4_000, rng)
    log_target = log_density_of(points, blend.mixture)
    taught = Taught(points, log_target, np.full(4_000, 1 / 4_000), np.full(4_000, 1 / 4_000), 0.0)
    assert worth_with_tails(taught, blend.mixture) == pytest.approx(1.0)
    assert acceptance_of(taught, blend.mixture) == pytest.approx(1.0)
    other = replace(blend, covariance=4.0 * blend.covariance)
    assert worth_with_tails(taught, other.mixture) < 0.9
    assert 0.2 < acceptance_of(taught, other.mixture) < 0.9


# ---- runs

TUNE, DRAWS = 1_500, 30


def plan_of(log_density=banana, n_chains=1, **changes):
    settings = tp.Settings(jumps=tp.Jumps(rounds=True), trimming=tp.Trimming(min_levels=2))
    target = make_target(gather(log_density=log_density), vectorized=False)
    options = {"tune": TUNE, "draws": DRAWS, "settings": settings} | changes
    return replace(make_plan(target, (1.0, 0.6, 0.3, 0.1), 2, **options), chains=n_chains)


def assert_same_draws(runs, others):
    for run, other in zip(runs, others, strict=True):
        assert run.finished
        np.testing.assert_array_equal(run.sampling.draws, other.sampling.draws)
        np.testing.assert_array_equal(run.tuning.evaluations, other.tuning.evaluations)
        np.testing.assert_array_equal(run.now.learner.mixture.root, other.now.learner.mixture.root)


def spent(runs):
    return sum(run.now.learner.rounds.n_evaluations for run in runs)


@pytest.fixture(scope="module")
def whole():
    return {n: driven(new_runs(plan_of(n_chains=n))) for n in (1, 3)}


@pytest.mark.parametrize("n_chains", [1, 3])
def test_rounds_are_made_and_counted(n_chains, whole) -> None:
    runs = whole[n_chains]
    assert all(run.now.learner.rounds.taught for run in runs)
    assert runs[0].now.learner.rounds.n_made == TEACHING.n_rounds
    counted = sum(int(run.tuning.evaluations[TUNE - 1]) for run in runs)
    assert counted > spent(runs) > 0
    before = sum(int(run.tuning.evaluations.sum()) for run in runs) - spent(runs)
    assert spent(runs) <= TEACHING.share * before
    assert not runs[0].now.setbacks
    record = runs[0].leave()
    assert record.modes.n_broad > 1
    assert len(record.modes.told_at) == len(record.modes.weight)


def test_segments_of_any_length_make_the_same_run(whole, rng) -> None:
    for _ in range(3):
        (run,) = new_runs(plan_of())
        while not run.finished:
            run.advance(int(rng.integers(1, 700)))
        assert_same_draws([run], whole[1])


@pytest.mark.parametrize(("workers", "first"), [(3, 64), (2, 1), (1, 7)])
def test_threads_change_nothing(workers, first, whole, monkeypatch) -> None:
    monkeypatch.setattr(driving, "FIRST_SEGMENT", first)
    runs = driven(new_runs(plan_of(n_chains=3)), workers)
    assert len({run.now.learner.mixture.centre.tobytes() for run in runs}) == 1, "all have one mixture"
    assert_same_draws(runs, whole[3])


def test_a_snapshot_between_rounds_goes_on_as_if_nothing_had_been(whole, monkeypatch) -> None:
    """Chains are made anew from snapshots after each meeting, the one in which a round is due included."""
    runs = new_runs(plan_of(n_chains=3))
    for _ in range(40):
        if runs[0].finished:
            break
        stops = [run.now.next_meeting for run in runs]
        for run in runs:
            run.advance(2 * TUNE)
        if any(run.waits for run in runs):
            assert stops[0] == runs[0].n_done
            driving.learn_together(runs)
        if not runs[0].finished:
            runs = [
                ChainRun.from_snapshot(run.plan, k, np.random.SeedSequence(k), run.snapshot())
                for k, run in enumerate(runs)
            ]
    for run, other in zip(runs, whole[3], strict=True):
        np.testing.assert_array_equal(run.sampling.draws, other.sampling.draws)


class Noting:
    """A vectorised density that notes how many rows it was asked for."""

    def __init__(self):
        self.rows = []

    def __call__(self, x):
        self.rows.append(len(x))
        return -0.5 * x[:, 0] ** 2 - 8.0 * (x[:, 1] - x[:, 0] ** 2) ** 2


ROUND_OPTIONS = {
    "initial": np.full(2, 0.5), "levels": 3, "chains": 1, "draws": 20, "tune": 900, "seed": 5,
    "settings": tp.Settings(jumps=tp.Jumps(rounds=True)), "progress": False,
}  # fmt: skip


def test_rounds_go_out_in_large_batches() -> None:
    """Of one size but the last of each round. Broken: as many rows as there are levels."""
    noting = Noting()
    result = tp.sample(noting, vectorized=True, cores=1, **ROUND_OPTIONS)
    large = [n for n in noting.rows if n > 2 * ROUND_OPTIONS["levels"]]
    made = int(result.chains[0].tuning.evaluations[-1])
    assert made > 10 * ROWS
    assert sum(large) >= made - 8 * ROWS, "scouts and remainders are what is left"
    assert set(large) - {ROWS} == {n for n in large if n < ROWS}
    assert large.count(ROWS) >= made // ROWS - TEACHING.n_rounds


@pytest.mark.parametrize("size", [1, 2, 7])
def test_rounds_are_shared_out_in_short_questions(size) -> None:
    """Where rows stand alone: evenly, as a time-out is for one answer."""
    asked = []

    def noted(answers):
        asked.extend(len(one.values) for one in answers if isinstance(one, Answer))
        return answers

    pool = tp.Pool(Here(size, noted), share="points")
    result = tp.sample(lambda x: float(banana.py_func(x)), pool=pool, **ROUND_OPTIONS)
    alone = tp.sample(lambda x: float(banana.py_func(x)), cores=1, **ROUND_OPTIONS)
    np.testing.assert_array_equal(result.draws, alone.draws)
    largest = max(asked)
    assert ROUND_OPTIONS["levels"] < largest <= ROWS // 4
    shared = [n for n in asked if n > ROUND_OPTIONS["levels"]]
    made = int(result.chains[0].tuning.evaluations[-1])
    assert sum(shared) > 0.8 * made
    assert max(shared) <= -(-ROWS // size), "evenly"


def test_a_worker_that_fails_in_a_round_is_told_with_the_point() -> None:
    """Its row is beyond the levels of the chain. Broken: the point is looked for among those of levels."""
    made = tp.sample(lambda x: float(banana.py_func(x)), cores=1, **ROUND_OPTIONS)
    calls = []

    def failing(answers):
        calls.extend(one for one in answers if isinstance(one, Answer) and len(one.values) > 4)
        if len(calls) > 12:
            raise OSError("gone")
        return answers

    pool = tp.Pool(Here(2, failing), share="points")
    with pytest.raises(tp.PoolError, match=r"gone.*; in chain 1.*from the point \[") as caught:
        tp.sample(lambda x: float(banana.py_func(x)), pool=pool, **ROUND_OPTIONS)
    assert caught.value.result.chains[0].tuning.draws.shape[0] == made.chains[0].tuning.draws.shape[0]


class Stops:
    """A density that ends the run at one of its calls."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return float(banana.py_func(x))


def test_a_run_that_was_stopped_in_a_round_goes_on_from_its_folder(tmp_path) -> None:
    options = {
        "initial": np.full(2, 0.5), "levels": 3, "chains": 2, "draws": 20, "tune": 900, "seed": 5,
        "settings": tp.Settings(jumps=tp.Jumps(rounds=True)), "cores": 1,
    }  # fmt: skip
    counted = Stops(-1)
    full = tp.sample(counted, **options, progress=False)
    made = int(sum(chain.tuning.evaluations[-1] for chain in full.chains))
    assert made > 500
    late = counted.calls - int(sum(chain.sampling.evaluations.sum() for chain in full.chains))
    for at in (late - made + 50, late - made // 2, late - 20):
        folder = tmp_path / str(at)
        with pytest.warns(tp.IncompleteWarning):
            tp.sample(Stops(at), **options, progress=False, store=folder)
        again = tp.resume(folder, Stops(-1), progress=False, cores=2)
        np.testing.assert_array_equal(again.draws, full.draws)
        assert [int(one.tuning.evaluations.sum()) for one in again.chains] == [
            int(one.tuning.evaluations.sum()) for one in full.chains
        ]


def test_one_good_mode_needs_no_rounds() -> None:
    """They end after the first; the mixture, and so the draws, are what they are without."""
    settings = tp.Settings(trimming=tp.Trimming(min_levels=2))
    runs = driven(new_runs(plan_of(round_mode)))
    without = driven(new_runs(plan_of(round_mode, settings=settings)))
    assert runs[0].now.learner.rounds.n_made == 1
    assert 0 < spent(runs) <= TEACHING.first_share * int(without[0].tuning.evaluations.sum())
    np.testing.assert_array_equal(runs[0].sampling.draws, without[0].sampling.draws)
    assert without[0].now.learner.rounds.n_made == 0


def test_rounds_reach_the_tails_of_a_bent_mode(whole) -> None:
    """By states drawn exactly: without a trim, E w is what tells a tail that the mixture misses."""
    settings = tp.Settings(trimming=tp.Trimming(min_levels=2))
    without = driven(new_runs(plan_of(settings=settings)))[0].now.learner.mixture
    rng = np.random.default_rng(1)
    x = rng.standard_normal(20_000)
    states = np.column_stack([x, x**2 + 0.25 * rng.standard_normal(20_000)])
    log_target = np.array([banana.py_func(one) for one in states]) - np.log(0.5 * np.pi)
    chi = [
        np.mean(np.exp(log_target - log_densities(states, mixture)))
        for mixture in (without, whole[1][0].now.learner.mixture)
    ]
    assert chi[1] < 0.8 * chi[0]


class FailsInRounds:
    """A density that raises, or is no number, at some points once the rounds have begun."""

    def __init__(self, kind):
        self.kind, self.armed, self.met = kind, False, 0

    def __call__(self, x):
        if self.armed and x[0] > 1.0:
            self.met += 1
            if self.kind == "raises":
                raise ValueError("here")
            return np.nan
        return float(banana.py_func(x))


@pytest.mark.parametrize("kind", ["raises", "is no number"])
def test_points_without_a_density_count_for_nothing(kind, monkeypatch) -> None:
    function = FailsInRounds(kind)
    before, n_calls = events.with_round, []

    def armed(*arguments):
        n_calls.append(1)
        function.armed = True
        try:
            return before(*arguments)
        finally:
            function.armed = False

    monkeypatch.setattr(events, "with_round", armed)
    (run,) = driven(new_runs(plan_of(function)))
    assert run.finished
    assert run.failure is None
    assert function.met > 0
    assert len(n_calls) >= 1


def test_a_lesson_that_fails_ends_the_rounds_and_is_noted(monkeypatch) -> None:
    def broken(*_):
        raise ArithmeticError("no fit")

    monkeypatch.setattr(events, "with_lesson", broken)
    monkeypatch.setattr(together, "with_lesson", broken)
    for n_chains in (1, 2):
        runs = driven(new_runs(plan_of(n_chains=n_chains)))
        assert all(run.finished and run.now.learner.rounds.is_over for run in runs)
        assert "rounds of proposals" in runs[0].now.setbacks[0]
        assert not runs[0].now.learner.rounds.taught


def mixtures_in_the_draws(run, disturb=None):
    """The mixture after each few draws."""
    seen = []
    while not run.finished:
        run.advance(max(5, TUNE - run.n_done))
        if run.now.frozen:
            seen.append(run.now.learner.mixture.root.tobytes())
            if disturb is not None and TUNE < run.n_done < TUNE + DRAWS:
                disturb(run)
    return set(seen)


def refit_to_the_draws(run):
    """A broken sampler: what was drawn last teaches the mixture."""
    learner = run.now.learner
    root = learner.mixture.root * (1.0 + 0.1 * np.std(run.sampling.draws[: run.n_done - TUNE]))
    run.now.learner = replace(learner, mixture=learner.mixture._replace(root=root))


def test_nothing_is_taught_in_the_draws_and_a_sampler_that_does_is_caught() -> None:
    assert len(mixtures_in_the_draws(*new_runs(plan_of()))) == 1
    assert len(mixtures_in_the_draws(*new_runs(plan_of()), refit_to_the_draws)) > 1


def test_rounds_have_a_stream_of_their_own() -> None:
    seed = np.random.SeedSequence(3)
    words = {tuple(keyed(seed, purpose, 0).generate_state(4)) for purpose in range(ROUNDS + 1)}
    assert len(words) == ROUNDS + 1


def test_rounds_must_be_a_flag() -> None:
    assert tp.Jumps().rounds is False
    with pytest.raises(TypeError, match="rounds"):
        tp.Jumps(rounds="yes")


@pytest.mark.parametrize("n_chains", [1, 2])
def test_what_rounds_have_taught_is_exactly_invariant(n_chains, seed, rng, monkeypatch) -> None:
    """T3 with a mixture that rounds have made, wide components included."""
    monkeypatch.setattr(teaching, "_is_enough", lambda *_: False)
    monkeypatch.setattr(teaching, "worth_with_tails", lambda _, mixture: 1.0 + len(mixture.centre))
    plan = make_plan(
        target_of(False), np.geomspace(1.0, 0.05, 4), 2, strategy=tp.swaps.even_odd(), tune=3_000, draws=8,
        settings=tp.Settings(jumps=tp.Jumps(rounds=True), trimming=tp.Trimming(min_levels=2)),
    )  # fmt: skip
    starts = Starts(np.zeros(2), np.random.default_rng(0))
    plan = replace(plan, chains=n_chains)
    runs = driven([ChainRun(plan, k, starts, np.random.SeedSequence([seed, k])) for k in range(n_chains)])
    assert runs[0].now.learner.rounds.taught
    assert runs[0].now.learner.mixture.chance[0] > 0.3, "the base must jump"
    verdict = judge_sequentially(lambda n, rng: p_values(runs[0], n, rng), rng, n_first=6_000)
    assert verdict.passed, verdict.detail
