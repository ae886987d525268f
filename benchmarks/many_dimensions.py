"""Modes in many dimensions: errors of the weight of a mode, and of the marginals of many wells.

Run with ``make bench-many-dimensions``: makes the runs that docs/many_dimensions/runs.json does not have and
puts the table into docs/many_dimensions.md; ``--anew`` forgets it first. All evaluations count.
"""

import datetime
import json
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import temperance as tp
from peers.contract import FloatArray
from peers.ours import TUNE_SHARE, affordable_draws, evaluations
from temperance import zoo
from timing import versions_in_words

DOCS = Path(__file__).parent.parent / "docs"
RUNS, PAGE = DOCS / "many_dimensions" / "runs.json", DOCS / "many_dimensions.md"
MARKERS = "<!-- table -->\n", "<!-- end of table -->"
FIRST_SEED = 2_928_001  # no seed was looked at before
RESAMPLES = 4_000
WELL_SHARE = 0.844307  # of the mass of a well on its right
BOTH, NARROW, ONE = "one start in each mode", "from the narrow mode", "one point"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the table: a problem, how it is run, and how often."""

    make: Callable[[], zoo.Problem]
    budget: int
    runs: int
    start: str = BOTH
    options: tuple[tuple[str, Any], ...] = (("chains", 1), ("levels", 2))

    @cached_property
    def problem(self) -> zoo.Problem:
        """The problem itself."""
        return self.make()

    @property
    def words(self) -> str:
        """How it is run."""
        return ", ".join(f"{name}={value}" for name, value in self.options) or "nothing set"


def pair(dim: int, budget: int, runs: int, shape: zoo.high.Shape = "round", **more: Any) -> Row:
    """Two far modes."""
    return Row(make=partial(zoo.far_pair, dim, shape=shape), budget=budget, runs=runs, **more)


ONE_CHAIN, FOUR = (("chains", 1),), (("levels", 2),)
WITHOUT = (*ONE_CHAIN, ("levels", 2), ("settings", tp.Settings(jumps=tp.Jumps(enabled=False))))
ROWS = {
    "20-d": pair(20, 100_000, 100),
    "50-d": pair(50, 300_000, 100),
    "80-d": pair(80, 600_000, 100),
    "200-d": pair(200, 1_500_000, 20),
    "20-d, four chains": pair(20, 100_000, 100, options=FOUR),
    "50-d, four chains": pair(50, 300_000, 100, options=FOUR),
    "50-d, default ladder": pair(50, 300_000, 40, options=ONE_CHAIN),
    "50-d, narrow": pair(50, 300_000, 40, start=NARROW, options=ONE_CHAIN),
    "50-d, correlated": pair(50, 300_000, 100, "correlated"),
    "50-d, unrelated": pair(50, 300_000, 100, "unrelated"),
    "50-d, Student": pair(50, 300_000, 100, "student"),
    "Many Well": Row(make=zoo.many_well, budget=500_000, runs=20, start=ONE, options=ONE_CHAIN),
    "Many Well, four chains": Row(make=zoo.many_well, budget=500_000, runs=20, start=ONE, options=()),
}


def starts(row: Row, n_levels: int, seed: int) -> FloatArray:
    """Points for the levels of a chain: exact draws of both modes in turn, of the narrow one, or zero."""
    problem, rng = row.problem, np.random.default_rng(seed)
    if row.start == ONE:
        return np.zeros(problem.dim)
    draws = problem.draw(100, int(rng.integers(2**31)))  # some of each mode, but for one case in 2^99
    label = problem.nearest_mode(draws)
    narrow, wide = draws[label == 0][0], draws[label == 1][0]
    if row.start == NARROW:
        return narrow
    both = [narrow, wide] if rng.random() < 1.0 / 2.0 else [wide, narrow]
    return np.array([both[level % 2] for level in range(n_levels)])


def one_run(key: str, seed: int) -> dict[str, float]:
    """The squared error of a run, its evaluations and CPU seconds."""
    row, began = ROWS[key], time.process_time()
    call = partial(tp.sample, row.problem, cores=1, progress=False, **dict(row.options))
    zero = starts(row, 1, seed)[:1] if row.start == BOTH else starts(row, 1, seed)
    probe = call(initial=zero.reshape(-1), draws=0, tune=1, seed=0)
    chains, n_levels = len(probe.chains), probe.n_levels_at_start
    initial = starts(row, n_levels, seed)
    tune = int(TUNE_SHARE * row.budget / (chains * n_levels))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "run"
        tuned = call(initial=initial, tune=tune, draws=0, seed=seed, store=store)
        draws = affordable_draws(tuned, row.budget)
        result = tp.resume(store, row.problem, draws=draws, cores=1, progress=False)
        found = measures(row, result)
    return {**found, "evaluations": evaluations(result), "cpu": time.process_time() - began}


def measures(row: Row, result: tp.Result) -> dict[str, float]:
    """Squared errors by draws and by whatever `expect` takes: of a weight, or the mean over all marginals."""
    problem, draws = row.problem, result.draws
    if problem.mode_weights is not None:
        side = partial(_right, problem)
        by_draws = problem.occupancy(draws.reshape(-1, problem.dim))[1:]
        truth = float(problem.mode_weights[1])
    else:
        side = _positive
        by_draws = (draws.reshape(-1, problem.dim)[:, ::2] > 0.0).mean(axis=0)
        truth = WELL_SHARE
    estimate = np.asarray(result.expect(side).value)
    return {
        "draws": float(((by_draws - truth) ** 2).mean()),
        "expect": float(((estimate - truth) ** 2).mean()),
    }


def _right(problem: zoo.Problem, points: FloatArray) -> FloatArray:
    """Whether points are nearer to the second mode, a row each."""
    return (problem.nearest_mode(points) == 1).astype(np.float64)[:, None]


def _positive(points: FloatArray) -> FloatArray:
    """Whether each of the wells' coordinates is positive, a row for each point."""
    return (points[:, ::2] > 0.0).astype(np.float64)


