"""Log densities of single coordinates, as they are sampled: standardised, and on the whole line.

The law of a parameter is stated for the coordinate that its map (`maps`) takes to the parameter, so that the
Jacobian is part of it. A model is a table of such laws, which one compiled function reads: a new model
compiles nothing.
"""

import math

from temperance.core.compile import compiled
from temperance.core.state import FloatArray

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
def log_law(code: int, t: float, constants: FloatArray, at: int) -> float:
    """The log density of the law with this code at ``t``; its own constants begin at ``at``.

    Laws of positive parameters are those of the logarithm, laws of bounded ones those of the log odds.
    """
    if code == NORMAL:
        return -0.5 * t * t - HALF_LOG_TWO_PI
    if code == LOGISTIC:
        return logistic(t)
    if code == STUDENT:
        return student(t * t, constants[at], constants[at + 1])
    if code == HALF_NORMAL:
        return HALF_LOG_TWO_OVER_PI + t - 0.5 * math.exp(2.0 * t)
    if code == HALF_STUDENT:
        return LOG_TWO + t + student(math.exp(2.0 * t), constants[at], constants[at + 1])
    if code == GAMMA:
        gamma: float = constants[at] * t - math.exp(t) - constants[at + 1]
        return gamma
    if code == BETA:
        beta: float = -constants[at] * softplus(-t) - constants[at + 1] * softplus(t) - constants[at + 2]
        return beta
    return t if code == FLAT_ABOVE else 0.0
