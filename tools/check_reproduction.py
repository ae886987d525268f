"""Hold fresh runs of some cells of the reproduction against the committed ones.

The committed runs of docs/reproduction were made once; since then the streams of random numbers were keyed
anew. ``python tools/check_reproduction.py`` makes runs of `WANTED` with a seed of their own, in
out/reproduction-check (a Ctrl-C loses nothing; runs that other sources left there are refused, so remove
them), and compares mean and spread over runs of every column.

With a folder of runs laid out alike, which the sources behind the committed runs made anew of the cells that
differ most, these are compared with the fresh ones too. What came of it is printed and goes to
docs/reproduction/check.json, which tools/reproduction_page.py puts in words.
"""

import json
import math
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from temperance.files import write_text
from temperance.paper.progress import Progress
from temperance.paper.running import run_cell
from temperance.paper.store import Store, load_store, open_store
from temperance.paper.study import Cell

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "docs" / "reproduction"
FRESH = ROOT / "out" / "reproduction-check"
REPORT = COMMITTED / "check.json"  # reproduction_page.py reads it
SEED = 20_261_118
FALSE_ALARMS = 0.01  # of the whole check, shared out among the comparisons (Bonferroni)
POWER = 0.9
N_RELABELLED = 2_000

WANTED = {
    Cell("peaks", "EE", 3): 300,
    Cell("peaks", "EE", 5): 300,
    Cell("peaks", "AL", 5): 300,
    Cell("peaks", "RA", 5): 300,
    Cell("cylinders", "EE", 3): 200,
    Cell("cylinders", "EE", 9): 200,
    Cell("cylinders", "AL", 9): 200,
    Cell("cylinders", "RA", 9): 200,
    Cell("bridge", "EE", 9): 100,
    Cell("bridge", "RA", 9): 100,
    Cell("trimming-peaks", "EE", 5): 200,
    Cell("trimming-cylinders-0.65-5000", "EE", 9): 200,
}
# Cells that differ, a fresh and a committed one: a check that does not tell them apart says nothing.
CONTROLS = (
    (Cell("peaks", "EE", 3), Cell("peaks", "EE", 5)),
    (Cell("cylinders", "EE", 3), Cell("cylinders", "EE", 9)),
    (Cell("bridge", "EE", 9), Cell("bridge", "RA", 9)),
)
Pair = tuple[np.ndarray, np.ndarray]  # runs of a cell, fresh and others, (run, column)


def main() -> None:
    """Make what runs are missing, compare, write the report."""
    fresh, committed = open_store(FRESH, SEED, "continue"), load_store(COMMITTED)
    make_runs(fresh)
    outcome = origin(fresh) | compare(fresh, committed)
    outcome["controls_missed"] = missed_controls(fresh, committed, outcome["limit"])
    if len(sys.argv) > 1:
        earlier = load_store(Path(sys.argv[1]))
        outcome["earlier_sources"] = origin(earlier) | compare(fresh, earlier)
    text = json.dumps(outcome, indent=2) + "\n"
    write_text(REPORT, text)
    sys.stdout.write(text)
    if outcome["different"] or outcome["controls_missed"]:
        raise SystemExit("the committed reproduction does not hold, or the check cannot tell")


def make_runs(fresh: Store) -> None:
    """The runs that are not there yet."""
    with Progress(WANTED.items(), show=True) as watch:
        for cell, runs in WANTED.items():
            watch(cell, min(runs, len(fresh.read(cell))))
            if not run_cell(cell, fresh, runs=runs, cores=1, watch=watch):
                raise SystemExit("stopped; start again to go on")


def origin(store: Store) -> dict[str, Any]:
    """Where the runs of a folder come from."""
    runs = {cell.name: len(store.read(cell)) for cell in WANTED if store.read(cell)}
    return {**{name: store.note[name] for name in ("seed", "begun", "versions")}, "runs": runs}


