"""A user's own weights, compiled or in plain Python."""

import functools
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import is_jitted

from temperance.checks import checked_value, flag
from temperance.core.compile import compiled, compiled_around, compiled_around_for, kernel_digest
from temperance.core.numba_internals.addresses import call_python
from temperance.core.numba_internals.functions import (
    CompilationError,
    compile_first,
    read_only,
    returned_type,
    says_read_only,
)
from temperance.core.state import FloatArray, SwapView, propose_pair_signature
from temperance.errors import InvalidTypeError
from temperance.origin import function_name
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Definition, Kernel, Strategy, pair_kernel, repeated
from temperance.swaps.weighted import propose_weighted

EXPECTED = "weight(i, j, x, log_density, beta)"
_WEIGHT_ARGUMENTS = (
    types.int64, types.int64, types.float64[:, ::1], types.float64[::1], types.float64[::1],
)  # fmt: skip


@built_in
def custom(weight: Callable[..., float], *, log: bool = False, repeats: int = 1) -> Strategy:
    """Pairs drawn with any weights, exactly: the acceptance makes up for what is not symmetric.

    ``weight(i, j, x, log_density, beta)`` gives the weight of the pair of levels i < j, any finite number
    that is not negative, from the positions ``x`` (level, dim), their log densities and the inverse
    temperatures of the levels. It must be a function of these alone. With ``log=True`` it gives the log of
    the weight, -inf for none. Compiled with ``@numba.njit`` it runs inside the loop; plain Python works too.
    """
    name = function_name(weight)
    _check_signature(weight, name)
    log = flag("log", log)
    common: dict[str, Any] = {
        "name": name,
        "symmetric": False,
        "attempts": repeated(repeats),
        "definition": _definition(weight, log),
        "weight": weight,
        "log_weight": log,
    }
    if is_jitted(weight):
        logged = _compiled_log_weight(weight, log, name)
        return Strategy(**common, kernel=functools.cache(lambda: _compiled_kernel(logged)))
    return Strategy(**common, kernel=_python_kernel, callback=functools.partial(_callback, weight, log))


def log_of(weight: float) -> float:
    """Log of a weight: -inf for zero, NaN for what is none."""
    if not 0.0 <= weight < math.inf:
        return math.nan
    return math.log(weight) if weight > 0.0 else -math.inf


def _number(value: Any, weight: Any) -> float:
    """What a weight returned; True and False are weights, too."""
    return float(value) if isinstance(value, bool | np.bool_) else checked_value(value, function_name(weight))


def _check_signature(weight: Any, name: str) -> None:
    if not callable(weight):
        raise InvalidTypeError(f"weight must be a function {EXPECTED}, got {type(weight).__name__}")
    try:
        inspect.signature(getattr(weight, "py_func", weight)).bind(0, 1, None, None, None)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} must be a function {EXPECTED}: {error}") from error


def _definition(weight: Callable[..., float], log: bool) -> Definition:
    def weights(position: FloatArray, log_density: FloatArray, beta: FloatArray) -> FloatArray:
        n_levels = len(beta)
        logs = np.full((n_levels, n_levels), -np.inf)
        for i in range(n_levels):
            for j in range(i + 1, n_levels):
                value = _number(weight(i, j, position, log_density, beta), weight)
                logs[i, j] = value if log else log_of(value)
        return logs

    return weights


def _compiled_log_weight(weight: Any, log: bool, name: str) -> Any:
    """The user's function with its result as the log of a weight, or an error that names it."""
    try:
        raw: Any = compiled_around(lambda i, j, x, energies, beta: weight(i, j, x, energies, beta))
        compile_first(weight, _WEIGHT_ARGUMENTS)
        returned = returned_type(raw, _WEIGHT_ARGUMENTS)
    except CompilationError as error:
        raise InvalidTypeError(f"{name} does not compile as {EXPECTED}: {error}") from error
    _refuse_writing(weight, name)
    if not isinstance(returned, types.Float | types.Integer | types.Boolean):
        raise InvalidTypeError(f"{name} must return one number, got {returned}")
    if log:
        return compiled_around(lambda i, j, x, energies, beta: float(raw(i, j, x, energies, beta)))
    logarithm = compiled_around(log_of)
    return compiled_around(lambda i, j, x, energies, beta: logarithm(float(raw(i, j, x, energies, beta))))


