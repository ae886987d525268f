"""Errors that cannot be raised where they happen: a C callback that fails returns zero, numba only prints.

A log density of zero is a value like any other, so this must not pass. Python calls a hook with such errors,
in the thread in which they happen; while a run is under way, the hook makes them the failure of the chain.
"""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from temperance.core.state import RAISED, STATUS, IntArray

# What Python tells of such errors: the owner of a compiled function, and what ctypes says of Python's own.
NUMBA, CTYPES = "numba.", "ctypes callback"

_under_way = threading.local()
_hooked = threading.Lock()
_n_listening = 0
_before: Callable[[Any], Any] = sys.unraisablehook


@contextlib.contextmanager
def heeding(control: IntArray, failures: list[BaseException]) -> Iterator[None]:
    """Calls of a density in this thread, from here on, are those of one chain."""
    _under_way.chain = control, failures
    try:
        yield
    finally:
        _under_way.chain = None


@contextlib.contextmanager
def noticed() -> Iterator[None]:
    """While this is open, such errors are noticed; those of others go where they would have gone."""
    global _n_listening, _before
    with _hooked:
        if _n_listening == 0:
            _before, sys.unraisablehook = sys.unraisablehook, _notice
        _n_listening += 1
    try:
        yield
    finally:
        with _hooked:
            _n_listening -= 1
            if _n_listening == 0:
                sys.unraisablehook = _before


def _notice(event: Any) -> None:
    chain = getattr(_under_way, "chain", None)
    of_density = NUMBA in str(event.object) or CTYPES in (event.err_msg or "")
    if chain is None or not of_density or event.exc_value is None:
        _before(event)
        return
    control, failures = chain
    control[STATUS] = RAISED
    failures.append(event.exc_value)
