"""What the record of one chain says about its ladder, level by level."""

import numpy as np

from temperance.core.state import FloatArray, IntArray, ProbArray
from temperance.results.diagnostics.acceptance import mean_of_known
from temperance.runs.record import ChainRecord


def walk_acceptance(chain: ChainRecord) -> FloatArray:
    """Mean acceptance of the walk at each level left; NaN without draws."""
    return _column_means(chain.sampling.walk_accept_prob[:, : len(chain.beta)])


def edge_acceptance(chain: ChainRecord) -> FloatArray:
    """Mean acceptance between each level left and the next; NaN without draws."""
    return _column_means(chain.sampling.adjacent_swap_accept[:, : len(chain.beta) - 1])


def replicas(chain: ChainRecord) -> IntArray:
    """The replica at each level left, (draw, level)."""
    return chain.sampling.replica[:, : len(chain.beta)].astype(np.int64)


def log_densities(chain: ChainRecord) -> FloatArray:
    """The tempered part of the log density at each level left, (draw, level)."""
    return chain.sampling.log_density[:, : len(chain.beta)]


def betas(chain: ChainRecord) -> FloatArray:
    """Inverse temperatures of the draws: (level,) when they were frozen, else (draw, level)."""
    return chain.sampling.beta[:, : len(chain.beta)] if len(chain.sampling.beta) else chain.beta


def temperatures(beta: FloatArray) -> FloatArray:
    """1/β, infinite where β is zero."""
    with np.errstate(divide="ignore"):
        return 1.0 / beta


def _column_means(columns: FloatArray | ProbArray) -> FloatArray:
    return np.array([mean_of_known(column) for column in columns.T.astype(np.float64)])
