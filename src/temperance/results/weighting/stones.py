"""The evidence from the ladder: stepping stones (Xie et al. 2011) and thermodynamic integration.

Both go from the prior at β = 0 up to the posterior at β = 1, so they need a target in two parts and a ladder
that ends at the prior and did not move. Z is relative to the prior: ∫ prior · likelihood / ∫ prior.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import measure
from temperance.results.diagnostics import mcse_mean
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

MIN_COUNTING = 30.0  # draws of a level that count on the step to the colder one, after their weights
MAX_CORRECTION = 0.5  # of the trapezoid rule, in a log evidence
MIN_ROWS = 20  # draws in which all levels moved
TOO_FAR = "levels are too far apart for it"
NO_PRIOR = "it does not end at a prior (beta = 0)"


@dataclass(frozen=True)
class Ladder:
    """The log likelihoods of the levels of one chain, (row, level), in the draws in which all moved."""

    beta: FloatArray
    log_likelihood: FloatArray


def ladders(result: "Result") -> tuple[list[Ladder], str]:
    """The ladders of all chains, or why they say nothing about the evidence."""
    if not result.keeps_statistics or not result.draws.size:
        return [], "there are no draws with statistics"
    if result.setup.adapts_always:
        return [], "the ladder never stopped moving"
    if any(chain.beta[-1] != 0.0 for chain in result.kept):
        return [], NO_PRIOR
    found = [_ladder(chain) for chain in result.kept]
    if min(len(ladder.log_likelihood) for ladder in found) < MIN_ROWS:
        return [], f"all levels moved in fewer than {MIN_ROWS} draws"
    return found, ""


def stepping_stones(found: list[Ladder]) -> tuple[float, float, str]:
    """Log evidence, its standard error, and what is wrong with them if anything is."""
    n_rows = min(len(ladder.log_likelihood) for ladder in found)
    values, series = [], np.zeros((len(found), n_rows))
    for chain, ladder in enumerate(found):
        steps = -np.diff(ladder.beta)
        exponent = steps * ladder.log_likelihood[-n_rows:, 1:]
        peak = exponent.max(axis=0)
        if not np.all(np.isfinite(peak)):
            return math.nan, math.nan, "a hot level has no draw in the support of the likelihood"
        ratio = np.exp(exponent - peak)
        counting = ratio.sum(axis=0) ** 2 / (ratio**2).sum(axis=0)
        if counting.min() < MIN_COUNTING:
            return math.nan, math.nan, _too_steep(counting)
        values.append(float((peak + np.log(ratio.mean(axis=0))).sum()))
        series[chain] = (ratio / ratio.mean(axis=0) - 1.0).sum(axis=1)
    return float(np.mean(values)), _error(series, values), ""


def thermodynamic(found: list[Ladder]) -> tuple[float, float, str]:
    """∫ E_β log L dβ by the trapezoid rule with its correction by variances (Friel, Hurn & Wyse 2014).

    The error includes what the correction changed: how far the rule may be off between two levels.
    """
    n_rows = min(len(ladder.log_likelihood) for ladder in found)
    values, plain, series = [], [], np.zeros((len(found), n_rows))
    for chain, ladder in enumerate(found):
        rows, steps = ladder.log_likelihood[-n_rows:], -np.diff(ladder.beta)
        if not np.all(np.isfinite(rows)):
            return math.nan, math.nan, "a hot level leaves the support of the likelihood"
        weight = 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
        series[chain] = rows @ weight
        plain.append(float(series[chain].mean()))
        variance = rows.var(axis=0, ddof=1)
        values.append(plain[-1] - float((steps**2 * (variance[:-1] - variance[1:])).sum()) / 12.0)
    gap = abs(float(np.mean(values)) - float(np.mean(plain)))
    if gap > MAX_CORRECTION:
        return math.nan, math.nan, f"{TOO_FAR}: its correction between two of them is {gap:.2g}"
    return float(np.mean(values)), math.hypot(_error(series, values), gap), ""


def _too_steep(counting: FloatArray) -> str:
    edge = int(np.argmin(counting)) + 1
    return f"{TOO_FAR}: of the draws of level {edge + 1} only {counting.min():.0f} count at level {edge}"


def _ladder(chain: ChainRecord) -> Ladder:
    return Ladder(chain.beta, measure.log_densities(chain))


def _error(series: FloatArray, values: list[float]) -> float:
    """Standard error of the mean over chains: by autocorrelation, and no less than what chains differ by."""
    within = mcse_mean(series)
    if len(values) < 2:
        return within
    return max(within, float(np.std(values, ddof=1)) / math.sqrt(len(values)))
