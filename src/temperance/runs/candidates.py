"""Points that a chain remembers: what it was given, and what no mode explains of all that it evaluated."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Points:
    """Points, and the log of the target density at each."""

    point: FloatArray  # (point, dim)
    log_target: FloatArray  # (point,)

    def __len__(self) -> int:
        return len(self.log_target)

    def chosen(self, rows: Rows) -> "Points":
        """Some of these, in this order."""
        return Points(self.point[rows], self.log_target[rows])

    def joined(self, others: "Points") -> "Points":
        """These and others."""
        return Points(
            np.concatenate([self.point, others.point]), np.append(self.log_target, others.log_target)
        )


@dataclass(frozen=True)
class Starts:
    """The distinct points that a chain was given; of each, one if a scout has left from there, else zero."""

    points: Points
    scouted: FloatArray

    def left_from(self, rows: Rows) -> "Starts":
        """With a note that scouts have left from these."""
        scouted = self.scouted.copy()
        scouted[rows] = 1.0
        return Starts(self.points, scouted)


def no_points(dim: int) -> Points:
    """None."""
    return Points(np.empty((0, dim)), np.empty(0))


def distinct_starts(points: FloatArray, log_target: FloatArray) -> Starts:
    """Those that differ, in their order."""
    _, first = np.unique(points, axis=0, return_index=True)
    rows = np.sort(first)
    return Starts(Points(points[rows], log_target[rows]), np.zeros(len(rows)))
