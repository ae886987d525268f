"""Whether a vectorised density of this process is asked for points to come, together with those it must give.

It is where rows stand alone, which is seen by what the tuning recorded: its last proposals are asked for
again in calls of the size that looks ahead, and all bits must be the same. What a call takes only decides
whether a stop would have to wait for too long.
"""

import time
from collections.abc import Callable

import numpy as np

from temperance.core.state import FloatArray, Trace
from temperance.targets.batches import ROWS

LEAST_DRAWS = 1_000  # to look at rows takes as many calls as fifty draws
MOST_ROWS = 1_024  # that are looked at in calls of many: one in two hundred that differs is seen
LEAST_ROWS = 4 * ROWS  # without as many nothing is known
ALONE = 32  # that are looked at one by one, as walks of the draws ask for them
FEW = 8  # rows of a call that tells what one of many would take
SECONDS = 0.1  # that a call may take which looks ahead, as a stop waits for it; or twice that of one row

HOT = 1e-3  # seconds of a call from which on it pays to find out what hot levels will ask for

Values = Callable[[FloatArray], FloatArray]  # log densities, both parts together, of rows


def can_look_ahead(values: Values, tuning: Trace, n_draws: int) -> bool:
    """Whether the rows of the tuning have, in calls of many and alone, the values that were recorded."""
    points, known = tuning.proposal[-MOST_ROWS:], tuning.proposal_log_density[-MOST_ROWS:]
    if n_draws < LEAST_DRAWS or len(points) < LEAST_ROWS:
        return False
    try:
        return (
            _same(values, points[:ALONE], known[:ALONE], 1)
            and not _takes_long(values, points)
            and _same(values, points, known, ROWS)
        )
    except Exception:  # noqa: BLE001  whatever it is, the run meets it where it matters
        return False


def hot_pays(values: Values, tuning: Trace) -> bool:
    """Whether calls take so long that points of hot levels are worth knowing; no draw depends on it."""
    return min(_seconds(values, tuning.proposal[-1:]) for _ in range(3)) >= HOT


def _same(values: Values, points: FloatArray, known: FloatArray, size: int) -> bool:
    parts = [slice(k, k + size) for k in range(0, len(points), size)]
    return all(np.array_equal(values(points[part]), known[part], equal_nan=True) for part in parts)


def _takes_long(values: Values, points: FloatArray) -> bool:
    """Whether a stop would have to wait, by what one row takes and what some do."""
    one, few = (min(_seconds(values, points[:n]) for _ in range(2)) for n in (1, FEW))
    return one + (few - one) * (ROWS - 1) / (FEW - 1) > max(SECONDS, 2.0 * one)


def _seconds(values: Values, points: FloatArray) -> float:
    began = time.perf_counter()
    values(points)
    return time.perf_counter() - began
