"""Where the parameters of a model are: in the coordinates that are sampled, in the vector of values."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from temperance.checks import numeric_array, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.parameters import Parameters, check_name, parameters_from
from temperance.priors import Prior
from temperance.priors.kernels.table import Table, by_rows, table_of

SAMPLED = "{}_unconstrained"  # what the coordinates of a parameter are called


class Layout:
    """The priors of all parameters, one after the other."""

    def __init__(self, priors: Any, dims: Any = None, coords: Any = None) -> None:
        self.priors = _checked(priors)
        shapes = {name: prior.shape for name, prior in self.priors.items()}
        self.n_values = sum(math.prod(shape) for shape in shapes.values())
        self.dim = sum(prior.n_coordinates for prior in self.priors.values())
        with within("parameters"):
            plain = parameters_from(shapes, self.n_values, dims, coords)
        self.names = Parameters(
            shapes=plain.shapes, dims=plain.dims, coords=plain.coords, periods=self._periods(plain)
        )

    @cached_property
    def table(self) -> Table:
        """What the compiled functions read."""
        return table_of([block for prior in self.priors.values() for block in prior.blocks])

    @cached_property
    def coordinates(self) -> Parameters:
        """The coordinates as they are sampled."""
        shapes = {SAMPLED.format(name): _sampled_shape(prior) for name, prior in self.priors.items()}
        return Parameters(shapes=shapes)

    @property
    def improper(self) -> tuple[str, ...]:
        """Parameters whose prior has no mass to draw from."""
        return tuple(name for name, prior in self.priors.items() if not prior.proper)

    @property
    def undrawable(self) -> tuple[str, ...]:
        """Parameters that no start can be drawn for."""
        return tuple(name for name, prior in self.priors.items() if prior.draw is None)

    def values(self, rows: FloatArray) -> FloatArray:
        """The values of sampled points, (n, value)."""
        return by_rows(self.table, rows, self.n_values)[0]

    def draw(self, generator: np.random.Generator) -> FloatArray:
        """One point as it is sampled, from the prior."""
        return np.concatenate([_drawn(name, prior, generator) for name, prior in self.priors.items()])

    def start(self, given: Any) -> Any:
        """A start in the user's terms as one in coordinates: a point, or a function of a generator."""
        if callable(given):
            return lambda generator: self._point(given(generator), generator)
        known = self._known(given)
        if len(known) == len(self.priors):
            return self._joined(known)
        self.require_draws([name for name in self.priors if name not in known])
        return lambda generator: self._joined(known, generator)

    def require_draws(self, names: Any) -> None:
        """Refuse to draw what cannot be drawn."""
        missing = [name for name in names if self.priors[name].draw is None]
        if missing:
            prior = self.priors[missing[0]].text
            raise InvalidInputError(
                f"initial must say where {missing[0]!r} starts, such as initial={{{missing[0]!r}: ...}}: its "
                f"prior, {prior}, cannot be drawn from"
            )

    def _point(self, given: Any, generator: np.random.Generator) -> FloatArray:
        return self._joined(self._known(given), generator)

    def _known(self, given: Any) -> dict[str, FloatArray]:
        """The coordinates of what a user gave values for, by name, or as one vector of all values."""
        if not isinstance(given, Mapping):
            vector = numeric_array(
                "initial", given, "fiu", "a dict of parameters, or one vector of all values"
            )
            if vector.shape != (self.n_values,):
                raise InvalidInputError(
                    f"initial must be a dict of parameters, or a vector of their {self.n_values} values; "
                    f"got shape {vector.shape}"
                )
            given = self.names.split(vector.astype(np.float64))
        unknown = [name for name in given if name not in self.priors]
        if unknown:
            known = ", ".join(list(self.priors)[:10])
            raise InvalidInputError(f"initial has {unknown[0]!r}, and the parameters are {known}")
        return {name: _inverse(name, self.priors[name], value) for name, value in given.items()}

    def _joined(self, known: Mapping[str, FloatArray], generator: Any = None) -> FloatArray:
        parts = [
            known[name] if name in known else _drawn(name, prior, generator)
            for name, prior in self.priors.items()
        ]
        return np.concatenate(parts)

    def _periods(self, plain: Parameters) -> dict[str, tuple[float, float]]:
        periods: dict[str, tuple[float, float]] = {}
        labels = iter(plain.labels)
        for prior in self.priors.values():
            own = [next(labels) for _ in range(prior.size)]
            periods |= {own[k]: turn for k, turn in enumerate(prior.turns) if turn is not None}
        return periods


def _checked(priors: Any) -> dict[str, Prior]:
    if not isinstance(priors, Mapping):
        raise InvalidTypeError(
            "parameters must be a dict from names to priors, such as {'mu': temperance.priors.normal(0, 1)}; "
            f"got {type(priors).__name__}: {priors!r}"
        )
    if not priors:
        raise InvalidInputError("parameters must have one entry at least, got none")
    for name, prior in priors.items():
        with within("parameters"):
            check_name(name)
        if not isinstance(prior, Prior):
            raise InvalidTypeError(
                f"parameters: {name!r} must have a prior, such as temperance.priors.normal(0, 1); "
                f"got {type(prior).__name__}: {prior!r}"
            )
    return dict(priors)


def _sampled_shape(prior: Prior) -> tuple[int, ...]:
    return prior.shape if prior.n_coordinates == prior.size else (prior.n_coordinates,)


def _drawn(name: str, prior: Prior, generator: np.random.Generator) -> FloatArray:
    if prior.draw is None:
        raise InvalidInputError(f"the prior of {name!r}, {prior.text}, cannot be drawn from")
    with within(f"the prior of {name!r}"):
        return prior.draw(generator)


def _inverse(name: str, prior: Prior, value: Any) -> FloatArray:
    array = numeric_array(f"initial: {name}", value, "fiu", "a number or an array of numbers")
    if array.shape != prior.shape:
        raise InvalidInputError(f"initial: {name} must have shape {prior.shape}, got {array.shape}")
    point = prior.unconstrain(array.astype(np.float64))
    if not np.all(np.isfinite(point)):
        raise InvalidInputError(
            f"initial: {name} must lie within the support of {prior.text}, got {array.tolist()}"
        )
    return point
