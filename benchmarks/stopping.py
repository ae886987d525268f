"""Runs that end when their errors look small: do their intervals still cover? And what tuning pays for.

Run with ``make bench-stopping``. Runs with goals, and runs of as many draws as these took in the median,
from seeds of their own; then runs of one budget of evaluations, of which tuning takes other shares. Written
are docs/stopping/stopping.json and docs/stopping/table.txt.
"""

import datetime
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

import temperance as tp
from temperance import zoo
from temperance.results.modes import given_modes
from temperance.results.reached import evaluations_of
from timing import versions_in_words

FOLDER = Path(__file__).parent.parent / "docs" / "stopping"
FIRST_SEED = 883_001
OTHER_SEEDS = 50_000  # away from them, those of the runs that are compared with
LIMIT = 1.959963984540054  # of |z| in 95 % of runs
SHARES = (0.1, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Case:
    """A problem, its goals, and a first look that is early on purpose."""

    make: Callable[[], zoo.Problem]
    until: tp.Until
    options: dict[str, Any] = field(default_factory=dict)
    budget: int = 60_000


CASES = {
    "twenty peaks": Case(
        zoo.twenty_peaks, tp.Until(ess=1_000, weight_error=0.01), {"draws": 100, "tune": 1_500}
    ),
    "two modes, 5-d": Case(
        lambda: zoo.two_modes(5), tp.Until(ess=1_000, weight_error=0.02), {"draws": 100, "tune": 1_500}
    ),
    "banana": Case(zoo.banana, tp.Until(ess=400), {"draws": 100, "tune": 2_000}),
}


def sampled(case: Case, seed: int, **options: Any) -> tp.Result:
    """One run, without its Python warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tp.sample(case.make(), seed=seed, cores=1, progress=False, **{**case.options, **options})


def scores(case: Case, result: tp.Result) -> dict[str, list[float]]:
    """By what they are of, errors in units of the reported error: means, and weights of modes."""
    problem = case.make()
    mean = np.asarray(problem.mean)
    table = result.estimates
    some = range(min(len(mean), 2))
    found = {"means": [(table["mean"][k] - mean[k]) / table["mcse"][k] for k in some]}
    if problem.modes is not None and len(problem.modes) > 1:
        modes = given_modes(result, problem.modes)
        z = (modes.weight - np.asarray(problem.mode_weights)) / modes.weight_error
        found["weights"] = [float(value) for value in z[:2]]
    return {name: [round(float(value), 4) for value in values] for name, values in found.items()}


def coverage(rows: list[dict[str, Any]], what: str) -> str:
    """How many of the intervals cover, with the standard error over runs, and the rms of z."""
    z = np.array([row["z"][what] for row in rows if what in row["z"]])
    if not z.size:
        return "-"
    inside = (np.abs(z) <= LIMIT).mean(axis=1)
    rms = math.sqrt(float((z[np.isfinite(z)] ** 2).mean()))
    return f"{inside.mean():.1%} ± {inside.std() / math.sqrt(len(inside)):.1%}, rms z {rms:.2f}"


def compared(name: str, runs: int) -> dict[str, Any]:
    """Runs with goals, and as many of a length that was fixed before."""
    case = CASES[name]
    stopped = [_row(case, sampled(case, FIRST_SEED + k, until=case.until)) for k in range(runs)]
    draws = int(np.median([row["draws"] for row in stopped]))
    fixed = [_row(case, sampled(case, FIRST_SEED + OTHER_SEEDS + k, draws=draws)) for k in range(runs)]
    return {"stopped": stopped, "fixed": fixed, "draws": draws}


def _row(case: Case, result: tp.Result) -> dict[str, Any]:
    met = result.reached is not None and result.reached.met
    return {"z": scores(case, result), "draws": result.draws.shape[1], "met": met}


def shared(name: str, runs: int) -> dict[str, Any]:
    """Root mean squared errors of means, in standard deviations, by the share that tuning may take."""
    case = CASES[name]
    problem = case.make()
    levels = 4 if problem.dim == 2 else 5
    scale = np.sqrt(np.diag(np.asarray(problem.covariance)))
    until, found = tp.Until(evaluations=case.budget), {}
    for share in SHARES:
        tune = int(share * case.budget / (4 * levels))
        made = [sampled(case, FIRST_SEED + k, until=until, tune=tune, levels=levels) for k in range(runs)]
        off = [(np.array(one.estimates["mean"]) - problem.mean) / scale for one in made]
        spent = float(np.mean([evaluations_of(one) for one in made]))
        found[str(share)] = {"rmse": float(np.sqrt(np.mean(np.square(off)))), "evaluations": spent}
    return found


def table(known: dict[str, Any]) -> str:
    """Both comparisons for the page."""
    lines = [
        "| problem | goals | runs | draws in the median | means, stopped | means, fixed | weights, "
        "stopped | weights, fixed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, one in known["compared"].items():
        goals = ", ".join(f"{key} {value:g}" for key, value in CASES[name].until.goals.items())
        cells = [coverage(one[kind], what) for what in ("means", "weights") for kind in ("stopped", "fixed")]
        lines.append(f"| {name} | {goals} | {len(one['stopped'])} | {one['draws']:,} | {' | '.join(cells)} |")
    lines += ["", f"| problem | evaluations | {' | '.join(f'tuning {share:.0%}' for share in SHARES)} |",
              f"|---|---|{'---|' * len(SHARES)}"]  # fmt: skip
    for name, one in known["shared"].items():
        cells = [f"{one[str(share)]['rmse']:.4f}" for share in SHARES]
        lines.append(f"| {name} | {CASES[name].budget:,} | {' | '.join(cells)} |")
    lines.append(f"\nSeeds from {FIRST_SEED} on, {known['date']}, {known['versions']}.")
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--runs", default=200, show_default=True, type=click.IntRange(min=2))
@click.option("--shares", default=12, show_default=True, help="Runs of each share.")
@click.option("--dry", is_flag=True, help="Write nothing.")
def main(runs: int, shares: int, dry: bool) -> None:
    """Make all runs, and write them with a table."""
    known: dict[str, Any] = {"date": str(datetime.date.today()), "versions": versions_in_words()}
    known |= {"compared": {}, "shared": {}}
    for name in CASES:
        known["compared"][name] = compared(name, runs)
        known["shared"][name] = shared(name, shares)
        click.echo(table(known))
        if not dry:
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / "stopping.json").write_text(json.dumps(known) + "\n")
            (FOLDER / "table.txt").write_text(table(known), encoding="utf-8")


if __name__ == "__main__":
    main()
