"""How heavy each mode is, and how much of each chain lies in it."""

from typing import Any

import numpy as np

from temperance.results.plots.canvas import (
    axis_or_new,
    colour,
    empty,
    legend,
    mark,
    mode_colour,
    n_coloured,
    whole_ticks,
)
from temperance.results.result import Result

MAX_SPREAD = 0.5  # of the distance between two modes, over which the marks of the chains spread
ERRORS = 2.0  # standard errors to each side
MAX_LARGE = 30  # modes whose marks have room
MANY_TIMES = 50.0  # the lightest of these is lost on a linear axis


def mode_weights(result: Result, *, ax: Any = None) -> Any:
    """The weight of each mode with two standard errors to each side, in the colours of `corner`."""
    ax = axis_or_new(ax)
    if not result.draws.size:
        return empty(ax, "no draws")
    modes = result.modes
    size = 5.0 if len(modes) <= MAX_LARGE else 2.0
    bars = ERRORS * np.nan_to_num(modes.weight_error)
    places, own = np.arange(1, len(modes) + 1), n_coloured(len(modes))
    for some in (*(slice(k, k + 1) for k in range(own)), slice(own, None)):
        ax.errorbar(
            places[some], modes.weight[some], yerr=bars[some], fmt="o", markersize=size, capsize=size / 2,
            color=mode_colour(some.start, len(modes)),
        )  # fmt: skip
    heavy, light = modes.weight.max(), modes.weight.min()
    if 0.0 < light < heavy / MANY_TIMES:
        ax.set_yscale("log", nonpositive="clip")
    else:
        ax.set_ylim(0.0, None)
    ax.set(xlabel="mode" if len(modes) > 1 else "the only mode", xlim=(0.4, len(modes) + 0.6))
    ax.set_ylabel("weight ± 2 std. errors" if np.isfinite(modes.weight_error).any() else "weight")
    whole_ticks(ax.xaxis)
    return ax


def occupancy(result: Result, *, modes: Any = None, ax: Any = None) -> Any:
    """The share of each mode: a bar for all chains together, a mark for each chain.

    ``modes`` as in `Result.occupancy`.
    """
    ax = axis_or_new(ax)
    if not result.draws.size:
        return empty(ax, "no draws")
    shares = result.occupancy(modes)
    places = np.arange(1, shares.shape[1] + 1)
    ax.bar(places, shares.mean(axis=0), color="0.5", alpha=0.4, width=0.8, label="all chains")
    offsets = np.linspace(-MAX_SPREAD / 2, MAX_SPREAD / 2, len(shares)) if len(shares) > 1 else [0.0]
    for k, row, offset in zip(result.kept_numbers, shares, offsets, strict=True):
        ax.plot(places + offset, row, mark(k), color=colour(k), markersize=4, label=f"chain {k + 1}")
    ax.set(xlabel="mode", ylabel="share of the draws", xlim=(0.4, shares.shape[1] + 0.6), ylim=(0.0, None))
    whole_ticks(ax.xaxis)
    legend(ax, len(shares) + 1)
    return ax
