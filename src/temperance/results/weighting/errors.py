"""The standard error of a sum over draws and jump proposals."""

import math

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics import mcse_mean
from temperance.results.diagnostics.ess import correlated_lags

QUANTILE = 1.96  # of the normal, within which 95 % of it lies


def standard_error(drawn: FloatArray, proposed: FloatArray) -> float:
    """Of the sum of what draws and what proposals contribute, (chain, row) each, centred; NaN if unknown.

    A proposal is independent of all others and of the draws before it; draws from then on may be where it
    was. So the variance has three parts: of the draws, by their autocorrelation and by what chains differ by;
    of the proposals, as if each were alone; and the covariance of proposals with the draws from then on. In
    the autocorrelation of the sum, the noise of the proposals would hide that of the draws.
    """
    lags = correlated_lags(drawn)
    of_draws, of_proposals = (drawn.size * mcse_mean(drawn)) ** 2, float((proposed**2).sum())
    variance = of_draws + of_proposals + 2.0 * _from_then_on(proposed, drawn, lags)
    return stretch(drawn.size, lags) * math.sqrt(max(variance, of_draws, of_proposals))


def stretch(n_rows: int, lags: int) -> float:
    """What makes 1.96 errors a 95 % interval: the quantile of Student's t over that of the normal.

    A variance by autocorrelations up to a lag has n / (2 lags + 1) degrees of freedom (Priestley 1981); the
    quantile is that of Fisher and Cornish to the first order.
    """
    return 1.0 + (QUANTILE**2 + 1.0) / 4.0 * (2 * lags + 1) / n_rows


def _from_then_on(first: FloatArray, second: FloatArray, lags: int) -> float:
    """Sum of the products of one with the other in the same row and in those after it, so many in all."""
    n_rows = first.shape[1]
    sums = np.concatenate([np.zeros((len(second), 1)), np.cumsum(second, axis=1)], axis=1)
    ends = np.minimum(np.arange(n_rows) + lags, n_rows)
    return float((first * (sums[:, ends] - sums[:, :-1])).sum())
