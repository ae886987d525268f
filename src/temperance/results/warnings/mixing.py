"""Rules about the draws: whether the chains agree, and what they are worth."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.results.warnings.policy import CURES, THRESHOLDS
from temperance.results.warnings.signs import (
    allowed_disagreement,
    disagreement,
    draws_to_try,
    longer_tuning,
    missing_chains,
    passing_chains,
    worst_ess,
    worst_r_hat,
)
from temperance.results.warnings.warning import ResultWarning, listed_kept
from temperance.text import counted

if TYPE_CHECKING:
    from temperance.results.result import Result


def missed_mode(result: "Result") -> ResultWarning | None:
    """A chain never saw a mode that others did, or two chains give the modes different weights."""
    missing, distance = missing_chains(result), disagreement(result)
    if missing:
        seen = f"{listed_kept(result, missing)} never visited a mode that another chain did"
    elif distance > allowed_disagreement(result):
        seen = f"two chains put {distance:.0%} of the mass into different modes"
    else:
        return _passed_over(result)
    return ResultWarning(
        name="missed mode",
        message=f"{seen}: the weights of the modes cannot be trusted, and there may be modes that no chain "
        "has seen",
        cure=f"{draws_to_try(result)}{_longer_tuning(result, missing)}{_more_levels(result)}",
        serious=True,
    )


def _passed_over(result: "Result") -> ResultWarning | None:
    """A light mode that others visit again and again, and a chain never."""
    passing = passing_chains(result)
    if not passing:
        return _told_late(result)
    return ResultWarning(
        name="missed mode",
        message=f"{listed_kept(result, passing)} never visited a light mode that others came to again and "
        "again: its weight is too small, if not by much",
        cure=f"{draws_to_try(result)}{_longer_tuning(result, passing)}",
        serious=False,
    )


def _told_late(result: "Result") -> ResultWarning | None:
    """A mode that some chains had not found by themselves, in all the time before they were told of it."""
    modes = result.modes
    late = modes.told_at >= THRESHOLDS.late_find * result.n_tune  # NaN is not
    lucky = late & (modes.draw_weight >= THRESHOLDS.missed_share) & ~modes.found.all(axis=0)
    if not np.any(lucky):
        return None
    worst = int(np.argmax(np.where(lucky, modes.told_at, -1.0)))
    finders = listed_kept(result, [int(k) for k in np.flatnonzero(modes.found[:, worst])])
    return ResultWarning(
        name="missed mode",
        message=f"{counted(int(lucky.sum()), 'mode')} of some weight had been found by some chains only when "
        f"the others were told of it, one by {finders} after {modes.told_at[worst]:.0f} iterations of the "
        f"tuning: a mode as hard to find may have been found by none, and that chains agree does not tell",
        cure=f"longer tuning: tune={longer_tuning(result)}, or more chains; nothing, if it is known that "
        "there are no other modes",
        serious=False,
    )


def chains_differ(result: "Result") -> ResultWarning | None:
    """R-hat is too large."""
    value, label = worst_r_hat(result)
    if value <= THRESHOLDS.max_r_hat:
        return None
    return ResultWarning(
        name="chains differ",
        message=f"R-hat of {label} is {value:.3f}, above {THRESHOLDS.max_r_hat}",
        cure=draws_to_try(result),
        serious=value > THRESHOLDS.serious_r_hat,
    )


def low_ess(result: "Result") -> ResultWarning | None:
    """Fewer effective draws than a hundred for each chain, in the bulk or in a tail."""
    size, label = worst_ess(result)
    n_chains, n_draws = result.draws.shape[:2]
    wanted = THRESHOLDS.min_ess * n_chains
    if math.isnan(size) or size >= wanted:
        return None
    return ResultWarning(
        name="low ESS",
        message=f"the effective sample size of {n_chains * n_draws:,} draws of {label} is {size:.0f}, below "
        f"{wanted:.0f}",
        cure=draws_to_try(result),
        serious=size < THRESHOLDS.min_ess,
    )


def _longer_tuning(result: "Result", chains: list[int]) -> str:
    """For chains without draws in a mode to which others have learnt to jump, and they have not."""
    modes = result.modes
    unknown = (modes.share == 0.0) & ~modes.learnt & np.any(modes.learnt, axis=0)
    if not np.any(unknown[chains]):
        return ""
    return f", and longer tuning, in which all chains may learn of it: tune={longer_tuning(result)}"


def _more_levels(result: "Result") -> str:
    """Chains that sit in one mode each look unimodal, and their ladders are cut down to nothing."""
    start = result.n_levels_at_start
    if min(result.n_levels) > result.setup.min_levels or start <= result.setup.min_levels:
        return ""
    more = CURES.max_growth * start
    return f", and levels={more} kept by Trimming(min_levels={more})"
