"""Where numba keeps compiled code."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numba

_NO_PLACE = "no locator available"


def says_no_folder(error: RuntimeError) -> bool:
    """Whether numba found no folder that it can write to."""
    return _NO_PLACE in str(error)


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Where the code of functions goes that are decorated meanwhile; a user's own stay as they are."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
