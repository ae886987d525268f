"""Targets written with ``@numba.njit``: the whole loop then runs compiled."""

import functools
import math
from collections.abc import Callable
from typing import Any

from numba import types

from temperance.core.compile import compiled, compiled_around, compiled_around_for
from temperance.core.numba_internals.functions import CompilationError, compile_first, returned_type
from temperance.core.state import EVALUATE_SIGNATURE, LEVEL, STOP, FloatArray, IntArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.origin import function_name
from temperance.targets.contract import TEMPERED, UNTEMPERED, Bound, Buffers
from temperance.targets.data import DataTable
from temperance.targets.functions import NO_DATA, Functions, takes_data

_POINT_SIGNATURE = (types.float64[::1], types.intp)
_CONTEXT_SIGNATURE = (types.intp,)


class CompiledTarget:
    """An ``@njit`` log density, or a likelihood and a prior that both are."""

    runs_in_parallel, rows_stand_alone = True, True

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.name = functions.name
        self.has_prior = functions.prior is not None
        self._table = None if functions.data is NO_DATA else DataTable(functions.data)
        loader = None if self._table is None else self._table.loader()
        self._evaluate = _compiled_evaluation(functions.tempered, functions.prior, loader)

    def __reduce__(self) -> tuple[type, tuple[Functions]]:
        return type(self), (self._functions,)

    def bind(self, buffers: Buffers) -> Bound:  # noqa: ARG002  it takes the buffers with each call
        """Tie the functions to one chain's buffers."""
        address = 0 if self._table is None else self._table.address
        return Bound(self._evaluate, address, keep_alive=self._table)


@compiled
def no_prior(point: FloatArray, context: int, gradient: FloatArray, k: int, part: int) -> float:
    """The untempered part of a target that has none."""
    return 0.0


@functools.lru_cache(maxsize=64)
def _compiled_evaluation(tempered: Any, prior: Any, loader: Any) -> Callable[..., None]:
    """The evaluation of these functions; asked again for the same ones, it is not compiled again."""
    untempered = no_prior if prior is None else point_function(prior, loader)
    return evaluation(point_function(tempered, loader), untempered)


def evaluation(tempered: Any, prior: Any) -> Callable[..., None]:
    """One compiled function around the user's, for all points that are asked for.

    Each density gets a private copy of its point. Where the prior vanishes the likelihood is not asked.
    """

    @compiled_around_for(EVALUATE_SIGNATURE)
    def evaluate(
        context: int,
        proposal: FloatArray,
        n_points: int,
        log_density: FloatArray,
        log_prior: FloatArray,
        gradient: FloatArray,
        scratch: FloatArray,
        control: IntArray,
    ) -> None:
        for k in range(n_points):
            if control[STOP] != 0:
                return
            control[LEVEL] = k
            for i in range(scratch.shape[0]):
                scratch[i] = proposal[k, i]
            log_prior[k] = prior(scratch, context, gradient, k, UNTEMPERED)
            if log_prior[k] == -math.inf:
                log_density[k] = -math.inf
                continue
            for i in range(scratch.shape[0]):
                scratch[i] = proposal[k, i]
            log_density[k] = tempered(scratch, context, gradient, k, TEMPERED)

    return evaluate


def point_function(function: Any, loader: Any, *, gradients: bool = True) -> Any:
    """The user's function as ``(point, context, gradient, k, part) -> float``, or an error that names it."""
    raw = _with_context(function, loader)
    name = function_name(function)
    with_data = loader is not None and takes_data(function)
    try:
        data = (returned_type(loader, _CONTEXT_SIGNATURE),) if with_data else ()
        compile_first(function, (types.float64[::1], *data))
        returned = returned_type(raw, _POINT_SIGNATURE)
    except CompilationError as error:
        arguments = "(x, data)" if with_data else "(x)"
        raise InvalidTypeError(
            f"{name} does not compile as a function of {arguments} with x a one-dimensional "
            f"array of float64: {error}"
        ) from error
    if not gradients and isinstance(returned, types.BaseTuple):
        raise InvalidInputError(f"{name} must return one number; a model with priors takes no gradients yet")
    return _as_float(raw, returned, name)


def _with_context(function: Any, loader: Any) -> Any:
    if loader is None or not takes_data(function):
        return compiled_around(lambda point, context: function(point))
    return compiled_around(lambda point, context: function(point, loader(context)))


def _as_float(raw: Any, returned: Any, name: str) -> Any:
    """With the value as a float, and the gradient, if there is one and it is wanted, put where it belongs."""
    if isinstance(returned, types.BaseTuple) and len(returned) == 2 and _is_vector(returned[1]):
        value = _number(returned[0], name)
        return _with_gradient(raw, value, f"{name} must return a gradient with one number a dimension")
    value = _number(returned, name)
    return compiled_around(lambda point, context, gradient, k, part: value(raw(point, context)))


def _with_gradient(raw: Any, value: Any, complaint: str) -> Any:
    def value_and_gradient(point: Any, context: int, gradient: Any, k: int, part: int) -> float:
        returned, slope = raw(point, context)
        if k < gradient.shape[0]:
            if slope.shape[0] != gradient.shape[2]:
                raise ValueError(complaint)
            for i in range(gradient.shape[2]):
                gradient[k, part, i] = slope[i]
        return float(value(returned))

    return compiled_around(value_and_gradient)


def _is_vector(kind: Any) -> bool:
    return (
        isinstance(kind, types.Array)
        and kind.ndim == 1
        and isinstance(kind.dtype, types.Float | types.Integer)
    )


def _number(returned: Any, name: str) -> Any:
    """From what a function returns to a float, or an error that names the function."""
    if isinstance(returned, types.Float | types.Integer):
        return compiled_around(lambda value: float(value))
    if isinstance(returned, types.Array):
        if returned.ndim == 0 and isinstance(returned.dtype, types.Float | types.Integer):
            return compiled_around(lambda value: float(value[()]))
        raise InvalidTypeError(
            f"{name} must return one number, got an array with {returned.ndim} dimension(s); "
            "return a float, for instance value[0] or value.sum()"
        )
    raise InvalidTypeError(f"{name} must return one number, got {returned}")
