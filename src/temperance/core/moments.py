"""What weighted points say of each component of a mixture: the sums that a step of EM needs."""

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.mixture import whitened_square
from temperance.core.schema import numba_type, of
from temperance.core.state import JUMP_DOF, FloatArray, Mixture

FAR = -30.0  # below the largest log term: what is less changes no digit of a sum that matters


class Sums(NamedTuple):
    """Of the weights of all points, shared out among the components; ``term`` and ``square`` are room."""

    mass: Annotated[FloatArray, of("component")]  # Σ w r, r the share of the component in the density
    mass_squared: Annotated[FloatArray, of("component")]  # Σ (w r)²
    influence: Annotated[FloatArray, of("component")]  # Σ w r u, u what the point weighs in a Student's t
    first: Annotated[FloatArray, of("component", "dim")]  # Σ w r u (x − centre)
    second: Annotated[FloatArray, of("component", "dim", "dim")]  # Σ w r u (x − centre)(x − centre)ᵀ, lower
    term: Annotated[FloatArray, of("component")]
    square: Annotated[FloatArray, of("component")]


@compiled
def share_out(point: FloatArray, mixture: Mixture, sums: Sums) -> None:
    """The share of each component in the density at a point, into ``term``; zero where it is next to none."""
    power, largest, total = 0.5 * (JUMP_DOF + point.shape[0]), -math.inf, 0.0
    for component in range(mixture.centre.shape[0]):
        square = whitened_square(component, point, mixture)
        value = mixture.log_height[component] - power * math.log1p(square / JUMP_DOF)
        sums.square[component], sums.term[component] = square, value
        largest = max(largest, value)
    for component in range(mixture.centre.shape[0]):
        below = sums.term[component] - largest
        sums.term[component] = math.exp(below) if below > FAR else 0.0
        total += sums.term[component]
    for component in range(mixture.centre.shape[0]):
        sums.term[component] /= total


@compiled
def add_share(component: int, share: float, point: FloatArray, mixture: Mixture, sums: Sums) -> None:
    """A weighted share of a point, added to the sums of a component, in place."""
    dim = point.shape[0]
    influence = share * (JUMP_DOF + dim) / (JUMP_DOF + sums.square[component])
    sums.mass[component] += share
    sums.mass_squared[component] += share * share
    sums.influence[component] += influence
    for i in range(dim):
        along = influence * (point[i] - mixture.centre[component, i])
        sums.first[component, i] += along
        for k in range(i + 1):
            sums.second[component, i, k] += along * (point[k] - mixture.centre[component, k])


@functools.cache
def compiled_sums() -> Callable[[FloatArray, FloatArray, Mixture, Sums], Any]:
    """The sums over all points, compiled on first use and cached."""
    digest = kernel_digest()
    matrix, vector = types.float64[:, ::1], types.float64[::1]

    @compiled_for(types.void(matrix, vector, numba_type(Mixture), numba_type(Sums)))
    def add_points(points: FloatArray, weights: FloatArray, mixture: Mixture, sums: Sums) -> None:
        """All points, added to ``sums`` in place."""
        digest  # noqa: B018  part of the cache key
        for row in range(points.shape[0]):
            share_out(points[row], mixture, sums)
            for component in range(mixture.centre.shape[0]):
                share = weights[row] * sums.term[component]
                if share > 0.0:
                    add_share(component, share, points[row], mixture, sums)

    return add_points
