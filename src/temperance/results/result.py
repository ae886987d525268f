"""What a run leaves to its user."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.parameters import DEFAULT_NAME, Parameters, parameters_from
from temperance.results import measure, storage
from temperance.results.diagnostics import round_trips
from temperance.results.modes import Modes, given_modes, modes_of
from temperance.results.show import as_html, as_text
from temperance.results.summary import Summary, estimates, summarise
from temperance.results.turning import turns_of, unrolled
from temperance.results.warnings import ResultWarning, verdict, warnings_of
from temperance.runs.record import ChainRecord, RunSetup


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Draws from the target, and how they came about.

    ``draws`` is the posterior: the base level only. ``chains`` holds everything else, chain by chain.
    An incomplete run (``complete`` is False) keeps in ``draws`` the largest block of chains and draws
    that is rectangular; nothing is lost in ``chains``. Printed, a result shows its verdict and its warnings
    first. A result equals itself alone, so that it can be a key: compare what it holds, such as ``draws``.
    """

    chains: tuple[ChainRecord, ...] = field(repr=False)
    n_levels_at_start: int
    n_tune: int
    swap_strategy: str
    seed: Any
    complete: bool
    setup: RunSetup = field(repr=False)
    names: Parameters | None = field(default=None, repr=False)
    value_names: Parameters | None = field(default=None, repr=False)  # of what a model shows instead
    ended_by: str = (
        ""  # what ended an incomplete run: a signal by its name, or "Stop"; nothing after an error
    )

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
        return self.draws if self.value_names is None else self._joined(list(self.value_names.shapes))

    @property
    def derived(self) -> list[str]:
        """The names of what a model derives from its parameters."""
        shown = None if self.value_names is None else self.value_names.shapes
        return [] if shown is None else [name for name in self.values if name not in shown]

    def _joined(self, names: list[str]) -> FloatArray:
        sample = self.draws.shape[:2]
        return np.concatenate([self.values[name].reshape(*sample, -1) for name in names], axis=2)

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

    def named(self, parameters: Any, *, dims: Any = None, coords: Any = None) -> "Result":
        """The same result, with names that are used wherever it is shown or exported.

        Parameters
        ----------
        parameters
            Names and shapes of consecutive coordinates, such as ``{"mu": (3,), "sigma": ()}``; or a list with
            one name for each coordinate; or one name for all of them.
        dims, coords
            As in ArviZ: names of a parameter's dimensions, and labels along a dimension.
        """
        if self.value_names is not None:
            known = ", ".join(self.value_names.shapes)
            raise InvalidInputError(f"the model has named its parameters: {known}; name them there")
        return replace(self, names=parameters_from(parameters, self.dim, dims, coords))

    @cached_property
    def estimates(self) -> dict[str, list[Any]]:
        """Moments, quantiles, Monte Carlo error, ESS and R-hat, one column each."""
        return estimates(unrolled(self.points, turns_of(self.parameters)), self.parameters.labels)

    @cached_property
    def derived_estimates(self) -> dict[str, list[Any]]:
        """The same of what a model derives; no warning looks at these."""
        shapes = {name: self.values[name].shape[2:] for name in self.derived}
        points = self._joined(self.derived) if shapes else np.empty((*self.draws.shape[:2], 0))
        return estimates(points, Parameters(shapes=shapes).labels)

    def summary(self, modes: Any = None) -> Summary:
        """All diagnostics as tables: parameters, levels, chains, pairs of levels, modes."""
        return summarise(self, modes)

    @cached_property
    def warnings(self) -> tuple[ResultWarning, ...]:
        """What should worry you, each with a cure."""
        return warnings_of(self)

    @property
    def verdict(self) -> str:
        """What the warnings amount to, in one sentence."""
        return verdict(self.warnings)

    @cached_property
    def modes(self) -> Modes:
        """The modes in which there are draws, the heaviest first: centres, widths, weights, visits.

        They are those that the chains learnt while tuning, put together. Where nothing was learnt, as with
        ``Jumps(enabled=False)``, groups of draws with wide gaps between them are looked for, and modes that
        touch count as one.
        """
        return modes_of(self)

    def occupancy(self, modes: Any = None) -> FloatArray:
        """Share of each chain in each mode, (chain, mode).

        ``modes`` are their centres, (mode, dim), and each draw belongs to the nearest. Without them, the
        modes are those of `Result.modes`.
        """
        if not self.draws.size:
            raise InvalidInputError("occupancy needs at least one draw, got none")
        return (self.modes if modes is None else given_modes(self, modes)).share

    def to_datatree(self, *, warmup: bool = False, levels: bool = False) -> Any:
        """The result as an ``xarray.DataTree`` in the layout of ArviZ; see `to_arviz`."""
        from temperance.results.datatree import to_datatree

        return to_datatree(self, warmup=warmup, levels=levels)

    def to_arviz(self, *, warmup: bool = False, levels: bool = False) -> Any:
        """The result for ArviZ: a ``DataTree``, or ``InferenceData`` before ArviZ 1.

        ``warmup`` adds the tuning, ``levels`` the draws of the hot levels (``keep`` must have had "levels")
        as a group of their own. A chain is an independent run, never a temperature.
        """
        from temperance.results.datatree import to_arviz

        return to_arviz(self, warmup=warmup, levels=levels)

    def report(self, path: Any, *, title: str = "temperance", overwrite: bool = False) -> Path:
        """Write one self-contained page: verdict, warnings, tables, figures, settings; and say where.

        A file of that name is only replaced with ``overwrite=True``.
        """
        from temperance.results.report import write_report

        return write_report(self, path, title=title, overwrite=overwrite)

    def save(self, path: Any, *, overwrite: bool = False) -> Path:
        """Write everything to one .npz file, which `temperance.load` and NumPy read, and say where.

        A file of that name is only replaced with ``overwrite=True``.
        """
        return storage.save(self, path, overwrite=overwrite)

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

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


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
