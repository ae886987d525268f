"""From rows to the numbers of a table: means, root mean square errors, and what is uncertain about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from peers.contract import FloatArray
from peers.reference import TASK as BRIDGE
from peers.reference import load as load_reference
from peers.store import DONE, Store
from peers.tasks import Task

LEVEL, RESAMPLES, BOOTSTRAP_SEED = 0.95, 2_000, 1
WILSON_Z = 1.959963984540054  # normal quantile of the 95 % level


class Estimate(NamedTuple):
    """A number and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """The finished repetitions of one sampler on one task, column by column."""

    task: Task
    peer: str
    columns: dict[str, FloatArray]
    settings: tuple[str, ...]
    versions: tuple[str, ...]
    dates: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many repetitions came through."""
        return len(self.columns["seed"])


def load_cell(store: Store, task: Task, peer: str) -> Cell | None:
    """The repetitions on disk, or None when there is none."""
    rows = store.rows(task, peer)
    if not rows:
        return None
    done = [row for row in rows if row["status"] == DONE]
    texts = ("status", "settings", "versions", "date", "message")
    names = [name for name in rows[0] if name not in texts]
    return Cell(
        task,
        peer,
        {name: np.array([float(row[name]) for row in done]) for name in names},
        *(tuple(sorted({row[name] for row in done})) for name in ("settings", "versions", "date")),
        tuple(row["message"] for row in rows if row["status"] != DONE),
    )


def truth(task: Task, name: str) -> float:
    """The exact value of a moment, or the reference's where none is known."""
    if task.name == BRIDGE:
        return float(load_reference()["mean"][name])
    kind, _, number = name.partition("_")
    index = int(number) - 1
    exact = {
        "mean": task.problem.mean,
        "square": task.problem.second_moments,
        "weight": task.problem.mode_weights,
    }
    return float(exact[kind][index])


def mean(values: FloatArray) -> Estimate:
    """Mean with Student's interval."""
    from scipy.stats import t

    centre = float(values.mean())
    if len(values) < 2:
        return Estimate(centre, np.nan, np.nan)
    half = float(t.ppf(0.5 + 0.5 * LEVEL, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return Estimate(centre, centre - half, centre + half)


def share(flags: FloatArray) -> Estimate:
    """A share of runs with Wilson's interval."""
    n, p = len(flags), float(flags.mean())
    centre = (p + WILSON_Z**2 / (2 * n)) / (1 + WILSON_Z**2 / n)
    half = WILSON_Z / (1 + WILSON_Z**2 / n) * np.sqrt(p * (1 - p) / n + WILSON_Z**2 / (4 * n**2))
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half))


def rmse(values: FloatArray, exact: float) -> Estimate:
    """Root mean square error with a bootstrap interval over runs."""
    return _bootstrapped(values, lambda sample: np.sqrt(np.mean((sample - exact) ** 2, axis=-1)))


def headline(cell: Cell) -> tuple[str, FloatArray, Callable[[FloatArray], FloatArray]]:
    """What a task is judged by: its name, the runs' values, and from runs to the error."""
    task = cell.task
    if "occupancy_error" in cell.columns and len(task.problem.mode_weights) > 2:
        return "occupancy error", cell.columns["occupancy_error"], lambda runs: runs.mean(axis=-1)
    name = task.moments[0]
    exact = truth(task, name)
    return (
        f"RMSE of {label(name)}",
        cell.columns[name],
        lambda runs: np.sqrt(np.mean((runs - exact) ** 2, axis=-1)),
    )


def headline_estimate(cell: Cell) -> Estimate:
    """The error a task is judged by, with a bootstrap interval."""
    _, values, error = headline(cell)
    return _bootstrapped(values, error)


def log_ratio(ours: Cell, theirs: Cell, *, per_second: bool) -> Estimate:
    """Log of our error over theirs, with a bootstrap interval; above zero we lose.

    Per second, an error counts as it would after one second of CPU time, had it shrunk with the square root
    of the time.
    """
    draws = [_resampled_log_error(cell, seed, per_second) for seed, cell in enumerate((ours, theirs))]
    points = [_log_error(cell, per_second) for cell in (ours, theirs)]
    low, high = np.quantile(draws[0] - draws[1], _tails())
    return Estimate(points[0] - points[1], float(low), float(high))


def label(moment: str) -> str:
    """A moment as people read it."""
    kind, _, number = moment.partition("_")
    return {"mean": f"E x{number}", "square": f"E x{number}²", "weight": f"weight of mode {number}"}[kind]


def _log_error(cell: Cell, per_second: bool) -> float:
    _, values, error = headline(cell)
    scale = float(np.sqrt(cell.columns["cpu_seconds"].mean())) if per_second else 1.0
    return float(np.log(error(values) * scale))


def _resampled_log_error(cell: Cell, seed: int, per_second: bool) -> FloatArray:
    _, values, error = headline(cell)
    picks = np.random.default_rng((BOOTSTRAP_SEED, seed)).integers(cell.n, size=(RESAMPLES, cell.n))
    errors: FloatArray = np.log(np.maximum(error(values[picks]), np.finfo(float).tiny))
    if per_second:
        errors += 0.5 * np.log(cell.columns["cpu_seconds"][picks].mean(axis=-1))
    return errors


def _bootstrapped(values: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> Estimate:
    point = float(statistic(values))
    if len(values) < 2:
        return Estimate(point, np.nan, np.nan)
    picks = np.random.default_rng(BOOTSTRAP_SEED).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(statistic(values[picks]), _tails())
    return Estimate(point, float(low), float(high))


def _tails() -> Sequence[float]:
    return (0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL)
