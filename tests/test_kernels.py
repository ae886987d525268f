"""Each kernel against its naive twin."""

import functools
import math

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import temperance as tp
from densities import bumpy, flat
from harness import HandTarget, advance, alone, in_lanes, make_noise, make_plan, make_run, out_of_lanes, place
from temperance.core import accept, evaluate, linalg, numeric, swap, trim
from temperance.core.lanes import LANES
from temperance.core.state import INFINITE, LEVEL, NOT_A_NUMBER, RUNNING, STATUS
from temperance.results.diagnostics import first_unimodal
from temperance.runs.levels import covariances
from temperance.runs.plan import kernel_settings
from temperance.theory import gaussian_scale


@numba.njit
def off_centre(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.2 * (x[i] - 1.0) ** 2
    return total


FLAT, FLAT_PRIOR = HandTarget(flat), HandTarget(flat, flat)
BUMPY, BUMPY_PRIOR = HandTarget(bumpy), HandTarget(bumpy, off_centre)


@functools.cache
def trim_run(n_levels):
    return make_run(make_plan(FLAT, 1.0 / np.arange(1.0, n_levels + 1), 1))


def test_python_may_call_a_kernel() -> None:
    """Kernels have no compiled way in; a call must end in Python and not in a null pointer."""
    assert numeric.clamp(1.0, 2.0, 3.0) == alone(numeric.clamp)(1.0, 2.0, 3.0) == 2.0


finite = st.floats(-1e4, 1e4)
betas_01 = st.floats(0.0, 1.0)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_capped_log_prob_never_accepts_nan(value: float) -> None:
    got = alone(numeric.capped_log_prob)(value)
    assert got == (-math.inf if math.isnan(value) else min(value, 0.0))


@given(finite, finite, betas_01, betas_01, st.floats(1e-3, 1.0), st.floats(1e-3, 1.0))
def test_swap_acceptance_is_equation_3(log_i, log_j, beta_i, beta_j, p_there, p_here) -> None:
    ratio = math.log(p_there) - math.log(p_here)
    got = math.exp(alone(swap.swap_log_accept)(log_i, log_j, beta_i, beta_j, ratio))
    expected = naive.swap_accept(log_i, log_j, beta_i, beta_j, p_there, p_here)
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(finite, finite, betas_01, betas_01, st.floats(-5, 5))
def test_swap_is_reversible_as_algebra(log_i, log_j, beta_i, beta_j, ratio) -> None:
    """log π + log p_ij + log α agrees both ways; with the sign of the exponent turned it does not."""
    there = beta_i * log_i + beta_j * log_j + alone(swap.swap_log_accept)(log_i, log_j, beta_i, beta_j, ratio)
    back = (
        ratio
        + beta_i * log_j
        + beta_j * log_i
        + alone(swap.swap_log_accept)(log_j, log_i, beta_i, beta_j, -ratio)
    )
    size = max(1.0, abs(log_i), abs(log_j))
    assert there == pytest.approx(back, abs=1e-12 * size)
    turned = (
        beta_i * log_i + beta_j * log_j + alone(swap.swap_log_accept)(log_i, log_j, beta_j, beta_i, ratio)
    )
    energy = (beta_j - beta_i) * (log_i - log_j)
    if min(abs(energy + ratio), abs(energy - ratio), abs(energy)) > 1e-3 * size and abs(ratio) < abs(energy):
        assert turned != pytest.approx(back, abs=1e-6)


@given(st.integers(0, 10**7), st.floats(0.51, 1.0), st.floats(0.1, 3.0), st.floats(0, 500))
def test_gain_follows_the_formula_and_stays_below_one(step, exponent, scale, delay) -> None:
    got = alone(numeric.power_gain)(step, scale, exponent, delay)
    assert 0.0 < got < 1.0
    assert got == pytest.approx(min(naive.gain(step, scale, exponent, delay), 0.99), rel=1e-12)


def test_gains_vanish_but_their_sum_does_not() -> None:
    steps = np.array([alone(numeric.power_gain)(n, 1.0, 0.6, 0.0) for n in range(200_000)])
    assert np.all(np.diff(steps) < 0.0)
    assert steps[-1] < 1e-3
    assert steps[:100_000].sum() > 0.6 * steps.sum() > 100.0


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("new", [(-1.0, -2.0), (-np.inf, -1.0), (-3.0, -np.inf), (4.0, 0.5)])
def test_walk_acceptance_tempers_only_the_likelihood(beta, new) -> None:
    run = make_run(make_plan(FLAT_PRIOR, [1.0, 0.5], 1))
    run.state.beta[0] = beta
    run.state.log_density[0], run.state.log_prior[0] = -1.5, -0.7
    run.info.log_density[0], run.info.log_prior[0] = new
    got = math.exp(alone(accept.log_accept)(0, 0, run.state, run.info))
    assert got == pytest.approx(naive.walk_accept(beta, new[0], -1.5, new[1], -0.7), rel=1e-12)


@numba.njit
def pass_over(waits, work):
    if waits:
        linalg.update_and_step(work)
    else:
        linalg.step_only(work)


@pytest.mark.parametrize("gain", [0.0, 0.3])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 11, 12])
def test_one_pass_updates_and_steps_like_full_matrices(dim: int, gain: float, rng) -> None:
    """Each of four levels as if it were alone: the new Σ, and the step with its Cholesky factor."""
    roots = rng.standard_normal((LANES, dim, dim))
    sigma = roots @ roots.transpose(0, 2, 1) + np.eye(dim)
    lower = np.linalg.cholesky(sigma)
    roots_of_diag = np.diagonal(lower, axis1=1, axis2=2)
    columns = np.triu_indices(dim, 1)[::-1]
    unit = lower / roots_of_diag[:, None, :]
    factor = in_lanes(np.array([matrix[columns] for matrix in unit]))
    deviation, normal, start = rng.standard_normal((3, LANES, dim))
    scale = np.array([0.7, 1.0, 2.0, 0.1])
    total, keep = np.full((1, LANES), (1.0 - gain) / max(gain, 0.1)), np.full((1, LANES), 1.0 - gain)
    work = linalg.Bundle(
        factor[0], in_lanes(roots_of_diag**2)[0], in_lanes(deviation)[0], total, keep, scale[None].copy(),
        in_lanes(normal)[0], in_lanes(start)[0],
    )  # fmt: skip
    pass_over(gain > 0.0, work)
    for lane in range(LANES):
        expected = naive.covariance_step(sigma[lane], np.zeros(dim), deviation[lane], gain)
        updated = np.eye(dim)
        updated[columns] = work.factor[:, lane]
        rebuilt = updated @ np.diag(work.diag[:, lane]) @ updated.T
        np.testing.assert_allclose(rebuilt, expected, rtol=1e-12, atol=1e-12)
        moved = start[lane] + scale[lane] * np.linalg.cholesky(expected) @ normal[lane]
        np.testing.assert_allclose(work.moved[:, lane], moved, rtol=1e-11, atol=1e-12)


