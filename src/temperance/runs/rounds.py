"""Rounds of proposals at the end of the tuning: what a chain remembers of them."""

from dataclasses import dataclass, replace

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.blend import Blend, no_blend
from temperance.modes.mixture import no_mixture


@dataclass(frozen=True)
class Rounds:
    """Proposals with known densities, of all rounds and chains, and the mixture that they are teaching.

    ``drawn_from`` has the mixtures of all rounds as one, its heights those of densities times numbers of
    draws. ``fresh`` points are this chain's own, of a round that the others have not been told of.
    """

    point: FloatArray  # (point, dim)
    log_density: FloatArray
    log_drawn: FloatArray  # log of ``drawn_from`` there
    drawn_from: Mixture
    fresh_point: FloatArray
    fresh_log_density: FloatArray
    core: Blend  # what the modes are made of
    wide: Blend  # beside it, what reaches over their tails
    n_made: int = 0
    n_evaluations: int = 0  # by this chain
    is_due: bool = False  # this chain is to make its share of a round
    is_over: bool = False
    taught: bool = False  # whether the mixture of the draws is of their making

    @property
    def began(self) -> bool:
        """Whether this chain has made its share of a round, or tried to."""
        return self.is_over or self.n_evaluations > 0

    @property
    def under_way(self) -> bool:
        """Whether a round was begun and nothing was learnt from it yet."""
        return len(self.fresh_point) > 0


def no_rounds(dim: int) -> Rounds:
    """None yet."""
    nowhere, none = np.empty((0, dim)), np.empty(0)
    empty = no_mixture(dim)
    return Rounds(nowhere, none, none, empty, nowhere, none, no_blend(dim), no_blend(dim))


def gone_over(rounds: Rounds, dim: int) -> Rounds:
    """No more of them, and nothing to remember but what they took."""
    return replace(
        no_rounds(dim),
        n_made=rounds.n_made,
        n_evaluations=rounds.n_evaluations,
        is_over=True,
        taught=rounds.taught,
    )
