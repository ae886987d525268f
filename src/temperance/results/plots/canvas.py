"""Where plots go: an axis of the user's, a new one, or a figure for a file."""

from typing import Any

import numpy as np

from temperance.checks import whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.extras import needed
from temperance.results.result import Result
from temperance.runs.record import ChainRecord

COLOURS = ("#3b76af", "#d1612f", "#3f8f4f", "#a64d9e", "#8c6d31", "#2a9d9d", "#c0417a", "#6b6ecf")
# Beyond eight a legend is needed; modes that are more than these share the last colour.
MODE_COLOURS = (
    *COLOURS, "#e2a72e", "#7fb2e5", "#e89f7a", "#8fcf9b", "#d59fd0", "#c8ad78", "#86cfcf", "#e595b9",
    "#a9abe8", "#5b6570", "#98a83c", "#704214",
)  # fmt: skip
OTHER_MODES = "0.65"
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
THRESHOLD = "#c0504d"
MAX_POINTS = 1_500  # of a line; more cannot be told apart
SIZE = (6.4, 3.6)
FOUR_DIGITS, SIX_DIGITS = 1e3, 1e6


def pyplot() -> Any:
    """Matplotlib's pyplot, for files and not for a screen."""
    matplotlib = needed_matplotlib()
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def axis_or_new(ax: Any, size: tuple[float, float] = SIZE) -> Any:
    """The axis that was given, or that of a new figure on whatever screen or notebook there is."""
    if ax is not None:
        return ax
    needed_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def colour(index: int) -> str:
    """One for each chain or level, over and over."""
    return COLOURS[index % len(COLOURS)]


def n_coloured(n_modes: int) -> int:
    """How many modes have a colour of their own."""
    return n_modes if n_modes <= len(MODE_COLOURS) else len(MODE_COLOURS) - 1


def mode_colour(mode: int, n_modes: int) -> str:
    """One for each mode, the heaviest first, and one for all that come after."""
    return MODE_COLOURS[mode] if mode < n_coloured(n_modes) else OTHER_MODES


def mark(index: int) -> str:
    """A shape for each chain, so that nobody needs to see the colours."""
    return MARKS[index % len(MARKS)]


def shade_of(level: int, n_levels: int) -> Any:
    """From dark and cold to light and hot."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.2 + 0.65 * level / max(n_levels - 1, 1))


def whole_ticks(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def one_chain(result: Result, chain: int) -> ChainRecord:
    """A chain by its number, counted from zero."""
    if not 0 <= whole_number("chain", chain, least=0) < len(result.chains):
        raise InvalidInputError(f"chain must lie in 0 to {len(result.chains) - 1}, got {chain}")
    return result.chains[chain]


def rows_shown(length: int, most: int = MAX_POINTS) -> slice:
    """Evenly spaced rows, few enough to draw."""
    return slice(None, None, max(1, -(-length // most)))


def short_number(number: float) -> str:
    """Three digits, without an exponent as long as that is short."""
    return f"{number:,.0f}" if FOUR_DIGITS <= number < SIX_DIGITS else f"{number:.3g}"


def frame(values: FloatArray, share: float = 0.001) -> tuple[float, float]:
    """Limits that hold all but a small share of the values, with a margin."""
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = np.quantile(known, [share, 1.0 - share])
    margin = 0.08 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def empty(ax: Any, why: str) -> Any:
    """An axis that says why there is nothing to see."""
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes, wrap=True)
    ax.set(xticks=[], yticks=[])
    return ax


def legend(ax: Any, n_entries: int) -> None:
    """Beside the axis, in columns, and none where it would be longer than the plot."""
    if 1 < n_entries <= 2 * len(COLOURS):
        ax.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", handlelength=1.4
        )


def needed_matplotlib() -> Any:
    """Matplotlib, or how to get it."""
    return needed("plots need", "matplotlib")[0]
