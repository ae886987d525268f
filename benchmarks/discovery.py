"""How often a mode is found that is easily missed, with nothing set: this tree beside another commit.

Run with ``make bench-discovery REV=...``: makes the cells that docs/jumps/discovery.json does not have and
prints them; ``--anew`` forgets the chosen ones first. Four chains, default settings. The other commit's
sources are given this tree's zoo. Errors are those of the weight where it was found.
"""

import datetime
import json
import math
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import temperance as tp
from against import ROOT, worktree
from temperance import zoo
from timing import versions_in_words

ROWS = ROOT / "docs" / "jumps" / "discovery.json"
FIRST_SEED = 3_200_001  # no seed was looked at before
RUNS = 100
SEEN = 0.1  # of its true weight, from which on a mode counts as found
NEARBY = 1.0  # half a side of the box of a search about both modes, in sds of the wide one


@dataclass(frozen=True)
class Cell:
    """A problem, where all levels start (or as it says itself), and what a search is told."""

    make: Callable[[], zoo.Problem]
    start: int | None = 0  # the mode at whose centre all start
    sought: int = 1  # the mode that is looked for
    search: Callable[[zoo.Problem], Any] | None = None


def widths(dim: int, ratio: float) -> Callable[[], zoo.Problem]:
    """Two modes of which one is narrow."""
    return lambda: zoo.unequal_widths(dim, ratio=ratio)


def distant(distance: float) -> Callable[[], zoo.Problem]:
    """Two modes that are far apart."""
    return lambda: zoo.distant_modes(20, distance=distance)


def about_the_modes(problem: zoo.Problem) -> Any:
    """A search of the box that holds the narrow mode, with some room."""
    centre = problem.modes[1]
    return tp.Search(bounds=np.stack([centre - NEARBY, centre + NEARBY], axis=1))


CELLS: dict[str, Cell] = {
    **{
        f"widths 1 : {1 / ratio:.1f}, {dim}-d": Cell(widths(dim, ratio))
        for ratio in (2.0, 1.0 / 0.3)
        for dim in (5, 10, 20)
    },
    "widths 1 : 0.5, 20-d, searched": Cell(widths(20, 2.0), search=about_the_modes),
    "widths 1 : 0.3, 20-d, searched": Cell(widths(20, 1.0 / 0.3), search=about_the_modes),
    "widths 1 : 100, from the narrow mode": Cell(zoo.unequal_widths, start=1, sought=0),
    "a mode of 3 %": Cell(lambda: zoo.rare_mode(2, rarity=97.0 / 3.0), start=1, sought=0),
    **{
        f"{distance:g} sd apart, 20-d": Cell(distant(distance), None) for distance in (10, 30, 100, 400, 1000)
    },
    "Student modes, 10-d": Cell(lambda: zoo.student_modes(10)),
    "spike": Cell(zoo.spike, None),
    "flat box, 10-d": Cell(lambda: zoo.flat_box(10), None),
}


def one_run(name: str, seed: int) -> dict[str, float]:
    """Whether it was found, the squared error, and what it cost."""
    cell = CELLS[name]
    problem = cell.make()
    options = {} if cell.start is None else {"initial": problem.modes[cell.start]}
    if cell.search is not None and hasattr(tp, "Search"):
        options["search"] = cell.search(problem)
    began = time.process_time()
    result = tp.sample(problem, seed=seed, progress=False, cores=1, **options)
    cpu = time.process_time() - began
    draws = result.draws.reshape(-1, problem.dim)
    spent = [part.evaluations.sum() for chain in result.chains for part in (chain.tuning, chain.sampling)]
    if len(problem.modes) > 1:
        share, truth = problem.occupancy(draws), problem.mode_weights
        found = share[cell.sought] > SEEN * truth[cell.sought]
        error = float(np.sum((share - truth) ** 2) / 2.0)
    else:  # by the size of the second moments: of a spike they are ten times too large without it
        ratio = float(np.mean((draws**2).mean(axis=0) / problem.second_moments))
        found, error = 0.5 < ratio < 2.0, (ratio - 1.0) ** 2
    return {"found": float(found), "square": error, "evaluations": float(np.sum(spent)), "cpu": cpu}


def summary(rows: list[dict[str, float]]) -> dict[str, float]:
    """The share of runs, the root of the mean square where it was found, mean costs."""
    found = [row for row in rows if row["found"]]
    return {
        "runs": len(rows),
        "found": len(found) / len(rows),
        "rmse": math.sqrt(np.mean([row["square"] for row in found])) if found else math.nan,
        **{name: float(np.mean([row[name] for row in rows])) for name in ("evaluations", "cpu")},
    }


def of_tree(root: Path, name: str, runs: int, first: int) -> dict[str, float]:
    """A cell with the sources of a tree, in a process of its own."""
    path = os.pathsep.join([str(root / "src"), str(ROOT / "benchmarks")])
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--only", name, "--runs", str(runs), "--first-seed", str(first)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


@click.command()
@click.argument("revision", required=False)
@click.option("--cell", "names", multiple=True, help="Only these.")
@click.option("--runs", default=RUNS, show_default=True)
@click.option("--first-seed", default=FIRST_SEED, show_default=True)
@click.option("--minutes", default=math.inf, help="Begin no cell after so many.")
@click.option("--anew", is_flag=True, help="Forget the chosen cells first.")
@click.option("--keep-old", is_flag=True, help="Make this tree's runs again, the other's cells stay.")
@click.option("--dry", is_flag=True, help="Print, and write nothing: for seeds to choose by.")
@click.option("--only", hidden=True, help="Print the summary of one cell with the sources of this process.")
def main(
    revision: str | None,
    names: tuple[str, ...],
    runs: int,
    first_seed: int,
    minutes: float,
    anew: bool,
    keep_old: bool,
    dry: bool,
    only: str | None,
) -> None:
    """Measure what is missing, cell by cell."""
    warnings.simplefilter("ignore")
    if only:
        click.echo(json.dumps(summary([one_run(only, first_seed + k) for k in range(runs)])))
        return
    if revision is None:
        raise click.UsageError("REVISION must be a commit to compare with")
    known = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    until = time.monotonic() + 60.0 * minutes
    with worktree(revision) as other:
        target = other / "src" / "temperance" / "zoo"
        shutil.rmtree(target)
        shutil.copytree(ROOT / "src" / "temperance" / "zoo", target)
        for name in names or CELLS:
            before = known.get(name)
            if (before and not (anew or keep_old)) or time.monotonic() > until:
                continue
            kept = keep_old and before and before["against"] == revision
            old = before["old"] if kept else of_tree(other, name, runs, first_seed)
            new = of_tree(ROOT, name, runs, first_seed)
            about = {"against": revision, "first_seed": first_seed, "date": str(datetime.date.today())}
            known[name] = {"new": new, "old": old, **about, "versions": versions_in_words()}
            click.echo(f"{name}: {new} before: {old}")
            if not dry:
                ROWS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
