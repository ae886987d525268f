"""A user's function of parameters as a target: of coordinates, with the prior beside it."""

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.models.layout import Layout
from temperance.origin import function_name
from temperance.priors.kernels.table import by_rows, compiled_pass
from temperance.targets import Functions, RoomyTarget, Target, gather, make_target
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
    made, shape = _Pass(layout), shaped(layout, vector=vector)
    values: Any = made.values if vectorized else lambda z: made.values(z[None])[0]
    prior: Any = made.log_prior if vectorized else lambda z: made.log_prior(z[None])[0]
    if takes_data(function):
        tempered: Any = lambda z, data: _plain(function(shape(values(z)), data), function)  # noqa: E731
    else:
        tempered = lambda z: _plain(function(shape(values(z))), function)  # noqa: E731
    tempered.__name__ = function_name(function)
    return make_target(gather(None, tempered, prior, data), vectorized=vectorized)


def compiled_target(layout: Layout, functions: Functions, prior: Any) -> Target:
    """A compiled function, with a prior as `compiled_prior` made it."""
    return RoomyTarget(functions, prior, layout.n_values, layout.table)


def compiled_prior(layout: Layout) -> Any:
    """The prior as a compiled function, which writes the values of a point for the likelihood.

    The table is an argument, so that other numbers in a prior compile nothing anew.
    """
    own = _compiled_own(layout)
    return _by_table() if own is None else _by_table_with(own)


@functools.cache
def _by_table() -> Any:
    by_table = compiled_pass()

    @numba.njit
    def prior(points: Any, n: int, log_prior: Any, values: Any, blocks: Any, constants: Any) -> None:
        by_table(blocks, constants, points, n, values, log_prior)

    return prior


def _by_table_with(own: Any) -> Any:
    by_table = compiled_pass()

    @numba.njit
    def prior(points: Any, n: int, log_prior: Any, values: Any, blocks: Any, constants: Any) -> None:
        by_table(blocks, constants, points, n, values, log_prior)
        for k in range(n):
            log_prior[k] += own(values[k])

    return prior


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


class _Pass:
    """Values and log prior of points, from one pass.

    A likelihood is asked right after the prior, for the same points: their values are kept until then.
    """

    def __init__(self, layout: Layout) -> None:
        self._table, self._n_values, self._own = layout.table, layout.n_values, own_densities(layout)
        self._kept: deque[tuple[bytes, FloatArray]] = deque(maxlen=1)

    def log_prior(self, points: FloatArray) -> FloatArray:
        """The log prior of rows."""
        values, total = by_rows(self._table, points, self._n_values)
        self._kept.append((points.tobytes(), values))
        for name, function, first, last in self._own:
            total += [_own_value(name, function, row[first:last]) for row in values]
        return total

    def values(self, points: FloatArray) -> FloatArray:
        """The values of rows, which nobody else has: a user's function may write to them."""
        try:
            of, values = self._kept.pop()  # at once, whatever other threads do
        except IndexError:
            of = b""
        return values if of == points.tobytes() else by_rows(self._table, points, self._n_values)[0]


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
