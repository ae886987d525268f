"""Angles, as directions in the plane: a turn has no ends there, and a mode across 0 and 2π is one mode."""

import math
from typing import Any

import numpy as np

from temperance.checks import number_between
from temperance.core.state import FloatArray
from temperance.priors.kernels.table import ANGLES, Block
from temperance.priors.prior import Prior
from temperance.priors.scalars import shape_of

# How closely points keep to a circle: the square of their distance has a gamma law with this shape. Wider
# circles are quicker to go round, narrower ones hold a well known angle; by benchmarks/angles.py this is the
# best of the worst.
RADIUS_SHAPE = 4.0


def angle(start: float = 0.0, period: float = 2.0 * math.pi, shape: Any = ()) -> Prior:
    """The even law on a circle: from ``start`` on, a turn being ``period`` long."""
    shape = () if shape == () else shape_of(shape)
    first = number_between("start", start, -math.inf, math.inf)
    turn = number_between("period", period, 0.0, math.inf)
    size = math.prod(shape)
    rate = RADIUS_SHAPE  # so that the square is one on average
    log_norm = RADIUS_SHAPE * math.log(rate) - math.lgamma(RADIUS_SHAPE) - math.log(math.pi)
    constants = np.array([RADIUS_SHAPE - 1.0, rate, log_norm, first, turn])

    def draw(generator: np.random.Generator) -> FloatArray:
        radius = np.sqrt(generator.standard_gamma(RADIUS_SHAPE, size) / rate)
        turned = generator.uniform(0.0, 2.0 * math.pi, size)
        return np.ravel(np.stack([radius * np.cos(turned), radius * np.sin(turned)], axis=-1))

    def unconstrain(value: FloatArray) -> FloatArray:
        turned = np.ravel((value - first) / turn * 2.0 * math.pi)
        return np.ravel(np.stack([np.cos(turned), np.sin(turned)], axis=-1))

    return Prior(
        text=f"angle({first:g}, {turn:g})",
        shape=shape,
        blocks=(Block(kind=ANGLES, size=size, n_coordinates=2 * size, constants=constants),),
        unconstrain=unconstrain,
        draw=draw,
        turns=((first, turn),) * size,
    )
