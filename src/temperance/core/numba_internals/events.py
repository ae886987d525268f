"""What numba tells of its work."""

import contextlib
from collections.abc import Callable
from typing import Any

from numba.core import event


class _Listener(event.Listener):  # type: ignore[misc]
    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear

    def on_start(self, happening: Any) -> None:
        self._hear(happening.data["dispatcher"].py_func.__name__)

    def on_end(self, happening: Any) -> None:
        pass


def while_compiling(hear: Callable[[str], None]) -> contextlib.AbstractContextManager[Any]:
    """Names of functions as numba begins to compile them, while this is open; none that it can load."""
    open_for: contextlib.AbstractContextManager[Any]
    open_for = event.install_listener("numba:compile", _Listener(hear))
    return open_for
