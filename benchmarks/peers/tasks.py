"""What every sampler is asked to do: a target, a budget of log densities, where to start, how it is scored.

All samplers call the same compiled densities of ``temperance.zoo`` through the counters here. Every call
counts: tuning, every level, every walker.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np

from temperance import zoo

FloatArray = np.ndarray


@dataclass
class Task:
    """One target with a budget. ``log_density`` takes a point, ``log_density_rows`` the rows of an array."""

    name: str
    problem: zoo.Problem
    rows: Callable[[FloatArray], FloatArray]
    budget: int
    box: tuple[float, float]  # a uniform prior for samplers that need one
    starts: Callable[[np.random.Generator, int], FloatArray]  # (n, dim)
    n_evaluations: int = 0

    @property
    def dim(self) -> int:
        """Coordinates of the target."""
        return self.problem.dim

    def log_density(self, x: FloatArray) -> float:
        """At one point."""
        return float(self.log_density_rows(np.asarray(x, dtype=np.float64).reshape(1, -1))[0])

    def log_density_rows(self, x: FloatArray) -> FloatArray:
        """At each row."""
        points = np.ascontiguousarray(x, dtype=np.float64)
        self.n_evaluations += len(points)
        return self.rows(points)

    def seconds_bare(self, n: int = 20_000) -> float:
        """What one density costs by itself, called for a point at a time through the same counter."""
        counted, point = self.n_evaluations, self.starts(np.random.default_rng(0), 1)[0]
        self.log_density(point)
        began = time.perf_counter()
        for _ in range(n):
            self.log_density(point)
        seconds = (time.perf_counter() - began) / n
        self.n_evaluations = counted
        return seconds


@dataclass(frozen=True)
class Outcome:
    """Draws of the target, (n, dim), and their weights when they are not equal."""

    draws: FloatArray
    weights: FloatArray | None = None

    @property
    def shares(self) -> FloatArray:
        """Weights that sum to one."""
        weights = np.ones(len(self.draws)) if self.weights is None else np.asarray(self.weights, dtype=float)
        return weights / weights.sum()


def _over_rows(problem: zoo.Problem) -> Callable[[FloatArray], FloatArray]:
    function, data = problem.log_density, problem.data
    if data is None:

        @numba.njit
        def rows(points: FloatArray) -> FloatArray:
            values = np.empty(len(points))
            for i in range(len(points)):
                values[i] = function(points[i])
            return values

        return rows

    @numba.njit
    def rows_with_data(points: FloatArray, extra: tuple) -> FloatArray:
        values = np.empty(len(points))
        for i in range(len(points)):
            values[i] = function(points[i], extra)
        return values

    return lambda points: rows_with_data(points, tuple(data))


def _scattered(problem: zoo.Problem) -> Callable[[np.random.Generator, int], FloatArray]:
    return lambda generator, n: np.array([problem.start(generator) for _ in range(n)])


def _around(problem: zoo.Problem) -> Callable[[np.random.Generator, int], FloatArray]:
    """A small ball around the problem's one start: ensembles need points that differ."""

    def starts(generator: np.random.Generator, n: int) -> FloatArray:
        centre = problem.start(generator)
        return centre + 1e-3 * generator.standard_normal((n, problem.dim))

    return starts


TASKS = {
    "peaks": (zoo.twenty_peaks, (0.0, 10.0), _scattered),
    "cylinders": (zoo.twenty_cylinders, (-5.0, 10.0), _scattered),
    "bridge": (zoo.bridge, (-1500.0, 1500.0), _around),
    "two_modes": (zoo.two_modes, (-6.0, 6.0), _scattered),
}


@functools.cache
def _compiled(name: str) -> tuple[zoo.Problem, Callable[[FloatArray], FloatArray]]:
    problem = TASKS[name][0]()
    return problem, _over_rows(problem)


def make_task(name: str, budget: int) -> Task:
    """The task of this name, its density compiled once a process."""
    _, box, starts = TASKS[name]
    problem, rows = _compiled(name)
    return Task(name=name, problem=problem, rows=rows, budget=budget, box=box, starts=starts(problem))


BUDGETS = {
    "peaks": (37_500, 375_000),
    "cylinders": (150_000,),
    "bridge": (100_000,),
    "two_modes": (100_000,),
}


def score(task: Task, outcome: Outcome) -> dict[str, float]:
    """What is kept of one repetition."""
    draws, shares = np.asarray(outcome.draws, dtype=float), outcome.shares
    mean = shares @ draws
    kept = {f"mean_{i + 1}": float(mean[i]) for i in range(task.dim)}
    kept |= {f"square_{i + 1}": float(shares @ draws[:, i] ** 2) for i in range(min(task.dim, 2))}
    if task.problem.modes is not None:
        nearest = task.problem.nearest_mode(draws)
        share = np.bincount(nearest, weights=shares, minlength=len(task.problem.modes))
        kept["missing"] = float(np.sum(share == 0.0))
        kept["occupancy_error"] = float(np.abs(share / task.problem.mode_weights - 1.0).mean())
        kept["first_mode"] = float(share[0])
    return kept
