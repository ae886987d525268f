"""Draws and jump proposals as one weighted sample: against exact sums, in replicates, and as users see it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

import naive
from bridges import LOG_Z, Peaks, jumping, made_up, mixture
from judge import judge_means
from records import with_chains
from temperance.core.state import JUMP_DOF
from temperance.results.diagnostics import ess_mean, mcse_mean
from temperance.results.diagnostics.ess import correlated_lags
from temperance.results.weighting import bridge, errors, strata
from temperance.results.weighting.bridge import Bridge, bridge_of, log_root
from temperance.results.weighting.errors import standard_error
from temperance.results.weighting.strata import NO_STRATUM, Rows, rows_of

# ---- the root and the weights, exactly


def log_or_nothing(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


@pytest.mark.parametrize("gap", [0.0, 5.0, 40.0, 300.0])
@pytest.mark.parametrize("worth", [(30.0, 50.0), (1.0, 400.0), (0.02, 0.5)])
def test_root_and_weights_are_those_of_the_twin(gap, worth, rng) -> None:
    """Also where draws and proposals hardly overlap; there the plain iteration stops far from the root."""
    drawn = 2.0 * rng.standard_normal((2, 40)) + gap
    proposed = 2.0 * rng.standard_normal(60) - gap
    proposed[::7] = -np.inf
    worth = np.array(worth)
    log_z, of_draws, of_proposals = naive.bridge(drawn, proposed, worth)
    found = log_root(drawn, proposed[np.isfinite(proposed)], worth)
    assert found == pytest.approx(log_z, abs=1e-8)
    rows = Rows(
        every=1,
        log_density=drawn,
        log_mixture=np.zeros(drawn.shape),
        proposal_log_density=np.pad(proposed, (0, 20)).reshape(2, 40),
        proposal_log_mixture=np.zeros((2, 40)),
        stratum=np.pad(np.zeros(60, dtype=np.int64), (0, 20), constant_values=NO_STRATUM).reshape(2, 40),
        n_strata=1,
    )
    made = Bridge(rows, worth, found)
    np.testing.assert_allclose(made.weight, of_draws, rtol=1e-6)
    np.testing.assert_allclose(made.proposal_weight.ravel()[:60], of_proposals, rtol=1e-6)
    assert made.weight.sum() + made.proposal_weight.sum() == pytest.approx(1.0, abs=1e-9)
    squares = (of_draws**2).sum() + (of_proposals**2).sum()
    assert made.effective_size == pytest.approx(1.0 / squares, rel=1e-6)


def test_the_plain_iteration_would_stop_too_soon(rng) -> None:
    """The fixed point as it is first written down: a thousand steps do not bring it to the root."""
    drawn, proposed = rng.standard_normal((1, 40)) + 40.0, rng.standard_normal(60) - 40.0
    root = log_root(drawn, proposed, np.array([40.0]))
    log_z = np.logaddexp.reduce(proposed)
    for _ in range(1_000):
        weights = [1.0 / (1.0 + 40.0 * np.exp(one - log_z)) for one in (proposed, drawn)]
        log_z = np.log((np.exp(proposed) * weights[0]).sum() + (np.exp(drawn) * weights[1]).sum())
    assert abs(log_z - root) > 1.0


# States of a small space with their target and two strata; the last state is one that no stratum reaches.
TARGET = np.array([3.0, 2.0, 1.0, 4.0])
STRATA = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.25, 0.75, 0.0]])
COUNTS = np.array([4, 8])
WORTH = np.array([3.0, 0.4])


def enumerated(target=TARGET, densities=STRATA, counts=COUNTS, weighed=None):
    """Samples in which every state is as frequent as it should be: the estimates must then be exact."""
    per_state = (counts[:, None] * densities).astype(int)
    proposed = [np.repeat(np.arange(4), row) for row in per_state]
    draws = np.tile(np.repeat(np.arange(4), target.astype(int)), (2, 2))
    mixed = (counts if weighed is None else weighed) @ densities
    fill = draws.shape[1] * 2 - counts.sum()
    state = np.concatenate([*proposed, np.zeros(fill, dtype=int)]).reshape(draws.shape)
    stratum = np.concatenate([np.repeat([0, 1], counts), np.full(fill, NO_STRATUM)]).reshape(draws.shape)
    rows = Rows(
        every=1,
        log_density=np.log(target)[draws],
        log_mixture=log_or_nothing(mixed)[draws],
        proposal_log_density=np.where(stratum == NO_STRATUM, -np.inf, np.log(target)[state]),
        proposal_log_mixture=np.where(stratum == NO_STRATUM, 0.0, log_or_nothing(mixed)[state]),
        stratum=stratum,
        n_strata=2,
    )
    return rows, draws, state


def exact_error(worth=WORTH, **options):
    """How far log Z and the mass of each state are off."""
    rows, draws, state = enumerated(**options)
    ratio = (rows.proposal_log_density - rows.proposal_log_mixture)[rows.stratum != NO_STRATUM]
    found = Bridge(rows, worth, log_root(rows.log_density - rows.log_mixture, ratio, worth))
    masses = [found.expectation(draws == k, state == k)[0] for k in range(4)]
    return max(abs(found.log_z - math.log(10.0)), *np.abs(np.array(masses) - TARGET / 10.0))


@pytest.mark.parametrize("worth", [WORTH, np.array([1.0, 1.0]), np.array([50.0, 2.0])])
def test_a_finite_space_is_solved_exactly(worth) -> None:
    assert exact_error(worth) < 1e-9


@pytest.mark.parametrize(
    "weighed",
    [np.array([6.0, 6.0]), COUNTS * np.array([1.0, 1.2])],
    ids=["n alpha in place of counts", "one component's height off"],
)
def test_what_is_wrong_is_seen_on_the_finite_space(weighed) -> None:
    assert exact_error(weighed=weighed) > 0.01


def test_the_importance_sampler_alone_misses_what_no_stratum_reaches() -> None:
    rows, _, _ = enumerated()
    ratio = (rows.proposal_log_density - rows.proposal_log_mixture)[rows.stratum != NO_STRATUM]
    assert np.logaddexp.reduce(ratio) == pytest.approx(math.log(6.0))  # of 10


# ---- what the rows are


def test_rows_have_the_density_of_all_strata_by_their_counts(rng) -> None:
    """Two chains share a mixture, the third has one of its own; of that no jump to a component was tried."""
    good = mixture([-4.0, 3.0, -1.0], [1.1, 0.6, 5.0], [0.6, 0.35, 0.05])
    own = mixture([-4.3, 2.8, 50.0], [1.0, 0.4, 5.0], [0.5, 0.5, 0.0])
    result = made_up(rng, TWO, [good, good, own], n_draws=30)
    rows = rows_of(result)
    jump = np.stack([chain.sampling.jump for chain in result.chains])
    expected = 0.0
    for k in range(3):
        shared = np.count_nonzero(jump[:2] == k)
        expected += shared * component_density(good, k, result.draws[:, :, 0])
        expected += np.count_nonzero(jump[2] == k) * component_density(own, k, result.draws[:, :, 0])
    np.testing.assert_allclose(rows.log_mixture, np.log(expected), rtol=1e-10)
    assert rows.n_proposals == np.count_nonzero(jump >= 0)
    np.testing.assert_array_equal(
        rows.stratum, np.where(jump >= 0, jump + np.array([[0], [0], [3]]), NO_STRATUM)
    )
    assert np.all(rows.proposal_log_density[jump < 0] == -np.inf)
    assert np.all(np.isfinite(rows.proposal_log_mixture))


def component_density(modes, k, x):
    scale = math.sqrt(modes.covariance[k, 0, 0])
    return stats.t(JUMP_DOF, loc=modes.centre[k, 0], scale=scale).pdf(x)


def test_of_many_rows_one_in_so_many_is_weighted(rng, monkeypatch) -> None:
    result = made_up(rng, TWO, [GOOD, GOOD], n_draws=400)
    monkeypatch.setattr(strata, "MAX_ROWS", 300)
    rows = rows_of(result)
    assert rows.every == 3
    assert rows.log_density.shape == (2, 134)
    thinned = replace(result)
    value = thinned.expect(lambda x: x[:, 0])
    found = thinned.weighted
    assert value.by == "weighted"
    assert abs(found.weights.sum() - 1.0) < 1e-9
    assert value.value == pytest.approx(found.weights @ found.points[:, 0])
    assert len(found) == 2 * 134 + rows.n_proposals


def test_worth_is_the_effective_size_of_the_log_ratio(rng) -> None:
    """Between one and all; a chain that never moves is worth one."""
    made = rng.standard_normal(200).cumsum()
    assert bridge._worth_of_draws(made) == max(ess_mean(made), 1.0)
    assert bridge._worth_of_draws(np.tile([1.0, -1.0], 100)) == 200.0
    assert bridge._worth_of_draws(np.full(200, 3.0)) == bridge._worth_of_draws(np.ones(2)) == 1.0


def share_of_draws(rows):
    """N times the relative variance of the importance sampler, stratum by stratum; and by the draws."""
    chosen = rows.stratum != NO_STRATUM
    value = np.exp(rows.proposal_log_density - rows.proposal_log_mixture)
    means = {k: value[rows.stratum == k].mean() for k in set(rows.stratum[chosen].tolist())}
    total, between = value[chosen].sum(), sum(means[k] ** 2 for k in rows.stratum[chosen].tolist())
    at_draws = np.exp(rows.log_density - rows.log_mixture).mean()
    both = [(value[chosen] ** 2).sum(), at_draws * total]
    return [chosen.sum() * (second - between) / total**2 for second in both]


@pytest.mark.parametrize("missed", [False, True])
def test_draws_count_as_the_worse_view_of_the_mixture_says(missed, rng) -> None:
    """Where proposals never come they see no variance; without the draws' view these would hardly count."""
    target, known = (FAR, NARROW) if missed else (TWO, GOOD)
    rows = rows_of(made_up(rng, target, [known] * 2, n_draws=500, memory=0.0))
    by_proposals, by_draws = share_of_draws(rows)
    found = bridge._share_of_draws(rows, rows.log_density - rows.log_mixture, np.ones(2))
    assert found == pytest.approx(np.clip(max(by_proposals, by_draws), bridge.LEAST_SHARE, 1.0))
    assert (by_draws > 1.0 > by_proposals) if missed else abs(by_draws / by_proposals - 1.0) < 0.5


