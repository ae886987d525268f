"""Rules about the draws: whether the chains agree, and what they are worth."""

import math
from typing import TYPE_CHECKING

from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.signs import (
    allowed_disagreement,
    disagreement,
    missing_chains,
    passing_chains,
    worst_ess,
    worst_r_hat,
)
from temperance.results.warnings.warning import ResultWarning, listed_kept

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
        serious=True,
    )


def _passed_over(result: "Result") -> ResultWarning | None:
    """A light mode that others visit again and again, and a chain never."""
    passing = passing_chains(result)
    if not passing:
        return None
    return ResultWarning(
        name="missed mode",
        message=f"{listed_kept(result, passing)} never visited a light mode that others came to again and "
        "again: its weight is too small, if not by much",
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
        serious=size < max(THRESHOLDS.min_ess, THRESHOLDS.serious_ess * n_chains),
    )
