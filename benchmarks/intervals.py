"""Whether intervals cover: expectations, weights of modes and the log evidence, over many independent runs.

Run with ``make bench-intervals``: makes the runs of problems that docs/weights/intervals.json does not have
and writes what they come to there; ``--anew`` forgets a problem first. Seeds are counted from
`FIRST_SEED` on, which nobody had looked at. A run has one chain, of a model with priors four; all else is as
in `CASES`.
"""

import datetime
import functools
import json
import math
import multiprocessing
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
from temperance.results.weighting.weighting import DRAWS, WEIGHTED
from timing import versions_in_words
from with_priors import Posed, aliases, folded, waiting_times

ROWS = Path(__file__).parent.parent / "docs" / "weights" / "intervals.json"
FIRST_SEED = 860_001
REPLICATES = 1_000
LIMIT = 1.959963984540054  # of |z| in 95 % of runs


@dataclass(frozen=True)
class Case:
    """A problem, and how long its runs are."""

    make: Callable[[], zoo.Problem | Posed]
    replicates: int = REPLICATES
    chains: int = 1
    options: dict[str, Any] = field(default_factory=dict)


CASES = {
    "twenty peaks": Case(zoo.twenty_peaks, options={"draws": 4_000}),
    "two modes, 5-d": Case(lambda: zoo.two_modes(5), options={"draws": 4_000}),
    "two modes, 20-d": Case(lambda: zoo.two_modes(20), options={"draws": 4_000}),
    "twenty cylinders, 8-d": Case(zoo.twenty_cylinders, options={"draws": 8_000, "tune": 10_000}),
    "label switching": Case(zoo.label_switching, options={"draws": 4_000}),
    "one Gaussian, 2-d": Case(lambda: zoo.gaussian(2), options={"draws": 2_000}),
    "one Gaussian, 20-d": Case(lambda: zoo.gaussian(20), options={"draws": 2_000}),
    "five Student modes": Case(zoo.student_modes, 400, options={"draws": 4_000}),
    "two bananas": Case(zoo.two_bananas, 400, options={"draws": 4_000}),
    "two rings": Case(zoo.rings, 400, options={"draws": 4_000}),
    "widths 1 : 100": Case(zoo.unequal_widths, 400, options={"draws": 4_000}),
    "weights 1 : 1000": Case(zoo.rare_mode, 400, options={"draws": 4_000}),
    "shells, 2-d": Case(lambda: zoo.gaussian_shells(2), 400, options={"draws": 4_000}),
    "shells, 5-d": Case(lambda: zoo.gaussian_shells(5), 400, options={"draws": 8_000}),
    "waiting times, priors": Case(waiting_times, 400, chains=4, options={"draws": 5_000}),
    "folded normal, priors": Case(folded, 400, chains=4, options={"draws": 5_000}),
    "aliases, priors": Case(aliases, 400, chains=4, options={"draws": 5_000}),
}


def run_of(job: tuple[str, int]) -> dict[str, Any]:
    """Errors and standard errors of one run, of the draws and of the weighted sample."""
    name, seed = job
    case, problem = CASES[name], _made(name)
    model = problem.model if isinstance(problem, Posed) else problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tp.sample(model, chains=case.chains, cores=1, seed=seed, progress=False, **case.options)
    row: dict[str, Any] = {"seed": seed, "serious": any(one.serious for one in result.warnings)}
    row["why_not"] = result.weighting.why_not
    bridge = result.weighting.bridge
    wanted = (_of_model if isinstance(problem, Posed) else _of_zoo)(problem, result)
    for way in (DRAWS, WEIGHTED) if bridge is not None else (DRAWS,):
        for what, (at_draws, at_proposals, truth) in wanted.items():
            row[f"{what}.{way}"] = [
                _difference(
                    _estimate(result, way, at_draws[..., k], at_proposals[..., k] if bridge else None), one
                )
                for k, one in enumerate(truth)
            ]
    if bridge is not None and problem.log_normaliser is not None:
        row["evidence"] = [[bridge.log_z - problem.log_normaliser, bridge.log_z_error]]
    return row


@functools.cache
def _made(name: str) -> Any:
    """The problem of a case; some answers take seconds to compute."""
    return CASES[name].make()


