"""The draws and the jump proposals of a run as two samples whose densities are known, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.mixture import compiled_log_densities
from temperance.core.state import FloatArray, IntArray
from temperance.modes.learnt import LearntModes
from temperance.modes.overlap import BoolArray
from temperance.modes.student import from_parts

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROWS = 1_000_000  # rows of all chains that are weighted; of more, one in so many
NO_STRATUM = -1
Parts = Sequence[tuple[LearntModes, IntArray]]  # components, and how many proposals came from each


@dataclass(frozen=True)
class Rows:
    """What is known of each row, (chain, row): the draw there, and the jump that was proposed, if any.

    A stratum is a component of the mixture of one chain or more: it is known how many proposals came from it.
    ``log_mixture`` is the log of the density of all strata together, each times its number of proposals.
    """

    every: int  # one row in so many of the result's
    log_density: FloatArray  # of the draws
    log_mixture: FloatArray  # at the draws
    proposal_log_density: FloatArray  # -inf where no jump was proposed
    proposal_log_mixture: FloatArray  # zero likewise
    stratum: IntArray  # of the proposal, `NO_STRATUM` likewise
    n_strata: int

    @property
    def n_proposals(self) -> int:
        """How many jumps were proposed."""
        return int(np.count_nonzero(self.stratum != NO_STRATUM))


def rows_of(result: "Result") -> Rows:
    """The rows of a result that keeps its proposals."""
    every = max(1, -(-result.draws.shape[0] * result.draws.shape[1] // MAX_ROWS))
    chains = result.kept
    cut = slice(0, result.n_common, every)
    jump = np.stack([chain.sampling.jump[cut] for chain in chains]).astype(np.int64)
    groups, group_of = _distinct([chain.modes for chain in chains])
    sizes = [0 if modes is None else len(modes.weight) for modes in groups]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    stratum = np.where(jump >= 0, first[group_of][:, None] + jump, NO_STRATUM)
    counts = np.bincount(stratum[jump >= 0], minlength=int(first[-1]))
    parts = [(modes, counts[first[k] : first[k + 1]]) for k, modes in enumerate(groups) if modes is not None]
    points = result.draws[:, ::every]
    proposals = np.stack([chain.sampling.proposal[cut] for chain in chains])
    return Rows(
        every=every,
        log_density=result.log_density[:, ::every],
        log_mixture=_log_mixture(points.reshape(-1, result.dim), parts).reshape(jump.shape),
        proposal_log_density=np.where(
            jump >= 0, np.stack([chain.sampling.proposal_log_density[cut] for chain in chains]), -np.inf
        ),
        proposal_log_mixture=_at(jump >= 0, proposals, parts),
        stratum=stratum,
        n_strata=int(first[-1]),
    )


def _distinct(learnt: Sequence[LearntModes | None]) -> tuple[list[LearntModes | None], IntArray]:
    """The mixtures that differ, and which of them each chain has."""
    groups: list[LearntModes | None] = []
    place = []
    for modes in learnt:
        same = [k for k, other in enumerate(groups) if _equal(modes, other)]
        place.append(same[0] if same else len(groups))
        if not same:
            groups.append(modes)
    return groups, np.array(place, dtype=np.int64)


def _equal(one: LearntModes | None, other: LearntModes | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("weight", "centre", "covariance")
    )


def _at(chosen: BoolArray, points: FloatArray, parts: Parts) -> FloatArray:
    """The same at some of the points (chain, row, dim); zero at the others."""
    values = np.zeros(chosen.shape)
    values[chosen] = _log_mixture(points[chosen], parts)
    return values


def _log_mixture(points: FloatArray, parts: Parts) -> FloatArray:
    """Log of the sum over all strata of their number of proposals times their density, at each point."""
    total = np.full(len(points), -np.inf)
    rows = np.ascontiguousarray(points)
    for modes, count in parts:
        some = count > 0
        if np.any(some):
            mixture = from_parts(count[some].astype(np.float64), modes.centre[some], modes.covariance[some])
            values = np.empty(len(rows))
            compiled_log_densities()(rows, mixture, values)
            total = np.logaddexp(total, values)
    return total
