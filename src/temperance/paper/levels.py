"""The draws of every level of one run, seen in two coordinates."""

import math
from typing import Any

import numpy as np

from temperance.results.diagnostics import first_unimodal
from temperance.results.plots.canvas import pyplot
from temperance.results.plots.levels import level_panel
from temperance.results.result import Result
from temperance.theory import asymptotic_scale

KEPT, CUT = "black", "0.65"


def draw_levels(result: Result, pair: tuple[int, int], labels: tuple[str, str], columns: int) -> Any:
    """One panel a level; grey where Eq. (11) would cut it off."""
    draws, record = result.level_draws[0], result.chains[0]
    n_levels, dim = draws.shape[1], draws.shape[2]
    scales = np.exp(record.log_scale)
    last_kept = first_unimodal(scales, asymptotic_scale(dim), "first")
    rows = math.ceil(n_levels / columns)
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(1.9 * columns, 2.2 * rows), layout="constrained", squeeze=False
    )
    for level, axis in enumerate(axes.flat):
        if level >= n_levels:
            axis.set_axis_off()
            continue
        colour = KEPT if level <= last_kept else CUT
        level_panel(axis, draws[:, level, list(pair)], colour)
        heading = f"{level + 1}: T = {result.temperatures[0][level]:.3g}\n$e^θ$ = {scales[level]:.2f}"
        axis.set_title(heading, fontsize=8.5, color="black" if level <= last_kept else "0.35")
    figure.supxlabel(labels[0])
    figure.supylabel(labels[1])
    return figure
