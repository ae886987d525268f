"""Small helpers; most decide what happens to a NaN."""

import math
from typing import Any

from temperance.core.compile import compiled

MAX_GAIN = 0.99


@compiled
def capped_log_prob(log_ratio: float) -> float:
    """Log of ``min(1, ratio)``; a NaN becomes minus infinity, so that it never accepts."""
    if math.isnan(log_ratio):
        return -math.inf
    return min(log_ratio, 0.0)


@compiled
def heat_bath_prob(log_ratio: float) -> float:
    """``ratio / (1 + ratio)``, the conditional probability of the other of two states; zero for a NaN."""
    if math.isnan(log_ratio):
        return 0.0
    smaller = math.exp(-abs(log_ratio))
    return 1.0 / (1.0 + smaller) if log_ratio > 0.0 else smaller / (1.0 + smaller)


@compiled
def tempered_difference(beta: float, proposed: float, current: float) -> float:
    """``beta * (proposed - current)``, and zero at beta = 0 even where a density vanishes."""
    if beta == 0.0:
        return 0.0
    return beta * (proposed - current)


@compiled
def clamp(value: float, low: float, high: float) -> float:
    """The nearest value in ``[low, high]``."""
    return min(max(value, low), high)


@compiled
def power_gain(step: int, scale: float, exponent: float, delay: float) -> float:
    """γ[step] = scale · (step + 1 + delay)^−exponent, kept below one."""
    return min(scale * math.pow(step + 1.0 + delay, -exponent), MAX_GAIN)


@compiled
def factorise(matrix: Any, root: Any) -> bool:
    """The lower Cholesky factor of a matrix, of which the lower half is read, in place; False if none."""
    for i in range(matrix.shape[0]):
        for k in range(matrix.shape[0]):
            total = matrix[i, k] if k <= i else 0.0
            for j in range(min(i, k)):
                total -= root[i, j] * root[k, j]
            if k == i:
                if not 0.0 < total < math.inf:
                    return False
                total = math.sqrt(total)
            elif k < i:
                total /= root[k, k]
            root[i, k] = total if k <= i else 0.0
    return True
