"""Threads: compiled densities release the interpreter, so that chains run side by side."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

Task = tuple[Callable[[], None], Future[None]]


class Threads:
    """So many threads of this process. Nobody waits for one of them at the end of the process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._abandoned = False

    def submit(self, task: Callable[[], None]) -> Future[None]:
        """Have a task done by the next thread that is free."""
        if len(self._threads) < self.workers:
            thread = threading.Thread(target=self._work, name="temperance-chains", daemon=True)
            self._threads.append(thread)
            thread.start()
        future: Future[None] = Future()
        self._tasks.put((task, future))
        return future

    def abandon(self) -> None:
        """Do not wait for what is under way."""
        self._abandoned = True

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        for _each in self._threads:
            self._tasks.put(None)
        if not self._abandoned:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            do, future = task
            try:
                do()
            except BaseException as error:  # noqa: BLE001  raised again by whoever asks for the result
                future.set_exception(error)
            else:
                future.set_result(None)