def _of_zoo(problem: zoo.Problem, result: tp.Result) -> dict[str, Any]:
    """Values at the draws and at the proposals, (chain, draw, quantity), and their true means."""
    mean = np.asarray(problem.mean)[:2]  # the first coordinates, of which there may be many
    wanted = {"mean": (result.draws, result.proposals, mean)}
    if problem.modes is not None and len(problem.modes) > 1:
        modes, each = given_modes(result, problem.modes), np.arange(len(problem.modes))
        proposed = None if modes.proposed is None else modes.proposed[:, :, None] == each
        wanted["weight"] = (modes.label[:, :, None] == each, proposed, problem.mode_weights)
    return wanted


def _of_model(problem: Posed, result: tp.Result) -> dict[str, Any]:
    """The same of a model."""
    wanted = {}
    kinds = {"mean": (problem.means_of, problem.mean), "weight": (problem.modes_of, problem.mode_weights)}
    for what, (function, truth) in kinds.items():
        parts = [
            function(points.reshape(-1, points.shape[2])).reshape(*points.shape[:2], -1)
            for points in (result.points, result.proposal_points)
        ]
        wanted[what] = (*parts, truth)
    return wanted


def _difference(estimate: tuple[float, float], truth: float) -> list[float]:
    return [estimate[0] - float(truth), estimate[1]]


def _estimate(result: tp.Result, way: str, at_draws: Any, at_proposals: Any) -> tuple[float, float]:
    plain, weighted = result.weighting._both(np.asarray(at_draws, dtype=np.float64), at_proposals)
    one = plain if way == DRAWS or weighted is None else weighted
    return float(one.value), float(one.error)


def summary(rows: list[dict[str, Any]], what: str) -> dict[str, float]:
    """Coverage with its standard error, bias in units of the reported error, RMSE, and how many runs."""
    pairs = np.array([row[what] for row in rows if what in row], dtype=np.float64)
    if not pairs.size:
        return {}
    off, error = pairs[:, :, 0], pairs[:, :, 1]
    known = np.isfinite(error) & (error > 0.0)
    inside = np.where(known, np.abs(off) <= LIMIT * np.where(known, error, 1.0), np.nan)
    by_run = np.nanmean(inside, axis=1)
    usual = np.sqrt(np.nanmean(np.where(known, error**2, np.nan), axis=0))
    bias = off.mean(axis=0) / usual
    return {
        "runs": len(pairs),
        "coverage": float(np.nanmean(by_run)),
        "coverage_error": float(np.nanstd(by_run) / math.sqrt(len(by_run))),
        "bias": float(np.sqrt(np.mean(bias**2))),
        "bias_by_chance": float(np.sqrt(np.mean((off.std(axis=0) / usual) ** 2) / len(off))),
        "rmse": float(np.sqrt((off**2).mean())),
        "error": float(np.sqrt(np.mean(usual**2))),
        "unknown": float(1.0 - known.mean()),
    }


@click.command()
@click.option("--problem", "names", multiple=True, type=click.Choice(list(CASES)), help="Only these.")
@click.option("--replicates", type=click.IntRange(min=2), help="Of each, in place of its own number.")
@click.option("--processes", default=1, show_default=True, type=click.IntRange(min=1))
@click.option("--anew", is_flag=True, help="Forget the chosen problems first.")
def main(names: tuple[str, ...], replicates: int | None, processes: int, anew: bool) -> None:
    """Make the runs that are missing, and write a summary of each problem as it is done."""
    known = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    for name in names or CASES:
        wanted = replicates or CASES[name].replicates
        if name in known and not anew:
            continue
        jobs = [(name, FIRST_SEED + k) for k in range(wanted)]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            rows = list(pool.imap_unordered(run_of, jobs, chunksize=5))
        known[name] = {
            "date": str(datetime.date.today()),
            "versions": versions_in_words(),
            "first_seed": FIRST_SEED,
            "options": CASES[name].options,
            "serious": float(np.mean([row["serious"] for row in rows])),
            "without_bridge": float(np.mean([bool(row["why_not"]) for row in rows])),
            **{what: summary(rows, what) for what in SHOWN},
        }
        ROWS.parent.mkdir(parents=True, exist_ok=True)
        ROWS.write_text(json.dumps(known, indent=1) + "\n")
        click.echo(f"{name}: {json.dumps(known[name])}")


SHOWN = ("mean.draws", "mean.weighted", "weight.draws", "weight.weighted", "evidence")

if __name__ == "__main__":
    main()
