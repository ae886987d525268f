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

from temperance.core.cache import kept_on_disk
from temperance.core.numba_internals.functions import (
    ALWAYS_INLINE,
    NO_POINTER,
    NO_REFERENCE_COUNTS,
    found_at_once,
    inner,
)

Function = TypeVar("Function", bound=Callable[..., Any])

# Code around a user's function, which may allocate and raise.
OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
# Kernels allocate nothing.
KERNEL_OPTIONS: dict[str, Any] = {**OPTIONS, **NO_REFERENCE_COUNTS}
KERNEL_FOLDERS = ("core", "modes", "moves", "priors/kernels", "swaps", "targets")


def compiled(function: Function) -> Function:
    """Compile a kernel when another calls it, and always inline it: arguments are large tuples."""
    return inner(function, {**KERNEL_OPTIONS, **ALWAYS_INLINE})


def compiled_for(signature: Any, *, keep: bool = True) -> Callable[[Function], Function]:
    """Compile what Python calls for one signature, now, and keep the machine code on disk.

    The decorated function must close over ``kernel_digest()``. What has code of a user's in it is not kept:
    the digest does not know when that changes.
    """
    options = {**KERNEL_OPTIONS, **NO_POINTER}
    if not keep:
        decorator: Callable[[Function], Function] = numba.jit(signature, **options)
        return decorator
    return lambda function: kept_on_disk(function, signature, options)


def compiled_pointer_for(signature: Any) -> Callable[[Function], Function]:
    """The same for what the loop gets as an argument."""
    return lambda function: found_at_once(kept_on_disk(function, signature, KERNEL_OPTIONS))


def compiled_around(function: Function) -> Function:
    """Compile, when another calls it, a function that calls a user's."""
    return inner(function, OPTIONS)


def compiled_around_for(signature: Any) -> Callable[[Function], Function]:
    """Compile, now and for one signature, a function that calls a user's; the loop gets it as an argument."""
    decorator: Callable[[Function], Function] = numba.jit(signature, **OPTIONS)
    return lambda function: found_at_once(decorator(function))


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
