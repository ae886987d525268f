"""From components to modes, by the draws: components that share draws are one mode."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.modes.policy import MATCHING
from temperance.modes.pool import NOWHERE, Pool
from temperance.modes.student import batches_of_squares, log_terms, most_likely, nearest_squares, squares
from temperance.theory import chi_square_quantile, student_tail

BoolArray = npt.NDArray[np.bool_]


def visited_only(pool: Pool, visited: IntArray) -> Pool:
    """The components with draws. Of the others, what one of them explains goes there, the rest nowhere."""
    some = pool.chosen(visited)
    left = replace(some, weight=some.weight / some.weight.sum())
    rank = np.append(most_likely(pool.centre, left.mixture), NOWHERE)  # what is nowhere takes the last
    rank[:-1][far_from_all(nearest_squares(pool.centre, left.mixture), pool.dim)] = NOWHERE
    rank[visited] = np.arange(len(visited))
    return replace(left, place=tuple(rank[where] for where in pool.place))


def overlaps(points: FloatArray, labels: IntArray, pool: Pool) -> tuple[FloatArray, FloatArray]:
    """How much of the draws of each component might be another's, and how far each draw is from the nearest.

    Entry (i, j) adds up the chances that draws with label i come from j.
    """
    shared, nearest, start = np.zeros((len(pool), len(pool))), np.empty(len(points)), 0
    for square in batches_of_squares(points, pool.mixture):
        rows = slice(start, start + len(square))
        start = rows.stop
        nearest[rows] = square.min(axis=1)
        term = log_terms(square, pool.mixture)
        chance = np.exp(term - term.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        member = labels[rows][:, None] == np.arange(len(pool))
        shared += member.T.astype(np.float64) @ chance
    return shared, nearest


def joined(shared: FloatArray) -> IntArray:
    """The mode of each component: those that overlap too much are one (DEMP of Hennig 2010).

    Of all pairs the one of which one overlaps the other most is joined, until none overlaps too much.
    """
    left, mode = shared.copy(), np.arange(len(shared))
    while len(left) > 1:
        rate = left / np.maximum(left.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        np.fill_diagonal(rate, 0.0)
        i, j = np.unravel_index(int(np.argmax(rate)), rate.shape)
        if rate[i, j] < MATCHING.max_overlap:
            break
        left[j] += left[i]
        left[:, j] += left[:, i]
        left[i], left[:, i] = 0.0, 0.0
        mode[mode == i] = j
    names: IntArray = np.unique(mode, return_inverse=True)[1]
    return names


def without_fragments(mode: IntArray, labels: IntArray, points: FloatArray) -> IntArray:
    """The same modes, but small ones that the tail of a larger one explains belong to that.

    A regression may give a component to the far end of a tail. It shares no draws with the body of its mode,
    but so few draws so far out are what a tail like that of Student's t has.
    """
    of_draw = mode[labels]
    size = np.bincount(of_draw, minlength=int(mode.max()) + 1)
    small = np.flatnonzero((size > 0) & (size < MATCHING.fragment * len(points)))
    large = np.flatnonzero(size > max(points.shape[1], MATCHING.fragment * len(points)))
    moments = {k: _moments(points[of_draw == k]) for k in large} if len(small) else {}
    target = np.arange(len(size))
    for k in small:
        centre = points[of_draw == k].mean(axis=0)[None]
        expected = {j: size[j] * _tail(centre, *moments[j]) for j in large}
        best = max(expected, key=lambda j: expected[j], default=None)
        if best is not None and expected[best] >= size[k]:
            target[k] = best
    names: IntArray = np.unique(target[mode], return_inverse=True)[1]
    return names


def _moments(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    dim = points.shape[1]
    return points.mean(axis=0), np.cov(points.T).reshape(dim, dim)


def _tail(point: FloatArray, mean: FloatArray, covariance: FloatArray) -> float:
    """The chance to be as far out as this point, were the mode a Student's t; none where it has no width."""
    try:
        square = float(squares(point, mean, covariance)[0])
    except np.linalg.LinAlgError:
        return 0.0
    return student_tail(square, len(mean), MATCHING.tail_dof) if np.isfinite(square) else 0.0


def far_from_all(nearest: FloatArray, dim: int) -> BoolArray:
    """Which points no component explains, by the squared distance from the nearest."""
    far: BoolArray = nearest > chi_square_quantile(MATCHING.far_quantile, dim)
    return far
