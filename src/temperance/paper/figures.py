"""The paper's figures, drawn anew: grey, told apart by shape and not by colour."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from temperance.paper.estimates import rmse
from temperance.paper.experiments import BRIDGE, CYLINDERS, PEAKS, STRATEGIES, TRIMMED_BRIDGE
from temperance.paper.levels import draw_levels
from temperance.paper.printed import EXACT, LEVELS_8D, MOMENTS
from temperance.paper.running import sample_cell
from temperance.paper.study import Cell
from temperance.paper.tables import ReadCell
from temperance.results.plots.canvas import pyplot
from temperance.zoo import twenty_peaks

FORMATS = ("svg", "pdf")
RASTER_DPI = 150  # of scattered points, which as vectors would fill megabytes
STYLE = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "temperance",  # the same bytes each time
}
SQUARE = (-0.6, 10.6)
GRID = 400
BAR = 0.28  # width
CONTOURS = (3.0, 2.0, 1.0)  # standard deviations from the centre of a peak


Draw = Callable[[ReadCell, int], Any]  # from finished runs and a seed to a matplotlib figure


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure: the cells whose runs it needs, and how it is drawn from them and from a seed."""

    name: str
    caption: str
    draw: Draw
    cells: tuple[Cell, ...] = ()


def write_figure(figure: Figure, read: ReadCell, seed: int, folder: Path) -> list[Path]:
    """Draw one figure and write it in every format."""
    plt = pyplot()
    with plt.rc_context(STYLE):
        drawn = figure.draw(read, seed)
        paths = [folder / f"{figure.name}.{suffix}" for suffix in FORMATS]
        for path in paths:
            stamp = {"Date": None} if path.suffix == ".svg" else {"CreationDate": None}
            drawn.savefig(path, dpi=RASTER_DPI, metadata=stamp)
        plt.close(drawn)
    return paths


def _draw_target(read: ReadCell, seed: int) -> Any:
    problem = twenty_peaks()
    figure, axis = pyplot().subplots(figsize=(4.2, 4.2), layout="constrained")
    line = np.linspace(*SQUARE, GRID)
    values = np.array([[problem.log_density(np.array([x, y])) for x in line] for y in line])
    heights = [values.max() - 0.5 * radius**2 for radius in CONTOURS]
    axis.contour(line, line, values, levels=heights, colors=["0.7", "0.4", "0.0"], linewidths=0.8)
    axis.set(xlim=SQUARE, ylim=SQUARE, aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    return figure


def _trajectory(cell: Cell, pair: tuple[int, int], labels: tuple[str, str], columns: int) -> Draw:
    def draw(read: ReadCell, seed: int) -> Any:
        result = sample_cell(cell, seed, [0], cores=1, keep=("draws", "statistics", "levels"))
        if not result.complete:
            raise KeyboardInterrupt  # caught by `sample`, meant for us
        return draw_levels(result, pair, labels, columns)

    return draw


def _draw_errors(read: ReadCell, seed: int) -> Any:
    figure, axes = pyplot().subplots(1, 2, figsize=(6.6, 3.0), layout="constrained")
    for index, (label, moment) in enumerate(MOMENTS.items()):
        estimator = rmse(f"{moment}_10000", EXACT[moment])
        found = [estimator([read(Cell(CYLINDERS.name, "EE", n))]) for n in LEVELS_8D]
        axes[index // 2].errorbar(
            LEVELS_8D,
            [one.value for one in found],
            yerr=[2.0 * one.error for one in found],
            color="0.0" if index % 2 else "0.5",
            marker="os"[index % 2],
            linestyle=["--", "-"][index % 2],
            capsize=3,
            label=label,
        )
    for axis in axes:
        axis.set(xlabel="levels", ylabel="root mean square error", ylim=(0.0, None), xticks=LEVELS_8D)
        axis.legend(frameon=False)
    return figure


def _draw_left(read: ReadCell, seed: int) -> Any:
    exponents = sorted({exponent for exponent, _ in TRIMMED_BRIDGE})
    leniencies = sorted({leniency for _, leniency in TRIMMED_BRIDGE})
    figure, axes = pyplot().subplots(
        len(exponents), len(leniencies), figsize=(8.4, 4.4), sharex=True, sharey=True, layout="constrained"
    )
    for row, exponent in enumerate(exponents):
        for column, leniency in enumerate(leniencies):
            study = TRIMMED_BRIDGE[exponent, leniency]
            _draw_counts(axes[row, column], [read(cell)["n_levels"] for cell in study.cells])
            rule = f"lenient, ε = {leniency:g}" if leniency else "Eq. (11)"
            axes[row, column].set_title(f"{rule}; gain $n^{{-{exponent:g}}}$", fontsize=8.5)
    axes[-1, 0].legend(STRATEGIES, frameon=False, loc="upper left")
    figure.supxlabel("levels left")
    figure.supylabel("% of runs")
    return figure


def _draw_counts(axis: Any, left: Sequence[np.ndarray]) -> None:
    """Bars side by side, one kind for each strategy."""
    counts = np.arange(1, 10)
    for place, values in enumerate(left):
        axis.bar(
            counts + BAR * (place - 1),
            [100.0 * np.mean(values == count) for count in counts],
            width=BAR,
            color=("0.15", "0.6", "1.0")[place],
            edgecolor="black",
            linewidth=0.5,
            hatch=("", "", "////")[place],
        )
    axis.set(xticks=counts, xlim=(0.4, 9.6), ylim=(0.0, 104.0))


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            name="figure1",
            caption="The twenty peaks: contours at one, two and three standard deviations of a peak. Some "
            "peaks all but touch, others lie alone; between them the density is as good as zero.",
            draw=_draw_target,
        ),
        Figure(
            name="figure2",
            caption="Twenty peaks, one run with four levels and no trimming. Above each panel are the "
            "temperature at the end and the scale of the walk, which Eq. (11) compares with 2.38/√2 = 1.68. "
            "Grey panels are levels above the first that passes: Eq. (11) would drop them.",
            draw=_trajectory(Cell(PEAKS.name, "EE", 4), (0, 1), ("$x_1$", "$x_2$"), 4),
        ),
        Figure(
            name="figure3",
            caption="Twenty cylinders, one run with nine levels and no trimming, seen in the two coordinates "
            "that have modes. The threshold is 2.38/√8 = 0.84.",
            draw=_trajectory(Cell(CYLINDERS.name, "EE", 9), (0, 1), ("$x_1$", "$x_2$"), 5),
        ),
        Figure(
            name="figure4",
            caption="Twenty cylinders: root mean square error of the moments against the number of levels, "
            "EE swaps. Bars are two standard errors (bootstrap over runs).",
            draw=_draw_errors,
            cells=tuple(Cell(CYLINDERS.name, "EE", n) for n in LEVELS_8D),
        ),
        Figure(
            name="figure5",
            caption="Bridge regression, one run with nine levels and no trimming: coefficients 3 and 9. The "
            "threshold 2.38/√11 = 0.72 is not reached by any level.",
            draw=_trajectory(Cell(BRIDGE.name, "EE", 9), (2, 8), ("coefficient 3", "coefficient 9"), 5),
        ),
        Figure(
            name="figure6",
            caption="Bridge regression: levels left of nine, by rule, gain and swaps; checked every 1,000 "
            "iterations after burn-in.",
            draw=_draw_left,
            cells=tuple(cell for study in TRIMMED_BRIDGE.values() for cell in study.cells),
        ),
    )
}
