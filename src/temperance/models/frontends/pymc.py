"""Models of PyMC, compiled through numba, so that the whole loop stays native.

The prior is all free variables with their Jacobians, the likelihood observed variables and potentials. A
model that has neither of these is one density, and tempered as a whole.
"""

import math
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.extras import needed
from temperance.models.contract import ModelSpec
from temperance.models.frontends.pytensor import WHY, Graph, forward
from temperance.models.frontends.starts import start_from
from temperance.parameters import Parameters
from temperance.targets import Target, gather, make_target

N_CHECKED = 3  # points at which the parts must sum to the whole
TOLERANCE = 1e-6  # of a log density, relative beyond one
IMPROPER = ("FlatRV", "HalfFlatRV")
ROWS = 1_000  # draws that are expanded at once

_before: "WeakKeyDictionary[Any, tuple[Any, Translated]]" = WeakKeyDictionary()


def spec(model: Any) -> ModelSpec:
    """The specification of a ``pymc.Model`` with the data that it has now."""
    one = translated(model)
    one.require_sum()
    return ModelSpec(
        target=one.target(),
        dim=one.coordinates.size,
        start=one.start,
        names=one.coordinates,
        constrain=one.constrain,
        value_names=one.values,
        points=one.points,
        unconstrain=one.unconstrain,
        improper=one.improper,
    )


def translated(model: Any) -> "Translated":
    """The model as functions; those of before unless its variables or their shapes have changed."""
    _require_continuous(model)
    point = model.initial_point()
    key = (tuple(model.named_vars), tuple((name, value.shape) for name, value in point.items()))
    if _before.get(model, (None,))[0] != key:
        _before[model] = key, Translated(model, point)
    return _before[model][1]


def _require_continuous(model: Any) -> None:
    if not model.free_RVs:
        raise InvalidInputError("the model of PyMC has no free variables, so there is nothing to sample")
    if model.discrete_value_vars:
        names = ", ".join(value.name for value in model.discrete_value_vars)
        raise InvalidInputError(
            f"the model of PyMC has discrete variables, {names}, and only continuous ones can be sampled: "
            "sum over them, as pymc.Mixture and pymc_extras.marginalize do"
        )


class Translated:
    """A model of PyMC as functions of one vector."""

    def __init__(self, model: Any, point: Mapping[str, FloatArray]) -> None:
        self._free = [variable.name for variable in model.free_RVs]
        self._sampled = [value.name for value in model.value_vars]
        self.coordinates = Parameters(shapes={name: np.shape(point[name]) for name in self._sampled})
        flat = [variable for variable in model.free_RVs if type(variable.owner.op).__name__ in IMPROPER]
        self.improper = tuple(variable.name for variable in flat)
        self._draw, self._forward = _drawing(model, proper=not flat), forward(model)
        self._densities(model, point)
        self.values = _value_names(model, self.constrain(self.start(np.random.default_rng(0))[None]))

    def _densities(self, model: Any, point: Mapping[str, FloatArray]) -> None:
        data = [*model.observed_RVs, *model.potentials]
        parts = [model.logp(vars=data), model.logp(vars=model.free_RVs)] if data else []
        shown = [*model.free_RVs, *model.deterministics]
        outputs = [model.logp(), *parts, *model.replace_rvs_by_values(shown)]
        self._graph = Graph(model, outputs, point)
        whole, *rest = self._graph.outputs
        self._names = [variable.name for variable in shown]
        self._whole, self._expand = self._graph.interpreted(whole), self._graph.over_rows(rest[len(parts) :])
        self._is_split = bool(parts)
        name = model.name or "pymc_model"
        self._parts = [self._graph.compiled(name, part) for part in (rest[:2] if parts else [whole])]

    def target(self) -> Target:
        """The target with the present data."""
        names = ("log_likelihood", "log_prior") if self._is_split else ("log_density",)
        parts = dict(zip(names, self._parts, strict=True))
        return make_target(gather(**parts, data=self._graph.data), vectorized=False)

    def require_sum(self) -> None:
        """Refuse a model whose prior and likelihood are not all of it."""
        generator = np.random.default_rng(0)
        for _ in range(N_CHECKED):
            point, data = self.start(generator), self._graph.data
            whole = float(self._whole(point, *data))
            parts = [float(part(point, data)) for part in self._parts]
            if not np.isclose(sum(parts), whole, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                raise InvalidInputError(
                    f"the likelihood and the prior of the model of PyMC, {' and '.join(map(str, parts))}, do "
                    f"not sum to its log density, {whole}, at the point {point.tolist()}"
                )

    def start(self, generator: np.random.Generator) -> FloatArray:
        """One start, in coordinates."""
        point = self._draw(int(generator.integers(2**31)))
        return np.concatenate([np.ravel(point[name]) for name in self._sampled]).astype(np.float64)

    def unconstrain(self, given: Any) -> Any:
        """A start in the terms of the model."""
        return start_from(given, self.values, self._replaced)

    def _replaced(self, known: Mapping[str, FloatArray], generator: Any) -> FloatArray:
        """A point with these values; those that are not known are drawn."""
        values: Mapping[str, FloatArray] = known
        if generator is not None:
            drawn = self.constrain(self.start(generator)[None])
            values = {name: drawn[name][0] for name in self._free} | dict(known)
        return np.concatenate(
            [np.ravel(one) for one in self._forward(*(values[name] for name in self._free))]
        )

    def constrain(self, rows: FloatArray) -> dict[str, FloatArray]:
        """Free variables as the model has them, and deterministic ones."""
        if not len(rows):  # which pytensor does not take
            return {name: one[:0] for name, one in self.constrain(np.zeros((1, rows.shape[1]))).items()}
        data = self._graph.data
        made = [self._expand(block, *data) for block in np.split(rows, range(ROWS, len(rows), ROWS))]
        return {name: np.concatenate([one[i] for one in made]) for i, name in enumerate(self._names)}

    def points(self, rows: FloatArray) -> FloatArray:
        """Free variables as rows of numbers."""
        values = self.constrain(rows)
        shapes = self.values.shapes.items()
        return np.concatenate(
            [values[name].reshape(len(rows), math.prod(shape)) for name, shape in shapes], axis=1
        )


def _drawing(model: Any, *, proper: bool) -> Any:
    """A function of a seed: draws from the prior where there are any, or points about PyMC's own start."""
    made = needed(WHY, "pymc.initial_point")[0].make_initial_point_fn
    if proper:
        from_prior = made(model=model, default_strategy="prior", jitter_rvs=set())
        try:
            from_prior(0)
        except NotImplementedError:  # a law of the user's, without a way to draw from it
            pass
        else:
            return from_prior
    return made(model=model, jitter_rvs=set(model.free_RVs))


def _value_names(model: Any, made: Mapping[str, FloatArray]) -> Parameters:
    """Names and shapes of free variables; dims and coords of deterministic ones, too."""
    labels = {
        dim: tuple(np.asarray(given).tolist()) for dim, given in model.coords.items() if given is not None
    }
    shapes = {name: value.shape[1:] for name, value in made.items()}
    dims = {name: tuple(given) for name, given in model.named_vars_to_dims.items() if name in shapes}
    fitting = {
        name: given
        for name, given in dims.items()
        if all(
            dim is not None and len(labels.get(dim, range(length))) == length
            for dim, length in zip(given, shapes[name], strict=True)
        )
    }
    used = {dim for given in fitting.values() for dim in given}
    return Parameters(
        shapes={variable.name: shapes[variable.name] for variable in model.free_RVs},
        dims=fitting,
        coords={dim: given for dim, given in labels.items() if dim in used},
    )
