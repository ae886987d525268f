"""A user's function of parameters as a target: of coordinates, with the prior beside it."""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.models.layout import Layout
from temperance.origin import function_name
from temperance.priors.kernels.table import compiled_log_prior, compiled_values
from temperance.targets import RoomyTarget, Target, gather, make_target
from temperance.targets.functions import takes_data

Shaped = Callable[[FloatArray], Any]  # from values, (..., value), to what a function takes


def shaped(layout: Layout, *, vector: bool) -> Shaped:
    """What a plain function gets: the vector as it is, or a dict of floats and arrays."""
    if vector:
        return lambda values: values
    places, start = [], 0
    for name, prior in layout.priors.items():
        places.append((name, start, start + prior.size, prior.shape))
        start += prior.size

    def as_dict(values: FloatArray) -> dict[str, Any]:
        return {
            name: values[..., first:last].reshape((*values.shape[:-1], *shape))
            if shape
            else values[..., first]
            for name, first, last, shape in places
        }

    def as_floats(values: FloatArray) -> dict[str, Any]:
        if values.ndim > 1:
            return as_dict(values)
        return {
            name: values[first:last].reshape(shape) if shape else float(values[first])
            for name, first, last, shape in places
        }

    return as_floats


def python_target(layout: Layout, function: Any, data: Any, *, vector: bool, vectorized: bool) -> Target:
    """Plain Python, one point at a time or rows of them."""
    values = _rows_values(layout) if vectorized else _point_values(layout)
    prior = _rows_prior(layout) if vectorized else _point_prior(layout)
    shape = shaped(layout, vector=vector)
    if takes_data(function):
        tempered: Any = lambda z, data: _plain(function(shape(values(z)), data), function)  # noqa: E731
    else:
        tempered = lambda z: _plain(function(shape(values(z))), function)  # noqa: E731
    tempered.__name__ = function_name(function)
    return make_target(gather(None, tempered, prior, data), vectorized=vectorized)


def compiled_target(layout: Layout, functions: tuple[Any, Any], data: Any) -> Target:
    """Compiled functions, as `compiled_functions` made them, with room for the values of a point."""
    items = () if data is None else data if isinstance(data, tuple) else (data,)
    room = np.empty(layout.n_values)
    return RoomyTarget(gather(None, *functions, (room, *layout.table, *items)))


def compiled_functions(layout: Layout, function: Any, *, data_is_tuple: bool) -> tuple[Any, Any]:
    """Likelihood and prior as compiled functions of coordinates and data.

    The data begin with room for values and the table of the priors, so that other numbers in a prior compile
    nothing anew.
    """
    own = _compiled_own(layout)
    prior = _compiled_prior() if own is None else _compiled_prior_with(own)
    return _compiled_likelihood(function, data_is_tuple), prior


@functools.lru_cache(maxsize=64)
def _compiled_likelihood(function: Any, data_is_tuple: bool) -> Any:
    to_values = compiled_values()

    def alone(z: Any, data: Any) -> float:
        to_values(data[1], data[2], z, data[0])
        return float(function(data[0]))

    def with_array(z: Any, data: Any) -> float:
        to_values(data[1], data[2], z, data[0])
        return float(function(data[0], data[3]))

    def with_tuple(z: Any, data: Any) -> float:
        to_values(data[1], data[2], z, data[0])
        return float(function(data[0], data[3:]))

    tempered = alone if not takes_data(function) else with_tuple if data_is_tuple else with_array
    tempered.__name__ = function_name(function)
    return numba.njit(tempered)


@functools.cache
def _compiled_prior() -> Any:
    by_table = compiled_log_prior()
    return numba.njit(lambda z, data: by_table(data[1], data[2], z))


def _compiled_prior_with(own: Any) -> Any:
    by_table, to_values = compiled_log_prior(), compiled_values()

    @numba.njit
    def log_prior(z: Any, data: Any) -> float:
        to_values(data[1], data[2], z, data[0])
        return by_table(data[1], data[2], z) + own(data[0])  # type: ignore[no-any-return]

    return log_prior


def _compiled_own(layout: Layout) -> Any:
    """The sum of all log densities that the user wrote for single parameters; None without any."""
    total = None
    for name, function, first, last in own_densities(layout):
        if not is_jitted(function):
            raise InvalidTypeError(
                f"parameters: the log density of {name!r}, {function_name(function)}, must be compiled with "
                "@numba.njit, as the likelihood is"
            )
        total = _also(total, function, first, last)
    return total


def _also(before: Any, function: Any, first: int, last: int) -> Any:
    @numba.njit
    def alone(values: Any) -> float:
        total = 0.0
        for i in range(first, last):
            total += function(values[i])
        return total

    if before is None:
        return alone
    return numba.njit(lambda values: before(values) + alone(values))


def own_densities(layout: Layout) -> list[tuple[str, Any, int, int]]:
    """Log densities that the user wrote: the parameter, the function, the places of its values."""
    found, start = [], 0
    for name, prior in layout.priors.items():
        if prior.log_density is not None:
            found.append((name, prior.log_density, start, start + prior.size))
        start += prior.size
    return found


def _point_values(layout: Layout) -> Callable[[FloatArray], FloatArray]:
    blocks, constants = layout.table
    to_values, size = compiled_values(), layout.n_values

    def values(z: FloatArray) -> FloatArray:
        made = np.empty(size)
        to_values(blocks, constants, z, made)
        return made

    return values


def _rows_values(layout: Layout) -> Callable[[FloatArray], FloatArray]:
    return layout.values


def _point_prior(layout: Layout) -> Callable[[FloatArray], float]:
    blocks, constants = layout.table
    by_table, own, values = compiled_log_prior(), own_densities(layout), _point_values(layout)
    if not own:
        return lambda z: by_table(blocks, constants, z)

    def log_prior(z: FloatArray) -> float:
        made = values(z)
        parts = (_own_value(name, f, made[first:last]) for name, f, first, last in own)
        return by_table(blocks, constants, z) + sum(parts)

    return log_prior


def _rows_prior(layout: Layout) -> Callable[[FloatArray], FloatArray]:
    one = _point_prior(layout)
    return lambda rows: np.array([one(row) for row in np.ascontiguousarray(rows)])


def _own_value(name: str, function: Any, values: FloatArray) -> float:
    total = 0.0
    for value in values:
        returned = function(float(value))
        if isinstance(returned, bool) or not isinstance(returned, int | float | np.integer | np.floating):
            raise InvalidTypeError(
                f"the log density of {name!r}, {function_name(function)}, must return one number, "
                f"got {type(returned).__name__}: {returned!r}"
            )
        total += float(returned)
    return total


def _plain(returned: Any, function: Any) -> Any:
    """A value; a gradient with respect to parameters would be wrong for what is sampled."""
    if isinstance(returned, tuple):
        raise InvalidInputError(
            f"{function_name(function)} must return one number; a model with priors takes no gradients yet"
        )
    return returned