@given(
    st.lists(st.floats(-2, 2), min_size=1, max_size=8),
    st.floats(0.2, 3),
    st.floats(0, 0.9),
    st.integers(1, 4),
    st.booleans(),
)
def test_number_of_levels_is_equation_11(theta, threshold, epsilon, min_levels, all_hotter) -> None:
    run = trim_run(len(theta))
    run.state.n_levels[0] = len(theta)
    run.state.log_scale[:] = theta
    settings = kernel_settings(run.plan, adapting=True)._replace(
        trim_threshold=threshold, trim_leniency=epsilon, min_levels=min_levels, trim_needs_all=all_hotter
    )
    alone(trim.trim)(run.state, settings, 0)
    expected = naive.number_of_levels(np.array(theta), threshold, epsilon, min_levels, all_hotter)
    assert run.state.n_levels[0] == expected


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8), st.floats(0.2, 3), st.booleans())
def test_what_results_call_unimodal_is_what_trimming_does(theta, threshold, all_hotter) -> None:
    """The kernel against what plots show; the paper's rule in place of the other would differ."""
    run = trim_run(len(theta))
    run.state.n_levels[0] = len(theta)
    run.state.log_scale[:] = theta
    settings = kernel_settings(run.plan, adapting=True)._replace(
        trim_threshold=threshold, trim_leniency=0.0, trim_needs_all=all_hotter
    )
    rule = "all_hotter" if all_hotter else "first"
    expected = alone(trim.first_unimodal)(run.state, settings, 0, len(theta))
    assert first_unimodal(np.exp(theta), threshold, rule) == expected


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=8), st.integers(1, 6))
def test_min_levels_counts_a_pinned_level(theta, min_levels) -> None:
    """The hottest level always stays, whatever its scale: the others are trimmed as if it were not there."""
    run = trim_run(len(theta))
    run.state.n_levels[0] = len(theta)
    run.state.log_scale[:] = theta
    settings = kernel_settings(run.plan, adapting=True)._replace(
        trim_threshold=1.0, min_levels=min_levels, pinned=True
    )
    alone(trim.trim)(run.state, settings, 0)
    free = naive.number_of_levels(np.array(theta[:-1]), 1.0, 0.0, min_levels - 1, True)
    assert run.state.n_levels[0] == free + 1


