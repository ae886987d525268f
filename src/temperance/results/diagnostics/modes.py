"""Modes: which one each draw belongs to, given their centres or found by looking for gaps."""

from typing import Any

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.errors import InvalidInputError

MAX_POINTS = 1_000  # that are clustered; the others follow the nearest of them
NEIGHBOUR = 10  # the distance to this neighbour tells how dense the draws are around a point
MIN_SHARE = 0.02  # of the points; what is smaller joins the nearest
MIN_GAP = 3.0  # times the usual spacing within the sparser of two groups, to hold them apart
BATCH = 2_000_000  # distances computed at once


def nearest_mode(draws: Any, modes: Any) -> IntArray:
    """Index of the nearest of the ``modes`` (mode, dim) for each of the ``draws`` (..., dim)."""
    points = np.asarray(draws, dtype=np.float64)
    centres = np.atleast_2d(np.asarray(modes, dtype=np.float64))
    if centres.ndim != 2 or len(centres) == 0 or centres.shape[1] != points.shape[-1]:
        raise InvalidInputError(
            f"modes must have shape (mode, {points.shape[-1]}) with a row at least, got {centres.shape}"
        )
    return _nearest(points.reshape(-1, points.shape[-1]), centres).reshape(points.shape[:-1])


def find_modes(draws: Any) -> IntArray:
    """The mode of each draw of ``(chain, draw, dim)``, numbered from the heaviest on.

    Groups of draws count as modes when the gap between them is wide against the spacing within them. Modes
    that touch count as one. No draw is left out.
    """
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 3:
        raise InvalidInputError(f"draws must be (chain, draw, dim), got shape {chains.shape}")
    points = _standardised(chains.reshape(-1, chains.shape[-1]))
    distinct = points[_differs_from_last(points)]  # a walk that waits would look like a mode of its own
    if len(distinct) <= NEIGHBOUR:
        return np.zeros(chains.shape[:2], dtype=np.int64)
    chosen = distinct[np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_POINTS)).astype(np.int64)]
    groups = _groups(chosen)
    if not groups.any():
        return np.zeros(chains.shape[:2], dtype=np.int64)
    labels = groups[_nearest(points, chosen)]
    return _heaviest_first(labels).reshape(chains.shape[:2])


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
    least = max(2, int(MIN_SHARE * len(points)))
    group = np.arange(len(points))
    lengths: dict[int, list[float]] = {k: [] for k in range(len(points))}
    for length, i, j in _spanning_tree(_reach(points)):
        a, b = int(group[i]), int(group[j])
        sides = (lengths[a], lengths[b])
        wide = all(len(side) + 1 >= least for side in sides) and length > MIN_GAP * max(
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
    core = np.partition(distances, NEIGHBOUR, axis=1)[:, NEIGHBOUR]
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


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    """Smallest |c|² − 2 p·c: the length of the point itself makes no difference."""
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