def with_interval(squares: FloatArray) -> str:
    """The root of the mean square, with a 95 % bootstrap interval over runs."""
    rng = np.random.default_rng(1)
    again = np.sqrt(squares[rng.integers(0, len(squares), (RESAMPLES, len(squares)))].mean(axis=1))
    low, high = np.quantile(again, [0.025, 0.975])
    return f"{math.sqrt(squares.mean()):.2g} [{low:.2g}, {high:.2g}]"


def line(key: str, runs: list[dict[str, float]]) -> str:
    """A line of the table."""
    row = ROWS[key]
    draws, expect, spent, cpu = (
        np.array([one[name] for one in runs]) for name in ("draws", "expect", "evaluations", "cpu")
    )
    cells = (
        row.problem.name, f"{row.start}; {row.words}", f"{row.budget:,}", with_interval(draws),
        with_interval(expect), f"{spent.mean():,.0f}", f"{cpu.mean():.1f}", f"{len(runs)}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--row", "keys", multiple=True, type=click.Choice(list(ROWS)), help="Only these.")
@click.option("--runs", type=click.IntRange(min=1), help="Of each row; by default as many as it has.")
@click.option("--first-seed", default=FIRST_SEED, show_default=True)
@click.option("--minutes", default=math.inf, help="Begin no run after so many.")
@click.option("--anew", is_flag=True, help="Forget all runs first.")
@click.option("--dry", is_flag=True, help="Print, and write nothing.")
def main(
    keys: tuple[str, ...], runs: int | None, first_seed: int, minutes: float, anew: bool, dry: bool
) -> None:
    """Make the runs that are missing, and the table."""
    began = time.monotonic()
    made = json.loads(RUNS.read_text()) if RUNS.exists() and not anew and not dry else {}
    for key in keys or ROWS:
        rows = made.setdefault(key, [])
        for k in range(len(rows), runs or ROWS[key].runs):
            if time.monotonic() - began > 60.0 * minutes:
                break
            rows.append(one_run(key, first_seed + k))
            if not dry:
                RUNS.parent.mkdir(exist_ok=True)
                RUNS.write_text(json.dumps(made))
        if rows:
            click.echo(line(key, rows))
    if not dry:
        write({key: made[key] for key in ROWS if made.get(key)})


def write(made: dict[str, list[dict[str, float]]]) -> None:
    """Put the table into the page."""
    head = (
        "| problem | start and options | budget | RMSE by draws | by `expect` | evaluations | CPU s | runs |"
    )
    about = f"Seeds from {FIRST_SEED}; {versions_in_words()}; {datetime.date.today()}."
    lines = [head, "|---" * 8 + "|", *(line(key, runs) for key, runs in made.items()), "", about, ""]
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{MARKERS[0]}{table}{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
