"""Where numba keeps compiled code."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

_NO_PLACE = "no locator available"


def says_no_folder(error: RuntimeError) -> bool:
    """Whether numba found no folder that it can write to."""
    return _NO_PLACE in str(error)


def says_outdated(error: Exception) -> bool:
    """Whether what is on disk names types that are no more: another version of the sources left it there."""
    return isinstance(error, ImportError) or "Can't get attribute" in str(error)


def kept_anew(function: Any, signature: Any, options: dict[str, Any]) -> Any:
    """Compile a function for one signature; what is on disk under its name is forgotten."""
    dispatcher = numba.jit(cache=True, **options)(function)
    dispatcher._cache.flush()
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Where the code of functions goes that are decorated meanwhile; a user's own stay as they are."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
