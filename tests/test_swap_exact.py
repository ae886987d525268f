"""T1 and T2: every strategy leaves the tempered product exactly invariant."""

import math

import numba
import numpy as np
import pytest
from scipy import stats

import naive
import orbit
import temperance as tp
from densities import flat, two_modes
from harness import HandTarget, alone, make_noise, make_plan, make_run
from strategies import STRATEGIES, SWEEPS, SYMMETRIC, WEIGHTS
from temperance.core.compile import KERNEL_OPTIONS
from temperance.core.iteration import chain_type
from temperance.core.numba_internals.functions import NO_POINTER
from temperance.core.state import propose_pair_type
from temperance.core.swap import swap, swap_log_accept
from temperance.moves import moves_with, records_of
from temperance.runs.plan import kernel_settings

N_LADDERS = 200
N_CALLS = 100_000
FALSE_ALARM = 1e-5
KINDS = ["plain", "ties", "huge", "vanishing"]


FLAT, FLAT_PRIOR = HandTarget(flat), HandTarget(flat, flat)


def kernel_accept(log_i, log_j, beta_i, beta_j, ratio):
    return math.exp(alone(swap_log_accept)(log_i, log_j, beta_i, beta_j, ratio))


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


def heat_bath_accept(log_i, log_j, beta_i, beta_j, ratio):
    """The probability of the exchanged one of two states, given that it is one of them."""
    power = ratio + (beta_j - beta_i) * (log_i - log_j)
    return 0.0 if math.isnan(power) else float(1.0 / (1.0 + np.exp(np.clip(-power, -700, 700))))


def errors_of(matrix, ladder):
    """Largest failure of unit rows and stationarity, and of detailed balance."""
    _, energies, beta = ladder
    law = orbit.stationary(energies, beta)
    assert not np.any(np.isnan(matrix))
    flow = law[:, None] * matrix
    moved = max(np.abs(matrix.sum(axis=1) - 1.0).max(), np.abs(law @ matrix - law).max())
    return moved, np.abs(flow - flow.T).max()


def imbalance(weights, accept, ladder):
    return max(errors_of(orbit.transition_matrix(weights, accept, *ladder), ladder))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_orbit_is_in_detailed_balance(name, kind, rng) -> None:
    for trial in range(N_LADDERS // len(KINDS)):
        n_levels = 5 if trial < 2 else 3 + trial % 2
        assert imbalance(WEIGHTS[name], kernel_accept, random_ladder(rng, n_levels, kind)) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_heat_bath_is_in_detailed_balance(kind, rng) -> None:
    for _ in range(20):
        assert imbalance(WEIGHTS["uniform"], heat_bath_accept, random_ladder(rng, 4, kind)) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_even_odd_sweeps_are_stationary_and_alternate(kind, rng) -> None:
    """Each half is reversible; one after the other they are invariant only, and by far."""
    worst = 0.0
    for _ in range(20):
        ladder = random_ladder(rng, 4, kind)
        even, odd = (orbit.sweep_matrix(parity, kernel_accept, *ladder[1:]) for parity in (0, 1))
        assert max(errors_of(even, ladder) + errors_of(odd, ladder)) < 1e-12
        assert errors_of(even @ odd, ladder)[0] < 1e-12
        assert max(errors_of(0.5 * (even + odd), ladder)) < 1e-12
        worst = max(worst, errors_of(even @ odd, ladder)[1])
    if kind == "plain":
        assert worst > 1e-3


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("equi_energy", turned_accept),
        ("uniform", base_beta_for_all),
        ("scaled_energy", ratio_forgotten),
        ("big_jumps", ratio_forgotten),
        ("uphill", ratio_forgotten),
        ("cold_energy", ratio_forgotten),
        ("far_apart", ratio_forgotten),
        ("lopsided", ratio_forgotten),
    ],
)
def test_orbit_catches_broken_acceptances(name, mutant, rng) -> None:
    worst = max(imbalance(WEIGHTS[name], mutant, random_ladder(rng, 4, "plain")) for _ in range(20))
    assert worst > 1e-4


