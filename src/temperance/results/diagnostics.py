"""Effective sample size and R-hat: rank-normalised and split, Vehtari et al. 2021."""

from statistics import NormalDist

import numpy as np

from temperance.core.state import FloatArray

MIN_DRAWS = 4  # below this a split chain says nothing


def r_hat(draws: FloatArray) -> float:
    """Rank-normalised split R-hat of ``(chain, draw)``: the larger of bulk and folded."""
    if not _enough(draws):
        return float("nan")
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normal_scores(halves)), _plain_r_hat(_normal_scores(folded)))


def ess_bulk(draws: FloatArray) -> float:
    """Bulk effective sample size of ``(chain, draw)``."""
    return _ess(_normal_scores(_split(draws))) if _enough(draws) else float("nan")


def ess_mean(draws: FloatArray) -> float:
    """Effective sample size for the mean of ``(chain, draw)``."""
    return _ess(_split(draws)) if _enough(draws) else float("nan")


def _enough(draws: FloatArray) -> bool:
    return bool(draws.shape[1] >= MIN_DRAWS and np.all(np.isfinite(draws)) and np.ptp(draws) > 0.0)


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: FloatArray) -> FloatArray:
    """Normal quantiles of average ranks, as Blom has them."""
    flat = draws.ravel()
    ordered = np.sort(flat)
    twice_rank = np.searchsorted(ordered, flat, "left") + np.searchsorted(ordered, flat, "right") + 1
    quantile = NormalDist().inv_cdf
    ranks, place = np.unique(twice_rank, return_inverse=True)
    scores = np.array([quantile((rank / 2.0 - 0.375) / (len(flat) + 0.25)) for rank in ranks])
    result: FloatArray = scores[place].reshape(draws.shape)
    return result


def _plain_r_hat(draws: FloatArray) -> float:
    n_draws = draws.shape[1]
    between = n_draws * np.var(draws.mean(axis=1), ddof=1)
    within = np.mean(np.var(draws, axis=1, ddof=1))
    if within == 0.0:
        return float("inf") if between > 0.0 else 1.0
    return float(np.sqrt((between / within + n_draws - 1.0) / n_draws))


def _ess(draws: FloatArray) -> float:
    """Geyer's initial monotone sequence over several chains, cut off as Stan and ArviZ do."""
    n_chains, n_draws = draws.shape
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n_draws / (n_draws - 1.0)
    total = covariance[0] + (np.var(draws.mean(axis=1), ddof=1) if n_chains > 1 else 0.0)
    if total == 0.0:
        return float("nan")
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: 2 * (n_draws // 2)].reshape(-1, 2).sum(axis=1)
    n_pairs = 0
    while 2 * n_pairs + 1 < n_draws - 3 and pairs[n_pairs] > 0.0:
        n_pairs += 1
    time = -1.0 + 2.0 * np.minimum.accumulate(pairs[:n_pairs]).sum() + max(rho[2 * n_pairs], 0.0)
    return float(n_chains * n_draws / max(time, 1.0 / np.log10(n_chains * n_draws)))


def _autocovariance(draws: FloatArray) -> FloatArray:
    n_draws = draws.shape[1]
    size = 1 << (2 * n_draws - 1).bit_length()
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), size, axis=1)
    product: FloatArray = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n_draws] / n_draws
    return product
