"""Compiler options in one place, and the key that keeps the on-disk cache honest.

Numba keys a cached function by the file it is written in, so an edit to a helper in
another file would go unseen. Every cached entry point therefore closes over
``kernel_digest()``, a hash of all kernel sources: a closure constant is part of the key.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.registry import CPUDispatcher

from temperance.core.cache import kept_on_disk

Function = TypeVar("Function", bound=Callable[..., Any])

# Code around a user's function, which may allocate and raise.
OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
# Kernels allocate nothing and so need no reference counts; with them the loop takes three times as long.
KERNEL_OPTIONS: dict[str, Any] = {**OPTIONS, "_nrt": False}
# Ways in, for Python and for function pointers. With arguments that are large tuples each takes longer
# to make than the function itself.
NO_POINTER: dict[str, Any] = {"no_cfunc_wrapper": True}
NO_WAY_IN: dict[str, Any] = {**NO_POINTER, "no_cpython_wrapper": True}
KERNEL_FOLDERS = ("core", "modes", "moves", "swaps", "targets")


class _Inner(CPUDispatcher):  # type: ignore[misc]
    """A function that only compiled functions call; Python has no way into it and runs it as Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def _inner(function: Function, options: dict[str, Any]) -> Function:
    if numba.config.DISABLE_JIT:
        return function
    inner: Function = _Inner(function, targetoptions={**options, **NO_WAY_IN})
    return inner


def compiled(function: Function) -> Function:
    """Compile a kernel when another calls it, and always inline it: arguments are large tuples."""
    return _inner(function, {**KERNEL_OPTIONS, "forceinline": True})


def compiled_for(signature: Any) -> Callable[[Function], Function]:
    """Compile what Python calls for one signature, now, and keep the machine code on disk.

    The decorated function must close over ``kernel_digest()``.
    """
    return lambda function: kept_on_disk(function, signature, {**KERNEL_OPTIONS, **NO_POINTER})


def compiled_pointer_for(signature: Any) -> Callable[[Function], Function]:
    """The same for what the loop gets as an argument."""
    return lambda function: kept_on_disk(function, signature, KERNEL_OPTIONS)


def compiled_around(function: Function) -> Function:
    """Compile, when another calls it, a function that calls a user's."""
    return _inner(function, OPTIONS)


def compiled_around_for(signature: Any) -> Callable[[Function], Function]:
    """Compile, now and for one signature, a function that calls a user's; the loop gets it as an argument."""
    decorator: Callable[[Function], Function] = numba.jit(signature, **OPTIONS)
    return decorator


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


@functools.cache
def kernel_digest() -> str:
    """Hash of every source file that is compiled into the loop."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in KERNEL_FOLDERS:
        for source in sorted((package / folder).rglob("*.py")):
            digest.update(source.relative_to(package).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()
