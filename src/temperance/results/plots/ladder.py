"""The ladder: temperatures, their history, scales against the threshold, number of levels."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import measure
from temperance.results.plots.canvas import (
    THRESHOLD,
    axis_or_new,
    colour,
    empty,
    legend,
    mark,
    one_chain,
    rows_shown,
    shade_of,
    whole_ticks,
)
from temperance.results.result import Result
from temperance.runs.record import ChainRecord
from temperance.theory import asymptotic_scale

MAX_NAMED = 12  # lines that are numbered at their ends


def ladder(result: Result, *, ax: Any = None) -> Any:
    """The temperature of each level at the end, one line a chain."""
    ax = axis_or_new(ax)
    for k, temperatures in enumerate(result.temperatures):
        finite = temperatures[np.isfinite(temperatures)]
        _by_level(ax, finite, k)
        if len(finite) < len(temperatures):
            ax.annotate("∞", (len(temperatures), finite[-1]), ha="center", color=colour(k))
    ax.set(xlabel="level", ylabel="temperature", yscale="log")
    whole_ticks(ax.xaxis)
    legend(ax, len(result.chains))
    return ax


def ladder_history(result: Result, *, chain: int = 0, ax: Any = None) -> Any:
    """The temperatures of one chain over tuning and draws."""
    record = one_chain(result, chain)
    ax = axis_or_new(ax)
    history = measure.temperatures(_beta_history(record))
    if not len(history):
        return empty(ax, "no iterations")
    shown = rows_shown(len(history))
    for level in range(history.shape[1]):
        line = np.where(np.isfinite(history[:, level]), history[:, level], np.nan)
        ax.plot(
            np.arange(len(line))[shown], line[shown], color=shade_of(level, history.shape[1]), linewidth=1.0
        )
        if level < len(record.beta) <= MAX_NAMED and np.isfinite(line[-1]):
            ax.annotate(f" {level + 1}", (len(line), line[-1]), va="center", fontsize="x-small")
    _mark_draws(ax, record)
    ax.set(xlabel="iteration", ylabel="temperature of each level", yscale="log")
    return ax


def scales(result: Result, *, ax: Any = None) -> Any:
    """The paper's criterion: the scale of each level against what a single mode would give."""
    ax = axis_or_new(ax)
    for k, chain in enumerate(result.chains):
        _by_level(ax, np.exp(chain.log_scale), k)
    asymptotic, used = asymptotic_scale(result.dim), result.setup.unimodal_scale
    ax.axhline(asymptotic, color=THRESHOLD, linestyle="--", linewidth=1.0, label="2.38/√d")
    ax.axhline(used, color=THRESHOLD, linestyle=":", linewidth=1.2, label="trimming")
    ax.set(xlabel="level", ylabel="scale $e^θ$ (unimodal above)", yscale="log")
    whole_ticks(ax.xaxis)
    legend(ax, len(result.chains) + 2)
    return ax


def level_count(result: Result, *, ax: Any = None) -> Any:
    """How many levels each chain had, over tuning and draws."""
    ax = axis_or_new(ax)
    for k, chain in enumerate(result.chains):
        counts = np.concatenate([chain.tuning.n_levels, chain.sampling.n_levels]).astype(np.float64)
        shift = 0.05 * (k - (len(result.chains) - 1) / 2.0)  # so that equal lines do not hide each other
        shown = rows_shown(len(counts))
        ax.step(np.arange(len(counts))[shown], counts[shown] + shift, color=colour(k), label=f"chain {k + 1}")
    _mark_draws(ax, max(result.chains, key=lambda chain: chain.n_draws))
    ax.set(xlabel="iteration", ylabel="levels", ylim=(0.5, 1.1 * _most_levels(result) + 0.6))
    whole_ticks(ax.yaxis)
    legend(ax, len(result.chains))
    return ax


def _most_levels(result: Result) -> int:
    grown = [int(chain.tuning.n_levels.max(initial=0)) for chain in result.chains]
    return max(result.n_levels_at_start, *grown)


def _by_level(ax: Any, values: FloatArray, k: int) -> None:
    levels = np.arange(1, len(values) + 1)
    ax.plot(
        levels, values, marker=mark(k), color=colour(k), markersize=4.5, linewidth=1.0, label=f"chain {k + 1}"
    )


def _beta_history(chain: ChainRecord) -> FloatArray:
    """While tuning, and among the draws if these adapted too; else what was frozen."""
    drawn = chain.sampling.beta
    if not len(drawn):
        drawn = np.full((chain.n_draws, chain.tuning.beta.shape[1]), np.nan)
        drawn[:, : len(chain.beta)] = chain.beta
    return np.concatenate([chain.tuning.beta, drawn])


def _mark_draws(ax: Any, chain: ChainRecord) -> None:
    """Where tuning ends."""
    if chain.n_draws and len(chain.tuning.draws):
        ax.axvline(len(chain.tuning.draws), color="0.5", linestyle=":", linewidth=1.0)
        ax.annotate(
            " draws",
            (len(chain.tuning.draws), 0.98),
            xycoords=("data", "axes fraction"),
            va="top",
            fontsize="x-small",
        )
