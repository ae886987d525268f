"""A word to the user while the loop is compiled, which happens once on a machine and takes a while."""

import contextlib
import sys
from typing import Any

from numba.core import event

LOOP = "run_block"
NOTE = "compiling the sampler for this machine, once; later runs load it from the cache …\n"


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says so when the loop is not in the cache; numba tells of nothing that it can load."""

    def on_start(self, happening: Any) -> None:
        if happening.data["dispatcher"].py_func.__name__ == LOOP:
            sys.stderr.write(NOTE)
            sys.stderr.flush()

    def on_end(self, happening: Any) -> None:
        pass


def note_compiling(wanted: bool) -> contextlib.AbstractContextManager[Any]:
    """While this is open, a compilation of the loop is announced, if that is wanted."""
    if not wanted:
        return contextlib.nullcontext()
    listener: contextlib.AbstractContextManager[Any] = event.install_listener("numba:compile", _Announcer())
    return listener
