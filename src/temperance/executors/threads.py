"""Threads: compiled densities release the interpreter, so that chains run side by side."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Threads:
    """So many threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(max_workers=workers)

    def submit(self, task: Callable[[], None]) -> Future[None]:
        """Have a task done by the next thread that is free."""
        return self._pool.submit(task)

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
