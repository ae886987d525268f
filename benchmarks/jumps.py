"""What jumps are worth: our sampler with and without them, at equal evaluations, from one point.

Run with ``make bench-jumps``: measures the cells that docs/jumps/cells.json does not have yet and writes them
there; ``--anew`` forgets it first. tools/jumps_page.py makes the page. A run is one chain, where nothing else
is said; all its evaluations count.
"""

import datetime
import json
import math
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

import temperance as tp
from peers.adapters.temperance_paper import LEVELS as PAPER_LEVELS
from peers.ours import as_it_comes, sampler
from peers.reference import load
from peers.tasks import TASKS, Task
from temperance import zoo
from timing import versions_in_words

CELLS = Path(__file__).parent.parent / "docs" / "jumps" / "cells.json"
FIRST_SEED = 10_001  # no seed was looked at before
MANY, SOME, FEW = 500, 200, 60
SLOW = {"one Gaussian, 100-d": 30}  # runs
NEAR = 20.0  # of the reference, for the bridge
ONE_CHAIN, FOUR_CHAINS = "the defaults, one chain", "the defaults, four chains"
WITHOUT_JUMPS, PAPER, NOTHING_SET = "without jumps", "the paper's setting", "nothing set"

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A problem with a start and a budget, as a task without peers."""

    key: str
    budget: int
    problem: zoo.Problem
    start: FloatArray

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.problem.dim


def lightest(problem: zoo.Problem) -> FloatArray:
    """The centre of the lightest mode."""
    return np.array(problem.modes[int(np.argmin(problem.mode_weights))])


def on_the_rim(problem: zoo.Problem) -> FloatArray:
    """A point on the lighter of two rings, whose centre is empty."""
    return lightest(problem) + np.array([5.0, 0.0])


def at_zero(problem: zoo.Problem) -> FloatArray:
    """The origin."""
    return np.zeros(problem.dim)


def in_the_middle(problem: zoo.Problem) -> FloatArray:
    """The middle of the square."""
    return np.append(np.full(2, 5.0), np.zeros(problem.dim - 2))


def at_random(problem: zoo.Problem) -> FloatArray:
    """The problem's own start."""
    return problem.start(np.random.default_rng(1))


def last_mode(problem: zoo.Problem) -> FloatArray:
    """The centre of the last mode."""
    return np.array(problem.modes[-1])


# name: problem, budget, start
OTHERS: dict[str, tuple[Callable[[], zoo.Problem], int, Callable[[zoo.Problem], FloatArray]]] = {
    "widths 1 : 100, from the wide mode": (zoo.unequal_widths, 50_000, lightest),
    "widths 1 : 100, from the narrow mode": (zoo.unequal_widths, 50_000, last_mode),
    "weights 1 : 1000": (zoo.rare_mode, 50_000, lightest),
    "weights 1 : 1000, 10-d": (lambda: zoo.rare_mode(10), 100_000, lightest),
    "two bananas": (zoo.two_bananas, 50_000, lightest),
    "two bananas, 5-d": (lambda: zoo.two_bananas(5), 100_000, lightest),
    "two rings": (zoo.rings, 50_000, on_the_rim),
    "five Student modes, 3 d.o.f.": (zoo.student_modes, 50_000, lightest),
    "300 modes, 3-d": (zoo.many_modes, 100_000, lightest),
    "twenty cylinders (uniform)": (lambda: zoo.twenty_cylinders("uniform"), 150_000, in_the_middle),
    "two modes, 1-d": (lambda: zoo.two_modes(1), 20_000, lightest),
    "two modes, 5-d": (lambda: zoo.two_modes(5), 50_000, lightest),
    "label switching": (zoo.label_switching, 100_000, at_random),
    "one Gaussian, 1-d": (lambda: zoo.gaussian(1), 20_000, at_zero),
    "one Gaussian, 2-d": (lambda: zoo.gaussian(2), 20_000, at_zero),
    "one Gaussian, 20-d": (lambda: zoo.gaussian(20), 50_000, at_zero),
    "one Gaussian, 100-d": (lambda: zoo.gaussian(100), 300_000, at_zero),
    "banana": (zoo.banana, 50_000, at_zero),
    "banana, 10-d": (lambda: zoo.banana(10), 100_000, at_zero),
    "funnel": (zoo.funnel, 100_000, at_zero),
    # Added when all was chosen, and judged last.
    "skew modes, 3-d": (zoo.skew_modes, 50_000, lightest),
    "skew modes, 8-d": (lambda: zoo.skew_modes(8), 100_000, lightest),
    "oriented modes, 5-d": (zoo.oriented_modes, 100_000, lightest),
}
MAIN = ("twenty_peaks-37500", "twenty_cylinders-150000", "two_modes-100000", "bridge-100000")


def adapting(**changes: Any) -> dict[str, Any]:
    """Options of `sample` with these changes of the adaptation."""
    return {"settings": tp.Settings(adaptation=tp.Adaptation(**changes))}


def jumping(**changes: Any) -> dict[str, Any]:
    """Options of `sample` with these changes of the jumps."""
    return {"settings": tp.Settings(jumps=tp.Jumps(**changes))}