# ---- replicates: no bias, and errors that are what they say

TWO = Peaks(np.array([-4.0, 3.0]), np.array([1.0, 0.5]), np.array([0.7, 0.3]))
FAR = replace(TWO, centre=np.array([-4.0, 12.0]))
GOOD = mixture([-4.0, 3.0, -1.0], [1.1, 0.6, 5.0], [0.6, 0.35, 0.05])
OVERLAPPING = mixture([-4.4, -3.4, 2.9, -1.0], [0.9, 0.9, 0.5, 5.0], [0.3, 0.2, 0.45, 0.05])
NARROW = mixture([-4.0, -4.0], [1.1, 2.0], [0.9, 0.1])  # knows one mode only
N_REPLICATES, SEEN_BIAS, SEEN_EXCESS = 1_100, 0.2, 0.3  # of the standard error; of the square of a z


def replicates(rng, target, mixtures, n=N_REPLICATES, make=made_up, **options):
    """Errors of log Z, the mean and the mass of the right mode, and the same over their standard errors."""
    rows = []
    for _ in range(n):
        result = make(rng, target, mixtures, **options)
        found = bridge_of(rows_of(result))
        x, y = result.draws[:, :, 0], result.proposals[:, :, 0]
        middle = target.centre.mean()
        mean, mass = found.expectation(x, y), found.expectation(x > middle, y > middle)
        made = [(found.log_z - LOG_Z, found.log_z_error)]
        made += [(mean[0] - target.mean, mean[1]), (mass[0] - target.mass[1], mass[1])]
        rows.append(made)
    error, said = np.moveaxis(np.array(rows), 2, 0)
    return error, error / said


