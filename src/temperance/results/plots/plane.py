"""The picture of the demonstration: a density in the plane, and the draws of each level."""

from pathlib import Path
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.plots.canvas import pyplot
from temperance.results.result import Result

GRID = 200
MAX_POINTS = 4_000
MIN_SHOWN = 1e-4  # contours below this fraction of the highest density are left blank


def plane_figure(result: Result, log_density: Any, extent: tuple[float, float], path: Path) -> None:
    """Write a picture of a density in the plane and of the draws of each level of the first chain."""
    plt = pyplot()
    levels = result.level_draws[0]
    n_levels = result.n_levels[0]
    figure, axes = plt.subplots(1, n_levels + 1, figsize=(3.2 * (n_levels + 1), 3.4), layout="constrained")
    _draw_target(axes[0], log_density, extent)
    for level in range(n_levels):
        _draw_level(axes[level + 1], levels[:, level], extent)
        axes[level + 1].set_title(f"level {level + 1}, T = {result.temperatures[0][level]:.3g}")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_target(axis: Any, log_density: Any, extent: tuple[float, float]) -> None:
    line = np.linspace(*extent, GRID)
    values = np.array([[log_density(np.array([x, y])) for x in line] for y in line])
    density = np.exp(values - values.max())
    axis.contourf(line, line, density, levels=np.geomspace(MIN_SHOWN, 1.0, 9), cmap="viridis", norm="log")
    axis.set_title("target")
    _frame(axis, extent)


def _draw_level(axis: Any, draws: FloatArray, extent: tuple[float, float]) -> None:
    shown = draws[:: max(1, len(draws) // MAX_POINTS)]
    axis.plot(shown[:, 0], shown[:, 1], ".", markersize=1.5, alpha=0.4, color="#3b528b", rasterized=True)
    _frame(axis, extent)


def _frame(axis: Any, extent: tuple[float, float]) -> None:
    axis.set(xlim=extent, ylim=extent, aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
