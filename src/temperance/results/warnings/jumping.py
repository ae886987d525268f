"""Rules about jumps: whether they know the modes, and whether they succeed."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.results import measure
from temperance.results.warnings.moving import stays_of
from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.signs import jumps_carry
from temperance.results.warnings.warning import ResultWarning, listed_kept
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def unknown_mode(result: "Result") -> ResultWarning | None:
    """A chain that jumps has many draws far from all that was learnt.

    Where it leaps instead, the covariances that say so are not known well enough to tell. A chain that is
    stuck at one point has that for a reason.
    """
    share = result.modes.far
    far = np.flatnonzero(share > THRESHOLDS.max_far)
    kept, stays = result.kept, stays_of(result)
    chains = [
        int(k) for k in far if k not in stays and jumps_carry(kept[k]) and not measure.leapt(kept[k]).any()
    ]
    if not chains:
        return None
    return ResultWarning(
        name="unknown mode",
        message=f"in {listed_kept(result, chains)} up to {share[chains].max():.0%} of the draws are far from "
        "every mode that was learnt, so that jumps hardly lead there: a mode that was found late, or one "
        "with a shape of its own",
        serious=bool(np.ptp(share) > THRESHOLDS.max_disagreement),
    )


def idle_jumps(result: "Result") -> ResultWarning | None:
    """There are several modes, they were learnt, and yet jumps do not get from one to another."""
    idle = [k for k, chain in enumerate(result.kept) if _might_jump(chain) and not jumps_carry(chain)]
    if not idle or np.count_nonzero(result.modes.draw_weight >= THRESHOLDS.missed_share) < 2:
        return None
    rate = max(measure.jump_rate(result.kept[k]) for k in idle)
    return ResultWarning(
        name="idle jumps",
        message=f"in {listed_kept(result, idle)} jumps succeed in {rate:.2%} of the draws at most, so that "
        "hot levels alone bring the first level from mode to mode: the modes are not known well enough, or "
        "have shapes that jumps do not fit",
        serious=False,
    )


def _might_jump(chain: ChainRecord) -> bool:
    """It learnt more than one mode, the broad component aside, and drew long enough to tell."""
    several = chain.modes is not None and len(chain.modes.weight) > 2
    return several and chain.n_draws >= THRESHOLDS.min_edge_draws
