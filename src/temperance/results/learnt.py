"""What the chains learnt to jump to, put together, and which components are one mode."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import JUMP_DOF, FloatArray, IntArray
from temperance.runs.record import LearntModes
from temperance.theory import chi_square_quantile

MATCH_QUANTILE = 0.5  # the centre of each lies in the inner half of the other's mass
MAX_OVERLAP = 0.06  # of one's draws that might be another's, for two modes; set by looking at the zoo
FAR_QUANTILE = 0.999  # of the distance from a centre; draws beyond it are explained by no component
BATCH = 2_000_000  # whitened coordinates computed at once
NOWHERE = -1  # the place of the broad component, which is no mode
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays have no single answer to ==
class Pool:
    """The components of all chains, each of which stands for one of every chain that learnt it."""

    weight: FloatArray  # (component,)
    centre: FloatArray  # (component, dim)
    covariance: FloatArray  # (component, dim, dim)
    place: tuple[IntArray, ...]  # for each chain, where each of its components went; the last is nowhere

    @property
    def dim(self) -> int:
        """How many coordinates a centre has."""
        return int(self.centre.shape[1])

    def chosen(self, which: IntArray) -> "Pool":
        """Some of the components, with nothing said about chains."""
        return Pool(
            weight=self.weight[which], centre=self.centre[which], covariance=self.covariance[which], place=()
        )

    @property
    def log_height(self) -> FloatArray:
        """Log of the weighted density at the centre, up to a constant that all share."""
        half_log_det: FloatArray = 0.5 * np.linalg.slogdet(self.covariance)[1]
        return np.log(self.weight) - half_log_det


def pooled(learnt: Sequence[LearntModes | None]) -> Pool | None:
    """The components of all chains, matched; None where nothing was learnt.

    A component is the same as one of an earlier chain when the centre of each lies in the inner half of the
    other's mass, by the chi-square of its squared distance. The closest are matched first, and of each chain
    at most one.
    """
    known = [modes for modes in learnt if modes is not None]
    if not known:
        return None
    counts = [0 if modes is None else len(modes.weight) - 1 for modes in learnt]
    weight = np.concatenate([modes.weight[:-1] for modes in known])
    centre = np.concatenate([modes.centre[:-1] for modes in known])
    covariance = np.concatenate([modes.covariance[:-1] for modes in known])
    separate = Pool(weight=weight, centre=centre, covariance=covariance, place=())
    group = _matched(separate, counts)
    parts = np.split(group, np.cumsum(counts)[:-1])
    return replace(_merged(separate, group), place=tuple(np.append(part, NOWHERE) for part in parts))


def visited_only(pool: Pool, visited: IntArray) -> Pool:
    """The components with draws. Of the others, what one of them explains goes there, the rest nowhere."""
    some = pool.chosen(visited)
    left = replace(some, weight=some.weight / some.weight.sum())
    rank = np.append(most_likely(pool.centre, left), NOWHERE)  # what is nowhere takes the last
    nearest = np.concatenate([square.min(axis=1) for square in _squares(pool.centre, left)])
    rank[:-1][far_from_all(nearest, pool.dim)] = NOWHERE
    rank[visited] = np.arange(len(visited))
    return replace(left, place=tuple(rank[where] for where in pool.place))


def most_likely(points: FloatArray, pool: Pool) -> IntArray:
    """The component with the highest density at each of the points (point, dim)."""
    # log w − c log(1 + s/ν) is largest where (ν + s) w^(−1/c) is smallest: no logarithm for each point.
    factor = np.exp(-(pool.log_height - pool.log_height.max()) / _power(pool.dim))
    labels = [np.argmin((JUMP_DOF + square) * factor, axis=1) for square in _squares(points, pool)]
    return np.concatenate(labels) if labels else np.empty(0, dtype=np.int64)


def overlaps(points: FloatArray, labels: IntArray, pool: Pool) -> tuple[FloatArray, FloatArray]:
    """How much of the draws of each component might be another's, and how far each draw is from the nearest.

    Entry (i, j) adds up the chances that draws with label i come from j.
    """
    n_components = len(pool.weight)
    shared, nearest, start = np.zeros((n_components, n_components)), np.empty(len(points)), 0
    for square in _squares(points, pool):
        rows = slice(start, start + len(square))
        start = rows.stop
        nearest[rows] = square.min(axis=1)
        term = pool.log_height - _power(pool.dim) * np.log1p(square / JUMP_DOF)
        chance = np.exp(term - term.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        member = labels[rows][:, None] == np.arange(n_components)
        shared += member.T.astype(np.float64) @ chance
    return shared, nearest


def joined(shared: FloatArray) -> IntArray:
    """The mode of each component: those that overlap too much are one (DEMP of Hennig 2010).

    Of all pairs the one of which one overlaps the other most is joined, until none overlaps by `MAX_OVERLAP`.
    """
    left, mode = shared.copy(), np.arange(len(shared))
    while len(left) > 1:
        rate = left / np.maximum(left.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        np.fill_diagonal(rate, 0.0)
        i, j = np.unravel_index(int(np.argmax(rate)), rate.shape)
        if rate[i, j] < MAX_OVERLAP:
            break
        left[j] += left[i]
        left[:, j] += left[:, i]
        left[i], left[:, i] = 0.0, 0.0
        mode[mode == i] = j
    names: IntArray = np.unique(mode, return_inverse=True)[1]
    return names


def far_from_all(nearest: FloatArray, dim: int) -> BoolArray:
    """Which points no component explains, by the squared distance from the nearest."""
    far: BoolArray = nearest > chi_square_quantile(FAR_QUANTILE, dim)
    return far


def _merged(pool: Pool, group: IntArray) -> Pool:
    """One component for each group, with the weight, mean and covariance of the group as a whole."""
    total = np.bincount(group, pool.weight)
    share = pool.weight / total[group]
    centre, covariance = np.zeros((len(total), pool.dim)), np.zeros((len(total), pool.dim, pool.dim))
    np.add.at(centre, group, share[:, None] * pool.centre)
    offset = pool.centre - centre[group]
    around = pool.covariance + offset[:, :, None] * offset[:, None, :]
    np.add.at(covariance, group, share[:, None, None] * around)
    return Pool(weight=total / total.sum(), centre=centre, covariance=covariance, place=())


def _matched(pool: Pool, counts: Sequence[int]) -> IntArray:
    """Which components are one and the same, numbered from zero; ``counts`` are those of each chain.

    Chain by chain, so that the work grows with the number of chains and not with its square: whoever learnt a
    component first stands for it.
    """
    group = np.empty(len(pool.weight), dtype=np.int64)
    first = np.empty(0, dtype=np.int64)  # of each group
    for end, count in zip(np.cumsum(counts), counts, strict=True):
        own = np.arange(end - count, end)
        partner = _partners(pool.chosen(own), pool.chosen(first))
        new = partner == NOWHERE
        partner[new] = len(first) + np.arange(np.count_nonzero(new))
        group[own] = partner
        first = np.append(first, own[new])
    return group


def _partners(own: Pool, known: Pool) -> IntArray:
    """The known component that each of a chain's own is, or nowhere; the closest first, and none twice."""
    partner = np.full(len(own.weight), NOWHERE, dtype=np.int64)
    if not len(own.weight) or not len(known.weight):
        return partner
    there = np.concatenate(list(_squares(own.centre, known)))
    back = np.concatenate(list(_squares(known.centre, own))).T
    distance = np.maximum(there, back)
    near = np.argwhere(distance <= chi_square_quantile(MATCH_QUANTILE, own.dim))
    for mine, other in near[np.argsort(distance[tuple(near.T)], kind="stable")]:
        if partner[mine] == NOWHERE and other not in partner:
            partner[mine] = other
    return partner


def _power(dim: int) -> float:
    return 0.5 * (JUMP_DOF + dim)


def _squares(points: FloatArray, pool: Pool) -> Iterator[FloatArray]:
    """Squared distances from all centres in the widths there, (point, component), batch by batch."""
    n_components, dim = pool.centre.shape
    whitener = np.linalg.inv(np.linalg.cholesky(pool.covariance))
    directions = whitener.transpose(2, 0, 1).reshape(dim, n_components * dim)
    origin = np.einsum("kij,kj->ki", whitener, pool.centre).ravel()
    step = max(1, BATCH // (n_components * dim))
    for start in range(0, len(points), step):
        whitened = points[start : start + step] @ directions - origin
        yield np.square(whitened).reshape(-1, n_components, dim).sum(axis=2)
