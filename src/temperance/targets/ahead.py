"""Points that a chain is going to ask for, evaluated before it does.

A point that was expected in vain costs an evaluation, never a draw: answers are known by their points, and
one that nobody expected is asked for as any other.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from temperance.core.state import FloatArray


class Ahead:
    """What one chain will ask for; at most ``depth`` points of it are evaluated at a time."""

    def __init__(self, ask: Callable[[FloatArray], "Future[Any]"], depth: int) -> None:
        self._ask, self._depth = ask, depth
        self._asked: dict[bytes, Future[Any]] = {}
        self._coming: Iterator[FloatArray] | None = None

    @property
    def expects(self) -> bool:
        """Whether it was told what will come."""
        return self._coming is not None

    def expect(self, points: Iterator[FloatArray]) -> None:
        """These points will be asked for, in this order, with others in between."""
        self._coming = points
        self._top_up()

    def taken(self, point: FloatArray) -> "Future[Any] | None":
        """The answer for a point, if it was expected; once."""
        future = self._asked.pop(point.tobytes(), None)
        if future is not None:
            self._top_up()
        return future

    def forget(self) -> int:
        """Expect nothing any more; how many points were evaluated in vain, or are being so."""
        self._coming = None
        n_wasted = sum(future.done() or not future.cancel() for future in self._asked.values())
        self._asked.clear()
        return n_wasted

    def _top_up(self) -> None:
        while self._coming is not None and len(self._asked) < self._depth:
            point = next(self._coming, None)
            if point is None:
                return
            self._asked[point.tobytes()] = self._ask(point[None])
