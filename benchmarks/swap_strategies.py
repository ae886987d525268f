"""Which swaps find the modes? Strategies at equal evaluations, and at equal numbers of swaps.

Run with ``make bench-swaps``: prints a table for docs/swaps.md and writes its figure. Every cell is the
mean over independent runs, with its standard error; rows with the same number of swaps an iteration may be
compared at equal numbers of swaps, all rows at equal evaluations of the density.
"""

import datetime
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

import temperance as tp
from temperance.zoo import Problem

RUNS, TUNE, DRAWS, SEED = 200, 2_500, 7_500, 1
SETTINGS = tp.Settings(  # the paper's walks and rates, and nothing beside swaps that changes modes
    adaptation=tp.Adaptation(
        walk="covariance", coordinate_every=0, walk_acceptance=0.234, swap_acceptance=0.234
    ),
    trimming=tp.Trimming(enabled=False),
    jumps=tp.Jumps(enabled=False),
)
TARGETS = {
    "twenty peaks, 5 levels": (tp.zoo.twenty_peaks(), 5),
    "twenty cylinders (normal), 7 levels": (tp.zoo.twenty_cylinders("normal"), 7),
}
STRATEGIES = {
    **{f"EE × {n}": tp.swaps.equi_energy(repeats=n) for n in (1, 3, 10)},
    **{f"AL × {n}": tp.swaps.adjacent(repeats=n) for n in (1, 3, 10)},
    **{f"RA × {n}": tp.swaps.uniform(repeats=n) for n in (1, 3, 10)},
    "even-odd": tp.swaps.even_odd(),
    "stochastic even-odd": tp.swaps.stochastic_even_odd(),
    **{f"scaled energy × {n}": tp.swaps.scaled_energy(repeats=n) for n in (1, 3, 10)},
    "big jumps × 1": tp.swaps.big_jumps(),
    "heat bath": tp.swaps.heat_bath(),
}
# Few modes: the weight of one of them, over independent runs of more draws.
PAIRS = {
    "two modes in 5 dimensions, 4 levels": (tp.zoo.two_modes(5, sd=1.0, right_weight=0.5), 4),
}
PAIR_RUNS, PAIR_DRAWS, PAIR_TUNE = 200, 20_000, 10_000
PAIR_STRATEGIES = ("EE × 1", "AL × 10", "even-odd", "scaled energy × 10", "heat bath")
COLUMNS = (
    "swaps",
    "accepted",
    "base exchanges",
    "round trips",
    "missing modes",
    "all found",
    "occupancy error",
)


@dataclass(frozen=True)
class Row:
    """One strategy on one target: a value and a standard error for each column."""

    strategy: str
    means: np.ndarray
    errors: np.ndarray


def main() -> None:
    """Measure, print the tables, write the figure."""
    figure = Path(sys.argv[1])
    print(f"{datetime.date.today()} · temperance {tp.__version__} · numba {numba.__version__} · "
          f"numpy {np.__version__} · Python {platform.python_version()}")  # fmt: skip
    print(f"{RUNS} runs a cell of {TUNE:,} tuning and {DRAWS:,} drawing iterations, seed {SEED}\n")
    tables = {}
    for name, target in TARGETS.items():
        tables[name] = [measure(strategy, *target) for strategy in STRATEGIES]
        print(f"**{name}**\n\n{markdown(tables[name])}\n")
    draw(tables, figure)
    for name, target in PAIRS.items():
        print(f"**{name}**\n\n{spread_table(*target)}\n")


def measure(strategy: str, problem: Problem, levels: int) -> Row:
    """Run one cell."""
    result = tp.sample(
        problem, levels=levels, draws=DRAWS, tune=TUNE, chains=RUNS,
        seed=SEED, swaps=STRATEGIES[strategy], settings=SETTINGS, progress=False,
    )  # fmt: skip
    rows = np.array([statistics(chain, problem) for chain in result.chains])
    return Row(strategy, rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(RUNS))


def spread_table(problem: Problem, levels: int) -> str:
    """How much the weight of the right mode varies from run to run: less is better."""
    lines = ["| strategy | weight found | its spread over runs |", "|---|---|---|"]
    for strategy in PAIR_STRATEGIES:
        result = tp.sample(
            problem, levels=levels, draws=PAIR_DRAWS, tune=PAIR_TUNE,
            chains=PAIR_RUNS, seed=SEED, swaps=STRATEGIES[strategy], settings=SETTINGS, progress=False,
        )  # fmt: skip
        weight = np.array([problem.occupancy(chain)[1] for chain in result.draws])
        spread = weight.std(ddof=1)
        error = spread / np.sqrt(2.0 * (PAIR_RUNS - 1))
        lines.append(f"| {strategy} | {weight.mean():.3f} | {spread:.4f} ± {error:.4f} |")
    return "\n".join(lines)


def statistics(chain: Any, problem: Problem) -> list[float]:
    """The columns of one run."""
    trace = chain.sampling
    attempts, accepted = trace.swap_attempts.sum(), trace.swap_accepted.sum()
    share = problem.occupancy(trace.draws)
    missing = float((share == 0.0).sum())
    return [
        attempts / len(trace.draws),
        accepted / attempts,
        trace.base_swaps.mean(),
        1000.0 * tp.diagnostics.round_trips(chain.sampling.replica[:, : len(chain.beta)]) / len(trace.draws),
        missing,
        100.0 * (missing == 0.0),
        np.abs(share / problem.mode_weights - 1.0).mean(),
    ]


def markdown(rows: list[Row]) -> str:
    """A table, best occupancy error in bold."""
    best = min(row.means[-1] for row in rows)
    lines = [f"| strategy | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        cells = [f"{row.means[0]:.3g}", f"{row.means[1]:.3f}", f"{row.means[2]:.3f}"]
        cells += [f"{row.means[3]:.1f} ± {row.errors[3]:.1f}", f"{row.means[4]:.2f} ± {row.errors[4]:.2f}"]
        cells += [f"{row.means[5]:.0f} %", f"{row.means[6]:.3f} ± {row.errors[6]:.3f}"]
        if row.means[-1] == best:
            cells[-1] = f"**{cells[-1]}**"
        lines.append(f"| {row.strategy} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(tables: dict[str, list[Row]], path: Path) -> None:
    """Occupancy error of every strategy, one panel for each target."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(tables), figsize=(11, 4.2), sharey=True, layout="constrained")
    for axis, (name, rows) in zip(axes, tables.items(), strict=True):
        places = np.arange(len(rows))[::-1]
        axis.errorbar([row.means[-1] for row in rows], places, xerr=[2 * row.errors[-1] for row in rows],
                      fmt="o", color="#3b528b", capsize=3)  # fmt: skip
        axis.set_yticks(places, [row.strategy for row in rows])
        axis.set(title=name, xlabel="relative occupancy error (± 2 standard errors)")
        axis.grid(axis="x", alpha=0.3)
        axis.set_xlim(left=0.0)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
