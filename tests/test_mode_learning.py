"""How modes are learnt: clusters against a twin, components against exact draws, and whole runs."""

from dataclasses import replace
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from densities import gaussian
from harness import PLAIN, HandTarget, advance, make_noise, make_plan, make_run
from judge import judge_means
from temperance.modes.components import Components
from temperance.modes.fit import Sample, fit_modes
from temperance.modes.link import link_states
from temperance.modes.local import local_worth, weighed, widened
from temperance.modes.mixture import make_mixture, mode_weights, with_mass
from temperance.modes.policy import FITTING, JUMPING, REGRESSION
from temperance.modes.regress import Known
from temperance.modes.student import from_parts, log_densities
from temperance.modes.worth import efficiency, jump_chance, rest_every, tuning_chance
from temperance.runs.brought import found_by
from temperance.runs.candidates import Points
from temperance.runs.fitting import distinct_states
from temperance.runs.learn import frozen, learnt
from temperance.runs.learner import first_learner
from temperance.runs.plan import kernel_settings
from temperance.runs.scouting import explore, new_scouts
from temperance.theory import chi_square_quantile


def sample_of(problem, n, seed):
    points = problem.draw(n, seed)
    log_density = np.array([problem.log_density(point) for point in points])
    return Sample(points, log_density, np.ones(n), np.ones(n, dtype=bool), 1.0)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 4, 60])
def test_links_equal_the_naive_ones(dim, n, rng) -> None:
    """Random states in two clouds, some of them in wide modes; also fewer than there are neighbours."""
    points = rng.standard_normal((n, dim)) + 6.0 * (rng.random(n) < 0.5)[:, None]
    log_density, reach = rng.standard_normal(n), rng.choice([1.0, 4.0, 100.0], n)
    label, n_clusters = link_states(points, log_density, reach)
    expected = naive.link(points, log_density, reach, FITTING.max_stretch)
    assert n_clusters == len(expected)
    assert {frozenset(np.flatnonzero(label == k).tolist()) for k in range(n_clusters)} == {
        frozenset(cluster) for cluster in expected
    }


@pytest.mark.parametrize("dim", [1, 2, 10, 100])
def test_chi_square_quantile_is_near_the_exact_one(dim) -> None:
    from scipy import stats

    for probability in (0.9, 0.99, 0.999):
        exact = stats.chi2.ppf(probability, dim)
        assert chi_square_quantile(probability, dim) == pytest.approx(exact, rel=0.06)


def test_fit_recovers_twenty_peaks(seed) -> None:
    """Exact draws in: the twenty centres out, with their widths and their equal weights."""
    peaks = tp.zoo.twenty_peaks()
    modes, pooled = fit_modes(sample_of(peaks, 1_000, seed), 0.02 * np.eye(2), 400)
    assert len(modes) == 20
    nearest = peaks.nearest_mode(modes.centre)
    assert sorted(nearest) == list(range(20))
    assert np.abs(modes.centre - peaks.modes[nearest]).max() < 0.1
    np.testing.assert_allclose(np.diag(pooled), 0.01, rtol=0.2)
    np.testing.assert_allclose(mode_weights(modes), 0.05, rtol=0.5)


def test_fit_weighs_modes_by_density_and_not_by_visits(seed) -> None:
    """Nine in ten of the states from the lighter of two modes, as a chain that has just moved would have."""
    modes = tp.zoo.two_modes(5)
    points = modes.draw(4_000, seed)
    side = modes.nearest_mode(points)
    rows = np.concatenate([np.flatnonzero(side == 0)[:900], np.flatnonzero(side == 1)[:100]])
    every = np.ones(len(rows))
    log_density = np.array([modes.log_density(point) for point in points[rows]])
    fitted, _ = fit_modes(Sample(points[rows], log_density, every, every > 0, 1.0), 0.25 * np.eye(5), 400)
    assert len(fitted) == 2
    heavy = int(np.argmax(fitted.centre[:, 0]))
    assert mode_weights(fitted)[heavy] == pytest.approx(2.0 / 3.0, abs=0.1)
    assert fitted.count[heavy] == 100


def test_what_scouts_bring_does_not_change_the_shape(seed) -> None:
    sample = sample_of(tp.zoo.gaussian(2), 300, seed)
    far = Sample(
        np.concatenate([sample.point, 1e6 * np.eye(2)]),
        np.append(sample.log_density, [-50.0, -50.0]),
        np.ones(302),
        np.arange(302) < 300,
        1.0,
    )
    _, pooled = fit_modes(far, np.eye(2), 400)
    assert np.diag(pooled).max() < 2.0


