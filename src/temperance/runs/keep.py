"""What is kept of the draws: which columns, and one row of how many."""

from collections.abc import Collection
from typing import Any

import numpy as np

from temperance.checks import one_of
from temperance.core.state import Trace
from temperance.errors import InvalidInputError, InvalidTypeError

DRAWS, STATISTICS, PROPOSALS, LEVELS = PARTS = ("draws", "statistics", "proposals", "levels")
DEFAULT = (DRAWS, STATISTICS, PROPOSALS)
HISTORY = ("beta", "log_scale")  # columns that are recorded while adapting
PROPOSED = ("proposal", "proposal_log_density")

# What a row says of the iterations between it and the row before: added up, the mean of what is known, or the
# most. All else is as it was in the last of them.
COUNTED = ("evaluations", "swap_attempts", "swap_accepted", "base_swaps")
AVERAGED = ("walk_accept_prob", "adjacent_swap_accept")
LARGEST = ("n_moved",)


def kept_parts(name: str, given: Any) -> tuple[str, ...]:
    """A word or several of what can be kept, in order."""
    if not isinstance(given, str | list | tuple | set | frozenset):
        kinds = "a word or several of 'draws', 'statistics', 'proposals' and 'levels'"
        raise InvalidTypeError(f"{name} must be {kinds}, got {type(given).__name__}: {given!r}")
    words = (given,) if isinstance(given, str) else tuple(given)
    for word in words:
        one_of(name, word, PARTS)
    if DRAWS not in words:
        raise InvalidInputError(f"{name} must have {DRAWS!r} among what is kept, got {given!r}")
    if PROPOSALS in words and STATISTICS not in words:
        raise InvalidInputError(f"{name} must have {STATISTICS!r} beside {PROPOSALS!r}, got {given!r}")
    return tuple(part for part in PARTS if part in words)


def usual_parts(*, jumps: bool) -> tuple[str, ...]:
    """What is kept where nothing is said: proposals are of use where there are jumps."""
    return DEFAULT if jumps else (DRAWS, STATISTICS)


def kept_columns(keep: Collection[str], *, adapting: bool) -> tuple[str, ...]:
    """The columns of the trace of the draws that are kept."""
    unwanted = {"level_draws"} if LEVELS not in keep else set()
    unwanted |= set() if adapting else set(HISTORY)
    unwanted |= set(PROPOSED) if PROPOSALS not in keep else set()
    if STATISTICS not in keep:
        unwanted |= {name for name in Trace._fields if name not in ("draws", "level_draws")}
    return tuple(name for name in Trace._fields if name not in unwanted)


def thinned(rows: Trace, columns: Collection[str], thin: int) -> Trace:
    """The rows that are kept of whole groups of ``thin`` each; other columns get none."""
    n_kept = len(rows.draws) // thin
    return Trace(
        **{
            name: _column(name, getattr(rows, name), n_kept, thin)
            if name in columns
            else getattr(rows, name)[:0]
            for name in Trace._fields
        }
    )


def _column(name: str, column: Any, n_kept: int, thin: int) -> Any:
    if thin == 1:
        return column[:n_kept]
    groups = column[: n_kept * thin].reshape(n_kept, thin, *column.shape[1:])
    if name in COUNTED:
        return groups.sum(axis=1, dtype=column.dtype)
    if name in LARGEST:
        return groups.max(axis=1)
    return _mean_of_known(groups) if name in AVERAGED else groups[:, -1].copy()


def _mean_of_known(groups: Any) -> Any:
    known = ~np.isnan(groups)
    total = np.where(known, groups, 0.0).sum(axis=1, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return (total / known.sum(axis=1)).astype(groups.dtype)
