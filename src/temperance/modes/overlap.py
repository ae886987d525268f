"""From components to modes, by the draws: components that share draws are one mode."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.modes.policy import MATCHING
from temperance.modes.pool import NOWHERE, Pool
from temperance.modes.student import batches_of_squares, log_terms, most_likely, nearest_squares
from temperance.theory import chi_square_quantile

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


def far_from_all(nearest: FloatArray, dim: int) -> BoolArray:
    """Which points no component explains, by the squared distance from the nearest."""
    far: BoolArray = nearest > chi_square_quantile(MATCHING.far_quantile, dim)
    return far