def paper(trial: Trial | Task) -> dict[str, Any]:
    """The algorithm as printed, with the paper's numbers of levels."""
    temperatures = np.arange(1.0, PAPER_LEVELS[trial.key] + 1.0)
    return {"temperatures": temperatures, "settings": tp.paper_settings(trim=False), "tune_share": 0.25}


# name: options (none at all: as it comes, whatever it spends), runs of a main task (zero: none), of another
VARIANTS: dict[str, tuple[dict[str, Any] | Callable[..., dict[str, Any]] | None, int, int]] = {
    ONE_CHAIN: ({}, MANY, FEW),
    WITHOUT_JUMPS: (jumping(enabled=False), SOME, FEW),
    PAPER: (paper, SOME, 0),
    NOTHING_SET: (None, SOME, 0),
    FOUR_CHAINS: ({"chains": 4}, FEW, 0),
    "no scouts": (jumping(scout_share=0.0), FEW, 0),
    "no fresh proposals": (jumping(refresh=False), FEW, 0),
    "the paper's walk": (adapting(walk="covariance"), FEW, 0),
    "no single coordinates": (adapting(coordinate_every=0), FEW, 0),
    "equi-energy swaps": ({"swaps": tp.swaps.equi_energy()}, FEW, 0),
    "adjacent levels at 0.35": (adapting(swap_acceptance=0.35), FEW, 0),
}


@lru_cache
def trial_of(name: str) -> Trial | Task:
    """The task or the trial of this name."""
    if name in TASKS:
        return TASKS[name]
    make, budget, start = OTHERS[name]
    problem = make()
    return Trial(key=name, budget=budget, problem=problem, start=start(problem))


@lru_cache
def runner(name: str, variant: str) -> Any:
    """A function from a seed to an outcome."""
    trial, options = trial_of(name), VARIANTS[variant][0]
    if options is None:
        return as_it_comes(trial)
    chosen = options(trial) if callable(options) else options
    return sampler(trial, **{"chains": 1, **chosen})


def one_run(arguments: tuple[str, str, int]) -> dict[str, float]:
    """The errors of one run; squares where roots are taken of means."""
    name, variant, seed = arguments
    trial = trial_of(name)
    outcome = runner(name, variant)(seed)
    problem, draws = trial.problem, outcome.draws
    row = {
        "cpu_seconds": outcome.cpu_seconds,
        "evaluations": outcome.evaluations,
    }
    if problem.mean is not None:
        sd = np.sqrt(np.diag(problem.covariance))
        scaled = (draws - problem.mean) / sd
        row["mean"] = float(np.mean(scaled.mean(axis=0) ** 2))
        row["variance"] = float(np.mean(((scaled**2).mean(axis=0) - 1.0) ** 2))
    if problem.modes is not None and len(problem.modes) > 1:
        share = problem.occupancy(draws)
        row["occupancy"] = float(np.abs(share / problem.mode_weights - 1.0).mean())
        row["found"] = float(np.all(share > 0.0))
        row["weight"] = float(np.sum((share - problem.mode_weights) ** 2) / 2.0)
    if trial.key == "bridge":
        error = draws[:, 2].mean() - load()["mean"]["mean_3"]
        row |= {"coefficient": error**2, "near": float(abs(error) < NEAR)}
    return row


def summary(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Mean and standard error of every column."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    numbers = {
        name: {"mean": float(values.mean()), "error": float(values.std(ddof=1) / math.sqrt(len(values)))}
        for name, values in columns.items()
    }
    about = {"date": str(datetime.date.today()), "versions": versions_in_words()}
    return {"runs": len(rows), "first_seed": FIRST_SEED, **about, **numbers}


def n_runs(name: str, variant: str) -> int:
    """How many runs a cell wants."""
    _, of_main, of_others = VARIANTS[variant]
    return of_main if name in MAIN else min(of_others, SLOW.get(name, of_others))


@click.command()
@click.option("--anew", is_flag=True, help="Forget what was measured before.")
@click.option("--processes", default=2, show_default=True)
@click.option("--minutes", default=math.inf, help="Begin no cell after so many.")
def main(anew: bool, processes: int, minutes: float) -> None:
    """Measure what is missing, cell by cell, the main tasks first."""
    cells = {} if anew or not CELLS.exists() else json.loads(CELLS.read_text(encoding="utf-8"))
    wanted = [(name, variant) for variant in VARIANTS for name in (*MAIN, *OTHERS) if n_runs(name, variant)]
    until = time.monotonic() + 60.0 * minutes
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for name, variant in wanted:
            key = f"{name} | {variant}"
            if key in cells or time.monotonic() > until:
                continue
            jobs = [(name, variant, FIRST_SEED + k) for k in range(n_runs(name, variant))]
            cells[key] = summary(pool.map(one_run, jobs, chunksize=5))
            CELLS.parent.mkdir(exist_ok=True)
            CELLS.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
            print(
                key,
                {
                    name: f"{value['mean']:.4g}"
                    for name, value in cells[key].items()
                    if isinstance(value, dict)
                },
            )


if __name__ == "__main__":
    main()
