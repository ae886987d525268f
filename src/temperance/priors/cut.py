"""Priors cut off at bounds; SciPy knows how much of a law lies between them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from temperance.checks import real_number, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.priors.joint import base_of
from temperance.priors.kernels.maps import CUT, CUT_ABOVE, CUT_BELOW, uncut
from temperance.priors.prior import Prior
from temperance.priors.scalars import Scalar, below, prior_of, shape_of


@within("priors.truncated")
def truncated(prior: Prior, lower: Any = None, upper: Any = None, shape: Any = ()) -> Prior:
    """A prior of a single value, between bounds only; None is no bound. Needs SciPy."""
    base = base_of("truncated", prior)
    if base.scipy is None:
        raise InvalidInputError(f"prior must be one that can be drawn from, got {prior.text}")
    law = base.scipy()
    low, high = _bound("lower", lower, -math.inf), _bound("upper", upper, math.inf)
    below("lower", np.asarray(low), "upper", np.asarray(high))
    low, high = max(low, float(law.support()[0])), min(high, float(law.support()[1]))
    mass = _mass(law, low, high)
    if not mass > 0.0:
        raise InvalidInputError(f"lower and upper must leave some of {prior.text}, got {lower} and {upper}")
    ends = tuple(float(base.coordinates(np.asarray(end))) for end in (low, high))
    scalar = _cut_scalar(base, ends, mass, (law, low, high))
    text = f"truncated({prior.text}, {low:g}, {high:g})"
    return prior_of(scalar, text, () if shape == () else shape_of(shape))


def _cut_scalar(
    base: Scalar, ends: tuple[float, ...], mass: float, bounded: tuple[Any, float, float]
) -> Scalar:
    low, high = ends
    code = {(True, True): CUT, (True, False): CUT_BELOW, (False, True): CUT_ABOVE}.get(
        (math.isfinite(low), math.isfinite(high))
    )
    if code is None:
        return base
    finite_ends = (low if math.isfinite(low) else 0.0, high if math.isfinite(high) else 0.0)

    def noise(generator: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        return uncut(code, base.coordinates(_draws(*bounded, generator, size)), *finite_ends)

    return replace(
        base, cut=code, of_cut=finite_ends, more=-math.log(mass), noise=noise, scipy=None
    )  # fmt: skip


def _bound(name: str, value: Any, absent: float) -> float:
    return absent if value is None else real_number(name, value)


def _mass(law: Any, low: float, high: float) -> float:
    """How much of the law lies between the bounds, by the tail in which it can be told."""
    above = low > law.median()
    return float(law.sf(low) - law.sf(high) if above else law.cdf(high) - law.cdf(low))


def _draws(law: Any, low: float, high: float, generator: np.random.Generator, size: Any) -> FloatArray:
    """Exact draws by the inverse of the distribution function, strictly between the bounds."""
    share = generator.uniform(size=size)
    if low > law.median():
        value = law.isf(law.sf(high) + share * (law.sf(low) - law.sf(high)))
    else:
        value = law.ppf(law.cdf(low) + share * (law.cdf(high) - law.cdf(low)))
    return np.asarray(np.clip(value, np.nextafter(low, math.inf), np.nextafter(high, -math.inf)))
