"""Rules about the ladder: too short, too long, broken, or never climbed."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.results import diagnostics, measure
from temperance.results.warnings.policy import CURES, THRESHOLDS
from temperance.results.warnings.signs import (
    chains_agree,
    dead_edges,
    jumps_carry,
    short_chains,
)
from temperance.results.warnings.warning import ResultWarning, listed
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def few_levels(result: "Result") -> ResultWarning | None:
    """The hottest level still has several modes, heat is still helping, and the chains do not agree."""
    short = short_chains(result)
    if not short:
        return None
    return ResultWarning(
        name="too few levels",
        message=f"in {listed(short, 'chain')} {_how_short(result, short)}, and the chains do not agree",
        serious=True,
    )


def _how_short(result: "Result", short: list[int]) -> str:
    """What is wrong with the hottest levels of these chains."""
    threshold = result.setup.unimodal_scale
    longer = [result.chains[k] for k in short if result.n_levels[k] > 1]
    if not longer:
        return "there is one level, so that nothing leads from mode to mode"
    ratio = max(diagnostics.unimodality(chain.log_scale, threshold)[-1] for chain in longer)
    return (
        f"the hottest level still has several modes (its scale is {ratio:.2f} of what a single mode gives at "
        "most)"
    )


def many_levels(result: "Result") -> ResultWarning | None:
    """All levels that may go have gone, or the hottest temperature ran into its bound."""
    bound = [k for k in range(len(result.chains)) if _n_useful(result, k) < result.n_levels[k]]
    if bound:
        return ResultWarning(
            name="too many levels",
            message=f"in {listed(bound, 'chain')} the hottest temperature ran into its bound: the last "
            "level is as good as flat and teaches nothing",
            serious=False,
        )
    if all_dropped(result):
        left, start = max(result.n_levels), result.n_levels_at_start
        return ResultWarning(
            name="too many levels",
            message=f"all {start} levels but {left} were dropped: the density looks unimodal from the first "
            "level on, or no chain has seen a second mode",
            serious=False,
        )
    return None


def dead_edge(result: "Result") -> ResultWarning | None:
    """Hardly a position passed between two neighbouring levels.

    That matters less where jumps carry the base level: hot levels then only look for modes not yet known. And
    not at all where all levels that may go have gone, since the target looks unimodal.
    """
    dead = {k: edges for k, chain in enumerate(result.chains) if (edges := dead_edges(chain))}
    if not dead:
        return None
    serious = _nothing_arrives(result, list(dead)) or not chains_agree(result)
    if not serious and all_dropped(result):
        return None
    edges = sorted({edge for found in dead.values() for edge in found})
    where = ", ".join(f"{edge + 1}-{edge + 2}" for edge in edges)
    return ResultWarning(
        name="dead edge",
        message=f"hardly a position passed between levels {where} in {listed(list(dead), 'chain')}: what is "
        "above does not help what is below",
        serious=serious,
    )


def no_round_trips(result: "Result") -> ResultWarning | None:
    """A ladder without a dead edge, and yet no position went up and came back; nor did jumps do its work."""
    trips = result.round_trips
    without = [
        k
        for k, chain in enumerate(result.chains)
        if len(chain.sampling.replica) and len(chain.beta) > 1 and trips[k] == 0
        if not dead_edges(chain) and not jumps_carry(chain)
    ]
    if not without:
        return None
    return ResultWarning(
        name="no round trips",
        message=f"in {listed(without, 'chain')} no position travelled from the first level to the last and "
        "back, so the hot levels brought nothing new to the first",
        serious=sum(trips) == 0 and len(without) == len(trips),
    )


def endless_heat(result: "Result") -> ResultWarning | None:
    """A hot level went farther and farther out: the heated target has no finite integral there."""
    off = [k for k, chain in enumerate(result.chains) if chain.ran_off]
    if not off:
        return None
    return ResultWarning(
        name="endless heat",
        message=f"in {listed(off, 'chain')} a hot level went farther and farther out, as where tails are "
        f"heavy or a direction is flat: {result.chains[off[0]].ran_off[0]}; it was heated no more",
        serious=False,
    )


def levels_for_heat(result: "Result") -> int:
    """Levels with which the scales would reach the threshold; zero where no ladder is too short."""
    short = short_chains(result)
    wanted = [_levels_to_add(result.chains[k], result.setup.unimodal_scale) for k in short]
    return max((result.n_levels[k] + more for k, more in zip(short, wanted, strict=True)), default=0)


def levels_for_edges(result: "Result") -> int:
    """Levels that the barriers ask for where an edge is dead; zero where none is."""
    dead = {k: len(edges) for k, chain in enumerate(result.chains) if (edges := dead_edges(chain))}
    rate = result.setup.swap_acceptance
    return max((_levels_for(result.chains[k], n_dead, rate) for k, n_dead in dead.items()), default=0)


def useful_levels(result: "Result") -> int:
    """Of the chain with most of them, the levels below the bound on their distances."""
    return max(_n_useful(result, k) for k in range(len(result.chains)))


def all_dropped(result: "Result") -> bool:
    """As many levels are left as must stay, and there were more."""
    return max(result.n_levels) <= result.setup.min_levels < result.n_levels_at_start


def _nothing_arrives(result: "Result", dead: list[int]) -> bool:
    """All chains have a dead edge, and not all of them have jumps instead."""
    return len(dead) == len(result.chains) and not all(jumps_carry(chain) for chain in result.chains)


def _levels_to_add(chain: ChainRecord, threshold: float) -> int:
    """Where the scale would reach the threshold if it went on rising as between the last two levels."""
    n_levels = len(chain.beta)
    if n_levels == 1:
        return CURES.first_ladder - 1
    before, last = np.log(diagnostics.unimodality(chain.log_scale, threshold)[-2:])
    return min(math.ceil(float(-last / (last - before))), (CURES.max_growth - 1) * n_levels)


def _levels_for(chain: ChainRecord, n_dead: int, acceptance: float) -> int:
    """What the barrier asks for at this rate, and a level more for each dead edge at least."""
    local = diagnostics.local_barrier(measure.log_densities(chain))
    total = diagnostics.integrated_barrier(local, chain.beta)
    n_levels = len(chain.beta)
    needed = 1 + diagnostics.edges_needed(total, acceptance) if math.isfinite(total) else n_levels
    return min(max(needed, n_levels + n_dead), CURES.max_growth * n_levels)


def _n_useful(result: "Result", k: int) -> int:
    """Levels of a chain without those whose distance to the one below has reached the bound."""
    largest = THRESHOLDS.at_bound * result.setup.settings["bounds"]["temperature_gap"][1]
    gaps = np.diff(result.temperatures[k])
    return result.n_levels[k] - int(np.count_nonzero(np.isfinite(gaps) & (gaps >= largest)))
