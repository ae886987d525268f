"""Errors on the whole zoo beside those of another commit: the same problems, budgets and seeds, one chain.

Run with ``make bench-zoo REV=...``: makes the problems that docs/jumps/against.json does not have and writes
what they come to there; ``--anew`` forgets it first, ``--keep-old`` only this tree's half of it. The sources
of the other commit are given this tree's zoo and benchmarks, so that all problems are the same. An error is
the root of a mean square over runs: of the weights of the modes, of the second moments where there is one, of
the third coefficient on the bridge. Runs of this tree are cells of docs/jumps/cells.json, too.
"""

import datetime
import json
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from against import ROOT, worktree
from jumps import CELLS, MAIN, ONE_CHAIN, OTHERS, one_run, summary
from peers.contract import FloatArray
from timing import versions_in_words

ROWS = ROOT / "docs" / "jumps" / "against.json"
FIRST_SEED = 890_001  # no seed was looked at before
RUNS, RESAMPLES = 400, 4_000
ALLOWED = 1.1  # the lower end of a ratio's interval beyond which a problem has got worse beyond doubt
COLUMNS = ("coefficient", "weight", "variance")  # the first that there is


def environment(root: Path) -> dict[str, str]:
    """What a process needs to run with the sources of that tree and the benchmarks of this one."""
    path = os.pathsep.join([str(root / "src"), str(ROOT / "benchmarks")])
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}


def rows_of(name: str, runs: int) -> list[dict[str, float]]:
    """The errors of every run of a problem, with the sources of this process."""
    return [one_run((name, ONE_CHAIN, FIRST_SEED + k)) for k in range(runs)]


def started(name: str, runs: int, root: Path) -> subprocess.Popen[str]:
    """A process that makes the runs of a problem with the sources of that tree."""
    command = [sys.executable, __file__, "--rows", name, "--runs", str(runs)]
    return subprocess.Popen(command, env=environment(root), stdout=subprocess.PIPE, text=True)


def read(process: subprocess.Popen[str]) -> list[dict[str, float]]:
    """What such a process printed."""
    rows: list[dict[str, float]] = json.loads(process.communicate()[0].splitlines()[-1])
    return rows


def squares(rows: list[dict[str, float]]) -> FloatArray:
    """The squared error of every run, of the first column that there is."""
    column = next(column for column in COLUMNS if column in rows[0])
    return np.array([row[column] for row in rows])


def compared(new: FloatArray, old: FloatArray | float) -> dict[str, Any]:
    """Both errors, and their ratio with a 95 % bootstrap interval over runs, which are independent.

    The other commit's error is taken as known where it was measured before.
    """
    generator = np.random.default_rng(1)
    again = resampled(new, generator) / (old if isinstance(old, float) else resampled(old, generator))
    low, high = np.quantile(again, [0.025, 0.975])
    error = math.sqrt(float(new.mean()))
    other = old if isinstance(old, float) else math.sqrt(float(old.mean()))
    return {
        "new": error,
        "old": other,
        "ratio": error / other,
        "low": float(low),
        "high": float(high),
        "runs": len(new),
        "old_known": isinstance(old, float),
    }


def resampled(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Roots of mean squares of resamples."""
    n = len(values)
    return np.sqrt(values[generator.integers(0, n, (RESAMPLES, n))].mean(axis=1))


def keep_cell(name: str, rows: list[dict[str, float]]) -> None:
    """The runs of this tree as a cell of the page about jumps."""
    cells = json.loads(CELLS.read_text(encoding="utf-8")) if CELLS.exists() else {}
    cells[f"{name} | {ONE_CHAIN}"] = {**summary(rows), "first_seed": FIRST_SEED}
    CELLS.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")


@click.command()
@click.argument("revision", required=False)
@click.option("--problem", "names", multiple=True, help="Only these.")
@click.option("--runs", default=RUNS, show_default=True)
@click.option("--minutes", default=math.inf, help="Begin no problem after so many.")
@click.option("--anew", is_flag=True, help="Forget the chosen problems first.")
@click.option("--keep-old", is_flag=True, help="Make this tree's runs anew, the other's errors stay.")
@click.option("--rows", "only", hidden=True, help="Print the errors of every run of one problem.")
def main(
    revision: str | None,
    names: tuple[str, ...],
    runs: int,
    minutes: float,
    anew: bool,
    keep_old: bool,
    only: str | None,
) -> None:
    """Measure what is missing, problem by problem."""
    if only:
        click.echo(json.dumps(rows_of(only, runs)))
        return
    if revision is None:
        raise click.UsageError("REVISION must be a commit to compare with")
    known = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    until = time.monotonic() + 60.0 * minutes
    with worktree(revision) as other:
        zoo = Path("src") / "temperance" / "zoo"
        shutil.rmtree(other / zoo)
        shutil.copytree(ROOT / zoo, other / zoo)
        for name in names or (*MAIN, *OTHERS):
            before = known.get(name)
            if (before and not (anew or keep_old)) or time.monotonic() > until:
                continue
            kept = before["old"] if keep_old and before and before["against"] == revision else None
            beside = None if kept is not None else started(name, runs, other)
            rows = read(started(name, runs, ROOT))
            keep_cell(name, rows)
            known[name] = {
                **compared(squares(rows), squares(read(beside)) if beside else kept),
                "against": revision,
                "first_seed": FIRST_SEED,
                "date": str(datetime.date.today()),
                "versions": versions_in_words(),
            }
            ROWS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            click.echo(
                f"{name}: {known[name]['ratio']:.2f} [{known[name]['low']:.2f}, {known[name]['high']:.2f}]"
            )


if __name__ == "__main__":
    main()
