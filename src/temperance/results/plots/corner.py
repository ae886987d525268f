"""The answer: marginals on the diagonal, pairs below it, coloured by mode."""

import math
from typing import Any, NamedTuple

import numpy as np

from temperance.core.state import IntArray
from temperance.results.modes import Modes
from temperance.results.plots.canvas import (
    OTHER_MODES,
    axis_or_new,
    empty,
    frame,
    mode_colour,
    n_coloured,
)
from temperance.results.plots.sample import Shown, evenly, shown_sample, trouble
from temperance.results.result import Result

MAX_DOTS = 2_000
FRAMED, OUTSIDE = 20_000, 5e-4  # points by their weights, and the share of them beyond a frame at each end
BINS = 40
LEAST_NAMED = 5e-4  # of weight outside all modes
MAX_DIGITS = 6  # of a weight
MAX_LETTERS = 18  # of a name
PANEL, LEAST = 1.35, (6.8, 5.6)  # inches, in a new figure: a panel, and all of them
ROUNDING = 1e-9
NAME, LINE = 1.3, 0.16  # inches for the name of a mode
ROOM = 0.5  # inches: narrower panels have no numbers


class Group(NamedTuple):
    """Points of one mode, or of all that have no colour of their own."""

    name: str
    colour: str
    points: IntArray


def corner(result: Result, *, parameters: Any = None, ax: Any = None) -> Any:
    """Marginals and pairs of parameters and derived quantities, coloured by mode, in one axis.

    ``parameters`` are names or numbers; without them a few are chosen that tell the modes apart. Points are
    those of the weighted sample, as often as their weights ask for.
    """
    if not result.draws.size:
        return empty(axis_or_new(ax), "no draws")
    shown = shown_sample(result, parameters)
    n = len(shown.labels)
    ax = axis_or_new(ax, (max(PANEL * n + 1.6, LEAST[0]), max(PANEL * n + 1.1, LEAST[1])))
    groups = groups_of(result.modes, shown)
    ax.set_axis_off()
    ax.set_title(shown.note, fontsize="small", loc="left")
    grid = Grid(ax, n, beside=n == 1 and len(groups) > 1)
    panels = Panels(shown, groups)
    for row in range(n):
        for column in range(row + 1):
            panel = ax.inset_axes(grid.bounds(row, column))
            panels.fill(panel, row, column)
            grid.finish(panel, row, column, shown.labels)
    _name(ax, groups, grid)
    return ax


def groups_of(modes: Modes, shown: Shown) -> list[Group]:
    """A colour for each of the heaviest modes, one for all others, and their weights in words."""
    n_named, mode = n_coloured(len(modes)), shown.mode
    weights = zip(modes.weight[:n_named], modes.weight_error[:n_named], strict=True)
    groups = [
        Group(f"{k + 1}: {weight_text(*weight)}", mode_colour(k, len(modes)), np.flatnonzero(mode == k))
        for k, weight in enumerate(weights)
    ]
    rest = np.flatnonzero((mode < 0) | (mode >= n_named))
    if len(modes) > n_named:
        left = len(modes) - n_named
        groups.append(Group(f"{left} more: {modes.weight[n_named:].sum():.3f}", OTHER_MODES, rest))
    elif shown.weights[rest].sum() >= LEAST_NAMED:
        groups.append(Group(f"in none: {shown.weights[rest].sum():.3f}", OTHER_MODES, rest))
    return groups


def weight_text(weight: float, error: float) -> str:
    """A weight with its standard error, if there is one, to the first digit of that."""
    if not (math.isfinite(error) and error > 0.0):
        return f"{weight:.3f}"
    digits = min(max(math.ceil(-math.log10(error)), 2), MAX_DIGITS)
    return f"{weight:.{digits}f} ± {error:.{digits}f}"


