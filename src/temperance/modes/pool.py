"""What several chains learnt to jump to, put together: which components are the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from temperance.core.state import FloatArray, IntArray, Mixture
from temperance.modes.learnt import LearntModes
from temperance.modes.policy import MATCHING
from temperance.modes.student import from_parts, whitened_squares
from temperance.theory import chi_square_quantile

NOWHERE = -1  # the place of the broad component, which is no mode


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays have no single answer to ==
class Pool:
    """The components of all chains, each of which stands for one of every chain that learnt it."""

    weight: FloatArray  # (component,)
    centre: FloatArray  # (component, dim)
    covariance: FloatArray  # (component, dim, dim)
    place: tuple[IntArray, ...]  # for each chain, where each of its components went; the last go nowhere

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def dim(self) -> int:
        """How many coordinates a centre has."""
        return int(self.centre.shape[1])

    @cached_property
    def mixture(self) -> Mixture:
        """The components as a mixture of Student's t; there must be one at least."""
        return from_parts(self.weight, self.centre, self.covariance)

    def chosen(self, which: IntArray) -> "Pool":
        """Some of the components, with nothing said about chains."""
        return Pool(
            weight=self.weight[which], centre=self.centre[which], covariance=self.covariance[which], place=()
        )


def pooled(learnt: Sequence[LearntModes | None]) -> Pool | None:
    """The components of all chains, matched; None where nothing was learnt.

    A component is the same as one of an earlier chain when the centre of each lies in the inner half of the
    other's mass, by the chi-square of its squared distance. The closest are matched first, and of each chain
    at most one.
    """
    known = [modes for modes in learnt if modes is not None]
    if not known:
        return None
    counts = [0 if modes is None else len(modes.weight) - modes.n_broad for modes in learnt]
    weight = np.concatenate([modes.weight[: -modes.n_broad] for modes in known])
    centre = np.concatenate([modes.centre[: -modes.n_broad] for modes in known])
    covariance = np.concatenate([modes.covariance[: -modes.n_broad] for modes in known])
    separate = Pool(weight=weight, centre=centre, covariance=covariance, place=())
    group = _matched(separate, counts)
    parts = np.split(group, np.cumsum(counts)[:-1])
    place = [
        np.append(part, np.full(1 if modes is None else modes.n_broad, NOWHERE))
        for part, modes in zip(parts, learnt, strict=True)
    ]
    return replace(_merged(separate, group), place=tuple(place))


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
    group = np.empty(len(pool), dtype=np.int64)
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
    partner = np.full(len(own), NOWHERE, dtype=np.int64)
    if not len(own) or not len(known):
        return partner
    there = whitened_squares(own.centre, known.mixture)
    back = whitened_squares(known.centre, own.mixture).T
    distance = np.maximum(there, back)
    near = np.argwhere(distance <= chi_square_quantile(MATCHING.same_quantile, own.dim))
    for mine, other in near[np.argsort(distance[tuple(near.T)], kind="stable")]:
        if partner[mine] == NOWHERE and other not in partner:
            partner[mine] = other
    return partner
