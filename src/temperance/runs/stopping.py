"""What ends a run before its time: signals, and whoever holds its handle."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

# Ctrl-C, a cluster at its time limit, a terminal that is closed; Windows knows fewer.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stop:
    """A handle that ends a run from another thread: give it to ``sample(stop=...)`` and call `set`.

    The run then ends as after a Ctrl-C: it returns what was drawn. A handle that is set stays set.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.is_urgent = False  # asked twice: do not even wait for the call that is under way
        self._tell: Callable[[], None] = lambda: None

    def set(self, reason: str = "Stop") -> None:
        """End the run after the call of the density that is under way; any thread may ask."""
        self.is_urgent = self.is_urgent or (bool(self.reason) and reason != "Stop")
        self.reason = self.reason or reason
        self._tell()

    def is_set(self) -> bool:
        """Whether somebody asked."""
        return bool(self.reason)

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """While this is open, ``tell`` is called when somebody asks; at once, if somebody has."""
        before, self._tell = self._tell, tell
        try:
            if self.is_set():
                tell()
            yield
        finally:
            self._tell = before


@contextlib.contextmanager
def listening(stop: Stop) -> Iterator[None]:
    """While this is open, signals set the handle instead of ending the process.

    Only the main thread can listen. A signal that somebody else handles or ignores is left to them.
    """
    before = {}

    def heard(number: int, _: FrameType | None) -> None:
        stop.set(signal.Signals(number).name)

    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