def unbiased(error):
    spread = error.std(axis=0, ddof=1)
    return judge_means(error / spread, np.zeros(3), np.full(3, SEEN_BIAS))


def calibrated(z):
    return judge_means(z**2, np.ones(3), np.full(3, SEEN_EXCESS))


@pytest.mark.parametrize(
    ("target", "mixtures", "options"),
    [
        (TWO, [GOOD, GOOD], {"n_draws": 600}),
        (TWO, [GOOD, OVERLAPPING], {"n_draws": 600}),
        (TWO, [NARROW, NARROW], {"n_draws": 1_500}),
        (TWO, [GOOD, NARROW, GOOD], {"n_draws": 600, "memory": 0.9}),
        (FAR, [NARROW], {"n_draws": 2_000}),
    ],
    ids=["shared mixture", "own mixtures", "missed mode", "one misses it, slow draws", "far mode"],
)
def test_estimates_have_no_bias_and_honest_errors(target, mixtures, options, rng) -> None:
    """A bias of a fifth of the standard error would be seen, and an error that is 14 % too small."""
    error, z = replicates(rng, target, mixtures, **options)
    for verdict in (unbiased(error), calibrated(z)):
        assert verdict.passed, verdict.detail


def stuck(rng, target, mixtures, **options):
    """The last chain has stayed where it began, at a place that its mixture hardly knows."""
    result = made_up(rng, target, mixtures, **options)
    place = np.array([STUCK_AT])

    def stay(k, chain):
        if k < len(mixtures) - 1:
            return chain
        trace = chain.sampling
        log_density = np.broadcast_to(target.log_density(place), trace.log_density.shape)
        draws = np.broadcast_to(place, trace.draws.shape)
        return replace(chain, sampling=trace._replace(draws=draws, log_density=log_density))

    return with_chains(result, stay)


