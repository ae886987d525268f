"""Log densities of single coordinates, as they are sampled: standardised, and on the whole line.

The law of a parameter is stated for the coordinate that its map (`maps`) takes to the parameter, so that the
Jacobian is part of it. A model is a table of such laws, which one compiled function reads: a new model
compiles nothing.
"""

import math

from temperance.core.compile import compiled

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
HALF_LOG_TWO_OVER_PI = 0.5 * math.log(2.0 / math.pi)
LOG_TWO = math.log(2.0)

NORMAL, STUDENT, LOGISTIC, HALF_NORMAL, HALF_STUDENT, GAMMA, BETA, FLAT, FLAT_ABOVE = range(9)


@compiled
def softplus(t: float) -> float:
    """log(1 + eᵗ), at any size of t."""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@compiled
def logistic(t: float) -> float:
    """The log density of the logistic law: what a uniform parameter is on the scale of its log odds."""
    return -abs(t) - 2.0 * math.log1p(math.exp(-abs(t)))


@compiled
def student(square: float, freedom: float, log_norm: float) -> float:
    """The log density of Student's law at a point with this square."""
    return log_norm - 0.5 * (freedom + 1.0) * math.log1p(square / freedom)


@compiled
def log_law(code: int, t: float, a: float, b: float, c: float) -> float:
    """The log density of the law with this code at ``t``; what a, b and c are depends on the law.

    Laws of positive parameters are those of the logarithm, laws of bounded ones those of the log odds.
    """
    if code == NORMAL:
        return -0.5 * t * t - HALF_LOG_TWO_PI
    if code == LOGISTIC:
        return logistic(t)
    if code == STUDENT:
        return student(t * t, a, b)
    if code == HALF_NORMAL:
        return HALF_LOG_TWO_OVER_PI + t - 0.5 * math.exp(2.0 * t)
    if code == HALF_STUDENT:
        return LOG_TWO + t + student(math.exp(2.0 * t), a, b)
    if code == GAMMA:
        return a * t - math.exp(t) - b
    if code == BETA:
        return -a * softplus(-t) - b * softplus(t) - c
    if code == FLAT_ABOVE:
        return t
    return 0.0  # FLAT
