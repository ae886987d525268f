"""Groups of draws with wide gaps between them: what a mode is where no chain has learnt any.

Where modes were learnt, they are components from `link` and `fit`, told apart by `overlap`. Draws alone do
not give these. The fit whitens states by the shape within a mode, which is known to those who jump, and makes
as many components of a mode that is no ellipse as it takes. Fitted to the draws of runs without jumps (the
zoo, seed 77, four chains of 1,500 draws) and then told apart in the same way:

- with the covariance of all draws as the shape, two modes in twenty dimensions were one, and so were two to
  six normals in ten and in a hundred; gaps told all of them apart;
- with the shape of the walks two rings were eleven modes, and a funnel of 600 draws was thirteen; uniform
  draws on a line, with their own covariance, were 22. To gaps these are two, one and one;
- of modes that touch gaps join more: they saw 13 of the twenty peaks, and the fit 19.

So gaps may overlook a mode, but what they hold apart is apart, and a warning that chains are in different
modes can be believed.
"""

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.modes.policy import GAPS

BATCH = 2_000_000  # distances computed at once


def separate_groups(draws: FloatArray) -> IntArray:
    """The group of each draw of ``(chain, draw, dim)``, numbered from the largest on.

    Single linkage of at most so many distinct draws as `Gaps` says; all others follow the nearest of these.
    """
    points = _standardised(draws.reshape(-1, draws.shape[-1]))
    distinct = points[_differs_from_last(points)]  # a walk that waits would look like a mode of its own
    if len(distinct) <= GAPS.neighbour:
        return np.zeros(draws.shape[:2], dtype=np.int64)
    n_chosen = min(len(distinct), GAPS.max_points)
    chosen = distinct[np.linspace(0, len(distinct) - 1, n_chosen).astype(np.int64)]
    groups = _groups(chosen)
    if not groups.any():
        return np.zeros(draws.shape[:2], dtype=np.int64)
    labels = groups[nearest_centre(points, chosen)]
    return _heaviest_first(labels).reshape(draws.shape[:2])


def _differs_from_last(points: FloatArray) -> npt.NDArray[np.bool_]:
    changed: npt.NDArray[np.bool_] = np.any(np.diff(points, axis=0) != 0.0, axis=1)
    return np.concatenate([np.ones(min(len(points), 1), dtype=np.bool_), changed])


def _standardised(points: FloatArray) -> FloatArray:
    """Coordinates of unit spread; those that never move say nothing."""
    if not len(points):
        return points
    spread = points.std(axis=0)
    moving = spread > 0.0
    scaled: FloatArray = (points[:, moving] - points[:, moving].mean(axis=0)) / spread[moving]
    return scaled


def _groups(points: FloatArray) -> IntArray:
    """Single linkage that refuses to bridge a wide gap between two groups of some weight."""
    least = max(2, int(GAPS.min_share * len(points)))
    group = np.arange(len(points))
    lengths: dict[int, list[float]] = {k: [] for k in range(len(points))}
    for length, i, j in _spanning_tree(_reach(points)):
        a, b = int(group[i]), int(group[j])
        sides = (lengths[a], lengths[b])
        wide = all(len(side) + 1 >= least for side in sides) and length > GAPS.min_gap * max(
            float(np.median(side)) for side in sides
        )
        if not wide:
            lengths[a] = [*lengths[a], *lengths.pop(b), length]
            group[group == b] = a
    labels: IntArray = np.unique(group, return_inverse=True)[1]
    return labels


def _reach(points: FloatArray) -> FloatArray:
    """Distances, but none below what separates either point from its neighbours."""
    lengths = (points**2).sum(axis=1)
    distances = np.sqrt(np.maximum(lengths[:, None] - 2.0 * (points @ points.T) + lengths, 0.0))
    core = np.partition(distances, GAPS.neighbour, axis=1)[:, GAPS.neighbour]
    reach: FloatArray = np.maximum(distances, np.maximum(core[:, None], core[None, :]))
    return reach


def _spanning_tree(distances: FloatArray) -> list[tuple[float, int, int]]:
    """The edges of the minimum spanning tree, shortest first (Prim)."""
    n = len(distances)
    nearest, reached = distances[0].copy(), np.zeros(n, dtype=np.int64)
    nearest[0] = np.inf
    left = np.ones(n, dtype=bool)
    left[0] = False
    edges = []
    for _ in range(n - 1):
        new = int(np.argmin(np.where(left, nearest, np.inf)))
        edges.append((float(nearest[new]), int(reached[new]), new))
        left[new] = False
        closer = left & (distances[new] < nearest)
        nearest[closer] = distances[new][closer]
        reached[closer] = new
    return sorted(edges)


def nearest_centre(points: FloatArray, centres: FloatArray) -> IntArray:
    """Index of the nearest of the centres (centre, dim) for each point."""
    # The smallest |c|² − 2 p·c: the length of the point itself makes no difference.
    nearest = np.empty(len(points), dtype=np.int64)
    lengths, twice = (centres**2).sum(axis=1), -2.0 * centres.T
    step = max(1, BATCH // len(centres))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        nearest[rows] = np.argmin(points[rows] @ twice + lengths, axis=1)
    return nearest


def _heaviest_first(labels: IntArray) -> IntArray:
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[labels]
