"""What the record of one chain says about its ladder, level by level."""

import numpy as np
import numpy.typing as npt

from temperance.core.state import LEAPT, WALKED, FloatArray, IntArray, ProbArray
from temperance.results.diagnostics.acceptance import mean_of_known
from temperance.runs.record import ChainRecord

BoolArray = npt.NDArray[np.bool_]


def active(chain: ChainRecord) -> BoolArray:
    """The draws in which all levels moved; in the others the hot ones rested.

    Of thinned draws, those for which they moved at least once since the one before.
    """
    all_moved: BoolArray = chain.sampling.n_moved == chain.sampling.n_levels
    return all_moved


def times_active(chain: ChainRecord) -> float:
    """How often all levels moved, in draws that were not kept, too."""
    if chain.thin == 1:
        return float(np.count_nonzero(active(chain)))
    rest_every = 1 if chain.modes is None else chain.modes.rest_every
    return len(chain.sampling.n_moved) * chain.thin / rest_every


def keeps_statistics(chain: ChainRecord) -> bool:
    """Whether more than draws was kept; without draws there is nothing to miss."""
    return len(chain.sampling.evaluations) == chain.n_draws


def walk_acceptance(chain: ChainRecord) -> FloatArray:
    """Mean acceptance of the walk at each level left; NaN where it never walked."""
    return _column_means(chain.sampling.walk_accept_prob[:, : len(chain.beta)])


def edge_acceptance(chain: ChainRecord) -> FloatArray:
    """Mean acceptance between each level left and the next; NaN without draws."""
    return _column_means(chain.sampling.adjacent_swap_accept[:, : len(chain.beta) - 1])


def jump_acceptance(chain: ChainRecord) -> float:
    """Mean acceptance of the jumps of the base level; NaN without any."""
    return mean_of_known(_accepted(chain, chain.sampling.jump >= 0))


def leap_acceptance(chain: ChainRecord) -> float:
    """Mean acceptance of the leaps of the base level; NaN without any."""
    return mean_of_known(_accepted(chain, leapt(chain)))


def jump_rate(chain: ChainRecord) -> float:
    """Jumps and leaps of the base level that were accepted, a draw."""
    return float(_accepted(chain, chain.sampling.jump != WALKED).sum() / max(chain.n_draws, 1))


def leapt(chain: ChainRecord) -> BoolArray:
    """The draws in which the base level was to leap from mode to mode."""
    leaps: BoolArray = chain.sampling.jump <= LEAPT
    return leaps


def _accepted(chain: ChainRecord, rows: BoolArray) -> FloatArray:
    """The acceptance probability of what the base level proposed in these draws."""
    return chain.sampling.base_accept_prob[rows].astype(np.float64)


def base_swaps(chain: ChainRecord) -> float:
    """Accepted swaps that touched the base level, each time that all levels moved; NaN without draws."""
    times = times_active(chain)
    return float(chain.sampling.base_swaps.sum(dtype=np.int64) / times) if times else float("nan")


def replicas(chain: ChainRecord) -> IntArray:
    """The replica at each level left, (draw, level), of the draws in which all levels moved."""
    return chain.sampling.replica[active(chain), : len(chain.beta)].astype(np.int64)


def log_densities(chain: ChainRecord) -> FloatArray:
    """The tempered part of the log density at each level left, (draw, level), of the same draws."""
    return chain.sampling.log_density[active(chain), : len(chain.beta)]


def betas(chain: ChainRecord) -> FloatArray:
    """Inverse temperatures of the same draws: (level,) when they were frozen, else (draw, level)."""
    if not len(chain.sampling.beta):
        return chain.beta
    return chain.sampling.beta[active(chain), : len(chain.beta)]


def temperatures(beta: FloatArray) -> FloatArray:
    """1/β, infinite where β is zero."""
    with np.errstate(divide="ignore"):
        return 1.0 / beta


def _column_means(columns: FloatArray | ProbArray) -> FloatArray:
    return np.array([mean_of_known(column) for column in columns.T.astype(np.float64)])
