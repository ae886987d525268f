"""The draws of every level of one run, seen in two coordinates."""

import math
from typing import Any

import numpy as np

from temperance.results.plots import pyplot
from temperance.results.result import Result

MAX_POINTS = 4_000
SHOWN = (0.1, 99.9)  # per cent of the draws that set the frame of a panel
KEPT, CUT = "black", "0.65"
ASYMPTOTIC_SCALE = 2.38  # over √d: Eq. (11)


def draw_levels(result: Result, pair: tuple[int, int], labels: tuple[str, str], columns: int) -> Any:
    """One panel a level; grey where Eq. (11) would cut it off."""
    draws, record = result.level_draws[0], result.chains[0]
    n_levels, dim = draws.shape[1], draws.shape[2]
    scales = np.exp(record.log_scale)
    last_kept = first_unimodal(scales, dim)
    rows = math.ceil(n_levels / columns)
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(1.9 * columns, 2.2 * rows), layout="constrained", squeeze=False
    )
    for level, axis in enumerate(axes.flat):
        if level >= n_levels:
            axis.set_axis_off()
            continue
        colour = KEPT if level <= last_kept else CUT
        _draw_level(axis, draws[:, level, list(pair)], colour)
        heading = f"{level + 1}: T = {result.temperatures[0][level]:.3g}\n$e^θ$ = {scales[level]:.2f}"
        axis.set_title(heading, fontsize=8.5, color="black" if level <= last_kept else "0.35")
    figure.supxlabel(labels[0])
    figure.supylabel(labels[1])
    return figure


def first_unimodal(scales: np.ndarray, dim: int) -> int:
    """Index of the level at which Eq. (11) ends the ladder: the last when none passes."""
    passing = np.flatnonzero(scales >= ASYMPTOTIC_SCALE / math.sqrt(dim))
    return int(passing[0]) if len(passing) else len(scales) - 1


def _draw_level(axis: Any, draws: np.ndarray, colour: str) -> None:
    shown = draws[:: max(1, len(draws) // MAX_POINTS)]
    axis.plot(shown[:, 0], shown[:, 1], ".", markersize=1.2, alpha=0.5, color=colour, rasterized=True)
    for set_limits, values in ((axis.set_xlim, shown[:, 0]), (axis.set_ylim, shown[:, 1])):
        low, high = np.percentile(values, SHOWN)
        margin = 0.08 * (high - low)
        set_limits(low - margin, high + margin)
    axis.tick_params(labelsize=7)
