"""From components to modes, by the draws: those that share draws, or that a ridge joins, are one mode."""

from dataclasses import dataclass, replace

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


@dataclass(frozen=True, eq=False)
class Overlaps:
    """What draws say of components, two by two, and how far each draw is from the nearest."""

    shared: FloatArray  # entry (i, j) adds up the chances that draws with label i come from j
    height: FloatArray  # (component,) mean log density of its draws, repeats aside; -inf without any
    between: FloatArray  # (component, component) draws that might well come from both, repeats aside
    saddle: FloatArray  # mean log density of these; -inf without any
    nearest: FloatArray  # (draw,) squared distance


def overlaps(points: FloatArray, labels: IntArray, pool: Pool, log_density: FloatArray) -> Overlaps:
    """How draws with these labels and log densities lie among the components.

    A draw that repeats the one before says nothing about heights. Where log densities are not known (NaN),
    no draw lies between.
    """
    size = len(pool)
    shared, count, total = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    moved = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))[: len(points)]
    counts = (moved & np.isfinite(log_density)).astype(np.float64)
    heights = np.where(counts > 0.0, log_density, 0.0)
    nearest, start = np.empty(len(points)), 0
    for square in batches_of_squares(points, pool.mixture):
        rows = slice(start, start + len(square))
        start = rows.stop
        nearest[rows] = square.min(axis=1)
        term = log_terms(square, pool.mixture)
        chance = np.exp(term - term.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        member = (labels[rows][:, None] == np.arange(size)).astype(np.float64)
        might_be = (chance >= MATCHING.between).astype(np.float64)
        shared += member.T @ chance
        count += (member * counts[rows, None]).T @ might_be
        total += (member * heights[rows, None]).T @ might_be
    own: FloatArray = np.bincount(labels, counts, size).astype(np.float64)
    sums: FloatArray = np.bincount(labels, heights, size).astype(np.float64)
    return Overlaps(
        shared=shared,
        height=_means(sums, own),
        between=count + count.T,
        saddle=_means(total + total.T, count + count.T),
        nearest=nearest,
    )


def _means(total: FloatArray, count: FloatArray) -> FloatArray:
    return np.where(count > 0.0, total / np.maximum(count, 1.0), -np.inf)


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


def along_ridges(mode: IntArray, found: Overlaps) -> IntArray:
    """The same modes, but those between which the density does not fall are one.

    A bent or long mode has a row of components, of which neighbours may share too few of their draws to be
    joined by these. But between them there are draws, as high as those of the lower of the two; between modes
    there are none, or lower ones. From the highest passage on, two groups are joined if it is as high as the
    peak of one of them (after Chazal et al. 2013), so that what lies low between two peaks never joins them.
    """
    mode = mode.copy()
    top = np.full(int(mode.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(top, mode, found.height)
    passages = np.argwhere(np.triu(found.between, 1) >= MATCHING.least_between)
    for i, j in passages[np.argsort(-found.saddle[tuple(passages.T)], kind="stable")]:
        one, other = mode[i], mode[j]
        if one != other and found.saddle[i, j] >= min(top[one], top[other]) - MATCHING.ridge_fall:
            mode[mode == other] = one
            top[one] = max(top[one], top[other])
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
