"""Workers of our own: processes that are sent the density once, and replaced when they die.

Who asks writes to a worker that is free by himself, and each worker has a thread here that waits for what it
says: the less there is between a chain and its workers, the sooner they begin. They are new interpreters that
import neither the user's script nor its state, so that a script needs no main guard and a notebook is as good
as a module.
"""

import contextlib
import heapq
import io
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
from typing import Any, cast

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


@dataclass
class Task:
    """A question, and where its answer goes."""

    work: Work
    question: bytes
    answer: Future[Any] = field(default_factory=Future)


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
        # Pipes were asked for, so they are there.
        self._questions = cast(io.BufferedWriter, self._process.stdin)
        self._answers = cast(io.BufferedReader, self._process.stdout)
        self._known: set[str] = set()
        self._new: str | None = None  # work that it has to read before the question
        self.asked_at = time.monotonic()
        self.is_timed, self.is_late = False, False

    def send(self, task: Task) -> None:
        """Ask; the first time, the work is sent along. That it has died shows when it is heard."""
        token = task.work.token
        self._new = None if token in self._known else token
        self.asked_at, self.is_timed = time.monotonic(), self._new is None
        with contextlib.suppress(OSError, ValueError):  # it has ended, or nobody wants it any more
            if self._new is not None:
                self._known.add(token)
                send(self._questions, _packed((token, task.work.payload)))
            send(self._questions, task.question)

    def wait(self) -> None:
        """Until it says something, or has ended."""
        with contextlib.suppress(OSError):
            self._answers.peek(1)

    def hear(self) -> Any:
        """The answer, or what kept it from being one."""
        unread = None
        try:
            if self._new is not None:
                _, unread = self._said()
                self.asked_at, self.is_timed = time.monotonic(), True
            answer = self._said()
        except (EOFError, OSError) as error:
            raise DeathError(self._how()) from error
        finally:
            self.is_timed = False
        if unread is not None:
            self._known.clear()
            raise PoolError(f"a worker cannot read what it was sent: {unread.words}") from unread.unpacked()
        return answer

    def _said(self) -> Any:
        return pickle.loads(receive(self._answers))

    def _how(self) -> str:
        self._process.kill()
        code = self._process.wait()
        if self.is_late:
            return "took longer than the time-out"
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def ask_no_more(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            self._questions.close()

    def end(self) -> None:
        """The same, and see to it that it does."""
        self.ask_no_more()
        with contextlib.suppress(OSError):
            self._answers.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass(eq=False)
class Place:
    """Where there is a worker, or will be one when it is needed."""

    process: Process | None = None
    task: Task | None = None  # what it was asked while it was free


class Workers:
    """So many processes; a question over which ``retries`` + 1 of them died is given up."""

    in_this_process, limit, cost = False, None, 1e-4

    def __init__(self, workers: int, *, timeout: float | None, retries: int) -> None:
        self.workers = workers
        self._timeout, self._retries = timeout, retries
        self._changed = threading.Condition()  # also the lock for all that follows
        self._tasks: list[tuple[int, int, Task]] = []  # that wait, as a heap
        self._count = itertools.count()  # what is as urgent is done in the order in which it was asked for
        self._places = [Place() for _ in range(workers)]
        self._free: list[Place] = []  # whose processes wait to be asked
        self._n_asleep = 0  # threads that wait for a task to begin a process with
        self._closed = threading.Event()
        self._threads = [self._thread(self._serve, place) for place in self._places]
        if timeout is not None:
            self._thread(self._watch, timeout)

    def ask(self, work: Work, argument: Any, later: bool = False) -> Future[Any]:
        """Have work done by the next worker that is free; what somebody waits for comes first."""
        task = Task(work, _packed((work.token, None, argument)))
        with self._changed:
            if self._closed.is_set():
                task.answer.cancel()
                return task.answer
            others_begin = len(self._tasks) < self._n_asleep
            place = self._free.pop() if self._free and not others_begin else None
            if place is None:
                heapq.heappush(self._tasks, (LATER if later else NOW, next(self._count), task))
                self._changed.notify()
                return task.answer
            place.task, process = task, place.process
            task.answer.set_running_or_notify_cancel()
        if process is not None:
            process.send(task)
        return task.answer

    def close(self) -> None:
        """End all workers; those that still work are killed."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()
            for place in self._places:
                if place.process is None:
                    continue
                if place in self._free:
                    place.process.ask_no_more()
                else:
                    place.process.kill()
        for thread in self._threads:
            thread.join()

    def _thread(self, target: Callable[..., None], argument: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=(argument,), name="temperance-worker", daemon=True)
        thread.start()
        return thread

    def _serve(self, place: Place) -> None:
        """Wait for what one worker says, and ask it what is to be asked next, until there is no more."""
        while not self._closed.is_set():
            task, is_asked = self._next(place)
            if task is not None and (is_asked or task.answer.set_running_or_notify_cancel()):
                self._do(place, task, is_asked=is_asked)
        while (left := self._next_waiting()) is not None:
            left.answer.cancel()
        if place.process is not None:
            place.process.end()

    def _next(self, place: Place) -> tuple[Task | None, bool]:
        """A task, and whether the worker was asked already; none where it ended while it was free."""
        with self._changed:
            if place.process is None:
                self._n_asleep += 1
                self._changed.wait_for(lambda: self._tasks or self._closed.is_set())
                self._n_asleep -= 1
            task = self._next_waiting()
            if task is not None or place.process is None:
                return task, False
            self._free.append(place)
        place.process.wait()
        with self._changed:
            if place in self._free:
                self._free.remove(place)
            task, place.task = place.task, None
        if task is None:
            self._leave(place)
        return task, True

    def _next_waiting(self) -> Task | None:
        with self._changed:
            return heapq.heappop(self._tasks)[2] if self._tasks else None

    def _begun(self, place: Place) -> Process:
        process = Process()
        with self._changed:
            place.process = process
            if self._closed.is_set():
                process.kill()
        return process

    def _leave(self, place: Place) -> None:
        """Whoever comes next is another process."""
        process, place.process = place.process, None
        if process is not None:
            process.end()

    def _do(self, place: Place, task: Task, *, is_asked: bool) -> None:
        ends: list[str] = []
        while len(ends) <= self._retries and not self._closed.is_set():
            try:
                process = place.process or self._begun(place)
                if not is_asked:
                    process.send(task)
                task.answer.set_result(_taken(process.hear()))
                return
            except DeathError as death:
                ends.append(str(death))
                self._leave(place)
                is_asked = False
            except Exception as error:  # noqa: BLE001  raised again by whoever asked
                task.answer.set_exception(_failed(error))
                return
        task.answer.set_exception(PoolError(_given_up(ends)))

    def _watch(self, timeout: float) -> None:
        """Kill workers that take too long; whoever waits for them sees them die."""
        while not self._closed.wait(timeout / LOOKS):
            for process in [place.process for place in self._places]:
                if process is not None and process.is_timed and time.monotonic() - process.asked_at > timeout:
                    process.is_late = True
                    process.kill()


def _packed(message: Any) -> bytes:
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


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
