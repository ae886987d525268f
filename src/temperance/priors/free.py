"""Priors without a law of their own: flat ones, and those of a user."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from temperance.checks import real_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.origin import function_name
from temperance.priors.interval import uniform
from temperance.priors.kernels.laws import FLAT, FLAT_ABOVE, LOGISTIC
from temperance.priors.kernels.maps import AFFINE, EXP, LOGIT
from temperance.priors.prior import Prior
from temperance.priors.scalars import Scalar, below, prior_of, shape_of


def flat(lower: Any = None, upper: Any = None, shape: Any = ()) -> Prior:
    """As likely everywhere, within bounds if there are any.

    Improper unless there are two bounds: it cannot be drawn from, and cannot be the hottest level.
    """
    shape = () if shape == () else shape_of(shape)
    low, high = flat_bounds(lower, upper)
    text = f"flat({low:g}, {high:g})"
    if math.isfinite(low) and math.isfinite(high):
        return replace(uniform(low, high, shape=shape), text=text)
    return prior_of(_slope(low, high), text, shape)


def custom(
    log_density: Any, lower: Any = None, upper: Any = None, *, draw: Any = None, shape: Any = ()
) -> Prior:
    """A log density of your own, of one value within bounds; values of a shape are independent.

    ``draw`` makes values, from a generator and a shape. Without it chains need another start, and no level
    can be the prior. The log density must be compiled where the likelihood is.
    """
    for name, function in (("log_density", log_density), *([("draw", draw)] if draw is not None else [])):
        if not callable(function):
            raise InvalidTypeError(f"{name} must be a function, got {type(function).__name__}: {function!r}")
    low, high = flat_bounds(lower, upper)
    base = prior_of(_slope(low, high), "", () if shape == () else shape_of(shape))
    text = f"custom({function_name(log_density)})"

    def coordinates(generator: np.random.Generator) -> FloatArray:
        values = np.asarray(draw(generator, base.shape), dtype=np.float64)
        if values.shape != base.shape:
            raise InvalidInputError(f"draw must return values of shape {base.shape}, got {values.shape}")
        return base.unconstrain(values)

    return replace(
        base,
        text=text,
        log_density=log_density,
        draw=None if draw is None else coordinates,
        proper=draw is not None,
    )


def flat_bounds(lower: Any, upper: Any) -> tuple[float, float]:
    """Bounds, infinite where there are none."""
    low = -math.inf if lower is None else real_number("lower", lower)
    high = math.inf if upper is None else real_number("upper", upper)
    below("lower", np.asarray(low), "upper", np.asarray(high))
    return low, high


def _slope(low: float, high: float) -> Scalar:
    """The map to what lies within the bounds, with its Jacobian for a law."""
    if math.isinf(low) and math.isinf(high):
        return Scalar(law=FLAT, map=AFFINE, noise=None)
    if math.isfinite(low) and math.isfinite(high):
        width = high - low
        return Scalar(law=LOGISTIC, map=LOGIT, noise=None, of_map=(low, width), more=math.log(width))
    of_map = (high, -1.0) if math.isinf(low) else (low, 1.0)
    return Scalar(law=FLAT_ABOVE, map=EXP, noise=None, of_map=of_map)