def test_no_weight_is_near_zero_and_negligible_modes_go() -> None:
    one = np.tile(np.eye(2), (3, 1, 1))
    modes = Components(np.zeros((3, 2)), one, np.array([0.0, -12.0, -40.0]), np.array([9, 9, 9]))
    kept = with_mass(modes)
    assert len(kept) == 2
    assert mode_weights(kept).min() == pytest.approx(JUMPING.min_weight / 2, rel=0.1)


def test_the_mass_of_a_mode_is_its_height_times_its_volume() -> None:
    """In three dimensions three times the width and half the height make 13.5 times the mass."""
    covariance = np.array([1.0, 9.0])[:, None, None] * np.diag([1.0, 2.0, 0.5])
    modes = Components(np.zeros((2, 3)), covariance, np.log([1.0, 0.5]), np.array([9, 9]))
    light, heavy = mode_weights(modes)
    assert heavy / light == pytest.approx(13.5)
    lost_in_volume = Components(
        np.zeros((2, 3)), covariance * [[[1.0]], [[1e6]]], np.array([0.0, -25.0]), modes.count
    )
    assert len(with_mass(lost_in_volume)) == 2, "low, but wide"
    heights_alone = replace(lost_in_volume, covariance=np.tile(np.eye(3), (2, 1, 1)))
    assert len(with_mass(heights_alone)) == 1


@numba.njit
def flat_part(x):
    return 0.2 * gaussian(x)


@numba.njit
def prior_part(x):
    return -2.0 * np.sum((x - 3.0) ** 2)


def test_modes_are_fitted_to_likelihood_and_prior_together(rng) -> None:
    """By the states and log densities that the fit is given."""
    plan = make_plan(HandTarget(flat_part, prior_part), [1.0, 0.5], 2, draws=50)
    run = make_run(plan)
    advance(run, make_noise(rng, 50, 2, 2), adapting=False)
    points, log_density = distinct_states(run.sampling, 10, 50)
    assert len(points) > 5
    np.testing.assert_allclose(log_density, [flat_part(point) + prior_part(point) for point in points])


def test_scouts_climb_likelihood_and_prior_together(seed) -> None:
    """The likelihood alone would leave a scout near zero, and the target has its mode near three."""
    settings = replace(PLAIN, jumps=tp.Jumps())
    plan = make_plan(HandTarget(flat_part, prior_part), [1.0, 0.5], 2, tune=100, settings=settings)
    run = make_run(plan, start=np.array([-4.0, 2.0]), seed=seed % 2**32)
    first = Points(run.state.position[:2], (run.state.log_density + run.state.log_prior)[:2])
    scouts = new_scouts(first, np.eye(2))
    np.testing.assert_allclose(
        scouts.log_target, [flat_part(point) + prior_part(point) for point in scouts.position]
    )
    settings = kernel_settings(plan, adapting=True)
    rngs = [np.random.default_rng([seed, k]) for k in range(2)]
    at_rest = explore(scouts, rngs, lambda scouts: run._walk(settings, scouts))
    assert at_rest == [0, 1]
    for scout in at_rest:
        found = found_by(scouts, scout)
        expected = [flat_part(point) + prior_part(point) for point in found.kept]
        np.testing.assert_allclose(found.kept_log_target, expected)
        assert np.abs(found.kept.mean(axis=0) - 3.0 * 2.0 / 2.1).max() < 2.0, "four standard deviations"
        expected = [flat_part(point) + prior_part(point) for point in found.tried]
        np.testing.assert_allclose(found.tried_log_target, expected)


def test_efficiency_is_one_for_the_mixture_itself_and_falls_with_a_bad_fit(rng) -> None:
    parts = np.array([0.4, 0.6]), np.array([[-3.0, 0.0], [3.0, 1.0]]), np.tile(np.eye(2), (2, 1, 1))
    mixture = from_parts(*parts)
    states = rng.standard_normal((2_000, 2)) + parts[1][rng.integers(0, 2, 2_000)]
    own = efficiency(mixture, states, log_densities(states, mixture))
    assert own == pytest.approx(1.0, abs=1e-12)
    assert own == pytest.approx(efficiency(mixture, states, 7.0 + log_densities(states, mixture)))
    narrow = from_parts(parts[0], parts[1], 0.1 * parts[2])
    assert efficiency(narrow, states, log_densities(states, mixture)) < 0.1


