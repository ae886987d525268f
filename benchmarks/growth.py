"""How the cost of an iteration grows with the dimension and with the number of levels."""

from pathlib import Path

import numpy as np

import temperance as tp
from timing import adapting, best_of, frozen

TURNS = 12
DIMS = (2, 5, 10, 20, 50, 100, 200, 500)
LEVELS = (2, 4, 8, 16, 32, 64)
FIXED_LEVELS, FIXED_DIM = 8, 20
WORK = 40_000_000  # entries of factors a timing passes over; the first, cold passes must not count

Costs = dict[int, tuple[float, float]]  # microseconds an iteration, adapting and frozen


def by_dim() -> Costs:
    """From the plane to 500 dimensions."""
    return {dim: cost(dim, FIXED_LEVELS) for dim in DIMS}


def by_levels() -> Costs:
    """From 2 to 64 levels."""
    return {levels: cost(FIXED_DIM, levels) for levels in LEVELS}


def cost(dim: int, levels: int) -> tuple[float, float]:
    """Microseconds an iteration, adapting and frozen, on a Gaussian."""
    problem = tp.zoo.gaussian(dim)
    n = int(np.clip(WORK // (levels * dim**2), 20, 2_000))
    run = (problem.log_density, problem.start, levels, n)
    learns, rests = best_of([adapting(*run), frozen(*run)], turns=TURNS)
    return 1e6 * learns / n, 1e6 * rests / n


def table(costs: Costs, heading: str, fixed: int) -> str:
    """A Markdown table; ``fixed`` is the factor of L·d² that stays: the levels, or the squared dimension."""
    lines = [
        f"| {heading} | adapting, µs | frozen, µs | adapting, ns for each L·d² |",
        "|---|---|---|---|",
    ]
    power = 2 if fixed == FIXED_LEVELS else 1
    lines += [
        f"| {size} | {learns:,.2f} | {rests:,.2f} | {1e3 * learns / (fixed * size**power):.2f} |"
        for size, (learns, rests) in costs.items()
    ]
    return "\n".join(lines)


def dim_table(costs: Costs) -> str:
    """The table of the dimension."""
    return table(costs, f"d (L = {FIXED_LEVELS})", FIXED_LEVELS)


def levels_table(costs: Costs) -> str:
    """The table of the number of levels."""
    return table(costs, f"L (d = {FIXED_DIM})", FIXED_DIM**2)


def draw(dims: Costs, levels: Costs, path: Path) -> None:
    """Both on logarithmic axes, with lines of slope two and one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    panels = (
        (dims, "dimension d", 2, FIXED_LEVELS, "levels"),
        (levels, "levels L", 1, FIXED_DIM, "dimensions"),
    )
    for axis, (costs, label, power, fixed, of) in zip(axes, panels, strict=True):
        sizes = np.array(list(costs), dtype=float)
        for column, (name, marker) in enumerate((("adapting", "o-"), ("frozen", "s-"))):
            axis.loglog(sizes, [pair[column] for pair in costs.values()], marker, label=name)
        last = list(costs.values())[-1][0]
        axis.loglog(sizes, last * (sizes / sizes[-1]) ** power, ":", color="0.4",
                    label="∝ d²" if power == 2 else "∝ L")  # fmt: skip
        axis.set(xlabel=label, ylabel="µs an iteration", title=f"{fixed} {of}")
        axis.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axis.minorticks_off()
        axis.legend()
        axis.grid(alpha=0.3)
    figure.savefig(path)
