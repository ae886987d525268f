"""Effective sample size: how many independent draws the chains are worth, Vehtari et al. 2021."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics.chains import MIN_DRAWS, as_chains, normal_scores, say_something, split

TAILS = (0.05, 0.95)
GLANCE = 16  # coordinates


def ess_bulk(draws: Any) -> float:
    """Bulk effective sample size of ``(chain, draw)``."""
    chains = as_chains(draws)
    return _ess(normal_scores(split(chains))) if say_something(chains) else float("nan")


def smallest_ess(draws: FloatArray) -> float:
    """The smallest bulk effective sample size of a coordinate of ``(chain, draw, dim)``; NaN unless known.

    A glance: where there are many coordinates, a few of them.
    """
    looked_at = range(0, draws.shape[2], -(-draws.shape[2] // GLANCE))
    known = [ess_bulk(draws[:, :, coordinate]) for coordinate in looked_at]
    return min((value for value in known if np.isfinite(value)), default=float("nan"))


def ess_tail(draws: Any) -> float:
    """Effective sample size in the tails of ``(chain, draw)``: the smaller of the two."""
    chains = as_chains(draws)
    if not say_something(chains):
        return float("nan")
    return min(_ess_below(chains, _quantile(chains, tail)) for tail in TAILS)


def ess_mean(draws: Any) -> float:
    """Effective sample size for the mean of ``(chain, draw)``."""
    chains = as_chains(draws)
    return _ess(split(chains)) if say_something(chains) else float("nan")


def _quantile(chains: FloatArray, share: float) -> float:
    """Type 7 of Hyndman & Fan, rounded as SciPy does: where it falls on a draw, the last bit decides."""
    ordered = np.sort(chains, axis=None)
    place = len(ordered) * share + (1.0 - share)
    k = int(np.clip(np.floor(place), 1, len(ordered) - 1))
    weight = np.clip(place - k, 0.0, 1.0)
    return float((1.0 - weight) * ordered[k - 1] + weight * ordered[k])


def _ess_below(chains: FloatArray, value: float) -> float:
    """Of the indicator of lying at or below a value; where that is constant, all draws count."""
    below = split((chains <= value).astype(np.float64))
    return float(below.size) if np.ptp(below) == 0.0 else _ess(below)


def correlated_lags(draws: Any) -> int:
    """How many lags of ``(chain, draw)`` are correlated: where Geyer's sequence ends, and one at least."""
    chains = as_chains(draws)
    if not say_something(chains) or chains.shape[1] < 2 * MIN_DRAWS:
        return 1
    return max(1, 2 * _initial_sequence(split(chains))[1])


def _ess(draws: FloatArray) -> float:
    """Geyer's initial monotone sequence over several chains, cut off as Stan and ArviZ do."""
    n_chains, n_draws = draws.shape
    rho, n_pairs = _initial_sequence(draws)
    if not len(rho):
        return float("nan")
    pairs = _pairs(rho)
    last = rho[2 * n_pairs] if pairs[n_pairs] >= 0.0 else max(rho[2 * n_pairs], 0.0)
    time = -1.0 + 2.0 * np.minimum.accumulate(pairs[:n_pairs]).sum() + last
    return float(n_chains * n_draws / max(time, 1.0 / np.log10(n_chains * n_draws)))


def _initial_sequence(draws: FloatArray) -> tuple[FloatArray, int]:
    """Autocorrelations, none where all draws are the same, and how many pairs stay positive."""
    n_chains, n_draws = draws.shape
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n_draws / (n_draws - 1.0)
    total = covariance[0] + (np.var(draws.mean(axis=1), ddof=1) if n_chains > 1 else 0.0)
    if total == 0.0:
        return np.empty(0), 0
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs, n_pairs = _pairs(rho), 0
    while 2 * n_pairs + 1 < n_draws - 3 and pairs[n_pairs] > 0.0:
        n_pairs += 1
    return rho, n_pairs


def _pairs(rho: FloatArray) -> FloatArray:
    """Sums of two autocorrelations each."""
    sums: FloatArray = rho[: 2 * (len(rho) // 2)].reshape(-1, 2).sum(axis=1)
    return sums


def _autocovariance(draws: FloatArray) -> FloatArray:
    n_draws = draws.shape[1]
    size = 1 << (2 * n_draws - 1).bit_length()
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), size, axis=1)
    product: FloatArray = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n_draws] / n_draws
    return product
