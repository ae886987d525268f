"""The zoo's log density as a peer calls it: counted, and refused beyond the budget."""

import time
from typing import Any

import numba
import numpy as np

from peers.contract import FloatArray
from peers.tasks import Task

TOLERANCE = 1.02  # a peer may go beyond the budget by so much, to finish a step
BARE_CALLS, BARE_REPEATS, BARE_SEED = 20_000, 7, 1


class BudgetError(RuntimeError):
    """A peer asked for more evaluations than it was given."""


class Density:
    """A compiled log density, for one point or for the rows of an array, with a count of the points seen."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.count = 0
        self._limit = int(TOLERANCE * task.budget)
        self._lower, self._upper = task.box.T.copy()
        self._point = _one_argument(task.problem.log_density, task.problem.data)
        self._rows = _over_rows(self._point)
        self._rows(np.zeros((1, task.dim)))  # compiles

    def __call__(self, x: Any) -> float:
        """The log density at one point."""
        self._add(1)
        return float(self._point(np.ascontiguousarray(x, dtype=np.float64)))

    def rows(self, points: Any) -> FloatArray:
        """The log density at each row."""
        array = np.ascontiguousarray(points, dtype=np.float64)
        self._add(len(array))
        values: FloatArray = self._rows(array)
        return values

    def log_box(self, x: Any) -> float:
        """Log density of the box up to a constant, for peers with a prior; not counted."""
        inside = np.all(x >= self._lower) and np.all(x <= self._upper)
        return 0.0 if inside else -np.inf

    def from_unit(self, unit: Any) -> FloatArray:
        """From the unit cube to the box, row by row or one point."""
        points: FloatArray = self._lower + np.asarray(unit) * (self._upper - self._lower)
        return points

    def bare_seconds(self) -> float:
        """What one evaluation takes in a compiled loop over points of the box, the best of several turns."""
        points = self.from_unit(np.random.default_rng(BARE_SEED).random((BARE_CALLS, self.task.dim)))
        times = []
        for _ in range(BARE_REPEATS):
            began = time.process_time()
            self._rows(points)
            times.append(time.process_time() - began)
        return min(times) / BARE_CALLS

    def check(self, evaluations: int) -> None:
        """Refuse more evaluations than the budget and its tolerance allow."""
        if evaluations > self._limit:
            raise BudgetError(
                f"evaluations must not exceed {self._limit:,} (budget {self.task.budget:,}), "
                f"got {evaluations:,}"
            )

    def _add(self, n: int) -> None:
        self.count += n
        self.check(self.count)


def _one_argument(log_density: Any, data: Any) -> Any:
    """The density of the point alone, the data compiled in."""
    if data is None:
        return log_density
    gram, projection, constants = data

    @numba.njit
    def with_data(x: FloatArray) -> float:
        return log_density(x, (gram, projection, constants))  # type: ignore[no-any-return]

    return with_data


def _over_rows(log_density: Any) -> Any:
    @numba.njit
    def rows(points: FloatArray) -> FloatArray:
        values = np.empty(points.shape[0])
        for k in range(points.shape[0]):
            values[k] = log_density(points[k])
        return values

    return rows
