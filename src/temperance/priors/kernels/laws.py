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
def logistic(t: float, shrunk: float) -> float:
    """The log density of the logistic law: what a uniform parameter is on the scale of its log odds.

    ``shrunk`` is e to the power of -|t|. A small one is lost in the sum, but not beside |t|.
    """
    return -abs(t) - 2.0 * math.log(1.0 + shrunk)


@compiled
def student(square: float, freedom: float, log_norm: float) -> float:
    """The log density of Student's law at a point with this square."""
    return log_norm - 0.5 * (freedom + 1.0) * math.log1p(square / freedom)


@compiled
def beta(t: float, shrunk: float, a: float, b: float) -> float:
    """The log density of log odds of a beta law, but for its constant: -a log(1 + e⁻ᵗ) - b log(1 + eᵗ)."""
    return (-b * t if t >= 0.0 else a * t) - (a + b) * math.log(1.0 + shrunk)


@compiled
def log_law(code: int, t: float, power: float, constants: FloatArray, at: int) -> float:
    """The log density of the law with this code at ``t``; its own constants begin at ``at``.

    Laws of positive parameters are those of the logarithm, laws of bounded ones those of the log odds.
    ``power`` is the exponential that the map of the law takes as well (`maps.power_of`).
    """
    if code == NORMAL:
        return -0.5 * t * t - HALF_LOG_TWO_PI
    if code == LOGISTIC:
        return logistic(t, power)
    if code == STUDENT:
        return student(t * t, constants[at], constants[at + 1])
    if code == HALF_NORMAL:
        return HALF_LOG_TWO_OVER_PI + t - 0.5 * power * power
    if code == HALF_STUDENT:
        return LOG_TWO + t + student(power * power, constants[at], constants[at + 1])
    if code == GAMMA:
        gamma: float = constants[at] * t - power - constants[at + 1]
        return gamma
    if code == BETA:
        odds: float = beta(t, power, constants[at], constants[at + 1]) - constants[at + 2]
        return odds
    return t if code == FLAT_ABOVE else 0.0
