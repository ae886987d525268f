"""The short text that ``print(result)`` shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics import ess_bulk, r_hat
from temperance.runs.record import ChainRecord
from temperance.text import counted, table

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROWS = 10


def summary_text(result: "Result") -> str:
    """Moments, ESS, R-hat, ladder, swap rates and levels left."""
    parts = [_headline(result)]
    if result.draws.size:
        parts += [table(*_moments(result.draws)), _swap_line(result), table(*_ladder(result.chains))]
    parts.append(_levels_line(result))
    return "\n\n".join(parts)


def _headline(result: "Result") -> str:
    chains, draws, dim = result.draws.shape
    text = (
        f"{counted(chains, 'chain')} × {draws:,} draws in {counted(dim, 'dimension')}, "
        f"after {result.n_tune:,} tuning iterations"
    )
    return text if result.complete else f"INCOMPLETE RUN: {text}"


def _moments(draws: FloatArray) -> tuple[list[str], list[list[str]]]:
    rows = [_moment_row(f"x[{k}]", draws[:, :, k]) for k in range(min(draws.shape[2], MAX_ROWS))]
    if draws.shape[2] > MAX_ROWS:
        rows.append([f"… {draws.shape[2] - MAX_ROWS} more", *[""] * 7])
    return ["", "mean", "sd", "2.5%", "50%", "97.5%", "ess", "r_hat"], rows


def _moment_row(name: str, draws: FloatArray) -> list[str]:
    numbers = [draws.mean(), draws.std(), *np.quantile(draws, [0.025, 0.5, 0.975])]
    return [name, *(f"{number:.4g}" for number in numbers), f"{ess_bulk(draws):.0f}", f"{r_hat(draws):.3f}"]


def _swap_line(result: "Result") -> str:
    drawn = [chain for chain in result.chains if chain.n_draws]
    attempts = sum(int(chain.sampling.swap_attempts.sum()) for chain in drawn)
    accepted = sum(int(chain.sampling.swap_accepted.sum()) for chain in drawn) / max(attempts, 1)
    touching = [float(np.mean(chain.sampling.base_swaps)) for chain in drawn]
    return (
        f"swaps ({result.swap_strategy}): {accepted:.3f} accepted, "
        f"{np.mean(touching):.3f} an iteration touch the base level"
    )


def _ladder(chains: Sequence[ChainRecord]) -> tuple[list[str], list[list[str]]]:
    drawn = [chain for chain in chains if chain.n_draws]
    deepest = max(len(chain.beta) for chain in drawn)
    return ["level", "chains", "temperature", "walk accepts", "exchanges with next"], [
        _ladder_row(level, [chain for chain in drawn if len(chain.beta) > level]) for level in range(deepest)
    ]


def _ladder_row(level: int, chains: Sequence[ChainRecord]) -> list[str]:
    with np.errstate(divide="ignore"):
        temperatures = [1.0 / chain.beta[level] for chain in chains]
    low, high = min(temperatures), max(temperatures)
    walk = np.mean([np.nanmean(chain.sampling.walk_accept_prob[:, level]) for chain in chains])
    edges = [
        np.nanmean(chain.sampling.adjacent_swap_accept[:, level])
        for chain in chains
        if len(chain.beta) > level + 1
    ]
    return [
        str(level + 1),
        str(len(chains)),
        f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} – {high:.3g}",
        f"{walk:.3f}",
        f"{np.mean(edges):.3f}" if edges else "",
    ]


def _levels_line(result: "Result") -> str:
    left = ", ".join(str(n_levels) for n_levels in result.n_levels)
    return f"levels: {result.n_levels_at_start} at the start, {left} at the end (chain by chain)"
