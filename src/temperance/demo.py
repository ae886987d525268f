"""The demonstration: twenty peaks in the plane, against their exact moments and modes."""

from pathlib import Path

import numpy as np

from temperance.results.diagnostics import ess_mean
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
        keep=("draws", "statistics", "levels"),
        progress=progress,
    )


def draw_demo(result: Result, out: Path) -> Path:
    """Draw target and levels into a folder; where the figure is."""
    path = out / FIGURE_NAME
    plane_figure(result, PEAKS.log_density, EXTENT, path)
    return path


def comparison(result: Result) -> str:
    """Moments and modes found, beside the exact ones."""
    names = ["E x1", "E x2", "E x1^2", "E x2^2"]
    values = np.concatenate([result.draws, result.draws**2], axis=2)
    found = values.mean(axis=(0, 1))
    error = [values[:, :, k].std() / np.sqrt(ess_mean(values[:, :, k])) for k in range(len(names))]
    exact = np.concatenate([np.asarray(PEAKS.mean), PEAKS.second_moments])
    rows = [
        [name, f"{value:.3f}", f"{spread:.3f}", f"{truth:.3f}"]
        for name, value, spread, truth in zip(names, found, error, exact, strict=True)
    ]
    return f"{table(['moment', 'found', 'std. error', 'exact'], rows)}\n\n{_modes(result)}"


def _modes(result: Result) -> str:
    occupancy = np.array([PEAKS.occupancy(chain) for chain in result.draws])
    found = ", ".join(str(count) for count in (occupancy > 0.0).sum(axis=1))
    share = occupancy.mean(axis=0)
    return (
        f"modes found, chain by chain: {found} of {len(share)}\n"
        f"share of the draws in each mode: {share.min():.3f} to {share.max():.3f} "
        f"(exactly {1.0 / len(share)})"
    )
