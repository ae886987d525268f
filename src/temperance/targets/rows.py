"""Whether the value of a vectorised density at a row depends on the rows that it is asked for with.

The last bits of a matrix product do. Where they do not, rows can be shared out and evaluated ahead of time,
and the draws stay what they are; where they do, every batch is what a run without workers asks for.
"""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from temperance.core.state import FloatArray
from temperance.targets.answers import Answer

SPREAD = 1e-3  # of the points around a start, beside its coordinates or beside one
MOST_ROWS = 64  # that are looked at; of a matrix product with that many rows, about half differ
SECONDS = 0.25  # that they may take, if that is no fewer than there are levels
PARTS = (2, 3)  # beside rows one by one
WORTH_SPLITTING = 0.75  # of the time for all rows, in which the larger half must be done


@dataclass(frozen=True)
class Verdict:
    """Whether rows may be shared out, and whether fewer of them take less time."""

    stand_alone: bool
    split_pays: bool


UNKNOWN = Verdict(stand_alone=False, split_pays=False)


def looked_at(
    ask: Callable[[FloatArray], "Future[Answer]"], starts: FloatArray, seconds: float, limit: float | None
) -> Verdict:
    """Ask for points near the starts in one batch, in parts and one by one, and compare all bits.

    Where that cannot tell, as somebody fails or most points are outside the support, rows count as dependent.
    """
    points = near(starts, int(np.clip(SECONDS / max(seconds, 1e-9), len(starts), MOST_ROWS)))
    splits = [1, *PARTS, len(points)]
    asked = [[ask(points[part]) for part in even_parts(len(points), n_parts)] for n_parts in splits]
    try:
        answers = [[future.result(limit) for future in split] for split in asked]
        values = [np.concatenate([one.values for one in split]) for split in answers]
    except Exception:  # noqa: BLE001  whatever is wrong with the pool, the run will meet it
        return UNKNOWN
    if any(one.trouble is not None for split in answers for one in split):
        return UNKNOWN
    known = np.isfinite(values[0][:, 0]).mean() >= 0.5
    same = all(np.array_equal(values[0], other, equal_nan=True) for other in values[1:])
    halves = max(one.seconds for one in answers[1])
    return Verdict(bool(known and same), halves <= WORTH_SPLITTING * answers[0][0].seconds)


def near(starts: FloatArray, n_rows: int) -> FloatArray:
    """So many points near these, none of them twice; always the same."""
    points = starts[np.arange(n_rows) % len(starts)]
    noise = np.random.default_rng(0).standard_normal(points.shape)
    return np.asarray(points + SPREAD * (1.0 + np.abs(points)) * noise)


def even_parts(n_rows: int, n_parts: int) -> Sequence[slice]:
    """Rows in parts that differ by one at most, none of them empty."""
    n_parts = min(n_rows, n_parts)
    ends = [n_rows * k // n_parts for k in range(n_parts + 1)] if n_rows else []
    return [slice(first, last) for first, last in itertools.pairwise(ends)]
