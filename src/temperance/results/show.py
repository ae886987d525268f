"""A result as ``print`` and a notebook show it: short, the verdict first."""

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import measure
from temperance.results.diagnostics.acceptance import mean_of_known
from temperance.results.table import Table
from temperance.runs.record import ChainRecord
from temperance.text import counted, table

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROWS = 10
WIDTH = 100
SHORT_NAMES = {"ess_bulk": "ess", "ess_tail": "tail"}


def as_text(result: "Result") -> str:
    """Verdict, warnings, moments, swap rates, ladder and levels left."""
    parts = [headline(result), _verdict(result)]
    if result.draws.size:
        moments, more = shown_estimates(result)
        parts.append(table(["", *moments.header[1:]], moments.rows) + more)
        parts += [swap_line(result), table(*_cells(ladder(result.chains)))]
    parts.append(levels_line(result))
    return "\n\n".join(parts)


def as_html(result: "Result") -> str:
    """The same for a notebook."""
    parts = [f"<p>{_text(headline(result))}</p><p><b>{_text(result.verdict)}</b></p>"]
    if result.warnings:
        parts.append(f"<ul>{''.join(f'<li>{_text(str(one))}</li>' for one in result.warnings)}</ul>")
    if result.draws.size:
        moments, more = shown_estimates(result)
        parts.append(f"{html_table(moments)}<p>{_text(more.strip())}</p>" if more else html_table(moments))
        parts += [f"<p>{_text(swap_line(result))}</p>", html_table(ladder(result.chains))]
    return f"<div>{''.join(parts)}<p>{_text(levels_line(result))}</p></div>"


def html_table(shown: Table) -> str:
    """A table in HTML, escaped."""
    head = "".join(f"<th>{_text(name)}</th>" for name in shown.header)
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in shown.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def headline(result: "Result") -> str:
    """Chains, draws, dimensions."""
    chains, draws, dim = result.draws.shape
    text = (
        f"{counted(chains, 'chain')} × {draws:,} draws in {counted(dim, 'dimension')}, "
        f"after {result.n_tune:,} tuning iterations"
    )
    return text if result.complete else f"INCOMPLETE RUN: {text}"


def shown_estimates(result: "Result") -> tuple[Table, str]:
    """The first parameters, and how many more there are."""
    columns = {SHORT_NAMES.get(name, name): values for name, values in result.estimates.items()}
    left = result.dim - MAX_ROWS
    return Table("Parameters", columns).head(MAX_ROWS), f"\n… {left} more" if left > 0 else ""


def swap_line(result: "Result") -> str:
    """How many swaps are accepted, and how many reach the base level."""
    drawn = [chain for chain in result.chains if chain.n_draws]
    attempts = sum(int(chain.sampling.swap_attempts.sum()) for chain in drawn)
    accepted = sum(int(chain.sampling.swap_accepted.sum()) for chain in drawn) / max(attempts, 1)
    touching = [float(np.mean(chain.sampling.base_swaps)) for chain in drawn]
    return (
        f"swaps ({result.swap_strategy}): {accepted:.3f} accepted, "
        f"{np.mean(touching):.3f} an iteration touch the base level"
    )


def ladder(chains: Sequence[ChainRecord]) -> Table:
    """One row for each level, averaged over the chains that have it."""
    drawn = [chain for chain in chains if chain.n_draws]
    walks = [measure.walk_acceptance(chain) for chain in drawn]
    edges = [measure.edge_acceptance(chain) for chain in drawn]
    temperatures = [measure.temperatures(chain.beta) for chain in drawn]
    levels = range(max(len(walk) for walk in walks))
    columns: dict[str, list[Any]] = {
        "level": [level + 1 for level in levels],
        "chains": [sum(len(walk) > level for walk in walks) for level in levels],
        "temperature": [_range_of(temperatures, level) for level in levels],
        "walk accepts": [_mean_of(walks, level) for level in levels],
        "exchanges with next": [_mean_of(edges, level) for level in levels],
    }
    return Table("Ladder", columns)


def levels_line(result: "Result") -> str:
    """The number of levels, before and after."""
    left = ", ".join(str(n_levels) for n_levels in result.n_levels)
    return f"levels: {result.n_levels_at_start} at the start, {left} at the end (chain by chain)"


def _verdict(result: "Result") -> str:
    lines = [textwrap.fill(f"- {finding}", WIDTH, subsequent_indent="  ") for finding in result.warnings]
    return "\n".join([textwrap.fill(result.verdict, WIDTH), *lines])


def _range_of(ladders: Sequence[FloatArray], level: int) -> str:
    values = [float(ladder[level]) for ladder in ladders if len(ladder) > level]
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} – {high}"


def _mean_of(rates: Sequence[FloatArray], level: int) -> str:
    """Over the chains that have the level; nothing above the last edge."""
    values = [rate[level] for rate in rates if len(rate) > level]
    return f"{mean_of_known(np.array(values)):.3f}" if values else ""


def _cells(shown: Table) -> tuple[list[str], list[list[str]]]:
    return shown.header, shown.rows


def _text(text: str) -> str:
    return html.escape(text)