STUCK_AT = 4.0
THIN = mixture([-4.0, 3.0, -1.0], [1.1, 0.3, 3.0], [0.6, 0.35, 0.05])  # too narrow in the right mode
STUCK = {"n": 300, "n_draws": 500, "memory": 0.0, "make": stuck}


def test_a_stuck_chain_hardly_counts(rng) -> None:
    """It moves an estimate by half of its standard error at most, and errors get larger, not smaller."""
    error, z = replicates(rng, TWO, [THIN] * 4, **STUCK)
    assert np.all(np.abs(error.mean(axis=0)) < 0.5 * error.std(axis=0)), error.mean(axis=0)
    assert np.all((z**2).mean(axis=0) < 1.5)


OFF = mixture([-4.8, 3.4, -1.0], [0.9, 0.45, 4.0], [0.5, 0.45, 0.05])  # beside both modes
JUMPED = {"n_draws": 400, "make": jumping}


def test_draws_that_were_proposals_have_honest_errors(rng) -> None:
    """A proposal of great weight is accepted, and then the chain stays there: the two err together."""
    error, z = replicates(rng, TWO, [OFF, OFF], **JUMPED)
    for verdict in (unbiased(error), calibrated(z)):
        assert verdict.passed, verdict.detail


def test_errors_as_if_draws_had_nothing_of_proposals_are_seen(rng, monkeypatch) -> None:
    monkeypatch.setattr(errors, "_from_then_on", lambda first, second, lags: 0.0)
    _, z = replicates(rng, TWO, [OFF, OFF], **JUMPED)
    assert not calibrated(z).passed
    assert np.all((z**2).mean(axis=0) > 1.2), "since errors are too small"


