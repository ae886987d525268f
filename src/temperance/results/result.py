"""What a run leaves to its user."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.results.round_trips import count_round_trips
from temperance.results.summary import summary_text
from temperance.runs.record import ChainRecord


@dataclass(frozen=True, kw_only=True)
class Result:
    """Draws from the target, and how they came about.

    ``draws`` is the posterior: the base level only. ``chains`` holds everything else, chain by chain.
    An incomplete run (``complete`` is False) keeps in ``draws`` the largest block of chains and draws
    that is rectangular; nothing is lost in ``chains``.
    """

    chains: tuple[ChainRecord, ...] = field(repr=False)
    n_levels_at_start: int
    n_tune: int
    swap_strategy: str
    seed: Any
    complete: bool

    @cached_property
    def draws(self) -> FloatArray:
        """The base level, (chain, draw, dim)."""
        return np.stack([chain.sampling.draws[: self._n_common] for chain in self._kept])

    @cached_property
    def log_density(self) -> FloatArray:
        """Log density of the draws, likelihood and prior together, (chain, draw)."""
        return np.stack(
            [
                chain.sampling.log_density[: self._n_common, 0] + chain.sampling.log_prior[: self._n_common]
                for chain in self._kept
            ]
        )

    @cached_property
    def level_draws(self) -> FloatArray:
        """All levels, (chain, draw, level, dim); NaN where a chain has dropped the level."""
        if any(len(chain.sampling.level_draws) < chain.n_draws for chain in self.chains):
            raise InvalidInputError("the hot levels were not kept; sample with keep_levels=True")
        return np.stack([chain.sampling.level_draws[: self._n_common] for chain in self._kept])

    @property
    def n_levels(self) -> list[int]:
        """Levels left, chain by chain."""
        return [len(chain.beta) for chain in self.chains]

    @property
    def round_trips(self) -> list[int]:
        """Journeys of positions from the base to the last level and back, chain by chain."""
        return [count_round_trips(chain) for chain in self.chains]

    @property
    def temperatures(self) -> list[FloatArray]:
        """The ladder each chain ended with; infinite where beta is zero."""
        with np.errstate(divide="ignore"):
            return [1.0 / chain.beta for chain in self.chains]

    @cached_property
    def _kept_size(self) -> tuple[int, int]:
        return largest_block([chain.n_draws for chain in self.chains])

    @property
    def _n_common(self) -> int:
        return self._kept_size[1]

    @property
    def _kept(self) -> list[ChainRecord]:
        return [chain for chain in self.chains if chain.n_draws >= self._n_common][: self._kept_size[0]]

    def __str__(self) -> str:
        return summary_text(self)


def largest_block(lengths: Sequence[int]) -> tuple[int, int]:
    """How many chains, cut to which length, keep the most draws."""
    ordered = sorted(lengths, reverse=True)
    sizes = [(rank + 1) * length for rank, length in enumerate(ordered)]
    best = int(np.argmax(sizes))
    if sizes[best] == 0:
        return len(ordered), 0
    return best + 1, ordered[best]
