"""The covariance factor over long runs: accurate, and always positive definite."""

import numba
import numpy as np
import pytest

from harness import HandTarget, advance, make_noise, make_plan, make_run
from temperance.core.lanes import LANES
from temperance.core.linalg import Bundle, update_and_step
from temperance.settings import Adaptation, Gain, Jumps, Settings, Trimming

N_STEPS = 100_000


@numba.njit
def run_updates(gains, points, mean, bundle, sigma):
    """The factored recursion, and beside it the recursion of the full matrix, Eq. (9)."""
    dim = mean.shape[0]
    deviation = np.empty(dim)
    for n in range(points.shape[0]):
        gain = gains[n]
        for i in range(dim):
            deviation[i] = points[n, i] - mean[i]
            bundle.deviation[i, :] = deviation[i]
        for i in range(dim):
            mean[i] += gain * deviation[i]
            for k in range(dim):
                sigma[i, k] = (1.0 - gain) * sigma[i, k] + gain * deviation[i] * deviation[k]
        bundle.total[0, :] = (1.0 - gain) / gain
        bundle.keep[0, :] = 1.0 - gain
        update_and_step(bundle)


@pytest.mark.parametrize("exponent", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("dim", [2, 10])
def test_factor_equals_the_covariance_recursion(dim, exponent, rng) -> None:
    scales = np.logspace(-3, 3, dim)
    mixing = np.eye(dim) + 0.5 * np.tril(rng.standard_normal((dim, dim)), -1) / dim
    points = (rng.standard_normal((N_STEPS, dim)) @ mixing.T) * scales
    gains = np.minimum((np.arange(N_STEPS) + 2.0) ** -exponent, 0.99)
    sigma, lanes = np.diag(scales**2), np.zeros((dim, LANES))
    bundle = Bundle(
        np.zeros((dim * (dim - 1) // 2, LANES)), lanes + (scales**2)[:, None], lanes.copy(),
        np.ones((1, LANES)), np.ones((1, LANES)), np.ones((1, LANES)), lanes.copy(), lanes.copy(),
    )  # fmt: skip
    run_updates(gains, points, np.zeros(dim), bundle, sigma)
    lower = np.eye(dim)
    lower[np.triu_indices(dim, 1)[::-1]] = bundle.factor[:, LANES - 1]
    rebuilt = lower @ np.diag(bundle.diag[:, LANES - 1]) @ lower.T
    size = np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
    assert np.abs((rebuilt - sigma) / size).max() < 1e-10


@numba.njit
def nowhere_else(x):
    return 0.0 if abs(x[0]) < 1e-300 else -np.inf


@pytest.mark.parametrize("covariance_gain", [None, Gain(exponent=1.0, scale=2.0, delay_per_dim=20.0)])
def test_a_chain_that_never_moves_keeps_a_positive_factor(covariance_gain, rng) -> None:
    settings = Settings(
        adaptation=Adaptation(walk="covariance", coordinate_every=0, covariance_gain=covariance_gain),
        trimming=Trimming(enabled=False),
        jumps=Jumps(enabled=False),
    )
    plan = make_plan(HandTarget(nowhere_else), [1.0, 0.5], 3, tune=10_000, settings=settings)
    run = make_run(plan)
    assert advance(run, make_noise(rng, 10_000, 2, 3), adapting=True) == 10_000
    assert np.all(run.state.position == 0.0)
    assert np.all(run.state.cov_diag > 0.0)
    assert np.all(np.isfinite(run.state.cov_factor))
    assert np.all(np.isfinite(run.state.log_scale))
