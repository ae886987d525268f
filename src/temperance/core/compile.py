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

Function = TypeVar("Function", bound=Callable[..., Any])

# Code around a user's function, which may allocate and raise.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Kernels allocate nothing and so need no reference counts; with them the loop takes three times as long.
KERNEL_OPTIONS: dict[str, Any] = {**OPTIONS, "_nrt": False}
KERNEL_FOLDERS = ("core", "modes", "swaps", "targets")


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, and always inline it: arguments are large tuples."""
    kernel: Function = numba.njit(forceinline=True, **KERNEL_OPTIONS)(function)
    return kernel


def compiled_for(signature: Any) -> Callable[[Function], Function]:
    """Compile for one signature, now, and keep the machine code on disk.

    The decorated function must close over ``kernel_digest()``.
    """
    decorator: Callable[[Function], Function] = numba.njit(signature, cache=True, **KERNEL_OPTIONS)
    return decorator


def compiled_around(function: Function) -> Function:
    """Compile, when it is first called, a function that calls a user's."""
    wrapper: Function = numba.njit(**OPTIONS)(function)
    return wrapper


def compiled_around_for(signature: Any) -> Callable[[Function], Function]:
    """Compile, now and for one signature, a function that calls a user's."""
    decorator: Callable[[Function], Function] = numba.njit(signature, **OPTIONS)
    return decorator


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
