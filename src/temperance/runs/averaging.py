"""What the levels of several chains have learnt, averaged place by place.

Chains may have different numbers of levels, since each trims its own ladder. Levels are dropped from the hot
end, so those with the same number from the base on are alike: each is averaged over the chains that have it.
A level pinned at β = 0 is the same in all chains, whatever its number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from temperance.core.state import FloatArray, State
from temperance.runs.levels import covariances, set_betas, set_factors
from temperance.runs.plan import Plan

PINNED = -1  # the place of a level at β = 0


@dataclass(frozen=True)
class Ladder:
    """What the levels of one chain have learnt; a row for each level."""

    covariance: FloatArray
    root: FloatArray  # its lower factor
    log_scale: FloatArray
    log_gap: FloatArray
    late_log_scale: FloatArray  # means over late tuning, NaN before
    late_log_gap: FloatArray
    coordinate_log_scale: FloatArray


@np.errstate(invalid="ignore")  # means of nothing are not known yet
def averaged_ladders(plan: Plan, states: Sequence[State]) -> tuple[Ladder, ...]:
    """The ladder that each chain should have, by what all have learnt; nothing is changed."""
    ladders = [_ladder(state) for state in states]
    places = [_places(plan, len(ladder.log_gap)) for ladder in ladders]
    edges = [_edges(plan, len(ladder.log_gap)) for ladder in ladders]

    def of(name: str, where: Sequence[list[int]]) -> list[FloatArray]:
        return _averaged([getattr(ladder, name) for ladder in ladders], where)

    names = [name for name in Ladder.__dataclass_fields__ if name != "root"]
    columns = [of(name, edges if name.endswith("log_gap") else places) for name in names]
    averaged = [dict(zip(names, chain, strict=True)) for chain in zip(*columns, strict=True)]
    return tuple(Ladder(**one, root=np.linalg.cholesky(one["covariance"])) for one in averaged)


def take_ladder(state: State, ladder: Ladder, *, pinned: bool) -> None:
    """Put a ladder in the place of what the levels have learnt, in place."""
    n_levels = len(ladder.log_gap)
    live = slice(0, n_levels)
    for level in range(n_levels):
        set_factors(state, level, ladder.root[level])
    state.update_waits[0] = 0  # what was to be taken in is in these covariances
    state.log_scale[live], state.log_gap[live] = ladder.log_scale, ladder.log_gap
    late = state.n_averaged[live] > 0
    for total, mean in (
        (state.log_scale_sum, ladder.late_log_scale),
        (state.log_gap_sum, ladder.late_log_gap),
    ):
        total[live][late] = (state.n_averaged[live] * mean)[late]
    own: Any = state
    own.coordinate_log_scale[live] = ladder.coordinate_log_scale
    set_betas(state, n_levels - int(pinned))


def _ladder(state: State) -> Ladder:
    live = slice(0, int(state.n_levels[0]))
    n_averaged = state.n_averaged[live]
    own: Any = state
    covariance = covariances(state)
    return Ladder(
        covariance,
        np.empty_like(covariance),
        state.log_scale[live],
        state.log_gap[live],
        state.log_scale_sum[live] / n_averaged,
        state.log_gap_sum[live] / n_averaged,
        own.coordinate_log_scale[live],
    )


def _places(plan: Plan, n_levels: int) -> list[int]:
    """The place of each level."""
    if plan.betas[-1] > 0.0:
        return list(range(n_levels))
    return [*range(n_levels - 1), PINNED]


def _edges(plan: Plan, n_levels: int) -> list[int]:
    """The place of the gap above each level; above the last one there is none, whatever is written there."""
    n_free = n_levels - int(plan.betas[-1] == 0.0)
    return [level if level < n_free - 1 else PINNED for level in range(n_levels)]


def _averaged(columns: Sequence[FloatArray], places: Sequence[list[int]]) -> list[FloatArray]:
    """The mean of all rows with the same place; NaN counts for nothing."""
    at: dict[int, list[FloatArray]] = {}
    for column, place in zip(columns, places, strict=True):
        for row, where in zip(column, place, strict=True):
            at.setdefault(where, []).append(row)
    mean = {where: _mean_of_known(np.array(rows)) for where, rows in at.items()}
    return [np.array([mean[where] for where in place]) for place in places]


def _mean_of_known(rows: FloatArray) -> FloatArray:
    known = ~np.isnan(rows)
    mean: FloatArray = np.where(known, rows, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean
