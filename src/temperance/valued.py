"""Draws in the terms of a model, made when somebody asks for them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from temperance.core.state import FloatArray, Trace
from temperance.errors import InvalidInputError
from temperance.models.constrain import Shapes, value_shapes, values_of
from temperance.models.contract import Meaning
from temperance.results.result import Result


def with_values(result: Result, meaning: Meaning, shapes: Shapes, *, at_once: bool) -> Result:
    """The same result with the draws in the terms of the model, too."""
    if meaning.constrain is None:
        return result
    made = [LazyValues(meaning, shapes, chain.sampling) for chain in result.chains]
    if at_once:
        for values in made:
            dict(values)
    chains = [
        replace(
            chain,
            values=values,
            proposal_values=LazyProposals(meaning, shapes, chain.sampling),
            level_points=_level_points(meaning, chain.sampling),
        )
        for chain, values in zip(result.chains, made, strict=True)
    ]
    return replace(result, chains=tuple(chains), value_names=meaning.value_names)


def in_terms_of(result: Result, meaning: Meaning, *, at_once: bool) -> Result:
    """A result that was read, in the terms of a model of the same coordinates."""
    dim, names = result.dim, result.names
    if meaning.dim != dim:
        raise InvalidInputError(f"model: the run has {dim} coordinates, and the model has {meaning.dim}")
    if names is not None and meaning.names is not None and names.shapes != meaning.names.shapes:
        ran, own = dict(names.shapes), dict(meaning.names.shapes)
        raise InvalidInputError(f"model: the run has the coordinates {ran}, and the model has {own}")
    first = result.chains[0]
    point = first.sampling.draws[0] if first.n_draws else first.mean[0]
    named = replace(result, names=meaning.names or names)
    return with_values(named, meaning, value_shapes(meaning, point), at_once=at_once)


def _level_points(meaning: Meaning, trace: Trace) -> Callable[[], FloatArray] | None:
    """What makes the draws of all levels in the terms of a model that shows its parameters."""
    points = meaning.points
    if points is None:
        return None

    def made() -> FloatArray:
        draws = trace.level_draws
        rows = points(draws.reshape(-1, draws.shape[-1]))
        return rows.reshape(*draws.shape[:-1], rows.shape[-1])

    return made


class LazyValues(Mapping[str, FloatArray]):
    """What ``constrain`` makes of the draws of a chain."""

    def __init__(self, meaning: Meaning, shapes: Shapes, trace: Trace) -> None:
        self._meaning, self._shapes, self._trace = meaning, shapes, trace

    def __getitem__(self, name: str) -> FloatArray:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    @cached_property
    def _made(self) -> dict[str, FloatArray]:
        return values_of(self._meaning, self._trace.draws, self._shapes)


class LazyProposals(LazyValues):
    """The same of the jumps that were proposed in the support; NaN in all other rows."""

    @cached_property
    def _made(self) -> dict[str, FloatArray]:
        trace = self._trace
        rows = trace.proposal
        if not len(rows):
            return {name: np.empty((0, *shape)) for name, shape in self._shapes.items()}
        some = (trace.jump >= 0) & np.isfinite(trace.proposal_log_density)
        made = values_of(self._meaning, rows[some], self._shapes)
        full = {name: np.full((len(rows), *shape), np.nan) for name, shape in self._shapes.items()}
        for name, column in full.items():
            column[some] = made[name]
        return full
