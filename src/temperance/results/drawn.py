"""What a run has drawn, as arrays of all chains."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.parameters import DEFAULT_NAME, Parameters
from temperance.results import measure
from temperance.results.diagnostics import round_trips
from temperance.runs.record import ChainRecord, RunSetup


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """The draws of all chains and what is known of each, cut to the largest block that is rectangular."""

    chains: tuple[ChainRecord, ...] = field(repr=False)
    n_levels_at_start: int
    n_tune: int
    swap_strategy: str
    seed: Any
    complete: bool
    setup: RunSetup = field(repr=False)
    names: Parameters | None = field(default=None, repr=False)
    value_names: Parameters | None = field(default=None, repr=False)  # of what a model shows instead
    # What ended an incomplete run: a signal by its name, or "Stop"; nothing after an error. Of a run with
    # goals that is complete: "goals", a budget, or "unknown"; see `Result.reached`.
    ended_by: str = ""
    folder: str = field(default="", repr=False)  # to which the run was written, if it was

    @cached_property
    def draws(self) -> FloatArray:
        """The base level, (chain, draw, dim)."""
        return stacked([chain.sampling.draws[: self.n_common] for chain in self.kept])

    @cached_property
    def log_density(self) -> FloatArray:
        """Log density of the draws, likelihood and prior together, (chain, draw)."""
        return np.stack(
            [
                chain.sampling.log_density[: self.n_common, 0] + chain.sampling.log_prior[: self.n_common]
                for chain in self.kept
            ]
        )

    @cached_property
    def values(self) -> dict[str, FloatArray]:
        """The draws by name, each (chain, draw, ...): what the model makes of them, or the coordinates."""
        if not self.chains[0].values:
            return self.coordinates.split(self.draws)
        return {
            name: np.stack([chain.values[name][: self.n_common] for chain in self.kept])
            for name in self.chains[0].values
        }

    def __getitem__(self, name: str) -> FloatArray:
        """The draws of one parameter or derived quantity, (chain, draw, ...), in its own units."""
        if name not in self.values:
            raise InvalidInputError(f"name must be one of {', '.join(self.values)}; got {name!r}")
        return self.values[name]

    @cached_property
    def points(self) -> FloatArray:
        """What `parameters` names, (chain, draw, value): draws, or a model's parameters in their units."""
        return self.draws if self.value_names is None else joined(self.values, list(self.value_names.shapes))

    @cached_property
    def proposals(self) -> FloatArray:
        """What the base level proposed, (chain, draw, dim)."""
        return np.stack([chain.sampling.proposal[: self.n_common] for chain in self.kept])

    @cached_property
    def proposal_values(self) -> dict[str, FloatArray]:
        """Jump proposals by name, each (chain, draw, ...), as in `values`; where there is none, anything."""
        if not self.chains[0].values:
            return self.coordinates.split(self.proposals)
        return {
            name: np.stack([chain.proposal_values[name][: self.n_common] for chain in self.kept])
            for name in self.chains[0].values
        }

    @cached_property
    def proposal_points(self) -> FloatArray:
        """Jump proposals in the terms of `points`, (chain, draw, value); where there is none, anything."""
        if self.value_names is None:
            return self.proposals
        return joined(self.proposal_values, list(self.value_names.shapes))

    @property
    def derived(self) -> list[str]:
        """The names of what a model derives from its parameters."""
        shown = None if self.value_names is None else self.value_names.shapes
        return [] if shown is None else [name for name in self.values if name not in shown]

    @cached_property
    def level_draws(self) -> FloatArray:
        """All levels, (chain, draw, level, dim); NaN where a chain has dropped the level."""
        self.require_levels()
        return np.stack([chain.sampling.level_draws[: self.n_common] for chain in self.kept])

    @cached_property
    def level_points(self) -> FloatArray:
        """What `parameters` names at all levels, (chain, draw, level, value); NaN likewise."""
        self.require_levels()
        return np.stack([shown_levels(chain)[: self.n_common] for chain in self.kept])

    @property
    def keeps_levels(self) -> bool:
        """Whether the draws of the hot levels were kept."""
        return all(len(chain.sampling.level_draws) == chain.n_draws for chain in self.chains)

    @property
    def keeps_statistics(self) -> bool:
        """Whether what most diagnostics are made from was kept."""
        return all(measure.keeps_statistics(chain) for chain in self.chains)

    @property
    def keeps_proposals(self) -> bool:
        """Whether what the base level proposed was kept."""
        return all(len(chain.sampling.proposal) == chain.n_draws for chain in self.chains)

    def require_levels(self) -> None:
        """Raise an error unless the draws of the hot levels were kept."""
        if not self.keeps_levels:
            raise InvalidInputError(
                "the hot levels were not kept; sample with keep=('draws', 'statistics', 'levels')"
            )

    @property
    def dim(self) -> int:
        """How many coordinates a draw has."""
        return int(self.chains[0].sampling.draws.shape[1])

    @cached_property
    def n_levels(self) -> list[int]:
        """Levels left, chain by chain."""
        return [len(chain.beta) for chain in self.chains]

    @cached_property
    def round_trips(self) -> list[int]:
        """Journeys of positions from the base to the last level and back, chain by chain."""
        return [round_trips(measure.replicas(chain)) for chain in self.chains]

    @cached_property
    def temperatures(self) -> list[FloatArray]:
        """The ladder each chain ended with; infinite where beta is zero."""
        return [measure.temperatures(chain.beta) for chain in self.chains]

    @property
    def parameters(self) -> Parameters:
        """The names of what is shown: of a model's parameters, or else of the coordinates."""
        return self.value_names or self.coordinates

    @property
    def coordinates(self) -> Parameters:
        """The names of the coordinates: the model's, those given to `named`, or x with a number."""
        return self.names or Parameters(shapes={DEFAULT_NAME: (self.dim,)})

    @cached_property
    def _kept_size(self) -> tuple[int, int]:
        return largest_block([chain.n_draws for chain in self.chains])

    @property
    def n_common(self) -> int:
        """How many draws of each chain are in ``draws``."""
        return self._kept_size[1]

    @cached_property
    def kept(self) -> list[ChainRecord]:
        """The chains that are in ``draws``."""
        return [self.chains[number] for number in self.kept_numbers]

    @cached_property
    def kept_numbers(self) -> list[int]:
        """The place in ``chains`` of each chain that is in ``draws``."""
        long = [number for number, chain in enumerate(self.chains) if chain.n_draws >= self.n_common]
        return long[: self._kept_size[0]]


