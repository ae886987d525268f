"""The draws of every level of one chain, as in the paper's Figures 2, 3 and 5."""

import math
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.results.diagnostics import first_unimodal
from temperance.results.drawn import shown_levels
from temperance.results.plots.canvas import axis_or_new, empty, frame, one_chain, rows_shown, short_number
from temperance.results.result import Result

MAX_DOTS = 4_000
BINS = 40
COLUMNS = 5
KEPT, CUT = "#3b76af", "0.6"  # levels that are needed, and those above the first unimodal one
NARROW = 1.2  # inches: panels below this have no room for numbers


def draws_by_level(
    result: Result, *, pair: tuple[int | str, int | str] = (0, 1), chain: int = 0, ax: Any = None
) -> Any:
    """Two parameters at every level (or a histogram of the only one), a panel for each in one axis.

    Grey panels are hotter than the first level that passes for unimodal by the rule of the run's trimming.
    Needs ``"levels"`` among what ``keep`` says.
    """
    record = one_chain(result, chain)
    result.require_levels()
    n_levels = len(record.beta)
    columns = min(n_levels, COLUMNS)
    rows = math.ceil(n_levels / columns)
    ax = axis_or_new(ax, (1.75 * columns + 0.6, 1.95 * rows + 0.4))
    if not record.n_draws:
        return empty(ax, "no draws")
    which = _coordinates(result, pair)
    draws = shown_levels(record)[:, :, which]
    free = np.exp(record.log_scale[record.beta > 0.0])
    rule = result.setup.settings["trimming"]["rule"]
    last = first_unimodal(free, result.setup.unimodal_scale, rule)
    ax.set_axis_off()
    layout = Layout(ax, rows, columns)
    for level in range(n_levels):
        panel = ax.inset_axes(layout.bounds(level))
        level_panel(panel, draws[:, level], KEPT if level <= last else CUT)
        layout.finish(panel, level, result.temperatures[chain][level], math.exp(record.log_scale[level]))
    labels = [result.parameters.labels[k] for k in which]
    ax.text(0.0, 1.0, " against ".join(labels[::-1]), fontsize="small", va="bottom", transform=ax.transAxes)
    return ax


def level_panel(axis: Any, draws: FloatArray, colour: str) -> None:
    """Dots of two coordinates, (draw, 2), or a histogram of one, in a frame that outliers do not stretch."""
    shown = draws[rows_shown(len(draws), MAX_DOTS)]
    if draws.shape[1] == 1:
        axis.hist(shown[:, 0], bins=BINS, range=frame(shown[:, 0]), color=colour)
        axis.set_yticks([])
    else:
        axis.plot(shown[:, 0], shown[:, 1], ".", markersize=1.2, alpha=0.5, color=colour, rasterized=True)
        axis.set_ylim(*frame(shown[:, 1]))
    axis.set_xlim(*frame(shown[:, 0]))
    axis.tick_params(labelsize=7)


def _coordinates(result: Result, pair: tuple[int | str, int | str]) -> list[int]:
    if result.points.shape[2] == 1:
        return [0]
    if len(pair) != 2:
        raise InvalidInputError(f"pair must be two parameters, got {pair!r}")
    return [result.parameters.index(one) for one in pair]


class Layout:
    """A grid of panels within one axis, with as much room for titles and numbers as its size allows."""

    def __init__(self, ax: Any, rows: int, columns: int) -> None:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        self.rows, self.columns = rows, columns
        self.narrow = box.width / columns < NARROW or box.height / rows < NARROW
        top, side, below = (0.2, 0.06, 0.04) if self.narrow else (0.42, 0.32, 0.22)  # inches
        self.top, self.side, self.below = top / box.height, side / box.width, below / box.height

    def bounds(self, level: int) -> tuple[float, float, float, float]:
        """Left, bottom, width and height of a panel, in shares of the axis."""
        row, column = divmod(level, self.columns)
        width, height = 1.0 / self.columns, 1.0 / self.rows
        left, bottom = column * width + self.side, 1.0 - (row + 1) * height + self.below
        return left, bottom, max(width - self.side, 0.02), max(height - self.top - self.below, 0.02)

    def finish(self, panel: Any, level: int, temperature: float, scale: float) -> None:
        """Title and numbers."""
        if self.narrow:
            panel.set_title(f"T = {short_number(temperature)}", fontsize=6.5, pad=2.0)
            panel.set(xticks=[], yticks=[])
        else:
            heading = f"{level + 1}: T = {short_number(temperature)}\n$e^θ$ = {scale:.2g}"
            panel.set_title(heading, fontsize=7.5, pad=3.0)