@pytest.mark.parametrize("name", STRATEGIES)
def test_declared_symmetry_is_true(name, rng) -> None:
    worst = 0.0
    for kind in ("plain", "ties", "huge"):
        for _ in range(10):
            points, energies, beta = random_ladder(rng, 5, kind)
            here = orbit._probabilities(WEIGHTS[name], points, energies, beta, tuple(range(5)))
            for pair in here:
                swapped = orbit.exchanged(tuple(range(5)), *pair)
                there = orbit._probabilities(WEIGHTS[name], points, energies, beta, swapped)
                worst = max(worst, abs(there[pair] - here[pair]))
    assert STRATEGIES[name].symmetric == (name in SYMMETRIC)
    assert (worst < 1e-12) == STRATEGIES[name].symmetric


@pytest.fixture(scope="module")
def repeat_swap():
    """Apply the compiled swap phase many times to one state; the permutation after each, as a number."""
    matrix, vector, codes = numba.float64[:, ::1], numba.float64[::1], numba.int64[::1]
    chain = chain_type(*records_of(moves_with("covariance"))[:2])
    signature = numba.types.void(propose_pair_type(), chain, matrix, vector, codes)

    @numba.jit(signature, **KERNEL_OPTIONS, **NO_POINTER)
    def repeat(propose_pair, chain, position, log_density, codes):
        state = chain.state
        n_levels = state.n_levels[0]
        for row in range(len(codes)):
            for level in range(n_levels):
                state.replica[level], state.log_density[level] = level, log_density[level]
                for i in range(position.shape[1]):
                    state.position[level, i] = position[level, i]
            swap(propose_pair, chain, row)
            for level in range(n_levels):
                codes[row] = codes[row] * n_levels + state.replica[level]

    return repeat


def exact_row(weights, ladder, accept=kernel_accept):
    """Probability of each permutation after one attempt, from the identity."""
    return orbit.transition_matrix(weights, accept, *ladder)[0]


def swap_counts(repeat_swap, strategy, ladder, rng):
    points, energies, beta = ladder
    plan = make_plan(FLAT_PRIOR, beta, points.shape[1], strategy=strategy)
    run = make_run(plan)
    noise = make_noise(rng, N_CALLS, 1, 1, plan.n_swaps)
    settings = kernel_settings(plan, adapting=False)
    chain = run._chain(settings, noise, run.sampling)
    codes = np.zeros(N_CALLS, dtype=np.int64)
    repeat_swap(run._swaps.kernel, chain, points, energies, codes)
    weights = len(beta) ** np.arange(len(beta))[::-1]
    return np.array([np.sum(codes == np.dot(state, weights)) for state in orbit.permutations(len(beta))])


def fit(counts, table):
    """χ² p-value of the counts, zero where something impossible happened."""
    if np.any(counts[table <= 1e-15] > 0) or counts.sum() != N_CALLS:
        return 0.0
    likely = table * N_CALLS >= 5.0
    observed = np.append(counts[likely], counts[~likely].sum())
    expected = np.append(table[likely], max(1.0 - table[likely].sum(), 1e-300)) * N_CALLS
    if expected[-1] < 5.0:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return float(stats.chisquare(observed, expected).pvalue) if len(observed) > 1 else 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_compiled_swap_follows_the_exact_row(name, kind, repeat_swap, rng) -> None:
    for _ in range(2):
        ladder = random_ladder(rng, 4, kind)
        counts = swap_counts(repeat_swap, STRATEGIES[name], ladder, rng)
        assert fit(counts, exact_row(WEIGHTS[name], ladder)) > FALSE_ALARM


