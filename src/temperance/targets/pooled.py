"""A target whose points are evaluated by workers, which may be other processes on other machines.

What workers are asked for is rows of points. Which rows go together, and to whom, changes no value: a target
that evaluates its points one by one is sent rows as there are workers, any other the points of one chain as
they are. So the draws are those of a run without workers.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from temperance.core.state import LEVEL, STOP, FloatArray, Info, IntArray
from temperance.errors import PoolError
from temperance.targets.answers import Answer
from temperance.targets.contract import Bound, Buffers, Target
from temperance.targets.python import bound_to_python

Submit = Callable[[tuple[FloatArray, bool]], "Future[Answer]"]  # points, and whether gradients are wanted
LOOK_SECONDS = 0.05  # between two looks at whether somebody has asked to stop


class PooledTarget:
    """Another target, asked by ``submit`` of so many workers, for whom nobody waits beyond a ``limit``."""

    runs_in_parallel = True

    def __init__(self, target: Target, submit: Submit, n_workers: int, limit: float | None) -> None:
        self.name, self.has_prior = target.name, target.has_prior
        self._target, self._submit, self._limit = target, submit, limit
        bare = getattr(target, "bare", target)
        self._n_parts = n_workers if getattr(bare, "rows_stand_alone", False) else 1

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the target to one chain."""
        info, control = buffers.info, buffers.control
        wants_gradient = bool(len(info.gradient))

        def evaluate(points: FloatArray) -> None:
            parts = even_parts(len(points), self._n_parts)
            futures = [self._submit((points[part], wants_gradient)) for part in parts]
            for part, future in zip(parts, futures, strict=True):
                if not has_come(future, control, self._limit):  # somebody asked to stop
                    for each in futures:
                        each.cancel()
                    return
                take(future.result(), part, info, control)

        bound = bound_to_python(buffers, evaluate)
        bound.show = self._target.bind(buffers).show
        return bound


def even_parts(n_rows: int, n_parts: int) -> Sequence[slice]:
    """Rows in parts that differ by one at most, none of them empty."""
    n_parts = max(1, min(n_rows, n_parts))
    ends = [n_rows * k // n_parts for k in range(n_parts + 1)]
    return [slice(first, last) for first, last in itertools.pairwise(ends)]


def has_come(future: "Future[Answer]", control: IntArray, limit: float | None) -> bool:
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


def take(answer: Answer, part: slice, info: Info, control: IntArray) -> None:
    """Put the answer for some rows where it belongs, and raise the error that it has, if any."""
    rows = range(part.start, part.stop)
    if not isinstance(answer, Answer) or answer.values.shape != answer_shape(len(rows), info):
        came = getattr(getattr(answer, "values", answer), "shape", type(answer).__name__)
        raise PoolError(f"a worker must answer with {answer_shape(len(rows), info)} numbers, got {came}")
    info.log_density[part], info.log_prior[part] = answer.values[:, 0], answer.values[:, 1]
    if len(info.gradient):
        info.gradient[part] = answer.values[:, 2:].reshape(len(rows), 2, -1)
    if answer.trouble is not None:
        control[LEVEL] = part.start + answer.row
        raise answer.trouble.unpacked()


def answer_shape(n_rows: int, info: Info) -> tuple[int, int]:
    """What the values of an answer must look like."""
    return n_rows, 2 + (2 * info.gradient.shape[2] if len(info.gradient) else 0)
