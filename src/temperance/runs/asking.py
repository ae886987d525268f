"""The log densities of points, asked for from Python: here, or in a worker."""

import threading
import time
from typing import Any

import numpy as np

from temperance.core.schema import allocate, sizes
from temperance.core.state import LEVEL, RAISED, RUNNING, STATUS, FloatArray, Info
from temperance.executors.trouble import packed
from temperance.runs.allocate import new_control
from temperance.runs.unraisable import heeding, noticed
from temperance.targets import Bound, Buffers, Target
from temperance.targets.answers import Answer


def asked(bound: Bound, buffers: Buffers) -> BaseException | None:
    """Ask the target at the points in the buffers, where the answers are put; what it raised, if it did."""
    try:
        with heeding(buffers.control, bound.failures):
            bound.fill(buffers)
    except BaseException as error:  # noqa: BLE001  whatever the density raised
        return error
    if buffers.control[STATUS] == RAISED:
        buffers.control[STATUS] = RUNNING
        return bound.failures.pop()
    return None


class RowsOf:
    """The work of a worker: a target asked at points. Several threads may ask at once."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._rooms = threading.local()

    def __reduce__(self) -> tuple[Any, tuple[Target]]:
        return _arrived, (self._target,)

    def __call__(self, question: tuple[FloatArray, bool]) -> Answer:
        """Log densities and log priors at points, and their gradients if these are wanted."""
        points, wants_gradient = question
        bound, buffers = self._room(len(points), points.shape[1], wants_gradient)
        info = buffers.info
        info.proposal[:] = points
        began = time.perf_counter()
        with noticed():
            error = asked(bound, buffers)
        seconds = time.perf_counter() - began
        values = np.column_stack([info.log_density, info.log_prior, info.gradient.reshape(len(points), -1)])
        if error is None:
            return Answer(values, seconds)
        return Answer(values, seconds, int(buffers.control[LEVEL]), packed(error))

    def _room(self, n_rows: int, dim: int, wants_gradient: bool) -> tuple[Bound, Buffers]:
        """The target bound to buffers of this size, in this thread."""
        key = n_rows, dim, wants_gradient
        rooms: dict[Any, tuple[Bound, Buffers]] = self._rooms.__dict__
        if key not in rooms:
            info: Info = allocate(Info, sizes(n_rows, dim, gradient=n_rows if wants_gradient else 0))
            info.n_asked[0] = n_rows
            buffers = Buffers(info, new_control())
            rooms[key] = self._target.bind(buffers), buffers
        return rooms[key]


def _arrived(target: Target) -> RowsOf:
    """The same in a worker, with all loaded that takes time, so that the first answer takes no longer."""
    rows = RowsOf(target)
    rows._room(1, 1, False)
    return rows
