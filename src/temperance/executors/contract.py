"""What a run asks of those who do its work."""

from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol

from temperance.executors.work import Work


class Executor(Protocol):
    """Does tasks, several at once; ``concurrent.futures`` has the same words.

    What it does with a task must not depend on how many there are, nor on the order in which they end.
    """

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    def submit(self, task: Callable[[], None]) -> Future[None]:
        """Have a task done."""

    def abandon(self) -> None:
        """Do not wait for what is under way: it may never end."""

    def __enter__(self) -> "Executor":
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is under way, unless it was abandoned."""


class Engine(Protocol):
    """Workers that may be other processes: they know nothing but the work that they are sent."""

    @property
    def workers(self) -> int:
        """How many of them there are, as far as is known; answers must not depend on it."""

    @property
    def in_this_process(self) -> bool:
        """Whether work need not travel."""

    @property
    def limit(self) -> float | None:
        """Seconds to wait for an answer; None where the engine itself sees to it, or nobody does."""

    @property
    def cost(self) -> float:
        """Seconds that a question costs beside the work, roughly; answers must not depend on it."""

    def ask(self, work: Work, argument: Any, later: bool) -> Future[Any]:
        """Have work done with an argument; ``later``, if nobody waits for it yet.

        What fails is a `PoolError`; the work's own errors are answers.
        """

    def close(self) -> None:
        """Nobody wants any more answers."""
