"""Rules about draws that do not move, or too few of which there are to say anything."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import IntArray
from temperance.results.diagnostics.chains import MIN_DRAWS
from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.warning import ResultWarning, listed_kept

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_NAMED = 3  # coordinates that a message names


def never_moved(result: "Result") -> ResultWarning | None:
    """A coordinate has one and the same value in all draws."""
    still = _still(result)
    if not len(still):
        return None
    return ResultWarning(
        name="never moved",
        message=f"{_named(result, still)} kept one value in all draws",
        serious=True,
    )


def hardly_moved(result: "Result") -> ResultWarning | None:
    """A coordinate has a handful of values in all draws of a chain."""
    if not result.draws.size:
        return None
    n_draws = result.draws.shape[1]
    values = 1 + np.count_nonzero(np.diff(np.sort(result.points, axis=1), axis=1), axis=1)
    few = values < min(THRESHOLDS.min_values, THRESHOLDS.min_value_rate * n_draws)
    few[:, _still(result)] = False
    if not np.any(few):
        return None
    chains, coordinates = (np.flatnonzero(np.any(few, axis=axis)) for axis in (1, 0))
    return ResultWarning(
        name="hardly moved",
        message=f"in {listed_kept(result, chains.tolist())} {_named(result, coordinates)} took as few as "
        f"{values[few].min()} different values in {n_draws:,} draws, so that R-hat and ESS mean nothing",
        serious=True,
    )


def stuck_chain(result: "Result") -> ResultWarning | None:
    """A chain stayed at one point for many draws, though it moves elsewhere."""
    stays = stays_of(result)
    if not stays or hardly_moved(result) is not None:
        return None
    n_draws = result.draws.shape[1]
    chain = max(stays, key=lambda k: stays[k])
    return ResultWarning(
        name="stuck chain",
        message=f"{listed_kept(result, list(stays))} stayed at one point, for {stays[chain]:,} of "
        f"{n_draws:,} draws at most: a point whose density is far above what is around it, so that no step "
        "leads away, and those draws say nothing about how much mass is there",
        serious=True,
    )


def stays_of(result: "Result") -> dict[int, int]:
    """Chains that are stuck, by their places among those kept, and how many draws their longest stay has.

    That is a share of all draws, and longer than chance explains: a chain that moves in a share a of the
    other draws has a stay of s draws among n with a chance of n exp(-a s) at most.
    """
    found = {}
    for k, draws in enumerate(result.draws):
        n_draws = len(draws)
        if n_draws < MIN_DRAWS:
            continue
        moved = np.append(True, np.any(np.diff(draws, axis=0) != 0.0, axis=1))
        stay = int(np.diff(np.append(np.flatnonzero(moved), n_draws)).max())
        rate = (np.count_nonzero(moved) - 1) / max(n_draws - stay, 1)
        by_chance = math.log(n_draws / THRESHOLDS.false_alarm)
        if stay >= THRESHOLDS.max_stay * n_draws and rate * stay > by_chance:
            found[k] = stay
    return found


def unknown_accuracy(result: "Result") -> ResultWarning | None:
    """R-hat or an effective sample size cannot be computed."""
    columns = [result.estimates[name] for name in ("r_hat", "ess_bulk", "ess_tail")]
    unknown = np.any(np.isnan(np.array(columns, dtype=np.float64)), axis=0)
    unknown[_still(result)] = False
    n_draws = result.draws.shape[1]
    if not n_draws or not np.any(unknown):
        return None
    return ResultWarning(
        name="unknown accuracy",
        message=f"R-hat or the effective sample size of {_named(result, np.flatnonzero(unknown))} cannot be "
        f"computed from {n_draws} draws a chain: nothing says how far they can be trusted",
        serious=True,
    )


def _still(result: "Result") -> IntArray:
    """Coordinates with one value in all draws; none where there are too few draws to blame them."""
    if result.draws.shape[1] < MIN_DRAWS:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.ptp(result.points, axis=(0, 1)) == 0.0)


def _named(result: "Result", coordinates: Sequence[int] | IntArray) -> str:
    """The first of the coordinates by name, and how many more there are."""
    labels = ", ".join(result.parameters.labels[k] for k in coordinates[:MAX_NAMED])
    n_more = len(coordinates) - MAX_NAMED
    return f"{labels} and {n_more} more" if n_more > 0 else labels