def test_worth_rules_how_often_to_jump_and_to_rest() -> None:
    chances = [jump_chance(worth, 5) for worth in (0.0, 1e-3, 0.03, 0.2, 1.0)]
    assert chances[0] == 0.0
    assert np.all(np.diff(chances) > 0.0)
    assert chances[-1] < 1.0
    assert jump_chance(0.01, 50) > jump_chance(0.01, 2), "walks are slower in many dimensions"
    assert rest_every(0.0, 0.0, 5) == 1
    assert rest_every(0.8, 0.0, 5) > rest_every(0.8, 0.1, 5) > rest_every(0.8, 1.0, 5) >= 1
    assert rest_every(0.8, 0.0, 1) == 1


@pytest.mark.parametrize(("acceptance", "gained"), [(0.9, 1e-3), (1e-3, 0.9)])
def test_jumps_are_worth_the_lesser_of_acceptance_and_efficiency(acceptance, gained) -> None:
    """While tuning, and when it ends: in heavy tails jumps are accepted often and yet do no good."""
    plan = make_plan(None, [1.0, 0.5, 0.2], 2, tune=1_000)
    known = Components(np.zeros((1, 2)), np.eye(2)[None], np.zeros(1), np.array([9]))
    learner = replace(first_learner(plan), components=known, acceptance=acceptance, efficiency=gained)
    trace = SimpleNamespace(base_accept_prob=np.full(20, acceptance), jump=np.zeros(20, dtype=np.int16))
    learner = learnt(learner, plan, trace, np.eye(2), 20)
    assert learner.mixture.chance[0] == pytest.approx(tuning_chance(1e-3, 2))
    learner = frozen(learner, plan, 3)
    assert learner.mixture.chance[0] == pytest.approx(jump_chance(1e-3, 2))
    assert learner.rest_every == rest_every(1e-3, 0.0, 3)
    assert tuning_chance(0.9, 2) > 2.0 * tuning_chance(1e-3, 2)
    assert rest_every(0.9, 0.0, 3) > rest_every(1e-3, 0.0, 3)


def test_broad_component_comes_last_and_is_no_mode(seed) -> None:
    peaks = tp.zoo.twenty_peaks()
    sample = sample_of(peaks, 500, seed)
    modes, _ = fit_modes(sample, 0.02 * np.eye(2), 400)
    mixture = make_mixture(modes, sample.point.mean(axis=0), np.cov(sample.point.T))
    np.testing.assert_allclose(mixture.centre[-1], sample.point.mean(axis=0))
    assert mixture.cumulative[-1] == pytest.approx(1.0)


# Chains, draws, and what bias the test promises to see, in standard deviations. From the lightest mode.
ZOO = {
    "twenty_peaks": (tp.zoo.twenty_peaks(), 16, 5_000, 0.1),
    "two_modes": (tp.zoo.two_modes(5), 16, 5_000, 0.1),
    "label_switching": (tp.zoo.label_switching(), 20, 8_000, 0.02),  # of the weights
}
MORE_OF_THE_ZOO = {
    "narrow_mode": (tp.zoo.unequal_widths(2, ratio=10.0), 32, 5_000, 0.1),  # from the narrow mode
    "student_modes": (tp.zoo.student_modes(2, dof=8.0), 32, 5_000, 0.1),
    "rare_mode": (tp.zoo.rare_mode(2, rarity=20.0), 32, 5_000, 0.1),
    "two_bananas": (tp.zoo.two_bananas(), 32, 5_000, 0.2),
    "banana": (tp.zoo.banana(), 64, 8_000, 0.2),
    "gaussian": (tp.zoo.gaussian(10), 32, 5_000, 0.1),
    "rings": (tp.zoo.rings(), 32, 5_000, 0.1),
    "twenty_cylinders": (tp.zoo.twenty_cylinders("normal"), 32, 5_000, 0.2),
    "two_modes_on_a_line": (tp.zoo.two_modes(1), 32, 5_000, 0.1),
}
ALL_OF_THE_ZOO = [*ZOO, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_OF_THE_ZOO)]


