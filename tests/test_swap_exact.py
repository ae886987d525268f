"""T1 and T2: every strategy leaves the tempered product exactly invariant."""

import math

import numba
import numpy as np
import pytest
from scipy import stats

import orbit
import temperance as tp
from harness import HandTarget, make_noise, make_plan, make_run
from strategies import LOG_WEIGHTS, STRATEGIES
from temperance.core.state import Chain, chain_type, propose_pair_type
from temperance.core.swap import swap, swap_log_accept
from temperance.runs.plan import kernel_settings

N_LADDERS = 200
N_CALLS = 100_000
FALSE_ALARM = 1e-5


@numba.njit
def flat(x):
    return 0.0


WEIGHTS = {
    "adjacent": orbit.adjacent,
    "uniform": orbit.uniform,
    "equi_energy": orbit.equi_energy,
    **{name: orbit.from_log_weight(weight) for name, weight in LOG_WEIGHTS.items()},
}


def kernel_accept(log_i, log_j, beta_i, beta_j, ratio):
    return math.exp(swap_log_accept(log_i, log_j, beta_i, beta_j, ratio))


def turned_accept(log_i, log_j, beta_i, beta_j, ratio):
    return kernel_accept(log_i, log_j, beta_j, beta_i, ratio)


def ratio_forgotten(log_i, log_j, beta_i, beta_j, ratio):
    return kernel_accept(log_i, log_j, beta_i, beta_j, 0.0)


def base_beta_for_all(log_i, log_j, beta_i, beta_j, ratio):
    return kernel_accept(log_i, log_j, 1.0, beta_j, ratio)


def random_ladder(rng, n_levels, kind):
    """Points, energies and β: plain, with ties, with huge gaps, or −inf with a β = 0 level."""
    points = rng.standard_normal((n_levels, 2))
    energies = rng.normal(0.0, 2.0, n_levels)
    beta = np.sort(rng.uniform(0.05, 1.0, n_levels))[::-1].copy()
    beta[0] = 1.0
    if kind == "ties":
        energies[rng.integers(n_levels)] = energies[rng.integers(n_levels)]
        energies[-1] = energies[0]
    elif kind == "huge":
        energies *= 10.0 ** rng.uniform(1, 6)
    elif kind == "vanishing":
        beta[-1] = 0.0
        energies[rng.integers(n_levels)] = -np.inf
    return points, energies, beta


def imbalance(weights, accept, ladder):
    """Largest failure of unit rows, stationarity and detailed balance."""
    points, energies, beta = ladder
    law = orbit.stationary(energies, beta)
    matrix = orbit.transition_matrix(weights, accept, points, energies, beta)
    assert not np.any(np.isnan(matrix))
    flow = law[:, None] * matrix
    return max(
        np.abs(matrix.sum(axis=1) - 1.0).max(), np.abs(law @ matrix - law).max(), np.abs(flow - flow.T).max()
    )


