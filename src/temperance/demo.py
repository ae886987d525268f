"""The demonstration: twenty peaks in the plane, against their exact moments and modes."""

from pathlib import Path

import numpy as np

from temperance.results.modes import given_modes
from temperance.results.plots.plane import plane_figure
from temperance.results.result import Result
from temperance.sampling import sample
from temperance.text import table
from temperance.zoo import twenty_peaks

EXTENT = (-1.0, 11.0)
LEVELS = 5
PEAKS = twenty_peaks()
FIGURE_NAME = "twenty_peaks.png"


def run_demo(*, seed: int, draws: int, progress: bool = True) -> Result:
    """Sample the twenty peaks."""
    return sample(
        PEAKS,
        draws=draws,
        levels=LEVELS,
        seed=seed,
        keep=("draws", "statistics", "proposals", "levels"),
        progress=progress,
    )


def draw_demo(result: Result, out: Path) -> Path:
    """Draw target and levels into a folder; where the figure is."""
    path = out / FIGURE_NAME
    plane_figure(result, PEAKS.log_density, EXTENT, path)
    return path


def comparison(result: Result) -> str:
    """Moments and peaks found, beside the exact ones."""
    moments = {
        "E x1": lambda x: x[:, 0],
        "E x2": lambda x: x[:, 1],
        "E x1^2": lambda x: x[:, 0] ** 2,
        "E x2^2": lambda x: x[:, 1] ** 2,
    }
    exact = np.concatenate([np.asarray(PEAKS.mean), PEAKS.second_moments])
    found = [result.expect(moment) for moment in moments.values()]
    rows = [
        [name, f"{one.value:.4f}", f"{one.error:.4f}", one.by, f"{truth:.4f}"]
        for name, one, truth in zip(moments, found, exact, strict=True)
    ]
    return f"{table(['moment', 'found', 'std. error', 'by', 'exact'], rows)}\n\n{_modes(result)}"


def _modes(result: Result) -> str:
    modes = given_modes(result, PEAKS.modes)
    found = ", ".join(str(count) for count in (modes.share > 0.0).sum(axis=1))
    return (
        f"peaks found, chain by chain: {found} of {len(modes)} "
        "(those that touch are one mode in the table above)\n"
        f"weight of each mode: {modes.weight.min():.4f} to {modes.weight.max():.4f}, standard error "
        f"{modes.weight_error.max():.4f} at most, by {modes.by} (exactly {1.0 / len(modes)})\n"
        f"share of the draws in each mode: {modes.draw_weight.min():.4f} to {modes.draw_weight.max():.4f}\n"
        f"{result.log_evidence()} (exactly {PEAKS.log_normaliser:.4f})"
    )
