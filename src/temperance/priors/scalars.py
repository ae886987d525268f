"""Priors whose values know nothing of each other: a law and a map for each, with constants of its own."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from temperance.checks import numeric_array, whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.priors.kernels.maps import AS_IT_IS, uncut, unmapped
from temperance.priors.kernels.table import PER_SCALAR, SCALARS, Block
from temperance.priors.prior import Prior

Noise = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
NOTHING = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scalar:
    """One kind of law on the line, with its map; numbers may be arrays that fit the shape."""

    law: int
    map: int
    noise: Noise | None  # coordinates, drawn exactly; None for what is improper
    of_law: tuple[Any, ...] = ()
    of_map: tuple[Any, Any] = (0.0, 1.0)
    cut: int = AS_IT_IS
    of_cut: tuple[Any, Any] = NOTHING
    more: Any = 0.0  # added to the log density
    scipy: Callable[[], Any] | None = None  # the same law of the parameter in SciPy

    def coordinates(self, value: FloatArray) -> FloatArray:
        """What stands for these values; not finite where they are outside the support."""
        return uncut(self.cut, unmapped(self.map, value, *self.of_map), *self.of_cut)


def prior_of(scalar: Scalar, text: str, shape: tuple[int, ...], **more: Any) -> Prior:
    """A prior of this shape, whose values all have the law ``scalar``."""
    size = math.prod(shape)
    block = Block(
        kind=SCALARS,
        size=size,
        n_coordinates=size,
        constants=constants_of(scalar, shape),
        law=scalar.law,
        map=scalar.map,
        cut=scalar.cut,
    )
    noise = scalar.noise
    return Prior(
        text=text,
        shape=shape,
        blocks=(block,),
        unconstrain=lambda value: np.ravel(np.broadcast_to(scalar.coordinates(value), shape)),
        draw=None if noise is None else lambda generator: np.ravel(noise(generator, shape)),
        proper=noise is not None,
        scalar=scalar,
        **more,
    )


def constants_of(scalar: Scalar, shape: tuple[int, ...]) -> FloatArray:
    """The numbers of each value, one value after the other, as `table` reads them."""
    law = (*scalar.of_law, 0.0, 0.0, 0.0)[:3]
    numbers = (*law, *scalar.of_map, *scalar.of_cut, scalar.more)
    columns = [np.broadcast_to(np.asarray(number, dtype=np.float64), shape).ravel() for number in numbers]
    return np.stack(columns, axis=1).reshape(len(columns[0]) * PER_SCALAR)


def arguments(shape: Any, /, **given: Any) -> tuple[dict[str, FloatArray], tuple[int, ...]]:
    """Numbers or arrays by name, all finite, and the shape of what they are the numbers of."""
    arrays = {name: finite(name, value) for name, value in given.items()}
    if shape is None:
        return arrays, _common(arrays)
    wanted = shape_of(shape)
    for name, array in arrays.items():
        try:
            np.broadcast_to(array, wanted)
        except ValueError as error:
            raise InvalidInputError(f"{name} must fit the shape {wanted}, got shape {array.shape}") from error
    return arrays, wanted


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape from a number or several."""
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(whole_number("shape", length, least=1) for length in lengths)


def finite(name: str, value: Any) -> FloatArray:
    """An array of finite numbers."""
    array = numeric_array(name, value, "fiu", "a number or an array of numbers").astype(np.float64)
    if not array.size or not np.all(np.isfinite(array)):
        raise InvalidInputError(f"{name} must be finite, got {array.tolist()}")
    return array


def positive(name: str, array: FloatArray) -> FloatArray:
    """An array of positive numbers."""
    if np.any(array <= 0.0):
        raise InvalidInputError(f"{name} must be positive, got {array.tolist()}")
    return array


def below(low: str, lower: FloatArray, high: str, upper: FloatArray) -> None:
    """Two bounds that are neither equal nor crossed."""
    if np.any(lower >= upper):
        raise InvalidInputError(
            f"{low} must be below {high}, got {low} = {lower.tolist()} and {high} = {upper.tolist()}"
        )


def written(name: str, given: Mapping[str, FloatArray]) -> str:
    """How a prior is shown: ``normal(0, 10)``."""
    return f"{name}({', '.join(_short(array) for array in given.values())})"


def _short(array: FloatArray) -> str:
    return f"{float(array):g}" if array.ndim == 0 else f"array of shape {array.shape}"


def _common(arrays: Mapping[str, FloatArray]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        shapes = {name: array.shape for name, array in arrays.items()}
        raise InvalidInputError(f"{' and '.join(arrays)} must fit together, got shapes {shapes}") from error