@pytest.mark.parametrize("kind", ["plain", "ties", "huge", "vanishing"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_orbit_is_in_detailed_balance(name, kind, rng) -> None:
    weights = WEIGHTS[name]
    for trial in range(N_LADDERS // 4):
        ladder = random_ladder(rng, 4 if trial < N_LADDERS // 4 - 2 else 5, kind)
        assert imbalance(weights, kernel_accept, ladder) < 1e-12


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("equi_energy", turned_accept),
        ("uniform", base_beta_for_all),
        ("scaled_energy", ratio_forgotten),
        ("far_apart", ratio_forgotten),
        ("lopsided", ratio_forgotten),
    ],
)
def test_orbit_catches_broken_acceptances(name, mutant, rng) -> None:
    weights = WEIGHTS[name]
    worst = max(imbalance(weights, mutant, random_ladder(rng, 4, "plain")) for _ in range(20))
    assert worst > 1e-3


@pytest.mark.parametrize("name", ["adjacent", "uniform", "equi_energy"])
def test_declared_symmetry_is_true(name, rng) -> None:
    strategy, weights = STRATEGIES[name], WEIGHTS[name]
    assert strategy.symmetric
    for kind in ("plain", "ties", "huge"):
        points, energies, beta = random_ladder(rng, 5, kind)
        here = weights(points, energies, beta)
        for i, j in here:
            order = list(orbit.exchanged(tuple(range(5)), i, j))
            there = weights(points[order], energies[order], beta)
            assert there[i, j] / sum(there.values()) == pytest.approx(here[i, j] / sum(here.values()))


@pytest.fixture(scope="module")
def repeat_swap():
    """Apply the compiled swap phase many times to one state; counts of each outcome."""
    signature = numba.types.void(propose_pair_type(), chain_type(), numba.int64[:, ::1])

    @numba.njit(signature)
    def repeat(propose_pair, chain, counts):
        state, info, view, _, noise, _, _ = chain
        position, log_density = state.position.copy(), state.log_density.copy()
        replica = state.replica.copy()
        for row in range(noise.swap_uniforms.shape[0]):
            swap(propose_pair, view, noise, row, state, info)
            if info.swap_accepted[0] == 1:
                counts[view.pair[0], view.pair[1]] += 1
            else:
                counts[0, 0] += 1
            state.position[:] = position
            state.log_density[:] = log_density
            state.replica[:] = replica

    return repeat


def exact_row(weights, ladder):
    """Probability of each accepted exchange from the identity, and of staying."""
    points, energies, beta = ladder
    states = orbit.permutations(len(beta))
    row = orbit.transition_matrix(weights, kernel_accept, points, energies, beta)[0]
    n_levels = len(beta)
    table = np.zeros((n_levels, n_levels))
    table[0, 0] = row[0]
    for i in range(n_levels):
        for j in range(i + 1, n_levels):
            table[i, j] = row[states.index(orbit.exchanged(states[0], i, j))]
    return table


def swap_counts(repeat_swap, strategy, ladder, rng):
    points, energies, beta = ladder
    plan = make_plan(HandTarget(flat, flat), beta, 2, strategy=strategy)
    run = make_run(plan)
    run.state.position[:], run.state.log_density[:] = points, energies
    noise = make_noise(rng, N_CALLS, 1, 1)
    settings = kernel_settings(plan, adapting=False)
    chain = Chain(run.state, run.info, run._view, settings, noise, run.sampling, run.control)
    counts = np.zeros((len(beta), len(beta)), dtype=np.int64)
    repeat_swap(strategy.kernel(), chain, counts)
    return counts


def fit(counts, table):
    """χ² p-value of the counts, zero where something impossible happened."""
    if np.any(counts[table <= 0.0] > 0):
        return 0.0
    likely = table * N_CALLS >= 5.0
    observed = np.append(counts[likely], counts[~likely].sum())
    expected = np.append(table[likely], max(1.0 - table[likely].sum(), 1e-300)) * N_CALLS
    if expected[-1] < 5.0:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return float(stats.chisquare(observed, expected).pvalue) if len(observed) > 1 else 1.0


@pytest.mark.parametrize("kind", ["plain", "ties", "huge", "vanishing"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_compiled_swap_follows_the_exact_row(name, kind, repeat_swap, rng) -> None:
    strategy, weights = STRATEGIES[name], WEIGHTS[name]
    for _ in range(3):
        ladder = random_ladder(rng, 4, kind)
        p = fit(swap_counts(repeat_swap, strategy, ladder, rng), exact_row(weights, ladder))
        assert p > FALSE_ALARM


def test_exact_row_catches_another_strategy(repeat_swap, rng) -> None:
    ladder = random_ladder(rng, 4, "plain")
    counts = swap_counts(repeat_swap, tp.swaps.uniform(), ladder, rng)
    for name in ("adjacent", "equi_energy", "far_apart"):
        assert fit(counts, exact_row(WEIGHTS[name], ladder)) < FALSE_ALARM


@pytest.mark.parametrize("gap", [1e4, 1e6])
def test_equi_energy_survives_levels_far_apart(gap, rng) -> None:
    run = make_run(make_plan(HandTarget(flat), [1.0, 0.5, 0.25, 0.1], 1))
    kernel = tp.swaps.equi_energy().kernel()
    run.state.log_density[:] = [0.0, -gap, -2.5 * gap, -3.5 * gap - 1000.0]
    pairs = set()
    for u, v in rng.random((200, 2)):
        assert kernel(run._view, u, v) == 0.0
        pairs.add(tuple(run._view.pair))
    assert pairs == {(0, 1)}


def test_all_weights_zero_means_no_swap() -> None:
    run = make_run(make_plan(HandTarget(flat, flat), [1.0, 0.0], 1))
    for energies in ([0.0, -np.inf], [-np.inf, -np.inf]):
        run.state.log_density[:] = energies
        run._view.pair[:] = -1
        tp.swaps.equi_energy().kernel()(run._view, 0.5, 0.5)
        assert run._view.pair[0] == -1


def test_recomputed_densities_agree_after_every_swap(rng) -> None:
    """The stale log density of PTMCMCSampler's users: recompute after each iteration."""
    from harness import advance, place

    target = HandTarget(two_bumps)
    plan = make_plan(target, [1.0, 0.3, 0.1], 2, tune=300)
    run = make_run(plan)
    place(run, rng.standard_normal((3, 2)))
    for row in range(300):
        advance(run, make_noise(rng, 1, 3, 2), adapting=True, row=row)
        recomputed = [two_bumps(point) for point in run.state.position]
        np.testing.assert_array_equal(run.state.log_density, recomputed)
        assert sorted(run.state.replica) == [0, 1, 2]
        assert len({tuple(point) for point in run.state.position}) == 3
    assert run.tuning.swap_accepted[:300].sum() > 20


@numba.njit
def two_bumps(x):
    return np.logaddexp(-0.5 * np.sum((x - 2.0) ** 2), -0.5 * np.sum((x + 2.0) ** 2))