def sweep_row(name, ladder):
    """One whole iteration of a sweep, the first (an even one), from the identity."""
    _, energies, beta = ladder
    if name == "heat_bath":
        matrix = orbit.transition_matrix(WEIGHTS["uniform"], heat_bath_accept, *ladder)
        return np.linalg.matrix_power(matrix, len(beta) ** 2)[0]
    if name == "equi_energy_thrice":
        return np.linalg.matrix_power(
            orbit.transition_matrix(WEIGHTS["equi_energy"], kernel_accept, *ladder), 3
        )[0]
    even, odd = (orbit.sweep_matrix(parity, kernel_accept, energies, beta)[0] for parity in (0, 1))
    return even if name == "even_odd" else 0.5 * (even + odd)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SWEEPS)
def test_compiled_sweep_follows_the_exact_row(name, kind, repeat_swap, rng) -> None:
    for _ in range(2):
        ladder = random_ladder(rng, 4, kind)
        counts = swap_counts(repeat_swap, SWEEPS[name], ladder, rng)
        assert fit(counts, sweep_row(name, ladder)) > FALSE_ALARM


def test_exact_row_catches_another_strategy(repeat_swap, rng) -> None:
    ladder = random_ladder(rng, 4, "plain")
    counts = swap_counts(repeat_swap, tp.swaps.uniform(), ladder, rng)
    for name in ("adjacent", "equi_energy", "far_apart"):
        assert fit(counts, exact_row(WEIGHTS[name], ladder)) < FALSE_ALARM


@pytest.mark.parametrize("n_levels", [2, 3, 5, 20, 41])
def test_equi_energy_pair_equals_the_naive_choice(n_levels, rng) -> None:
    run = make_run(make_plan(FLAT, 1.0 / np.arange(1.0, n_levels + 1), 1))
    kernel = tp.swaps.equi_energy().kernel()
    for trial in range(40):
        energies = rng.normal(0.0, 5.0, n_levels)
        run.state.log_density[:] = np.round(energies) if trial % 2 else energies
        u, v = rng.random(2)
        assert kernel(run._swaps.view, u, v) == 0.0
        assert tuple(run._swaps.view.pair) == naive.choose_equi_energy(run.state.log_density, u, v)


@pytest.mark.parametrize("gap", [1e4, 1e6])
def test_equi_energy_survives_levels_far_apart(gap, rng) -> None:
    run = make_run(make_plan(FLAT, [1.0, 0.5, 0.25, 0.1], 1))
    kernel = tp.swaps.equi_energy().kernel()
    run.state.log_density[:] = [0.0, -gap, -2.5 * gap, -3.5 * gap - 1000.0]
    pairs = set()
    for u, v in rng.random((200, 2)):
        assert kernel(run._swaps.view, u, v) == 0.0
        pairs.add(tuple(run._swaps.view.pair))
    assert pairs == {(0, 1)}


def test_all_weights_zero_means_no_swap() -> None:
    run = make_run(make_plan(FLAT_PRIOR, [1.0, 0.0], 1))
    for energies in ([0.0, -np.inf], [-np.inf, -np.inf]):
        run.state.log_density[:] = energies
        run._swaps.view.pair[:] = -1
        tp.swaps.equi_energy().kernel()(run._swaps.view, 0.5, 0.5)
        assert run._swaps.view.pair[0] == -1


def test_recomputed_densities_agree_after_every_swap(rng) -> None:
    """The stale log density of PTMCMCSampler's users: recompute after each iteration."""
    from harness import advance, place

    target = HandTarget(two_modes)
    plan = make_plan(target, [1.0, 0.3, 0.1], 2, tune=300)
    run = make_run(plan)
    place(run, rng.standard_normal((3, 2)))
    for row in range(300):
        advance(run, make_noise(rng, 1, 3, 2), adapting=True, row=row)
        recomputed = [two_modes(point) for point in run.state.position]
        np.testing.assert_array_equal(run.state.log_density, recomputed)
        assert sorted(run.state.replica) == [0, 1, 2]
        assert len({tuple(point) for point in run.state.position}) == 3
    assert run.tuning.swap_accepted[:300].sum() > 20
