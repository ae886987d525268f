"""Whole runs against exact answers, by independent replicates."""

import numba
import numpy as np
import pytest

import temperance as tp
from harness import PLAIN
from judge import judge_means

NO_TRIM = tp.Settings(trimming=tp.Trimming(enabled=False))
PRIOR_MEAN, PRIOR_SD, LIKELIHOOD_MEAN, LIKELIHOOD_SD = 2.0, 1.5, -1.0, 0.5
PRIOR = tp.zoo.gaussian(2, mean=PRIOR_MEAN, sd=PRIOR_SD).log_density
LIKELIHOOD = tp.zoo.gaussian(2, mean=LIKELIHOOD_MEAN, sd=LIKELIHOOD_SD).log_density


@numba.njit
def posterior(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * ((x[i] - PRIOR_MEAN) / PRIOR_SD) ** 2
        total -= 0.5 * ((x[i] - LIKELIHOOD_MEAN) / LIKELIHOOD_SD) ** 2
    return total


@numba.njit
def correlated(x, data):
    mean, precision = data
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[0]):
            total -= 0.5 * (x[i] - mean[i]) * precision[i, k] * (x[k] - mean[k])
    return total


TWO_BUMPS = tp.zoo.two_modes(1, separation=2.5, sd=0.6, right_weight=0.7).log_density


def mode_moments(draws: np.ndarray) -> np.ndarray:
    """E x, E x² and the mass of the right mode, a row for each chain."""
    x = draws[:, :, 0]
    return np.stack([x.mean(axis=1), (x**2).mean(axis=1), (x > 0).mean(axis=1)], axis=1)


TWO_BUMPS_TRUTH = np.array([2.5 * 0.4, 2.5**2 + 0.6**2, 0.7])
VISIBLE = np.array([0.15, 0.1, 0.03])


PAPER = tp.paper_settings()


@pytest.mark.parametrize(
    ("settings", "strategy"),
    [
        pytest.param(NO_TRIM, "equi_energy", id="frozen-equi_energy"),
        pytest.param(NO_TRIM, "adjacent", id="frozen-adjacent", marks=pytest.mark.slow),
        pytest.param(NO_TRIM, "uniform", id="frozen-uniform", marks=pytest.mark.slow),
        *(pytest.param(PAPER, name, id=f"paper-{name}") for name in ("equi_energy", "adjacent", "uniform")),
    ],
)
def test_two_modes_by_replicates(settings, strategy, seed) -> None:
    """T6: independent runs; a shift of 0.15 in E x must be seen."""
    moments = runs_of_two_modes(settings, strategy, seed)
    verdict = judge_means(moments, TWO_BUMPS_TRUTH, VISIBLE)
    assert verdict.passed, verdict.detail


def runs_of_two_modes(settings, strategy, seed) -> np.ndarray:
    result = tp.sample(
        TWO_BUMPS, initial=np.zeros(1), temperatures=[1.0, 3.0, 9.0], draws=25_000, tune=2_500, chains=24,
        seed=seed, swaps=getattr(tp.swaps, strategy)(), settings=settings, progress=False,
    )  # fmt: skip
    return mode_moments(result.draws)


def test_replicates_catch_a_wrong_answer(seed) -> None:
    """The same test with another target's truth, and with too few runs to see anything."""
    moments = runs_of_two_modes(PAPER, "equi_energy", seed)
    assert not judge_means(moments, TWO_BUMPS_TRUTH + VISIBLE, VISIBLE).passed
    assert "no power" in judge_means(moments[:3], TWO_BUMPS_TRUTH, VISIBLE).detail


