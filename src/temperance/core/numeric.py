"""Small helpers; most decide what happens to a NaN."""

import math

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
