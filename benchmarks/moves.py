"""What each walk is worth: one chain, one start, equal evaluations, jumps off so that walks are compared.

Run with ``make bench-moves``; the table goes into docs/moves.md, between its two markers.
"""

import datetime
import math
import multiprocessing
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

import temperance as tp
from jumps import Trial, trial_of
from peers.ours import TUNE_SHARE, bare_call, evaluations
from peers.reference import load
from peers.tasks import Task
from timing import versions_in_words

PAGE = Path(__file__).parent.parent / "docs" / "moves.md"
MARKERS = "<!-- table -->\n", "<!-- end of table -->"
FIRST_SEED = 80_001  # no seed was looked at before
PROBE_TUNE = 400
FloatArray = npt.NDArray[np.float64]

PROBLEMS = (
    "bridge-100000",
    "funnel",
    "banana",
    "banana, 10-d",
    "two bananas, 5-d",
    "two rings",
    "five Student modes, 3 d.o.f.",
    "twenty_peaks-37500",
    "twenty cylinders (uniform)",
    "two modes, 5-d",
    "label switching",
    "one Gaussian, 2-d",
    "one Gaussian, 20-d",
)
WALKS: dict[str, dict[str, Any]] = {
    "robust": {"walk": "robust"},
    "covariance": {"walk": "covariance"},
    "slice": {"walk": "slice"},
    "slice, coordinates only": {"walk": "slice", "coordinate_every": 1},
}


@lru_cache
def call_of(name: str, walk: str) -> Any:
    """The run of a problem with a walk, and its tuning that spends the usual share of the budget."""
    trial = trial_of(name)
    settings = tp.Settings(
        adaptation=tp.Adaptation(**WALKS[walk]), jumps=tp.Jumps(enabled=False), bad_density="reject"
    )
    sample = bare_call(trial)  # type: ignore[arg-type]  # a trial has what it looks at
    probe = sample(chains=1, settings=settings, draws=0, tune=PROBE_TUNE, seed=0)
    cost = probe.chains[0].tuning.evaluations.mean()
    tune = int(TUNE_SHARE * trial.budget / cost)
    return lambda draws, seed: sample(chains=1, settings=settings, draws=draws, tune=tune, seed=seed)


def affordable(name: str, walk: str, seed: int) -> tuple[FloatArray, int]:
    """The draws of one run up to where the budget ends, and what they took."""
    trial, sample = trial_of(name), call_of(name, walk)
    tuned = sample(0, seed)
    left = trial.budget - evaluations(tuned)
    result = sample(max(1, left // tuned.n_levels[0]), seed)
    spent = np.cumsum(result.chains[0].sampling.evaluations, dtype=np.int64)
    kept = int(np.searchsorted(spent, left, side="right"))
    return result.draws[0, :kept], trial.budget - left + int(spent[kept - 1]) if kept else 0


def squared_error(trial: Trial | Task, draws: FloatArray) -> float:
    """Of the weights of modes where there are several, else of means and second moments; of the bridge's."""
    if trial.key.startswith("bridge"):
        return float((draws[:, 2].mean() - load()["mean"]["mean_3"]) ** 2)
    problem = trial.problem
    if problem.modes is not None and len(problem.modes) > 1:
        return float(np.sum((problem.occupancy(draws) - problem.mode_weights) ** 2) / 2.0)
    scaled = (draws - problem.mean) / np.sqrt(np.diag(problem.covariance))
    return float(np.mean(scaled.mean(axis=0) ** 2 + ((scaled**2).mean(axis=0) - 1.0) ** 2))


def one_run(arguments: tuple[str, str, int]) -> tuple[float, int]:
    """The squared error of one run, and its evaluations."""
    name, walk, seed = arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.BoundWarning)  # hot levels of some problems have no end
        draws, spent = affordable(name, walk, seed)
    return squared_error(trial_of(name), draws), spent


def cell(pool: Any, name: str, walk: str, runs: int) -> str:
    """Root mean squared error, with the interval that the runs leave open."""
    jobs = [(name, walk, FIRST_SEED + k) for k in range(runs)]
    squares = np.array([square for square, _ in pool.map(one_run, jobs, chunksize=5)])
    error = squares.std(ddof=1) / math.sqrt(runs)
    low, high = (math.sqrt(max(squares.mean() + side * 1.96 * error, 0.0)) for side in (-1.0, 1.0))
    return f"{math.sqrt(squares.mean()):.3g} [{low:.2g}, {high:.2g}]"


@click.command()
@click.option("--runs", default=60, show_default=True)
@click.option("--processes", default=2, show_default=True)
def main(runs: int, processes: int) -> None:
    """Measure all cells and put the table into the page."""
    lines = ["| | evaluations | " + " | ".join(WALKS) + " |", "|---" * (len(WALKS) + 2) + "|"]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for name in PROBLEMS:
            cells = [cell(pool, name, walk, runs) for walk in WALKS]
            title = name.rpartition("-")[0].replace("_", " ") if name[-1].isdigit() else name
            lines.append(f"| {title} | {trial_of(name).budget:,} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    about = f"{runs} runs a cell, seeds from {FIRST_SEED}; {versions_in_words()}; {datetime.date.today()}."
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    table = "\n".join([*lines, "", about, ""])
    PAGE.write_text(f"{before}{MARKERS[0]}{table}{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