@pytest.mark.filterwarnings("ignore::temperance.BoundWarning")  # no power of a Student's t is proper for ever
@pytest.mark.parametrize("name", ALL_OF_THE_ZOO)
def test_known_answers_by_replicates_from_the_lightest_mode(name, seed) -> None:
    """T6 for runs that jump, with independent chains: means and variances, or the weights of the modes."""
    problem, chains, draws, visible = (ZOO | MORE_OF_THE_ZOO)[name]
    lightest = np.zeros(problem.dim)
    if problem.modes is not None:
        lightest = problem.modes[-1 if name == "narrow_mode" else int(np.argmin(problem.mode_weights))].copy()
    if name == "rings":
        lightest[0] += 5.0  # onto the ring; its centre is empty
    result = tp.sample(
        problem, initial=lightest, draws=draws, tune=4_000, chains=chains, seed=seed,
        data=problem.data, progress=False,
    )  # fmt: skip
    assert np.mean([chain.modes.chance > 0.5 for chain in result.chains]) > 0.5, "most chains must jump"
    judge = judge_mode_weights if name == "label_switching" else judge_moments
    verdict = judge(problem, result.draws, visible)
    assert verdict.passed, verdict.detail
    if name == "two_modes":
        assert_equal_weights_would_be_seen(problem, result.draws)


def assert_equal_weights_would_be_seen(problem, draws) -> None:
    """Jumps without a ratio would give modes the mixture's weights; equal ones are told from the true."""
    assert judge_mode_weights(problem, draws, 0.05).passed
    equal = np.full(len(problem.modes), 1.0 / len(problem.modes))
    assert not judge_mode_weights(replace(problem, mode_weights=equal), draws, 0.05).passed


def judge_moments(problem, draws, visible):
    """Mean and variance over all coordinates, in standard deviations."""
    scaled = (draws - problem.mean) / np.sqrt(np.diag(problem.covariance))
    found = np.stack([scaled.mean(axis=(1, 2)), (scaled**2).mean(axis=(1, 2))], axis=1)
    return judge_means(found, np.array([0.0, 1.0]), np.array([visible, 2.0 * visible]))


def judge_mode_weights(problem, draws, visible):
    """Of all but one, since they add up to one."""
    found = np.array([problem.occupancy(chain) for chain in draws])[:, 1:]
    return judge_means(found, problem.mode_weights[1:], np.full(found.shape[1], visible))


def test_averages_over_labels_do_not_see_labels_that_switch_too_rarely(seed) -> None:
    """Exact draws, some with their labels put in order: whatever is averaged over the labels stays right."""
    problem = tp.zoo.label_switching()
    draws = problem.draw(32 * 2_000, seed).reshape(32, 2_000, problem.dim)
    assert judge_mode_weights(problem, draws, 0.02).passed
    draws[:, :200] = np.sort(draws[:, :200], axis=2)
    assert judge_moments(problem, draws, 0.1).passed
    assert not judge_mode_weights(problem, draws, 0.02).passed


def test_a_mixture_is_frozen_with_the_draws_and_repeats(seed) -> None:
    peaks = tp.zoo.twenty_peaks()
    options = {"initial": np.full(2, 5.0), "tune": 3_000, "chains": 2, "seed": seed, "progress": False}
    short = tp.sample(peaks.log_density, draws=100, **options)
    long = tp.sample(peaks.log_density, draws=900, **options)
    for one, other in zip(short.chains, long.chains, strict=True):
        np.testing.assert_array_equal(one.modes.centre, other.modes.centre)
        np.testing.assert_array_equal(one.modes.weight, other.modes.weight)
        np.testing.assert_array_equal(one.sampling.draws, other.sampling.draws[:100])


def test_evaluations_are_counted(seed) -> None:
    """By a density that counts itself: the look before the run, starts, levels that move, scouts."""
    calls = 0

    def counting(x):
        nonlocal calls
        calls += 1
        return float(np.logaddexp(-0.5 * np.sum((x - 6.0) ** 2), -0.5 * np.sum((x + 6.0) ** 2)))

    result = tp.sample(
        counting, initial=np.full(2, 6.0), levels=3, draws=400, tune=800, chains=1, seed=seed, progress=False
    )
    chain = result.chains[0]
    assert chain.modes.n_scouts > 0
    assert chain.modes.rest_every > 1
    made = chain.tuning.evaluations.sum() + chain.sampling.evaluations.sum()
    assert calls == result.setup.n_preflight + 3 + made


