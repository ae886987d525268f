"""A result as ``print`` and a notebook show it: short, the verdict first."""

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.results import measure
from temperance.results.diagnostics.acceptance import mean_of_known
from temperance.results.reached import evaluations_of
from temperance.results.summary import mode_columns, shown_estimates
from temperance.results.table import Table
from temperance.results.weighting.weighting import WEIGHTED
from temperance.runs.record import ChainRecord
from temperance.text import counted

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROWS = 10
WIDTH = 100
FIRST = "What to do, the first thing first:"
SHORT_NAMES = {"parameter": "", "ess_bulk": "ess", "ess_tail": "tail"}
MODE_NAMES = {"weight_error": "error", "jump_acceptance": "jumps_accepted"}


def as_text(result: "Result") -> str:
    """Verdict, warnings, moments, modes, jumps and swaps, ladder and levels left."""
    parts = [headline(result), as_verdict(result)]
    if result.draws.size:
        parts.append(textwrap.fill(str(result.searched), WIDTH))
        parts += [shown.text for shown in shown_tables(result)]
        parts += [*run_lines(result), ladder(result.chains).text]
    parts.append(levels_line(result))
    return "\n\n".join(parts)


def in_short(result: "Result") -> str:
    """Shape and verdict, in one line."""
    return f"<Result: {headline(result)}. {result.verdict}>"


def as_html(result: "Result") -> str:
    """The same for a notebook."""
    parts = [f"<p>{_text(headline(result))}</p><p><b>{_text(result.verdict)}</b></p>"]
    if result.warnings:
        parts.append(f"<ul>{''.join(f'<li>{_text(one.seen)}</li>' for one in result.warnings)}</ul>")
        advice = "".join(f"<li>{_text(str(one))}</li>" for one in result.advice)
        parts.append(f"<p>{_text(FIRST)}</p><ol>{advice}</ol>")
    if result.draws.size:
        parts.append(f"<p>{_text(str(result.searched))}</p>")
        parts += [shown.html for shown in shown_tables(result)]
        parts += [f"<p>{_text(line)}</p>" for line in run_lines(result)]
        parts.append(ladder(result.chains).html)
    return f"<div>{''.join(parts)}<p>{_text(levels_line(result))}</p></div>"


def headline(result: "Result") -> str:
    """Chains, draws, dimensions."""
    chains, draws, dim = result.draws.shape
    text = (
        f"{counted(chains, 'chain')} x {draws:,} draws in {counted(dim, 'dimension')}, "
        f"after {result.n_tune:,} tuning iterations"
    )
    return text if result.complete else f"INCOMPLETE RUN: {text}"


def shown_tables(result: "Result") -> list[Table]:
    """The first parameters and, where there are several, the heaviest modes."""
    moments = {SHORT_NAMES.get(name, name): values for name, values in shown_estimates(result).items()}
    columns = {MODE_NAMES.get(name, name): values for name, values in mode_columns(result.modes).items()}
    tables = [Table("Parameters", moments), Table("Modes", columns)]
    return [shown.head(MAX_ROWS) for shown in tables[: 2 if len(result.modes) > 1 else 1]]


def run_lines(result: "Result") -> list[str]:
    """What estimates are made from, and how the draws came about: by jumps, if any, and by swaps."""
    parts = (
        goals_line,
        doubts_line,
        weighted_line,
        columns_line,
        evidence_line,
        jump_line,
        tuning_line,
        growth_line,
        swap_line,
    )
    lines = (part(result) for part in parts)
    return [line for line in lines if line]


def goals_line(result: "Result") -> str:
    """Which goals were met, and what ended the run; nothing where none were set."""
    return "" if result.reached is None else str(result.reached)


def weighted_line(result: "Result") -> str:
    """How draws and jump proposals were put together, or why not; nothing where there were no jumps."""
    bridge = result.weighting.bridge
    if bridge is not None:
        return (
            f"weighted: {bridge.weight.size:,} draws and {bridge.rows.n_proposals:,} jump proposals in one "
            f"sample, effective size {bridge.effective_size:,.0f}; shown where its errors are smaller"
        )
    some = any(chain.modes is not None for chain in result.chains)
    return f"by draws alone: {result.weighting.why_not}" if some else ""


def columns_line(result: "Result") -> str:
    """Of which sample the columns of a row are, where there are two; nothing where all are of the draws."""
    if WEIGHTED not in result.estimates["by"]:
        return ""
    return (
        "ess, tail and r_hat are of the draws in any case; mean, sd, mcse and quantiles of what is under by"
    )


def doubts_line(result: "Result") -> str:
    """That errors leave out what was not found, where a serious warning is told."""
    if not result.doubts or WEIGHTED not in (*result.estimates["by"], result.modes.by):
        return ""
    return f"weighted errors are not to be quoted, since the draws are in doubt: {', '.join(result.doubts)}"


