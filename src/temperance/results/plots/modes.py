"""How much of each chain lies in each mode."""

from typing import Any

import numpy as np

from temperance.results.plots.canvas import axis_or_new, colour, empty, legend, mark, whole_ticks
from temperance.results.result import Result

MAX_SPREAD = 0.5  # of the distance between two modes, over which the marks of the chains spread


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