def level_truth(beta: np.ndarray, *, power: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each level: π^β, or prior · likelihood^β."""
    prior = PRIOR_SD**-2.0 * (beta if power else np.ones_like(beta))
    likelihood = beta * LIKELIHOOD_SD**-2.0
    variance = 1.0 / (prior + likelihood)
    return variance * (prior * PRIOR_MEAN + likelihood * LIKELIHOOD_MEAN), variance


@pytest.mark.parametrize("power", [True, False], ids=["power", "likelihood"])
def test_moments_of_all_levels_with_a_prior_that_is_not_flat(power, seed) -> None:
    """pyPESTO's mistake: walks and swaps that disagree on what is tempered."""
    target = {"model": posterior} if power else {"log_likelihood": LIKELIHOOD, "log_prior": PRIOR}
    ladder = [1.0, 0.5, 0.2] if power else [1.0, 0.4, 0.1, 0.0]
    result = tp.sample(
        **target, initial=np.zeros(2), inverse_temperatures=ladder, draws=15_000, tune=3_000, chains=20,
        seed=seed, keep=("draws", "statistics", "levels"), settings=PLAIN, progress=False,
    )  # fmt: skip
    errors = []
    for chain, draws in zip(result.chains, result.level_draws, strict=True):
        mean, variance = level_truth(chain.beta, power=power)
        found_mean = draws.mean(axis=(0, 2))
        found_square = ((draws - mean[:, None]) ** 2).mean(axis=(0, 2))
        errors.append(
            np.concatenate([(found_mean - mean) / np.sqrt(variance), found_square / variance - 1.0])
        )
    verdict = judge_means(np.array(errors), np.zeros(2 * len(ladder)), np.full(2 * len(ladder), 0.1))
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize("dim", [2, *(pytest.param(dim, marks=pytest.mark.slow) for dim in (10, 50))])
def test_correlated_gaussians(dim, seed) -> None:
    """Mean and variance along a fixed direction, against a covariance with correlations."""
    rng = np.random.default_rng(seed)
    root = np.eye(dim) + 0.3 * rng.standard_normal((dim, dim)) / np.sqrt(dim)
    covariance, mean = root @ root.T, rng.standard_normal(dim)
    result = tp.sample(
        correlated, initial=mean, data=(mean, np.linalg.inv(covariance)), levels=2, draws=20_000, chains=12,
        seed=seed, progress=False,
    )  # fmt: skip
    whitened = (result.draws - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
    found = np.stack([whitened.mean(axis=(1, 2)), (whitened**2).mean(axis=(1, 2))], axis=1)
    verdict = judge_means(found, np.array([0.0, 1.0]), np.array([0.06, 0.06]))
    assert verdict.passed, verdict.detail


@pytest.mark.slow
def test_twenty_peaks(seed) -> None:
    """All modes in every chain, and moments: a bias of 0.2 in E x must be seen."""
    peaks = tp.zoo.twenty_peaks()
    result = tp.sample(peaks, levels=5, draws=60_000, chains=24, seed=seed, progress=False)
    assert np.min([peaks.occupancy(chain) for chain in result.draws]) > 0.0
    moments = np.concatenate([result.draws.mean(axis=1), (result.draws**2).mean(axis=1)], axis=1)
    truth = np.concatenate([peaks.mean, peaks.second_moments])
    verdict = judge_means(moments, truth, np.array([0.2, 0.25, 2.0, 3.0]))
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize(
    ("draws", "visible"), [(20_000, 0.03), pytest.param(400_000, 0.01, marks=pytest.mark.slow)]
)
def test_weights_of_two_modes_in_twenty_dimensions(draws, visible, seed) -> None:
    """Means ∓3 in all coordinates, sd ½, weights ⅓ and ⅔, in frozen mode with default trimming."""
    modes = tp.zoo.two_modes(20)
    result = tp.sample(modes, levels=16, draws=draws, chains=16, seed=seed, progress=False)
    right = np.array([modes.occupancy(chain)[1:] for chain in result.draws])
    verdict = judge_means(right, modes.mode_weights[1:], np.array([visible]))
    assert verdict.passed, verdict.detail


def test_one_level_is_plain_adaptive_metropolis(seed) -> None:
    result = tp.sample(
        tp.zoo.gaussian(3, mean=1.0, sd=2.0), initial=np.zeros(3), levels=1, draws=20_000,
        chains=10, seed=seed, progress=False,
    )  # fmt: skip
    assert np.all([np.all(chain.sampling.swap_accepted == 0) for chain in result.chains])
    found = np.stack([result.draws.mean(axis=(1, 2)), result.draws.var(axis=(1, 2))], axis=1)
    verdict = judge_means(found, np.array([1.0, 4.0]), np.array([0.15, 0.4]))
    assert verdict.passed, verdict.detail
