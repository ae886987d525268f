"""How the defaults were chosen: candidates at equal evaluations, from one point, on four targets.

Run with ``make bench-defaults``: prints the table of docs/guide.md. Every run is one chain that spends the
stated number of evaluations, tuning and all levels included. A row changes what it names and nothing else.
"""

import sys
from typing import Any

import numpy as np

import temperance as tp
from peers.measures import measure
from peers.ours import sampler
from peers.reference import load
from peers.tasks import get_task
from timing import heading

FIRST_SEED = 1_001
RUNS = {
    "twenty_peaks-37500": 500,
    "twenty_cylinders-150000": 100,
    "two_modes-100000": 100,
    "bridge-100000": 60,
}

Row = dict[str, float]


def adapting(**changes: Any) -> dict[str, Any]:
    """Options of `sample` with these changes of the adaptation."""
    return {"settings": tp.Settings(adaptation=tp.Adaptation(**changes))}


CANDIDATES: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "adjacent levels at 0.234": adapting(swap_acceptance=0.234),
    "adjacent levels at 0.3": adapting(swap_acceptance=0.3),
    "adjacent levels at 0.5": adapting(swap_acceptance=0.5),
    "walks at 0.234": adapting(walk_acceptance=0.234),
    "equi-energy swaps": {"swaps": tp.swaps.equi_energy()},
    "heat bath": {"swaps": tp.swaps.heat_bath()},
    "8 levels": {"levels": 8},
}


def main() -> None:
    """Print a row for each candidate as it comes."""
    print(f"{heading()}; runs {RUNS}, seeds from {FIRST_SEED}\n")
    names = (
        "twenty peaks: error, all found",
        "cylinders: error, all found",
        "two modes: RMSE",
        "bridge: RMSE",
    )
    print("\n".join([f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]))
    for candidate, options in CANDIDATES.items():
        cells = [in_words(name, runs(name, n, options)) for name, n in RUNS.items()]
        print(f"| {candidate} | {' | '.join(cells)} |", flush=True)


def runs(name: str, n: int, options: dict[str, Any]) -> list[Row]:
    """The measures of ``n`` independent runs of one chain."""
    task = get_task(name)
    run = sampler(task, chains=1, **options)
    return [measure(task, run(seed)) for seed in range(FIRST_SEED, FIRST_SEED + n)]


def in_words(name: str, rows: list[Row]) -> str:
    """Occupancy error and share of runs that found all modes, or the RMSE of the one number that matters."""
    if name.startswith("twenty"):
        errors = np.array([row["occupancy_error"] for row in rows])
        found = np.mean([row["missing"] == 0 for row in rows])
        return f"{errors.mean():.3f} ± {standard_error(errors):.3f}, {100 * found:.1f} %"
    column, exact, digits = ("weight_2", 2.0 / 3.0, 3)
    if name.startswith("bridge"):
        column, exact, digits = ("mean_3", load()["mean"]["mean_3"], 0)
    squares = np.array([(row[column] - exact) ** 2 for row in rows])
    root = np.sqrt(squares.mean())
    return f"{root:.{digits}f} ± {standard_error(squares) / (2.0 * root):.{digits}f}"


def standard_error(values: Any) -> float:
    """Of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


if __name__ == "__main__":
    sys.exit(main())