# All else that a state has for each level belongs to the level and goes with it.
GAPS = {"log_gap", "log_gap_sum"}


def by_level(state) -> dict[str, np.ndarray]:
    """Every array of a state that has an entry for each level, as (level, …), copied."""
    n_levels, n_bundles = len(state.beta), len(state.cov_diag)
    arrays = {}
    for name, array in state._asdict().items():
        if array.ndim == 3 and array.shape[0] == n_bundles and array.shape[2] == LANES:
            arrays[name] = out_of_lanes(array, n_levels).copy()
        elif array.shape[0] == n_levels and name not in GAPS:
            arrays[name] = array.copy()
    return arrays


def test_trimming_keeps_the_pinned_level_with_all_that_belongs_to_it(rng) -> None:
    run = make_run(make_plan(FLAT_PRIOR, 0.5 ** np.arange(6), 2))
    for array in run.state:
        if array.dtype == np.float64:
            array[:] = rng.random(array.shape)
    run.state.log_scale[:] = [-1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    before = by_level(run.state)
    settings = kernel_settings(run.plan, adapting=True)._replace(trim_threshold=1.0, pinned=True)
    alone(trim.trim)(run.state, settings, 0)
    assert run.state.n_levels[0] == 3
    assert {"position", "log_density", "log_prior", "mean", "cov_diag", "beta", "replica"} <= set(before)
    for name, after in by_level(run.state).items():
        np.testing.assert_array_equal(after[:3], before[name][[0, 1, 5]], err_msg=name)


@pytest.mark.parametrize(
    ("log_density", "log_prior", "status"),
    [
        (-1.0, -2.0, RUNNING),
        (-np.inf, -2.0, RUNNING),
        (-1.0, -np.inf, RUNNING),
        (np.nan, -2.0, NOT_A_NUMBER),
        (-1.0, np.nan, NOT_A_NUMBER),
        (-np.inf, np.nan, NOT_A_NUMBER),
        (np.inf, -2.0, INFINITE),
        (-1.0, np.inf, INFINITE),
        (np.inf, -np.inf, NOT_A_NUMBER),
    ],
)
def test_nan_and_infinity_stop_the_loop_or_are_refused(log_density, log_prior, status) -> None:
    """Whichever of the two parts they come from."""
    run = make_run(make_plan(FLAT_PRIOR, [1.0, 0.5, 0.2], 1))
    run.info.log_density[:] = [-3.0, log_density, -5.0]
    run.info.log_prior[:] = [-4.0, log_prior, -6.0]
    settings = kernel_settings(run.plan, adapting=False)
    alone(evaluate.screen)(run.state, run.info, settings, run.control)
    assert run.control[STATUS] == status
    assert status == RUNNING or run.control[LEVEL] == 1
    run.control[:] = 0
    alone(evaluate.screen)(run.state, run.info, settings._replace(refuse_bad=True), run.control)
    assert run.control[STATUS] == RUNNING
    refused = status != RUNNING
    assert run.state.n_refused[0] == refused
    expected = [-np.inf, -np.inf] if refused else [log_density, log_prior]
    np.testing.assert_array_equal([run.info.log_density[1], run.info.log_prior[1]], expected)
    np.testing.assert_array_equal(run.info.log_density[[0, 2]], [-3.0, -5.0])


@pytest.mark.parametrize(
    ("after", "every", "due"), [(10, 1, [11, 12, 13]), (10, 5, [15, 20]), (0, 7, [7, 14])]
)
def test_trimming_waits_for_n0_and_its_turn(after, every, due) -> None:
    run = trim_run(2)
    settings = kernel_settings(run.plan, adapting=True)._replace(trim_after=after, trim_every=every)
    found = [n for n in range(25) if alone(trim.trim_is_due)(n, settings)]
    assert found[: len(due)] == due
    assert all(n > after for n in found)
    assert not any(alone(trim.trim_is_due)(n, settings._replace(trim_after=-1)) for n in range(25))


@pytest.mark.parametrize(("dim", "scale"), [(1, 5.2), (2, 2.39)])
def test_exact_threshold_in_few_dimensions(dim, scale) -> None:
    assert gaussian_scale(0.234, dim) == pytest.approx(scale, abs=0.01)


def test_exact_threshold_is_the_t_quantile_and_tends_to_the_asymptotic_one() -> None:
    from scipy import stats

    for dim in (1, 2, 3, 8, 50, 1000):
        assert gaussian_scale(0.234, dim) == pytest.approx(
            2 * stats.t.ppf(1 - 0.117, dim) / math.sqrt(dim), rel=1e-4
        )
    assert gaussian_scale(0.234, 5000) * math.sqrt(5000) == pytest.approx(2.38, abs=0.01)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("strategy", ["equi_energy", "adjacent", "uniform"])
@pytest.mark.parametrize("n_levels", [1, 2, 4, 5, 9])
def test_whole_iteration_equals_the_naive_one(strategy, n_levels, pinned, rng) -> None:
    """Each of many iterations, started from the same state, with everything adapting."""
    if pinned and n_levels < 2:
        return
    dim = 3
    betas = 0.5 ** np.arange(n_levels)
    betas[-1] = 0.0 if pinned else betas[-1]
    target = BUMPY_PRIOR if pinned else BUMPY
    plan = make_plan(target, betas, dim, tune=100, strategy=getattr(tp.swaps, strategy)())
    run = make_run(plan)
    place(run, rng.standard_normal((n_levels, dim)))
    for n in range(100):
        before = _naive_state(run, n)
        noise = make_noise(rng, 1, n_levels, dim)
        advance(run, noise, adapting=True, row=n)
        _compare(run, _naive_step(before, noise, plan, target))


def _naive_state(run, n) -> naive.NaiveState:
    s = run.state
    with np.errstate(divide="ignore"):
        temperature = 1.0 / s.beta
    return naive.NaiveState(
        s.position.copy(), s.log_density.copy(), s.log_prior.copy(), temperature, s.mean.copy(),
        covariances(s), s.log_scale.copy(), n,
    )  # fmt: skip


def _naive_step(s: naive.NaiveState, noise, plan, target) -> naive.NaiveState:
    k = kernel_settings(plan, adapting=True)
    g = naive.gain(s.n + 1, k.gain_scale, k.gain_exponent, k.gain_delay)
    gg = naive.gain(s.n + 1, k.gap_gain_scale, k.gap_gain_exponent, k.gap_gain_delay)
    gc = naive.gain(s.n + 1, k.cov_gain_scale, k.cov_gain_exponent, k.cov_gain_delay)
    beta = naive.beta_of(s.temperature)
    y = naive.proposals(s, out_of_lanes(noise.normals, len(beta))[:, 0])
    x, log_pi, log_prior = s.x.copy(), s.log_pi.copy(), s.log_prior.copy()
    mu, sigma, theta = s.mu.copy(), s.sigma.copy(), s.theta.copy()
    for level in range(len(beta)):
        new = target.tempered(y[level])
        new_prior = target.prior(y[level]) if target.prior else 0.0
        eta = naive.walk_accept(beta[level], new, s.log_pi[level], new_prior, s.log_prior[level])
        if noise.uniforms[level, 0] < eta:
            x[level], log_pi[level], log_prior[level] = y[level], new, new_prior
        mu[level] = (1 - gc) * s.mu[level] + gc * x[level]
        sigma[level] = naive.covariance_step(s.sigma[level], s.mu[level], x[level], gc)
        theta[level] = s.theta[level] + g * (eta - k.target_walk_accept)
    if len(beta) > 1:
        u, v, w = noise.swap_uniforms[0]
        choose = {
            "equi-energy": lambda: naive.choose_equi_energy(log_pi, u, v),
            "adjacent": lambda: naive.choose_adjacent(len(beta), u),
            "uniform": lambda: naive.choose_uniform(len(beta), u, v),
        }
        i, j = choose[plan.strategy.name]()
        if w < naive.swap_accept(log_pi[i], log_pi[j], beta[i], beta[j], 1.0, 1.0):
            x[[i, j]], log_pi[[i, j]], log_prior[[i, j]] = x[[j, i]], log_pi[[j, i]], log_prior[[j, i]]
    temperature = naive.temperature_step(s, log_pi, gg, k.target_swap_accept)
    return naive.NaiveState(x, log_pi, log_prior, temperature, mu, sigma, theta, s.n + 1)


def _compare(run, expected: naive.NaiveState) -> None:
    got = _naive_state(run, expected.n)
    for name in ("x", "log_pi", "log_prior", "temperature", "mu", "sigma", "theta"):
        np.testing.assert_allclose(
            getattr(got, name), getattr(expected, name), rtol=1e-12, atol=1e-12, err_msg=name
        )
