"""Functions as numba compiles them: options without a manual, ways in, types that come out."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., Any])
CompilationError = NumbaError

# For functions that allocate nothing: with reference counts the loop takes three times as long.
NO_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False}
ALWAYS_INLINE: dict[str, Any] = {"forceinline": True}
# Ways in, for Python and for function pointers. With arguments that are large tuples each takes longer
# to make than the function itself.
NO_POINTER: dict[str, Any] = {"no_cfunc_wrapper": True}
NO_WAY_IN: dict[str, Any] = {**NO_POINTER, "no_cpython_wrapper": True}


class _Inner(CPUDispatcher):  # type: ignore[misc]
    """A function that only compiled functions call; Python has no way into it and runs it as Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def is_off() -> bool:
    """Whether numba is told to compile nothing."""
    return bool(numba.config.DISABLE_JIT)


def inner(function: Function, options: dict[str, Any]) -> Function:
    """Compile a function when a compiled one calls it, and not before."""
    if is_off():
        return function
    wrapped: Function = _Inner(function, targetoptions={**options, **NO_WAY_IN})
    return wrapped


def found_at_once(function: Function) -> Function:
    """The same function, compiled for one signature; as an argument it need not be looked up by its types.

    Numba does so with every call that takes a function, which is longer than a short block of the loop.
    """
    if not is_off():
        code = function.get_compile_result(function.nopython_signatures[0])  # type: ignore[attr-defined]
        function.get_compile_result = lambda signature: code  # type: ignore[attr-defined]  # noqa: ARG005
    return function


def compile_first(function: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a user's function by itself, as the user's own call would.

    A function that is first met inside one of ours inherits our options and keeps them: a division by zero
    would then give infinity, in the user's own calls too, where it should raise.
    """
    function.get_call_template(arguments, {})


def returned_type(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What one of our functions returns for arguments of these types."""
    function.compile(arguments)
    return function.overloads[arguments].signature.return_type


def read_only(argument: Any) -> Any:
    """The type of an array that cannot be written to; other types as they are."""
    return argument.copy(readonly=True) if isinstance(argument, types.Array) else argument


def says_read_only(error: NumbaError) -> bool:
    """Whether a function does not compile because it writes to a read-only array."""
    return "readonly" in str(error)
