"""Points that a chain is going to ask for, evaluated before it does.

A point that was expected in vain costs an evaluation, never a draw: answers are known by their points, and
one that nobody expected is asked for as any other.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Protocol

from temperance.core.state import FloatArray

Find = Callable[[], Iterable[FloatArray]]


class Foresight(Protocol):
    """Whom a chain tells what it will ask for."""

    @property
    def expects(self) -> bool:
        """Whether it was told what will come."""

    @property
    def serves_all_moving(self) -> bool:
        """Whether jumps known ahead are of use while all other levels ask in each iteration."""

    def expect(self, points: Iterator[FloatArray], find: Find = tuple) -> None:
        """These points will be asked for, in this order, with others in between.

        ``find`` says which others have come to be known since it was last asked.
        """

    def forget(self) -> int:
        """Expect nothing any more; how many points were evaluated in vain, or are being so."""


class Ahead:
    """What one chain will ask of workers.

    Some points are known for as long as one likes: at most ``depth`` of them are evaluated at a time. Others
    come to be known while the chain runs, and are evaluated as soon as they are.
    """

    serves_all_moving = True  # workers have time while a chain waits for a few points

    def __init__(self, ask: Callable[[FloatArray], "Future[Any]"], depth: int) -> None:
        self._ask, self._depth = ask, depth
        self._asked: dict[bytes, Future[Any]] = {}
        self._found: dict[bytes, Future[Any]] = {}
        self._coming: Iterator[FloatArray] | None = None
        self._find: Find = tuple

    @property
    def expects(self) -> bool:
        """Whether it was told what will come."""
        return self._coming is not None

    def expect(self, points: Iterator[FloatArray], find: Find = tuple) -> None:
        """These points will be asked for; ``find`` knows of others."""
        self._coming, self._find = points, find
        self._top_up()

    def taken(self, point: FloatArray) -> "Future[Any] | None":
        """The answer for a point, if it was expected; once."""
        future = self._asked.pop(point.tobytes(), None)
        return self._found.pop(point.tobytes(), None) if future is None else future

    def look(self) -> None:
        """Have more points evaluated, and those that have come to be known.

        This is for when all is asked for that is needed now: workers that are free take what comes first.
        """
        for point in self._find():
            self._found[point.tobytes()] = self._ask(point[None])
        self._top_up()

    def forget(self) -> int:
        """Expect nothing any more; how many points were evaluated in vain, or are being so."""
        self._coming, self._find = None, tuple
        futures = [*self._asked.values(), *self._found.values()]
        self._asked.clear()
        self._found.clear()
        return sum(future.done() or not future.cancel() for future in futures)

    def _top_up(self) -> None:
        while self._coming is not None and len(self._asked) < self._depth:
            point = next(self._coming, None)
            if point is None:
                return
            self._asked[point.tobytes()] = self._ask(point[None])
