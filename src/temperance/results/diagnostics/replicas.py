"""How positions travel through the ladder, from the replicas recorded at each level."""

from typing import Any

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.errors import InvalidInputError

GONE = -1  # where a level was dropped there is no replica


def round_trips(replica: Any) -> int:
    """Round trips of all replicas, (draw, level), from the first level to the last and back."""
    levels = _checked(replica)
    if levels.shape[1] < 2 or len(levels) == 0:
        return 0
    base, top = levels[:, 0], levels[:, -1]
    return sum(_trips_of(one, base, top) for one in np.unique(base))


def flow(replica: Any) -> FloatArray:
    """For each level, the share of its replicas that came from the first level rather than the last.

    It falls from 1 to 0; a steep step is an edge that few cross (Katzgraber et al. 2006). NaN where no
    replica has been at either end yet.
    """
    levels = _checked(replica)
    n_levels = levels.shape[1]
    if n_levels < 2 or len(levels) == 0:
        return np.full(n_levels, np.nan)
    origin = _last_end(replica_places(levels), n_levels - 1)
    at_level = np.take_along_axis(origin, np.where(levels == GONE, 0, levels), axis=1)
    at_level[levels == GONE] = 0
    from_base, from_top = (at_level == 1).sum(axis=0), (at_level == -1).sum(axis=0)
    return np.where(from_base + from_top > 0, from_base / np.maximum(from_base + from_top, 1), np.nan)


def crossings(replica: Any) -> IntArray:
    """How often a replica crossed each edge upwards, (edge,)."""
    levels = _checked(replica)
    places = replica_places(levels)
    counts = [
        np.count_nonzero((places[:-1] <= edge) & (places[:-1] != GONE) & (places[1:] > edge))
        for edge in range(levels.shape[1] - 1)
    ]
    return np.array(counts, dtype=np.int64)


def moves(replica: Any) -> FloatArray:
    """How often, per iteration, a position at level i is at level j one iteration later, (level, level)."""
    levels = _checked(replica)
    n_levels, places = levels.shape[1], replica_places(levels)
    rates = np.zeros((n_levels, n_levels))
    before, after = places[:-1], places[1:]
    alive = (before != GONE) & (after != GONE)
    np.add.at(rates, (before[alive], after[alive]), 1.0)
    return rates / max(len(before), 1)


def _checked(replica: Any) -> IntArray:
    levels: IntArray = np.asarray(replica, dtype=np.int64)
    if levels.ndim != 2 or np.any(levels < GONE):
        raise InvalidInputError(
            f"replica must be (draw, level), of numbers from {GONE} on, got shape {levels.shape}"
        )
    return levels


def replica_places(levels: IntArray) -> IntArray:
    """The level at which each replica of (draw, level) is, (draw, replica); -1 once it is gone."""
    n_replicas = int(levels.max(initial=0)) + 1
    places = np.full((len(levels), n_replicas + 1), GONE)
    columns = np.where(levels == GONE, n_replicas, levels)  # what is gone goes to a column of its own
    np.put_along_axis(places, columns, np.arange(levels.shape[1])[None, :], axis=1)
    return places[:, :n_replicas]


def _last_end(places: IntArray, top: int) -> IntArray:
    """1 where a replica was last at the base, -1 where at the top, 0 before either."""
    end = np.where(places == 0, 1, np.where(places == top, -1, 0))
    rows = np.arange(len(places))[:, None]
    latest = np.maximum.accumulate(np.where(end != 0, rows, 0), axis=0)
    return np.take_along_axis(end, latest, axis=0)


def _trips_of(replica: int, base: npt.NDArray[Any], top: npt.NDArray[Any]) -> int:
    """Changes between the two ends, two a trip, from the first visit to the base on."""
    at_base, at_top = base == replica, top == replica
    ends = at_top[at_base | at_top]
    since_base = ends[np.argmin(ends) :]
    return int(np.count_nonzero(np.diff(since_base)) // 2)
