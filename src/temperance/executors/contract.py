"""What a run asks of those who do its work."""

from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Protocol


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