class Panels:
    """What goes into each panel: all of them have the same dots, and one frame for each quantity."""

    def __init__(self, shown: Shown, groups: list[Group]) -> None:
        self.shown, self.groups = shown, groups
        self.dots = evenly(shown.weights, min(MAX_DOTS, len(shown.weights)))
        likely = shown.values[evenly(shown.weights, FRAMED)]
        self.troubles = [trouble(column) for column in shown.values.T]
        self.frames = [
            (0.0, 1.0) if why else frame(column, OUTSIDE)
            for column, why in zip(likely.T, self.troubles, strict=True)
        ]
        self.shade = np.full(len(shown.weights), OTHER_MODES, dtype=object)
        for group in groups:
            self.shade[group.points] = group.colour

    def fill(self, panel: Any, row: int, column: int) -> None:
        """A histogram on the diagonal, dots below it; in words why there is none."""
        if row == column and self.troubles[row]:
            empty(panel, self.troubles[row])
        elif row == column:
            self.histogram(panel, row)
        elif self.troubles[row] or self.troubles[column]:
            empty(panel, "")
        else:
            self.scatter(panel, row, column)

    def histogram(self, panel: Any, k: int) -> None:
        """Modes on top of each other, each as high as its weight."""
        values, weights = self.shown.values[:, k], self.shown.weights
        finite = np.isfinite(values)
        own = [group.points[finite[group.points]] for group in self.groups]
        panel.hist(
            [values[points] for points in own],
            weights=[weights[points] for points in own],
            color=[group.colour for group in self.groups],
            bins=BINS,
            range=self.frames[k],
            stacked=True,
            histtype="stepfilled",
        )
        panel.set(xlim=self.frames[k], ylim=(0.0, None), yticks=[])
        if not np.all(finite):
            left_out = 100.0 * float(weights[~finite].sum())
            panel.set_title(f"{left_out:.2g} % not finite", fontsize=6.5, pad=1.5)

    def scatter(self, panel: Any, row: int, column: int) -> None:
        """All modes in one collection, in random order, so that none covers another."""
        x, y = self.shown.values[self.dots][:, [column, row]].T
        shade = self.shade[self.dots].tolist()
        panel.scatter(x, y, s=1.6, c=shade, alpha=0.6, linewidths=0.0, rasterized=True)
        panel.set(xlim=self.frames[column], ylim=self.frames[row])


def _name(ax: Any, groups: list[Group], grid: "Grid") -> None:
    """Which colour is which mode, in the empty corner, as far as there is room."""
    columns, room = grid.room_for(len(groups))
    if len(groups) < 2 or room < 2:
        return
    from matplotlib.patches import Patch

    handles = [Patch(color=group.colour, label=group.name) for group in groups[:room]]
    if room < len(groups):
        handles[-1] = Patch(alpha=0.0, label=f"and {len(groups) - room + 1} more")
    ax.legend(
        handles=handles, title="mode: weight ± std. error", loc="upper right", borderaxespad=0.0,
        frameon=False, fontsize="x-small", title_fontsize="x-small", handlelength=0.8, labelspacing=0.3,
        ncols=columns, columnspacing=0.8,
    )  # fmt: skip


class Grid:
    """Panels below and on the diagonal of a square grid within one axis."""

    def __init__(self, ax: Any, n: int, *, beside: bool) -> None:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        self.n, self.beside = n, beside
        self.left, self.below = min(0.62 / box.width, 0.3), min(0.48 / box.height, 0.3)
        self.gap = (0.06 / box.width, 0.06 / box.height)
        for_names = NAME / box.width if beside else 0.0
        self.width = max(1.0 - self.left - for_names, 0.4) / n
        self.height = (1.0 - self.below) / n
        self.inches = (self.width * box.width, self.height * box.height)
        self.free = (1.0 - self.left - self.width) * box.width  # beside a single panel
        self.narrow = min(self.inches) < ROOM

    def room_for(self, n_names: int) -> tuple[int, int]:
        """In how many columns names fit above the diagonal, and how many of them."""
        options = []
        for columns in range(1, 4):
            taken = math.ceil(columns * NAME / self.inches[0])  # panels in width
            rows = self.n - taken if not self.beside else int(columns * NAME <= self.free + ROUNDING)
            lines = math.floor(max(rows, 0) * self.inches[1] / LINE) - 1  # below the heading
            options.append((min(columns * max(lines, 0), n_names), -columns))
        room, columns = max(options)
        return -columns, room

    def bounds(self, row: int, column: int) -> tuple[float, float, float, float]:
        """Left, bottom, width and height of a panel, in shares of the axis."""
        left, bottom = self.left + column * self.width, self.below + (self.n - 1 - row) * self.height
        return left, bottom, self.width - self.gap[0], self.height - self.gap[1]

    def finish(self, panel: Any, row: int, column: int, labels: list[str]) -> None:
        """Names and numbers at the left and at the bottom."""
        from matplotlib.ticker import MaxNLocator

        panel.tick_params(labelsize=6.5, length=2.0)
        size = 6.5 if self.narrow else 8
        for axis, wanted, last in ((panel.xaxis, row == self.n - 1, column), (panel.yaxis, column == 0, row)):
            if axis.get_ticklocs().size:
                axis.set_major_locator(MaxNLocator(3))
            if self.narrow:
                axis.set_ticks([])
            if wanted and (axis is panel.xaxis or row > 0):
                axis.set_label_text(short_name(labels[last]), fontsize=size)
            elif not wanted:
                axis.set_tick_params(labelleft=False, labelbottom=False)


def short_name(name: str) -> str:
    """The beginning of a long name."""
    return name if len(name) <= MAX_LETTERS else f"{name[: MAX_LETTERS - 1]}…"