def compare(fresh: Store, others: Store) -> dict[str, Any]:
    """What the comparisons say, over all cells that the others have."""
    pairs = {cell: (table(fresh, cell), table(others, cell)) for cell in WANTED if others.read(cell)}
    found = {what: z for cell, pair in pairs.items() for what, z in named(fresh, cell, *pair)}
    limit = limiting_score(len(found), pairs.values())
    beyond = sum(z > 2.0 for z in found.values())
    return {
        "comparisons": len(found),
        "false_alarms": FALSE_ALARMS,
        "limit": round(limit, 2),
        "largest": round(max(found.values()), 2),
        "different": [what for what, z in found.items() if z > limit],
        "beyond_2": beyond,
        "beyond_2_by_chance": round(2.0 * stats.norm.sf(2.0) * len(found), 1),
        "as_many_when_relabelled": relabelled(pairs.values(), beyond),
        "visible_shift": round(visible_shift(limit, pairs.values()), 2),
    }


def missed_controls(fresh: Store, committed: Store, limit: float) -> list[str]:
    """Cells that differ and do not look it."""
    return [
        f"{one.name} and {other.name}"
        for one, other in CONTROLS
        if scores(table(fresh, one), table(committed, other)).max() <= limit
    ]


def table(store: Store, cell: Cell) -> np.ndarray:
    """All runs of a cell, (run, column)."""
    return np.column_stack(list(store.columns(cell, len(store.read(cell))).values()))


def named(store: Store, cell: Cell, ours: np.ndarray, theirs: np.ndarray) -> list[tuple[str, float]]:
    """The scores of a cell with what they are of, but for columns that never vary."""
    columns = list(store.read(cell)[0])
    names = [f"{cell.name} {column}: {figure}" for figure in ("mean", "spread") for column in columns]
    varies = np.tile(np.ptp(np.concatenate([ours, theirs]), axis=0) > 0.0, 2)
    return [(names[k], float(z)) for k, z in enumerate(scores(ours, theirs)) if varies[k]]


def scores(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Welch's |z| of the difference of the means, then of the spreads, column by column."""
    spreads = [np.abs(values - np.median(values, axis=0)) for values in (ours, theirs)]
    return np.concatenate([welch(ours, theirs), welch(*spreads)])


def welch(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """A difference of means in its errors; infinite where two constants differ."""
    difference = np.abs(ours.mean(axis=0) - theirs.mean(axis=0))
    error = np.sqrt(sum(values.var(axis=0, ddof=1) / len(values) for values in (ours, theirs)))
    never = np.where(difference > 0.0, np.inf, 0.0)
    return np.divide(difference, error, where=error > 0.0, out=never)


def limiting_score(n_comparisons: int, pairs: Collection[Pair]) -> float:
    """What no score may exceed (Bonferroni), with the tails of Student's t for the fewest runs."""
    fewest = min(len(values) for pair in pairs for values in pair)
    return float(stats.t.isf(FALSE_ALARMS / n_comparisons / 2.0, fewest - 1))


def relabelled(pairs: Collection[Pair], beyond: int) -> float:
    """How often as many scores are beyond 2 when fresh and committed runs are mixed up.

    Columns of a cell depend on one another, so that the number to expect says little about how far it varies.
    """
    rng = np.random.default_rng(SEED)
    counts = np.zeros(N_RELABELLED, dtype=int)
    for ours, theirs in pairs:
        both = np.concatenate([ours, theirs])
        for k in range(N_RELABELLED):
            mixed = rng.permutation(both)
            counts[k] += np.sum(scores(mixed[: len(ours)], mixed[len(ours) :]) > 2.0)
    return float(np.mean(counts >= beyond))


def visible_shift(limit: float, pairs: Collection[Pair]) -> float:
    """A shift, in standard deviations over runs, that gets past the limit with `POWER` in every cell."""
    unit = max(math.sqrt(sum(1.0 / len(values) for values in pair)) for pair in pairs)
    return float((limit + stats.norm.ppf(POWER)) * unit)


if __name__ == "__main__":
    main()