def joined(values: Mapping[str, FloatArray], names: Sequence[str]) -> FloatArray:
    """Values by name, each (chain, draw, ...), as one array (chain, draw, value)."""
    parts = [values[name] for name in names]
    return np.concatenate(
        [part.reshape(*part.shape[:2], math.prod(part.shape[2:])) for part in parts], axis=2
    )


def shown_levels(chain: ChainRecord) -> FloatArray:
    """All levels of one chain in the terms of the model, or as they were sampled."""
    return chain.sampling.level_draws if chain.level_points is None else chain.level_points()


def stacked(columns: Sequence[FloatArray]) -> FloatArray:
    """The arrays of all chains as one; without a copy where they are the rows of one array already."""
    base: Any = columns[0].base
    if base is not None and len(base) == len(columns) > 0 and base.ndim == columns[0].ndim + 1:
        rows = base[:, : len(columns[0])]
        same = (
            row.__array_interface__["data"] == own.__array_interface__["data"]
            for row, own in zip(rows, columns, strict=True)
        )
        if rows[0].shape == columns[0].shape and all(same):
            return rows  # type: ignore[no-any-return]
    return np.stack(columns)


def largest_block(lengths: Sequence[int]) -> tuple[int, int]:
    """How many chains, cut to which length, keep the most draws."""
    ordered = sorted(lengths, reverse=True)
    sizes = [(rank + 1) * length for rank, length in enumerate(ordered)]
    best = int(np.argmax(sizes))
    if sizes[best] == 0:
        return len(ordered), 0
    return best + 1, ordered[best]