def evidence_line(result: "Result") -> str:
    """The log evidence by the ways that there are."""
    try:
        return result.log_evidence().in_short
    except InvalidInputError:
        return ""


def jump_line(result: "Result") -> str:
    """How often the base level jumped and how often that was accepted; nothing where nothing was learnt."""
    drawn = [chain for chain in result.chains if len(chain.sampling.jump) and chain.modes is not None]
    if not drawn:
        return ""
    tried = np.concatenate([chain.sampling.jump >= 0 for chain in drawn])
    accepted = np.concatenate([chain.sampling.base_accept_prob for chain in drawn])[tried]
    rests = [chain.modes.rest_every for chain in drawn if chain.modes is not None]
    scouts = sum(chain.modes.n_scouts for chain in drawn if chain.modes is not None)
    return (
        f"jumps: {mean_of_known(accepted.astype(np.float64)):.2f} accepted, "
        f"{100.0 * tried.mean():.0f} % of the proposals; {leaps_in_words(drawn)}"
        f"hot levels move {_once_in(rests)}; "
        f"{counted(scouts, 'scout')}; {evaluations_of(result):,} evaluations"
    )


def leaps_in_words(chains: Sequence[ChainRecord]) -> str:
    """How many leaps from mode to mode were accepted; nothing where there were none."""
    leapt = np.concatenate([measure.leapt(chain) for chain in chains])
    if not leapt.any():
        return ""
    accepted = np.concatenate([chain.sampling.base_accept_prob for chain in chains])[leapt]
    return f"leaps: {mean_of_known(accepted.astype(np.float64)):.2f} accepted, {100.0 * leapt.mean():.0f} %; "


def tuning_line(result: "Result") -> str:
    """Why the tuning became longer than planned; nothing where it did not."""
    reasons = dict.fromkeys(why for chain in result.chains for why in chain.lengthened)
    return f"tuning was made longer: {'; '.join(reasons)}" if reasons else ""


def growth_line(result: "Result") -> str:
    """How the ladder changed beside trimming, and why; nothing where it did not."""
    changes = dict.fromkeys(change for chain in result.chains for change in chain.ladder)
    return f"ladder: {'; '.join(changes)}" if changes else ""


def swap_line(result: "Result") -> str:
    """How many swaps are accepted, and how many reach the base level."""
    drawn = [chain for chain in result.chains if np.any(measure.active(chain))]
    if not drawn:
        why = "none yet, the hot levels rested" if result.keeps_statistics else "statistics were not kept"
        return f"swaps ({result.swap_strategy}): {why}"
    attempts = sum(int(chain.sampling.swap_attempts.sum()) for chain in drawn)
    accepted = sum(int(chain.sampling.swap_accepted.sum()) for chain in drawn) / max(attempts, 1)
    touching = mean_of_known(np.array([measure.base_swaps(chain) for chain in drawn]))
    return (
        f"swaps ({result.swap_strategy}): {accepted:.3f} accepted, "
        f"{touching:.3f} touch the base level each time that the hot levels move"
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
        "walk acceptance": [_mean_of(walks, level) for level in levels],
        "swaps with next": [_mean_of(edges, level) for level in levels],
    }
    return Table("Ladder", columns)


def levels_line(result: "Result") -> str:
    """The number of levels, before and after."""
    left = ", ".join(str(n_levels) for n_levels in result.n_levels)
    return f"levels: {result.n_levels_at_start} at the start, {left} at the end (chain by chain)"


def as_verdict(result: "Result") -> str:
    """The verdict, what was seen and what to do about it, a line each."""
    lines = [_item("-", one.seen) for one in result.warnings]
    lines += [FIRST] if lines else []
    lines += [_item(f"{number}.", str(one)) for number, one in enumerate(result.advice, start=1)]
    return "\n".join([textwrap.fill(result.verdict, WIDTH), *lines])


def _item(mark: str, text: str) -> str:
    return textwrap.fill(f"{mark} {text}", WIDTH, subsequent_indent=" " * (len(mark) + 1))


def _once_in(rests: Sequence[int]) -> str:
    low, high = min(rests), max(rests)
    if high == 1:
        return "in every draw"
    return f"once in {low} draws" if low == high else f"once in {low} to {high} draws"


def _range_of(ladders: Sequence[FloatArray], level: int) -> str:
    values = [float(ladder[level]) for ladder in ladders if len(ladder) > level]
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} - {high}"


def _mean_of(rates: Sequence[FloatArray], level: int) -> str:
    """Over the chains that have the level; nothing above the last edge."""
    values = [rate[level] for rate in rates if len(rate) > level]
    return f"{mean_of_known(np.array(values)):.3f}" if values else ""


def _text(text: str) -> str:
    return html.escape(text)
