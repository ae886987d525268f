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
def odds_share(t: float) -> float:
    """1 / (1 + e⁻ᵗ), at any size of t."""
    shrunk = math.exp(
        -abs(t)
    )  # one exponential for both signs: a branch would be guessed wrongly half the time
    return (1.0 if t >= 0.0 else shrunk) / (1.0 + shrunk)


@compiled
def mapped(code: int, t: float, origin: float, scale: float) -> float:
    """The parameter that a coordinate stands for."""
    if code == AFFINE:
        return origin + scale * t
    if code == EXP:
        return origin + scale * math.exp(t)
    if code == LOGIT:
        return origin + scale * odds_share(t)
    if code == EXP_AFFINE:
        return math.exp(origin + scale * t)
    return math.exp(origin + scale * odds_share(t))  # EXP_LOGIT


@compiled
def cut(code: int, t: float, low: float, high: float) -> float:
    """A coordinate between two bounds, or beyond one, from one on the whole line."""
    if code == CUT:
        return low + (high - low) * odds_share(t)
    if code == CUT_BELOW:
        return low + math.exp(t)
    if code == CUT_ABOVE:
        return high - math.exp(t)
    return t


@compiled
def cut_log_slope(code: int, t: float, low: float, high: float) -> float:
    """Log of the derivative of `cut`."""
    if code == CUT:
        return math.log(high - low) + logistic(t)
    return 0.0 if code == AS_IT_IS else t


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
