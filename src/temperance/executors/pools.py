"""Pools of others: executors in the sense of ``concurrent.futures``, and whatever has a ``map``."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from temperance.errors import PoolError
from temperance.executors.work import Unknown, Work, done

USUAL_COST = 5e-4  # seconds of a question to multiprocessing, an executor of processes, or MPI
DASK_COST = 8e-3
CURE = "what was drawn is kept; a number of workers, such as pool=4, replaces those that die"


def gone(error: BaseException) -> PoolError:
    """What failed is the pool."""
    made = PoolError(f"the pool failed ({type(error).__name__}: {error}); {CURE}")
    made.__cause__ = error
    return made


class FromExecutor:
    """Anything with the ``submit`` of ``concurrent.futures``; Dask and MPI have such executors, too."""

    def __init__(
        self,
        submit: Callable[..., Any],
        workers: int,
        limit: float | None,
        *,
        in_this_process: bool = False,
        cost: float = USUAL_COST,
        do: Callable[[Any], Any] = done,
    ) -> None:
        self.workers, self.limit, self.in_this_process, self.cost = workers, limit, in_this_process, cost
        self._submit, self._done = submit, do

    def ask(self, work: Work, argument: Any, later: bool = False) -> Future[Any]:  # noqa: ARG002
        """Have work done; a worker that does not know it is sent it with the second question."""
        answer: Future[Any] = Future()

        def heard(said: Any) -> None:
            if said is Unknown.WORK:
                self._go_on(answer, settled, self._done, (work.token, work.payload, argument))
            else:
                settled(said)

        def settled(said: Any) -> None:
            settle(answer, said)

        if self.in_this_process:
            self._go_on(answer, settled, work.function, argument)
        else:
            self._go_on(answer, heard, self._done, (work.token, None, argument))
        return answer

    def close(self) -> None:
        """Nothing: the pool is somebody else's."""

    def _go_on(
        self, answer: Future[Any], then: Callable[[Any], None], function: Callable[[Any], Any], argument: Any
    ) -> None:
        """Have something done, and go on with what comes of it."""

        def ended(future: Any) -> None:
            try:
                said = future.result()
            except BaseException as error:  # noqa: BLE001  also a cancellation; whoever waits raises it
                settle(answer, error=gone(error))
            else:
                then(said)

        try:
            future = self._submit(function, argument)
        except Exception as error:  # noqa: BLE001  a pool that was shut down
            settle(answer, error=gone(error))
        else:
            future.add_done_callback(ended)


@dataclass
class Question:
    """What is to be asked with the next ``map``."""

    work: Work
    argument: Any
    answer: Future[Any]
    payload: bytes | None = None

    def is_wanted(self) -> bool:
        """Whether nobody has taken it back before it was asked."""
        return self.answer.running() or self.answer.set_running_or_notify_cancel()


class FromMap:
    """Anything with ``map``. What chains ask for while it is busy goes out together, with the next call."""

    in_this_process, cost = False, USUAL_COST

    def __init__(
        self, pool: Any, workers: int, limit: float | None, *, do: Callable[[Any], Any] = done
    ) -> None:
        self.workers, self.limit = workers, limit
        self._map, self._done = pool.map, do
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        threading.Thread(target=self._serve, name="temperance-pool", daemon=True).start()

    def ask(self, work: Work, argument: Any, later: bool = False) -> Future[Any]:  # noqa: ARG002
        """Have work done with the next call of ``map``."""
        question = Question(work, argument, Future())
        self._questions.put(question)
        return question.answer

    def close(self) -> None:
        """Nobody waits for a call that is under way; the pool is somebody else's."""
        self._questions.put(None)

    def _serve(self) -> None:
        while (first := self._questions.get()) is not None:
            batch = [first]
            while not self._questions.empty():
                another = self._questions.get()
                if another is None:
                    return
                batch.append(another)
            wanted = [each for each in batch if each.is_wanted()]
            if wanted:
                self._ask_all(wanted)

    def _ask_all(self, batch: list[Question]) -> None:
        try:
            items = [(each.work.token, each.payload, each.argument) for each in batch]
            answers = list(self._map(self._done, items))
            if len(answers) != len(batch):
                raise ValueError(f"its map returned {len(answers)} answers to {len(batch)} questions")
        except BaseException as error:  # noqa: BLE001  whoever waits raises it
            for each in batch:
                each.answer.set_exception(gone(error))
            return
        for each, answer in zip(batch, answers, strict=True):
            if answer is Unknown.WORK and each.payload is None:
                each.payload = each.work.payload
                self._questions.put(each)
            else:
                each.answer.set_result(answer)


def settle(future: Future[Any], answer: Any = None, error: BaseException | None = None) -> None:
    """Put an answer where somebody may wait for it."""
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