def _refuse_writing(weight: Any, name: str) -> None:
    """A weight that writes to its arguments would change the chain; read-only ones tell."""
    try:
        compile_first(weight, tuple(read_only(argument) for argument in _WEIGHT_ARGUMENTS))
    except CompilationError as error:
        if says_read_only(error):
            raise InvalidTypeError(f"{name} must not change its arguments: {error}") from error


def _compiled_kernel(log_weight: Any) -> Kernel:
    @compiled_around
    def fill_weights(view: SwapView) -> None:
        n_levels = view.n_levels[0]
        position = view.position[:n_levels]
        log_density, beta = view.log_density[:n_levels], view.beta[:n_levels]
        pair = 0
        for i in range(n_levels):
            for j in range(i + 1, n_levels):
                view.weight[pair] = log_weight(i, j, position, log_density, beta)
                pair += 1

    @compiled_around_for(propose_pair_signature())
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        return propose_weighted(fill_weights, view, choice)

    return propose_pair


@compiled
def fill_by_callback(view: SwapView) -> None:
    """The log weights of all pairs, by the Python function whose address the view holds; in place."""
    call_python(view.context[0])


@functools.cache
def _python_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        digest  # noqa: B018  part of the cache key
        return propose_weighted(fill_by_callback, view, choice)

    return propose_pair


def _callback(
    weight: Callable[..., float], log: bool, view: SwapView, failures: list[BaseException]
) -> Callable[[], None]:
    """A function that fills in the log weights from Python; an error is kept and shows as a NaN."""

    def call() -> None:
        n_levels = int(view.n_levels[0])
        arrays = live_copies(view)
        view.weight[: n_levels * (n_levels - 1) // 2] = -math.inf
        for pair, (i, j) in enumerate(itertools.combinations(range(n_levels), 2)):
            try:
                value = _number(weight(i, j, *arrays), weight)
            except BaseException as error:  # noqa: BLE001  raised again by the run
                failures.append(error)
                view.weight[pair] = math.nan
                return
            view.weight[pair] = value if log else log_of(value)

    return call


def explain_bad_weight(strategy: Strategy, view: SwapView) -> str:
    """Which weight of the present state, or of one exchange away, is not a weight, and what it is."""
    wanted = "a number below infinity" if strategy.log_weight else "finite and not negative"
    weight: Any = strategy.weight
    position, log_density, beta = live_copies(view)
    pairs = list(itertools.combinations(range(len(beta)), 2))
    for swapped in [(0, 0), *pairs]:
        order = np.arange(len(beta))
        order[list(swapped)] = order[list(swapped[::-1])]
        for i, j in pairs if weight is not None else ():
            value = weight(i, j, position[order], log_density[order], beta)
            if math.isnan(value if strategy.log_weight else log_of(value)) or value == math.inf:
                after = f" once {swapped[0] + 1} and {swapped[1] + 1} are exchanged" if any(swapped) else ""
                return f"must be {wanted}, got {value} for levels {i + 1} and {j + 1}{after},"
    return f"must be {wanted}, and was not; it is no function of the state alone,"


def live_copies(view: SwapView) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positions, log densities and inverse temperatures of the live levels, not to be written to."""
    n_levels = int(view.n_levels[0])
    arrays = (view.position, view.log_density, view.beta)
    first, second, third = (_read_only(array[:n_levels]) for array in arrays)
    return first, second, third


def _read_only(array: FloatArray) -> FloatArray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
