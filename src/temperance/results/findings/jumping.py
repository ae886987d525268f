"""Rules about jumps: whether they know the modes, and whether they succeed."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.results import measure
from temperance.results.findings.evidence import (
    MAX_DISAGREEMENT,
    MIN_EDGE_DRAWS,
    MISSED_SHARE,
    jumps_carry,
)
from temperance.results.findings.finding import Finding, listed_kept, round_up
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_FAR = 0.05  # of the draws of a chain; of a normal mode one in a thousand is
LONGER = 2  # times as much tuning


def unknown_mode(result: "Result") -> Finding | None:
    """A chain that jumps has many draws far from all that was learnt."""
    share = result.modes.far
    chains = [k for k, chain in enumerate(result.kept) if share[k] > MAX_FAR and jumps_carry(chain)]
    if not chains:
        return None
    return Finding(
        name="unknown mode",
        message=f"in {listed_kept(result, chains)} up to {share[chains].max():.0%} of the draws are far from "
        "every mode that was learnt, so that jumps hardly lead there: a mode that was found late, or one "
        "with a shape of its own",
        cure=f"longer tuning: tune={_longer(result)}",
        serious=bool(np.ptp(share) > MAX_DISAGREEMENT),
    )


def idle_jumps(result: "Result") -> Finding | None:
    """There are several modes, they were learnt, and yet jumps do not get from one to another."""
    idle = [k for k, chain in enumerate(result.kept) if _might_jump(chain) and not jumps_carry(chain)]
    if not idle or np.count_nonzero(result.modes.weight >= MISSED_SHARE) < 2:
        return None
    rate = max(measure.jump_rate(result.kept[k]) for k in idle)
    return Finding(
        name="idle jumps",
        message=f"in {listed_kept(result, idle)} jumps succeed in {rate:.2%} of the draws at most, so that "
        "hot levels alone bring the first level from mode to mode: the modes are not known well enough, or "
        "have shapes that jumps do not fit",
        cure=f"tune={_longer(result)}; nothing, if there are no other warnings",
        serious=False,
    )


def _might_jump(chain: ChainRecord) -> bool:
    """It learnt more than one mode, the broad component aside, and drew long enough to tell."""
    return chain.modes is not None and len(chain.modes.weight) > 2 and chain.n_draws >= MIN_EDGE_DRAWS


def _longer(result: "Result") -> int:
    return round_up(LONGER * result.n_tune)
