"""Workers of our own: processes that are sent the density once, and replaced when they die.

Each has a thread here that hands it questions one by one. They begin as new interpreters that import neither
the user's script nor its state, so that a script needs no main guard and a notebook is as good as a module.
"""

import contextlib
import itertools
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import PriorityQueue
from typing import Any

from temperance.errors import PoolError
from temperance.executors.trouble import Trouble
from temperance.executors.work import Work
from temperance.executors.worker import WORKER, receive, send

BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from temperance.executors.worker import main; main()"
)
NOW, LATER = 0, 1
GRACE_SECONDS = 2.0  # for a worker to end by itself
LOOKS = 20  # at the clock, in the time that an answer may take


class DeathError(Exception):
    """A worker ended before it answered."""


class Process:
    """One worker."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is for the run
            env={**os.environ, WORKER: "1"},
        )
        self._known: set[str] = set()
        self.asked_at = time.monotonic()
        self.is_timed, self.is_idle, self.is_late = False, True, False

    def ask(self, work: Work, argument: Any) -> Any:
        """The answer, or what kept it from being one; the first time, the work is sent along."""
        if work.token not in self._known:
            _, trouble = self._exchange((work.token, work.payload), timed=False)
            if trouble is not None:
                raise PoolError(
                    f"a worker cannot read what it was sent: {trouble.words}"
                ) from trouble.unpacked()
            self._known.add(work.token)
        return self._exchange((work.token, None, argument), timed=True)

    def _exchange(self, question: tuple[Any, ...], *, timed: bool) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise DeathError("it was never there")
        self.asked_at, self.is_timed, self.is_idle = time.monotonic(), timed, False
        try:
            send(stdin, pickle.dumps(question, protocol=pickle.HIGHEST_PROTOCOL))
            return pickle.loads(receive(stdout))
        except (EOFError, OSError) as error:
            raise DeathError(self._how()) from error
        finally:
            self.is_timed, self.is_idle = False, True

    def _how(self) -> str:
        self._process.kill()
        code = self._process.wait()
        if self.is_late:
            return "took longer than the time-out"
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """Let it end, and see to it that it does."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass
class Task:
    """A question, and where its answer goes."""

    work: Work
    argument: Any
    answer: Future[Any] = field(default_factory=Future)


class Workers:
    """So many processes; a question over which ``retries`` + 1 of them died is given up."""

    in_this_process, limit, cost = False, None, 1e-4

    def __init__(self, workers: int, *, timeout: float | None, retries: int) -> None:
        self.workers = workers
        self._timeout, self._retries = timeout, retries
        self._tasks: PriorityQueue[tuple[int, int, Task | None]] = PriorityQueue()
        self._count = itertools.count()  # what is as urgent is done in the order in which it was asked for
        self._processes: dict[int, Process] = {}
        self._closed = threading.Event()
        self._threads = [self._thread(self._serve, k) for k in range(workers)]
        if timeout is not None:
            self._thread(self._watch, timeout)

    def ask(self, work: Work, argument: Any, later: bool = False) -> Future[Any]:
        """Have work done by the next worker that is free; what somebody waits for comes first."""
        task = Task(work, argument)
        self._put(LATER if later else NOW, task)
        return task.answer

    def _put(self, urgency: int, task: Task | None) -> None:
        self._tasks.put((urgency, next(self._count), task))

    def close(self) -> None:
        """End all workers; those that still work are killed."""
        self._closed.set()
        for _each in self._threads:
            self._put(LATER + 1, None)
        for process in list(self._processes.values()):
            if not process.is_idle:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _thread(self, target: Callable[..., None], argument: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=(argument,), name="temperance-worker", daemon=True)
        thread.start()
        return thread

    def _serve(self, place: int) -> None:
        """Hand questions to one worker, until there are no more."""
        while (task := self._tasks.get()[2]) is not None:
            if self._closed.is_set():
                task.answer.cancel()
            elif task.answer.set_running_or_notify_cancel():
                self._do(place, task)
        process = self._processes.pop(place, None)
        if process is not None:
            process.end()

    def _do(self, place: int, task: Task) -> None:
        ends: list[str] = []
        while len(ends) <= self._retries and not self._closed.is_set():
            try:
                if place not in self._processes:
                    self._processes[place] = Process()
                task.answer.set_result(_taken(self._processes[place].ask(task.work, task.argument)))
                return
            except DeathError as death:
                ends.append(str(death))
                self._processes.pop(place).end()
            except Exception as error:  # noqa: BLE001  raised again by whoever asked
                task.answer.set_exception(_failed(error))
                return
        task.answer.set_exception(PoolError(_given_up(ends)))

    def _watch(self, timeout: float) -> None:
        """Kill workers that take too long; whoever waits for them sees them die."""
        while not self._closed.wait(timeout / LOOKS):
            for process in list(self._processes.values()):
                if process.is_timed and time.monotonic() - process.asked_at > timeout:
                    process.is_late = True
                    process.kill()


def _taken(message: tuple[Any, Any]) -> Any:
    answer, trouble = message
    if trouble is not None:
        raise _refused("failed", trouble)
    return answer


def _refused(how: str, trouble: Trouble) -> PoolError:
    error = PoolError(f"a worker {how}: {trouble.words}")
    error.__cause__ = trouble.unpacked()
    return error


def _failed(error: Exception) -> PoolError:
    if isinstance(error, PoolError):
        return error
    made = PoolError(f"a worker could not be asked: {type(error).__name__}: {error}")
    made.__cause__ = error
    return made


def _given_up(ends: list[str]) -> str:
    if len(ends) < 2:
        return f"a worker {''.join(ends) or 'was not needed any more'}"
    said = f"each {ends[0]}" if len(set(ends)) == 1 else "; ".join(f"one {end}" for end in ends)
    return f"{len(ends)} workers, one after the other, ended over the same points: {said}"