def test_without_a_share_no_scout_is_sent(seed) -> None:
    problem = tp.zoo.two_modes(2)
    settings = tp.Settings(jumps=tp.Jumps(scout_share=0.0))
    result = tp.sample(
        problem, initial=problem.modes[0], levels=3, draws=0, tune=800, chains=1, seed=seed,
        progress=False, settings=settings,
    )  # fmt: skip
    assert result.chains[0].modes.n_scouts == 0
    assert result.chains[0].tuning.evaluations.sum() == 3 * 800


def outcome_of(call):
    """What a call returns, or the error of the density that it raises."""
    try:
        return call()
    except tp.DensityError as error:
        return error


@pytest.mark.filterwarnings("ignore::temperance.LearningWarning")
def test_a_density_that_fails_once_keeps_all_draws(seed) -> None:
    """Whichever call fails, the result has all that was before; in a scout it has all there is."""
    failed, lost, calls = {"calls": 0}, 0, range(300, 1_150, 111)

    def fragile(x):
        failed["calls"] += 1
        if failed["calls"] == failed["at"]:
            raise ZeroDivisionError("now")
        return float(-0.5 * np.sum(x**2))

    options = {"initial": np.zeros(2), "levels": 3, "draws": 300, "tune": 300, "chains": 1, "cores": 1}
    for at in calls:
        failed.update(calls=0, at=at)
        outcome = outcome_of(lambda: tp.sample(fragile, seed=seed, progress=False, **options))
        if isinstance(outcome, tp.DensityError):
            assert isinstance(outcome.__cause__, ZeroDivisionError)
            chain = outcome.result.chains[0]
            spent = chain.tuning.evaluations.sum() + chain.sampling.evaluations.sum()
            assert at - 1 - 60 <= 2 * 3 + spent <= at + 60 + 3, "at most a round of a scout is not whole"
        else:
            lost += 1
            assert outcome.complete
            assert outcome.chains[0].modes.n_scouts_lost > 0
    assert 0 < lost < len(calls)


def test_jumps_can_be_switched_off(seed) -> None:
    result = tp.sample(
        tp.zoo.two_modes(2), initial=np.full(2, -3.0), draws=200, tune=500, chains=1, seed=seed,
        settings=replace(PLAIN, jumps=tp.Jumps(enabled=False)), progress=False,
    )  # fmt: skip
    chain = result.chains[0]
    assert chain.modes is None
    assert np.all(chain.sampling.jump == -1)
    assert np.all(chain.sampling.evaluations == result.n_levels[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"enabled": 1}, "enabled must be True or False"),
        ({"scout_share": 1.0}, "scout_share must lie in"),
        ({"scout_share": -0.1}, "scout_share must lie in"),
        ({"refresh": "yes"}, "refresh must be True or False"),
    ],
)
def test_bad_settings_of_jumps_are_refused(wrong, message) -> None:
    with pytest.raises(tp.TemperanceError, match=message):
        tp.Jumps(**wrong)


def test_jumps_must_be_jumps() -> None:
    with pytest.raises(tp.TemperanceError, match=r"jumps must be a temperance\.Jumps"):
        tp.Settings(jumps=True)
    with pytest.raises(tp.TemperanceError, match="coordinate_every"):
        tp.Adaptation(coordinate_every=-1)
    with pytest.raises(tp.TemperanceError, match="walk must be one of"):
        tp.Adaptation(walk="random")


def test_the_width_of_a_component_is_the_one_that_describes_states_best(rng) -> None:
    """Against every width tried on its own."""
    points = rng.standard_normal((200, 3))
    judges = Known(points, -0.5 * (points**2).sum(axis=1), np.ones(200, dtype=bool))
    one = Components(
        centre=np.full((1, 3), 0.1),
        covariance=0.8 * np.eye(3)[None],
        log_peak=np.zeros(1),
        count=np.array([200]),
    )
    tried = [weighed(replace(one, covariance=width * one.covariance), judges) for width in REGRESSION.widths]
    best = max(tried, key=lambda component: local_worth(component, judges))
    found, worth = widened(one, judges)
    assert worth == pytest.approx(local_worth(best, judges), rel=1e-12)
    np.testing.assert_allclose(found.covariance, best.covariance, rtol=1e-12)
    np.testing.assert_allclose(found.log_peak, best.log_peak, rtol=1e-12)
