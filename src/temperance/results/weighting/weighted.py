"""The weighted sample as users see it: points, weights, expectations, and plain draws made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.checks import numeric_array, whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.origin import came_from, function_name
from temperance.results.weighting.weighting import DRAWS, WEIGHTED, Estimate
from temperance.runs.seeds import seed_sequence

if TYPE_CHECKING:
    from temperance.results.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighted:
    """Points of the target with weights that add up to one.

    Draws come first, chain by chain, then the jump proposals that have any weight. ``by`` is ``"weighted"``;
    or ``"draws"``, and the weights are equal, where there is nothing but draws: ``note`` says why.
    """

    points: FloatArray = field(repr=False)  # (point, value), as in ``Result.points``
    weights: FloatArray = field(repr=False)  # (point,)
    log_density: FloatArray = field(repr=False)  # (point,)
    values: Mapping[str, FloatArray] = field(repr=False)  # by name, (point, ...)
    effective_size: float
    by: str
    note: str = ""

    def __len__(self) -> int:
        return len(self.weights)

    def resample(self, n: int, seed: Any = None) -> FloatArray:
        """Points drawn by their weights, (n, value), in random order; systematic, so with the least noise."""
        n = whole_number("n", n, least=1)
        if not len(self):
            raise InvalidInputError("resample needs at least one draw, got none")
        generator = np.random.default_rng(seed_sequence(seed))
        ends = np.cumsum(self.weights)
        places = (generator.random() + np.arange(n)) / n * ends[-1]
        chosen = np.searchsorted(ends, places, side="right")
        return self.points[generator.permutation(np.minimum(chosen, len(self) - 1))]


def weighted_of(result: "Result") -> Weighted:
    """The weighted sample of a result, or its draws with equal weights."""
    weighting = result.weighting
    bridge = weighting.bridge
    rows = slice(None, None, weighting.every)
    draws = _flat(result.points[:, rows])
    log_density = (
        result.log_density[:, rows].ravel() if result.keeps_statistics else np.full(len(draws), np.nan)
    )
    values = {name: _flat(column[:, rows]) for name, column in result.values.items()}
    if bridge is None:
        share = np.full(len(draws), 1.0 / max(len(draws), 1))
        return Weighted(
            points=draws,
            weights=share,
            log_density=log_density,
            values=values,
            effective_size=float(len(draws)),
            by=DRAWS,
            note=weighting.why_not,
        )
    some = bridge.proposal_weight > 0.0
    proposed = {name: column[:, rows][some] for name, column in result.proposal_values.items()}
    return Weighted(
        points=np.concatenate([draws, result.proposal_points[:, rows][some]]),
        weights=np.concatenate([bridge.weight.ravel(), bridge.proposal_weight[some]]),
        log_density=np.concatenate([log_density, bridge.rows.proposal_log_density[some]]),
        values={name: np.concatenate([column, proposed[name]]) for name, column in values.items()},
        effective_size=bridge.effective_size,
        by=WEIGHTED,
    )


def expectation(result: "Result", function: Any) -> Estimate:
    """The mean of a function of points, or of a model's parameters by name, and its standard error."""
    if not callable(function):
        raise InvalidTypeError(f"f must be a function, got {type(function).__name__}: {function!r}")
    if not result.draws.size:
        raise InvalidInputError("expect needs at least one draw, got none")
    named = _Named(result)
    at_draws = _called(function, named.draws, result.draws.shape[:2])
    at_proposals = None
    bridge = result.weighting.bridge
    if bridge is not None:
        some = np.zeros(result.draws.shape[:2], dtype=np.bool_)
        some[:, :: result.weighting.every] = bridge.proposal_weight > 0.0
        at_proposals = np.zeros(at_draws.shape)
        at_proposals[some] = _called(function, named.proposals(some), (int(some.sum()),))
    shape = at_draws.shape[2:]
    flat = [None if one is None else one.reshape(*one.shape[:2], -1) for one in (at_draws, at_proposals)]
    found = result.weighting.estimates(flat[0], flat[1])  # type: ignore[arg-type]
    if not shape:
        return Estimate(float(found.value[0]), float(found.error[0]), found.by)
    return Estimate(found.value.reshape(shape), found.error.reshape(shape), found.by)


class _Named:
    """What a user's function is given: rows, or a dictionary where a model has named its parameters."""

    def __init__(self, result: "Result") -> None:
        self._result = result

    @cached_property
    def draws(self) -> Any:
        if self._result.value_names is None:
            return _flat(self._result.draws)
        return {name: _flat(column) for name, column in self._result.values.items()}

    def proposals(self, some: Any) -> Any:
        if self._result.value_names is None:
            return self._result.proposals[some]
        return {name: column[some] for name, column in self._result.proposal_values.items()}


def _called(function: Callable[[Any], Any], points: Any, shape: tuple[int, ...]) -> FloatArray:
    """The values of a function at points, (*shape, ...), or an error that says what is wrong with them."""
    name, n = function_name(function), int(np.prod(shape))
    own = (
        {key: column.copy() for key, column in points.items()} if isinstance(points, dict) else points.copy()
    )
    try:
        returned = function(own)
    except Exception as error:
        raise InvalidInputError(
            f"f: {name} raised an error, {type(error).__name__}: {error}{came_from(error)}"
        ) from error
    values = numeric_array(f"what {name} returns", returned, "fiub", "an array of numbers")
    if values.ndim == 0 or len(values) != n:
        raise InvalidInputError(
            f"f: {name} must return a row for each of {n} points, got shape {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        bad = int(np.count_nonzero(~np.isfinite(values.reshape(n, -1)).all(axis=1)))
        raise InvalidInputError(
            f"f: {name} must return finite numbers, got NaN or inf at {bad} of {n} points"
        )
    return values.astype(np.float64).reshape(*shape, *values.shape[1:])


def _flat(column: FloatArray) -> FloatArray:
    """Rows of all chains one after the other."""
    return column.reshape(-1, *column.shape[2:])
