"""From coordinates as they are sampled to parameters, one by one, and back.

A coordinate may first go through a step that cuts or orders it; the map of its prior follows.
"""

import math
from typing import Any

import numpy as np

from temperance.core.compile import compiled
from temperance.core.state import FloatArray
from temperance.priors.kernels.laws import logistic

AFFINE, EXP, LOGIT, EXP_AFFINE, EXP_LOGIT = range(5)
AS_IT_IS, CUT, CUT_BELOW, CUT_ABOVE = range(4)


@compiled
def power_of(code: int, t: float) -> float:
    """The exponential that a map and its laws have in common, which is most of what both cost.

    That of -|t| serves both signs of log odds: a branch would be guessed wrongly half the time.
    """
    if code in (AFFINE, EXP_AFFINE):
        return 0.0
    return math.exp(t if code == EXP else -abs(t))


@compiled
def odds_share(t: float, shrunk: float) -> float:
    """1 / (1 + e⁻ᵗ), at any size of t, from e to the power of -|t|."""
    return (1.0 if t >= 0.0 else shrunk) / (1.0 + shrunk)


@compiled
def mapped(code: int, t: float, power: float, origin: float, scale: float) -> float:
    """The parameter that a coordinate stands for."""
    if code == AFFINE:
        return origin + scale * t
    if code == EXP:
        return origin + scale * power
    if code == LOGIT:
        return origin + scale * odds_share(t, power)
    if code == EXP_AFFINE:
        return math.exp(origin + scale * t)
    return math.exp(origin + scale * odds_share(t, power))  # EXP_LOGIT


@compiled
def cut(code: int, t: float, low: float, high: float) -> tuple[float, float]:
    """A coordinate between two bounds, or beyond one, from one on the whole line; and its log slope."""
    if code == CUT:
        shrunk = math.exp(-abs(t))
        return low + (high - low) * odds_share(t, shrunk), math.log(high - low) + logistic(t, shrunk)
    if code == CUT_BELOW:
        return low + math.exp(t), t
    return high - math.exp(t), t  # CUT_ABOVE


def unmapped(code: int, value: Any, origin: Any, scale: Any) -> FloatArray:
    """The coordinates of parameters; NaN or infinite where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if code == AFFINE:
            return np.asarray((value - origin) / scale)
        if code == EXP:
            return np.asarray(np.log((value - origin) / scale))
        if code == LOGIT:
            return _log_odds((value - origin) / scale)
        if code == EXP_AFFINE:
            return np.asarray((np.log(value) - origin) / scale)
        return _log_odds((np.log(value) - origin) / scale)


def uncut(code: int, value: Any, low: Any, high: Any) -> FloatArray:
    """The inverse of `cut`, likewise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if code == CUT:
            return _log_odds((value - low) / (high - low))
        if code == CUT_BELOW:
            return np.asarray(np.log(value - low))
        if code == CUT_ABOVE:
            return np.asarray(np.log(high - value))
        return np.asarray(value)


def _log_odds(share: Any) -> FloatArray:
    return np.asarray(np.log(share) - np.log1p(-share))
