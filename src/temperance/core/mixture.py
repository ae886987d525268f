"""The density of a mixture of Student's t, which jumps are drawn from: at one point, and at many."""

import functools
import math
from collections.abc import Callable
from typing import Any

from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.schema import numba_type
from temperance.core.state import JUMP_DOF, FloatArray, Mixture


@compiled
def whitened_square(component: int, point: FloatArray, mixture: Mixture) -> float:
    """Squared distance of a point from the centre of a component, in its own widths."""
    square = 0.0
    for i in range(point.shape[0]):
        coordinate = 0.0
        for k in range(i + 1):
            coordinate += mixture.whitener[component, i, k] * (point[k] - mixture.centre[component, k])
        square += coordinate * coordinate
    return square


@compiled
def mixture_log_density(point: FloatArray, mixture: Mixture) -> float:
    """Log density of the whole mixture at a point, up to a constant that all components share."""
    power = 0.5 * (JUMP_DOF + point.shape[0])
    largest, total = -math.inf, 0.0
    for component in range(mixture.centre.shape[0]):
        square = whitened_square(component, point, mixture)
        value = mixture.log_height[component] - power * math.log1p(square / JUMP_DOF)
        if value > largest:
            total = total * math.exp(largest - value) + 1.0
            largest = value
        elif value > -math.inf:
            total += math.exp(value - largest)
    return largest + math.log(total) if total > 0.0 else -math.inf


@functools.cache
def compiled_log_densities() -> Callable[[FloatArray, Mixture, FloatArray], Any]:
    """The log density of a mixture at each row of an array, compiled on first use and cached."""
    digest = kernel_digest()
    matrix, vector = types.float64[:, ::1], types.float64[::1]

    @compiled_for(types.void(matrix, numba_type(Mixture), vector))
    def log_densities(points: FloatArray, mixture: Mixture, values: FloatArray) -> None:
        """One number for each row of ``points``, written to ``values``."""
        digest  # noqa: B018  part of the cache key
        for row in range(points.shape[0]):
            values[row] = mixture_log_density(points[row], mixture)

    return log_densities
