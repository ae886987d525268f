"""How hard it is to pass through the ladder: the communication barrier, Syed et al. 2022."""

import math
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError

PAPER_ACCEPTANCE = 0.234  # the paper's rate
SWEEP_ACCEPTANCE = 0.5  # best for even-odd sweeps


def barrier(edge_acceptance: Any) -> float:
    """Λ, the sum of the rejection rates over all edges of the ladder."""
    return float(np.sum(1.0 - np.asarray(edge_acceptance, dtype=np.float64)))


def local_barrier(log_density: Any) -> FloatArray:
    """λ(β) at each level, half the mean absolute difference of two log densities, (draw, level)."""
    values = np.asarray(log_density, dtype=np.float64)
    if values.ndim != 2:
        raise InvalidInputError(f"log_density must be (draw, level), got shape {values.shape}")
    return np.array([_mean_difference(column) / 2.0 for column in values.T])


def integrated_barrier(local: Any, beta: Any) -> float:
    """Λ as the integral of λ over β.

    Unlike the sum of rejections it does not saturate at one for each edge, so it still tells how many
    levels are missing where hardly a swap is accepted. λ(β) is taken to go as a power of β between two
    levels with β > 0, as it does for a Gaussian, and as a straight line down to β = 0.
    """
    heights, betas = np.asarray(local, dtype=np.float64), np.asarray(beta, dtype=np.float64)
    pieces = [
        _piece(heights[k : k + 2], betas[k : k + 2]) for k in range(len(betas) - 1) if betas[k + 1] < betas[k]
    ]
    return math.fsum(pieces)


def edges_needed(total: float, acceptance: float = PAPER_ACCEPTANCE) -> int:
    """How many edges a ladder with barrier Λ needs so that each accepts at this rate."""
    if not math.isfinite(total):
        raise InvalidInputError(f"the barrier must be finite, got {total}")
    return max(1, math.ceil(total / (1.0 - acceptance)))


def _mean_difference(values: FloatArray) -> float:
    """Mean of |v − v'| over all pairs, by sorting."""
    ordered = np.sort(values[np.isfinite(values)])
    n = len(ordered)
    if n < 2:
        return float("nan")
    weights = 2.0 * np.arange(1, n + 1) - n - 1.0
    return float(2.0 * (weights @ ordered) / (n * (n - 1.0)))


def _piece(heights: FloatArray, betas: FloatArray) -> float:
    if betas[1] <= 0.0:
        return float(heights.mean() * (betas[0] - betas[1]))
    return float((heights * betas).mean() * math.log(betas[0] / betas[1]))
