"""What every sampler is asked to do: a problem of the zoo, a budget of evaluations, where to start."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from peers.contract import FloatArray
from temperance import zoo
from temperance.zoo.peaks import PEAK_SD, SIDE
from temperance.zoo.problem import Problem

MIDDLE = 0.5 * SIDE
BALL = 0.1  # standard deviation of an ensemble's start, in widths of a mode or in peaks' own units
EDGE = 5.0 * PEAK_SD  # of the box beyond the square: one peak lies at its rim
EXTRA_REACH = 6.0  # half the box of a standard normal coordinate
PAIR_REACH, PAIR_SD = 6.0, 0.5
COEFFICIENT_REACH, LOG_VARIANCE = 1500.0, (6.0, 11.0)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One column of the comparison.

    Attributes:
        key: Name of the problem in commands and files.
        budget: Evaluations of the log density, all of them: tuning, every level, every walker.
        make: The zoo's function.
        moments: Names of the numbers to estimate; see `peers.measures`.
    """

    key: str
    budget: int
    make: Callable[[], Problem]
    moments: tuple[str, ...]

    @property
    def name(self) -> str:
        """Problem and budget."""
        return f"{self.key}-{self.budget}"

    @cached_property
    def problem(self) -> Problem:
        """The problem itself."""
        return self.make()

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.problem.dim

    @cached_property
    def start(self) -> FloatArray:
        """The one point where samplers of the first kind start."""
        return _PLACES[self.key]()[0]

    @cached_property
    def width(self) -> FloatArray:
        """Roughly the standard deviations of one mode: for starting balls and walks that do not adapt."""
        return _PLACES[self.key]()[1]

    @cached_property
    def box(self) -> FloatArray:
        """A box that holds practically all mass, ``(dim, 2)``: the prior of samplers that need one."""
        return _PLACES[self.key]()[2]

    def ball(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Points round the start, ``(*shape, dim)``."""
        points: FloatArray = self.start + BALL * self.width * rng.standard_normal((*shape, self.dim))
        return points


def _square() -> tuple[FloatArray, FloatArray, FloatArray]:
    return np.full(2, MIDDLE), np.full(2, PEAK_SD), np.tile([-EDGE, SIDE + EDGE], (2, 1))


def _cylinders() -> tuple[FloatArray, FloatArray, FloatArray]:
    start, width, box = _square()
    n_extra = zoo.twenty_cylinders("normal").dim - 2
    reach = np.tile([-EXTRA_REACH, EXTRA_REACH], (n_extra, 1))
    return np.append(start, np.zeros(n_extra)), np.append(width, np.ones(n_extra)), np.vstack([box, reach])


def _pair() -> tuple[FloatArray, FloatArray, FloatArray]:
    problem = zoo.two_modes(20)
    box = np.tile([-PAIR_REACH, PAIR_REACH], (problem.dim, 1))
    lighter = int(np.argmin(problem.mode_weights))
    return np.array(problem.modes[lighter]), np.full(problem.dim, PAIR_SD), box


def _bridge() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least squares, and its standard errors as widths."""
    problem = zoo.bridge()
    start = problem.start(np.random.default_rng(0))
    variance, n_data = math.exp(start[-1]), problem.data.constants[0]
    errors = np.sqrt(variance * np.diag(np.linalg.inv(problem.data.gram)))
    box = np.tile([-COEFFICIENT_REACH, COEFFICIENT_REACH], (problem.dim, 1))
    box[-1] = LOG_VARIANCE
    return start, np.append(errors, math.sqrt(2.0 / n_data)), box


_PLACES = {
    "twenty_peaks": lru_cache(_square),
    "twenty_cylinders": lru_cache(_cylinders),
    "bridge": lru_cache(_bridge),
    "two_modes": lru_cache(_pair),
}
PLANE = ("mean_1", "mean_2", "square_1", "square_2")
BRIDGE = ("mean_3", "mean_9", "mean_11")
TASKS = {
    task.name: task
    for task in (
        Task(key="twenty_peaks", budget=37_500, make=zoo.twenty_peaks, moments=PLANE),
        Task(key="two_modes", budget=100_000, make=lambda: zoo.two_modes(20), moments=("weight_2",)),
        Task(key="bridge", budget=100_000, make=zoo.bridge, moments=BRIDGE),
        Task(
            key="twenty_cylinders", budget=150_000, make=lambda: zoo.twenty_cylinders("normal"), moments=PLANE
        ),
        Task(key="twenty_peaks", budget=375_000, make=zoo.twenty_peaks, moments=PLANE),
    )
}


def get_task(name: str) -> Task:
    """The task of this name."""
    if name not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}; got {name!r}")
    return TASKS[name]
