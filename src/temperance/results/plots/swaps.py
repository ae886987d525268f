"""Exchanges: who would swap with whom, who went where, and what stands in the way."""

from typing import Any

import numpy as np

from temperance.results import diagnostics, measure
from temperance.results.plots.canvas import (
    axis_or_new,
    colour,
    empty,
    legend,
    mark,
    one_chain,
    shade_of,
    whole_ticks,
)
from temperance.results.result import Result

MAX_NUMBERED = 10  # levels whose cells have room for a number
WINDOW = 300  # draws whose paths can still be followed
TINY = 0.005  # would be written as zero
LIGHT = 0.55  # above this a cell is bright and its number dark


def swap_acceptance(result: Result, *, chain: int = 0, ax: Any = None) -> Any:
    """How often each pair of levels would exchange positions, as a heat map."""
    record = one_chain(result, chain)
    ax = axis_or_new(ax, (4.6, 3.9))
    if len(record.beta) < 2 or not np.any(measure.active(record)):
        return empty(ax, "no swaps" if record.n_draws else "no draws")
    rates = diagnostics.pair_acceptance(measure.log_densities(record), measure.betas(record))
    n_levels = len(rates)
    edges = (0.5, n_levels + 0.5)
    image = ax.imshow(rates, vmin=0.0, vmax=1.0, cmap="viridis", extent=(*edges, *edges[::-1]))
    if n_levels <= MAX_NUMBERED:
        for i, j in np.ndindex(rates.shape):
            shade = "black" if rates[i, j] > LIGHT else "white"
            text = "–" if i == j else f"{rates[i, j]:.2f}".removeprefix("0") if rates[i, j] > TINY else ""
            ax.text(j + 1, i + 1, text, ha="center", va="center", color=shade, fontsize="x-small")
    ax.set(xlabel="level", ylabel="level")
    whole_ticks(ax.xaxis)
    whole_ticks(ax.yaxis)
    ax.figure.colorbar(image, ax=ax, label="would be accepted", shrink=0.9)
    return ax


def replica_paths(result: Result, *, chain: int = 0, ax: Any = None) -> Any:
    """The level of each position over the first draws in which levels moved; who travelled far stands out."""
    record = one_chain(result, chain)
    ax = axis_or_new(ax)
    levels = measure.replicas(record)[:WINDOW]
    if not len(levels):
        return empty(ax, "the hot levels never moved" if record.n_draws else "no draws")
    paths = diagnostics.replica_places(levels).astype(np.float64)
    paths[paths < 0] = np.nan
    travelled = np.nansum(np.abs(np.diff(paths, axis=0)), axis=0)
    far = int(np.argmax(travelled))
    for k in range(paths.shape[1]):
        ax.plot(paths[:, k] + 1, color=shade_of(k, paths.shape[1]), linewidth=0.7, alpha=0.45)
    ax.plot(paths[:, far] + 1, color="#c0392b", linewidth=1.4)
    resting = len(levels) < min(record.n_draws, WINDOW)
    ax.set(xlabel="draw in which levels moved" if resting else "draw", ylabel="level")
    whole_ticks(ax.yaxis)
    return ax


def flow(result: Result, *, ax: Any = None) -> Any:
    """At each level, the share of positions that came from the first level and not from the last."""
    ax = axis_or_new(ax)
    if max(result.n_levels) < 2 or not result.draws.size:
        return empty(ax, "one level: no flow" if result.draws.size else "no draws")
    for k, chain in enumerate(result.chains):
        shares = diagnostics.flow(measure.replicas(chain))
        levels = np.linspace(0.0, 1.0, len(shares)) if len(shares) > 1 else np.zeros(1)
        ax.plot(levels, shares, marker=mark(k), color=colour(k), linewidth=1.0, label=f"chain {k + 1}")
    ax.plot([0.0, 1.0], [1.0, 0.0], color="0.5", linestyle=":", linewidth=1.0)
    ax.set(
        xlabel="place in the ladder, first to last", ylabel="came from the first level", ylim=(-0.03, 1.03)
    )
    legend(ax, len(result.chains))
    return ax


def barrier(result: Result, *, ax: Any = None) -> Any:
    """The local barrier λ(β) at each level; the legend has Λ, the sum of the rejections over the ladder."""
    ax = axis_or_new(ax)
    drawn = [(k, chain) for k, chain in enumerate(result.chains) if measure.active(chain).sum() > 1]
    if not drawn:
        return empty(ax, "the hot levels hardly moved" if result.draws.size else "no draws")
    for k, chain in drawn:
        finite = chain.beta > 0.0
        local = diagnostics.local_barrier(measure.log_densities(chain))
        label = f"chain {k + 1}: Λ = {diagnostics.barrier(measure.edge_acceptance(chain)):.2f}"
        style = {"marker": mark(k), "color": colour(k), "markersize": 4.5, "linewidth": 1.0}
        ax.plot(chain.beta[finite], local[finite], label=label, **style)
    pinned = any(chain.beta[-1] == 0.0 for _, chain in drawn)
    ax.set(xlabel="inverse temperature β" + (" (β = 0 is left out)" if pinned else ""), yscale="log")
    ax.set(ylabel="local barrier λ(β)", xscale="log" if max(result.n_levels) > 1 else "linear")
    legend(ax, len(drawn) + 1)
    return ax
