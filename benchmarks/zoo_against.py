"""Errors on the whole zoo beside those of another commit: the same problems, budgets and seeds, one chain.

Run with ``make bench-zoo REV=...``: makes the problems that docs/jumps/against.json does not have and writes
what they come to there; ``--anew`` forgets it first. The other commit's sources are given this tree's zoo and
benchmarks, so that all problems are the same. An error is the root of a mean square over runs: of the weights
of the modes, of the second moments where there is one mode, of the third coefficient on the bridge.
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

import click
import numpy as np

from against import ROOT, worktree
from jumps import MAIN, ONE_CHAIN, OTHERS, one_run
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


def squares(name: str, runs: int) -> list[float]:
    """The squared error of every run of a problem, with the sources of this process."""
    rows = [one_run((name, ONE_CHAIN, FIRST_SEED + k)) for k in range(runs)]
    column = next(column for column in COLUMNS if column in rows[0])
    return [row[column] for row in rows]


def of_both(name: str, runs: int, other: Path) -> tuple[FloatArray, FloatArray]:
    """The squared errors of this tree and of the other, made side by side."""
    command = [sys.executable, __file__, "--squares", name, "--runs", str(runs)]
    started = [
        subprocess.Popen(command, env=environment(root), stdout=subprocess.PIPE, text=True)
        for root in (ROOT, other)
    ]
    printed = [process.communicate()[0] for process in started]
    new, old = (np.array(json.loads(text.splitlines()[-1])) for text in printed)
    return new, old


def compared(new: FloatArray, old: FloatArray) -> dict[str, float]:
    """Both errors, and their ratio with a 95 % bootstrap interval over runs, which are independent."""
    generator = np.random.default_rng(1)
    n = len(new)
    again = [np.sqrt(values[generator.integers(0, n, (RESAMPLES, n))].mean(axis=1)) for values in (new, old)]
    low, high = np.quantile(again[0] / again[1], [0.025, 0.975])
    errors = [math.sqrt(float(values.mean())) for values in (new, old)]
    return {
        "new": errors[0],
        "old": errors[1],
        "ratio": errors[0] / errors[1],
        "low": float(low),
        "high": float(high),
        "runs": n,
    }


@click.command()
@click.argument("revision", required=False)
@click.option("--problem", "names", multiple=True, help="Only these.")
@click.option("--runs", default=RUNS, show_default=True)
@click.option("--minutes", default=math.inf, help="Begin no problem after so many.")
@click.option("--anew", is_flag=True, help="Forget the chosen problems first.")
@click.option("--squares", "only", hidden=True, help="Print the squared errors of one problem.")
def main(
    revision: str | None, names: tuple[str, ...], runs: int, minutes: float, anew: bool, only: str | None
) -> None:
    """Measure what is missing, problem by problem."""
    if only:
        click.echo(json.dumps(squares(only, runs)))
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
            if (name in known and not anew) or time.monotonic() > until:
                continue
            about = {"date": str(datetime.date.today()), "versions": versions_in_words()}
            known[name] = {
                **compared(*of_both(name, runs, other)),
                "against": revision,
                "first_seed": FIRST_SEED,
                **about,
            }
            ROWS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            click.echo(
                f"{name}: {known[name]['ratio']:.2f} [{known[name]['low']:.2f}, {known[name]['high']:.2f}]"
            )


if __name__ == "__main__":
    main()
