"""A target whose points are evaluated by workers, which may be other processes on other machines.

What workers are asked for is rows of points. Which rows go together, and to whom, changes no value: a target
that evaluates its points one by one is sent rows as there are workers, and so is one whose rows are seen to
stand alone; any other gets the points of one chain as they are. So the draws are those of a run by itself.
"""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from temperance.core.state import LEVEL, STOP, FloatArray, Info, IntArray
from temperance.errors import PoolError
from temperance.targets.ahead import Ahead
from temperance.targets.answers import Answer
from temperance.targets.contract import Bound, Buffers, Target
from temperance.targets.python import bound_to_python
from temperance.targets.rows import even_parts, looked_at

# Asks for the log densities of points, and for gradients or not; whether they are needed now or later.
Submit = Callable[[tuple[FloatArray, bool], bool], "Future[Answer]"]
Question = tuple[Sequence[int], "Future[Answer]"]  # rows, and the answer for them
LOOK_SECONDS = 0.05  # between two looks at whether somebody has asked to stop
DEEP = 2  # points evaluated ahead for each worker, so that none waits for the chain to ask
MOST_ROWS = 16  # of a question, where rows can be shared out: a time-out is for one answer


class PooledTarget:
    """Another target, asked by ``submit`` of so many workers, for whom nobody waits beyond a ``limit``."""

    runs_in_parallel = True

    def __init__(self, target: Target, submit: Submit, n_workers: int, limit: float | None) -> None:
        self.name, self.has_prior = target.name, target.has_prior
        self._target, self._submit, self._limit = target, submit, limit
        self._n_workers = n_workers
        self._rows_stand_alone = getattr(getattr(target, "bare", target), "rows_stand_alone", False)
        self._splits = self._rows_stand_alone
        self._bounds: list[tuple[Bound, Ahead]] = []
        self.seconds = math.inf  # that a point takes, as far as is known

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the target to one chain."""
        info, control = buffers.info, buffers.control
        wants_gradient = bool(len(info.gradient))
        ahead = Ahead(lambda point: self._submit((point, wants_gradient), True), DEEP * self._n_workers)

        def evaluate(points: FloatArray) -> None:
            questions = self._asked(points, ahead, wants_gradient)
            for rows, future in questions:
                if not has_come(future, control, self._limit):  # somebody asked to stop
                    for _, each in questions:
                        each.cancel()
                    return
                answer = future.result()
                take(answer, rows, info, control)
                self.seconds = min(self.seconds, answer.seconds / len(rows))

        bound = bound_to_python(buffers, evaluate)
        bound.show = self._target.bind(buffers).show
        bound.ahead = ahead if self._rows_stand_alone else None
        self._bounds.append((bound, ahead))
        return bound

    def look_at_rows(self, starts: FloatArray) -> None:
        """Find out whether rows stand alone, where the target does not say so by itself."""
        if self._rows_stand_alone or self._n_workers < 2:
            return
        seen = looked_at(lambda rows: self._submit((rows, False), False), starts, self.seconds, self._limit)
        self._rows_stand_alone = seen.stand_alone
        self._splits = seen.stand_alone and seen.split_pays
        for bound, ahead in self._bounds if seen.stand_alone else ():
            bound.ahead = ahead

    def forget(self) -> int:
        """Nobody wants what is evaluated ahead any more; how many points of that there are."""
        return sum(ahead.forget() for _, ahead in self._bounds)

    def _n_parts(self, n_rows: int) -> int:
        """In how many questions rows go out: as many for each worker, and none of them a long one."""
        return self._n_workers * max(1, -(-n_rows // (self._n_workers * MOST_ROWS))) if self._splits else 1

    def _asked(self, points: FloatArray, ahead: Ahead, wants_gradient: bool) -> list[Question]:
        """Have all points evaluated that are not under way already."""
        found = [(row, ahead.taken(point)) for row, point in enumerate(points)]
        questions: list[Question] = [([row], future) for row, future in found if future is not None]
        left = [row for row, future in found if future is None]
        for part in even_parts(len(left), self._n_parts(len(left))):
            rows = left[part]
            questions.append((rows, self._submit((points[rows], wants_gradient), False)))
        ahead.look()
        return sorted(questions, key=lambda question: question[0][0])


def has_come(future: "Future[Any]", control: IntArray, limit: float | None) -> bool:
    """Wait for the answer; whether it came before the chain was asked to stop."""
    began = time.monotonic()
    while True:
        try:
            future.exception(timeout=LOOK_SECONDS)
        except TimeoutError:
            if control[STOP] != 0:
                return False
        else:
            return True
        if limit is not None and time.monotonic() - began > limit:
            future.cancel()
            raise PoolError(f"the pool has not answered for {limit:g} seconds, the time-out")


def take(answer: Answer, rows: Sequence[int], info: Info, control: IntArray) -> None:
    """Put the answer for some rows where it belongs, and raise the error that it has, if any."""
    control[LEVEL] = rows[0]
    if not isinstance(answer, Answer) or answer.values.shape != answer_shape(len(rows), info):
        came = getattr(getattr(answer, "values", answer), "shape", type(answer).__name__)
        raise PoolError(f"a worker must answer with {answer_shape(len(rows), info)} numbers, got {came}")
    info.log_density[rows], info.log_prior[rows] = answer.values[:, 0], answer.values[:, 1]
    if len(info.gradient):
        info.gradient[rows] = answer.values[:, 2:].reshape(len(rows), 2, -1)
    if answer.trouble is not None:
        control[LEVEL] = rows[answer.row]
        raise answer.trouble.unpacked()


def answer_shape(n_rows: int, info: Info) -> tuple[int, int]:
    """What the values of an answer must look like."""
    return n_rows, 2 + (2 * info.gradient.shape[2] if len(info.gradient) else 0)
