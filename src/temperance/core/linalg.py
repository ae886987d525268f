"""A covariance held as L D Lᵀ and updated in O(d²), with no square root and no division inside.

``factor[level, k]`` holds column k of the unit lower factor L of one level, so that both the update
and the product run along contiguous memory; entries before the diagonal are never read.
"""

import math

from temperance.core.compile import compiled
from temperance.core.state import FloatArray


@compiled
def rank_one_update(level: int, gain: float, factor: FloatArray, diag: FloatArray, work: FloatArray) -> None:
    """Σ becomes (1 − γ) Σ + γ w wᵀ, Eq. (9); in place, and ``work`` (which holds w) is spent."""
    dim = diag.shape[1]
    total = (1.0 - gain) / gain
    for k in range(dim):
        pivot = work[k]
        grown = total + pivot * pivot / diag[level, k]
        weight = pivot / (diag[level, k] * grown)
        diag[level, k] *= (1.0 - gain) * (grown / total)
        total = grown
        for i in range(k + 1, dim):
            work[i] -= pivot * factor[level, k, i]
            factor[level, k, i] += weight * work[i]


@compiled
def add_scaled_normal(
    level: int, scale: float, factor: FloatArray, diag: FloatArray, normal: FloatArray, out: FloatArray
) -> None:
    """Add ``scale · L D^½ z`` to a row of ``out``, in place; ``normal`` is z."""
    dim = diag.shape[1]
    for k in range(dim):
        step = scale * math.sqrt(diag[level, k]) * normal[k]
        out[level, k] += step
        for i in range(k + 1, dim):
            out[level, i] += step * factor[level, k, i]
