"""The base level: traces and ranks of one parameter."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.plots.canvas import axis_or_new, colour, empty, legend, rows_shown
from temperance.results.result import Result

BINS = 20
ROW_HEIGHT = 0.9  # of the highest bar, so that chains do not overlap
DRAWS_PER_BIN = 10  # at least, or a rank plot shows noise


def trace(result: Result, *, parameter: int | str | None = None, ax: Any = None) -> Any:
    """The draws of one parameter, one line a chain; by default of the one with the fewest effective draws."""
    ax = axis_or_new(ax)
    if not result.draws.size:
        return empty(ax, "no draws")
    k = chosen(result, parameter)
    shown = rows_shown(result.draws.shape[1])
    for index, draws in zip(result.kept_numbers, result.points[:, :, k], strict=True):
        ax.plot(
            np.arange(len(draws))[shown], draws[shown], color=colour(index), linewidth=0.6, alpha=0.8,
            label=f"chain {index + 1}",
        )  # fmt: skip
    ax.set(xlabel="draw", ylabel=result.parameters.labels[k])
    legend(ax, len(result.draws))
    return ax


def ranks(result: Result, *, parameter: int | str | None = None, ax: Any = None) -> Any:
    """How the ranks of one parameter spread over each chain: level where chains agree."""
    ax = axis_or_new(ax)
    if result.draws.shape[1] < 2:
        return empty(ax, "too few draws")
    k = chosen(result, parameter)
    counts = rank_counts(result.points[:, :, k])
    n_chains, n_bins = counts.shape
    unit = ROW_HEIGHT / counts.max()
    expected = unit * counts.sum() / counts.size
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    for place, row in enumerate(counts):
        base = n_chains - 1 - place
        ax.bar(
            edges[:-1],
            unit * row,
            width=1.0 / n_bins,
            bottom=base,
            align="edge",
            color=colour(result.kept_numbers[place]),
            alpha=0.75,
        )
        ax.axhline(base + expected, color="0.4", linestyle=":", linewidth=0.8)
    places, names = np.arange(n_chains)[::-1] + 0.4, [f"chain {index + 1}" for index in result.kept_numbers]
    ax.set(xlabel=f"rank of {result.parameters.labels[k]} among all chains", xlim=(0.0, 1.0))
    ax.set(ylim=(-0.05, n_chains), yticks=places, yticklabels=names)
    return ax


def chosen(result: Result, parameter: int | str | None) -> int:
    """The coordinate that was asked for, or the one with the fewest effective draws."""
    if parameter is not None:
        return result.parameters.index(parameter)
    sizes = np.array(result.estimates["ess_bulk"], dtype=np.float64)
    return 0 if np.all(np.isnan(sizes)) else int(np.nanargmin(sizes))


def rank_counts(draws: FloatArray) -> FloatArray:
    """Draws of each chain in equal bins of the ranks of all, (chain, bin)."""
    n_bins = int(np.clip(draws.shape[1] // DRAWS_PER_BIN, 2, BINS))
    order = np.argsort(np.argsort(draws, axis=None, kind="stable")).reshape(draws.shape)
    bins = order * n_bins // draws.size
    return np.array([np.bincount(row, minlength=n_bins) for row in bins], dtype=np.float64)