# ---- the error of a sum


def test_the_error_is_that_of_the_twin(rng) -> None:
    drawn, proposed = rng.standard_normal((2, 2, 60)).cumsum(axis=2)
    drawn, proposed = drawn - drawn.mean(), proposed - proposed.mean()
    lags = correlated_lags(drawn)
    assert 1 < lags < 60
    own = (drawn.size * mcse_mean(drawn)) ** 2
    variance = naive.variance_of_sum(own, drawn, proposed, lags)
    longer = stats.t(1e4).ppf(0.975) / stats.norm.ppf(0.975)
    assert standard_error(drawn, proposed) == pytest.approx(
        errors.stretch(120, lags) * math.sqrt(max(variance, own, (proposed**2).sum()))
    )
    assert errors.stretch(30_000, 1) == pytest.approx(longer, rel=1e-6)


def test_lags_end_where_the_correlation_does(rng) -> None:
    """About where it falls below what can be told from nothing; one where there is nothing to tell."""
    white, slow = (
        rng.standard_normal((2, 4_000)),
        lfilter([1.0], [1.0, -0.95], rng.standard_normal((2, 4_000))),
    )
    assert 1 <= correlated_lags(white) <= 10
    assert 40 <= correlated_lags(slow) <= 400
    assert correlated_lags(np.ones((2, 50))) == correlated_lags(rng.random((2, 5))) == 1


# ---- broken versions, each seen


def by_alpha(monkeypatch):
    real = strata._log_mixture

    def patched(points, parts):
        return real(points, [(modes, count.sum() * modes.weight) for modes, count in parts])

    monkeypatch.setattr(strata, "_log_mixture", patched)


def no_bridge(monkeypatch):
    monkeypatch.setattr(bridge, "_worth_of_draws", lambda ratio: 1e-9)


def wrong_normaliser(monkeypatch):
    real = strata.from_parts

    def patched(*parts):
        made = real(*parts)
        made.log_height[0] += 0.2
        return made

    monkeypatch.setattr(strata, "from_parts", patched)


def with_tuning(rng, target, mixtures, **options):
    """As if the proposals of an early mixture, made while tuning, came from the last one."""
    early = mixture([-3.0, 2.5, -1.0], [1.5, 1.0, 5.0], [0.5, 0.4, 0.1])
    first = made_up(rng, target, [early] * len(mixtures), **options)
    then = made_up(rng, target, mixtures, **options)

    def both(k, chain):
        columns = {
            name: np.concatenate([getattr(one.chains[k].sampling, name) for one in (first, then)])
            for name in ("draws", "log_density", "log_prior", "jump", "proposal", "proposal_log_density")
        }
        return replace(chain, sampling=chain.sampling._replace(**columns))

    return with_chains(then, both)


def one_size(monkeypatch):
    monkeypatch.setattr(bridge, "_worth_of_draws", lambda ratio: float(len(ratio)))


BROKEN = {
    "weights by n alpha in place of counts": (by_alpha, TWO, [GOOD] * 2, {}),
    "no bridge": (no_bridge, FAR, [NARROW], {}),
    "wrong normaliser": (wrong_normaliser, TWO, [GOOD] * 2, {}),
    "proposals of tuning counted": (lambda patch: None, TWO, [GOOD] * 2, {"make": with_tuning}),
    "one effective size for all chains": (one_size, TWO, [THIN] * 4, STUCK),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_versions_are_seen(name, rng, monkeypatch) -> None:
    breaks, target, mixtures, options = BROKEN[name]
    breaks(monkeypatch)
    error, z = replicates(rng, target, mixtures, **{"n": 300, "n_draws": 600, **options})
    far_off = np.abs(error.mean(axis=0)) > 0.5 * error.std(axis=0)
    too_small = (z**2).mean(axis=0) > 1.5
    assert np.any(far_off | too_small), "so much that the tests above, which see less, cannot pass"
