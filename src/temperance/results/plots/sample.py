"""What a picture of the answer is drawn from: weighted points of some quantities, each with its mode."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from temperance.core.state import FloatArray, IntArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.modes.pool import NOWHERE
from temperance.parameters import Parameters
from temperance.results.plots.canvas import short_number
from temperance.results.result import Result
from temperance.results.turning import turns_of, unrolled

MAX_CHOSEN = 5  # quantities that are shown when nobody says which
MAX_GIVEN = 12  # and when somebody does: more panels have no room
LARGEST = 1e100  # values that can be drawn
RELATIVE = 1e-12  # values that differ by less are one


class Shown(NamedTuple):
    """Points of the target with their weights, by the draws and, where there are any, the jump proposals."""

    labels: list[str]
    values: FloatArray  # (point, quantity); those that go in circles without a cut
    weights: FloatArray  # (point,), adding up to one
    mode: IntArray  # (point,)
    note: str = ""  # which quantities these are, if not all


def shown_sample(result: Result, parameters: Any = None) -> Shown:
    """The quantities that were asked for, or a few that tell most: parameters and what is derived."""
    labels, values = _quantities(result)
    weights, mode = result.weighted.weights, _modes(result)
    if parameters is not None:
        columns, note = _given(parameters, labels, result), ""
    elif len(labels) <= MAX_CHOSEN:
        columns, note = list(range(len(labels))), ""
    else:
        columns, note = _telling(result, values, weights, mode)
    return Shown([labels[k] for k in columns], values[:, columns], weights, mode, note)


def evenly(weights: FloatArray, n: int) -> IntArray:
    """Places of ``n`` points, each as often as its weight asks for, in an order that favours no mode."""
    ends = np.cumsum(weights)
    places = (np.arange(n) + 0.5) / n * ends[-1]
    chosen = np.minimum(np.searchsorted(ends, places, side="right"), len(weights) - 1)
    return np.random.default_rng(0).permutation(chosen)


def trouble(values: FloatArray) -> str:
    """Why a quantity has no histogram, if it has none."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "not finite"
    size = float(np.abs(known).max())
    if size > LARGEST:
        return "too large\nto draw"
    return f"constant\n{short_number(known[0])}" if np.ptp(known) <= RELATIVE * size else ""


def _quantities(result: Result) -> tuple[list[str], FloatArray]:
    """All parameters and all that is derived from them, at all points."""
    weighted = result.weighted
    points = unrolled(weighted.points, turns_of(result.parameters), about=result.points)
    shapes = {name: weighted.values[name].shape[1:] for name in result.derived}
    derived = [weighted.values[name].reshape(len(weighted), -1) for name in shapes]
    labels = [*result.parameters.labels, *Parameters(shapes=shapes).labels]
    return labels, np.concatenate([points, *derived], axis=1)


def _modes(result: Result) -> IntArray:
    """The mode of each point; those of draws first, as in the weighted sample."""
    modes, bridge, rows = result.modes, result.weighting.bridge, slice(None, None, result.weighting.every)
    of_draws = modes.label[:, rows].ravel()
    if bridge is None:
        return of_draws
    some = bridge.proposal_weight > 0.0
    of_jumps = np.full(int(some.sum()), NOWHERE) if modes.proposed is None else modes.proposed[:, rows][some]
    return np.concatenate([of_draws, of_jumps])


def _given(parameters: Any, labels: Sequence[str], result: Result) -> list[int]:
    """Columns by number, by label, or by the name of an array for all of it."""
    asked = [parameters] if isinstance(parameters, str | int) else parameters
    if not isinstance(asked, Sequence):
        raise InvalidTypeError(f"parameters must be a list of names or numbers, got {parameters!r}")
    columns = list(dict.fromkeys(k for one in asked for k in _columns_of(one, labels, result)))
    if not 0 < len(columns) <= MAX_GIVEN:
        raise InvalidInputError(f"parameters must be 1 to {MAX_GIVEN}, got {len(columns)}")
    return columns


def _columns_of(one: Any, labels: Sequence[str], result: Result) -> list[int]:
    if isinstance(one, str):
        found = [k for k, label in enumerate(labels) if label == one or label.startswith(f"{one}[")]
        if found:
            return found
        known = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
        raise InvalidInputError(f"parameter must be one of {known}; got {one!r}")
    return [result.parameters.index(one)]


def _telling(
    result: Result, values: FloatArray, weights: FloatArray, mode: IntArray
) -> tuple[list[int], str]:
    """The quantities in which modes lie apart; those with the fewest effective draws if there is one mode."""
    if len(result.modes) > 1:
        scores = np.array(
            [math.nan if trouble(column) else _apart(column, weights, mode) for column in values.T]
        )
        why = "those that tell modes apart best"
    else:
        sizes = [*result.estimates["ess_bulk"], *result.derived_estimates["ess_bulk"]]
        scores = -np.array(sizes, dtype=np.float64)
        why = "those with the fewest effective draws"
    best = np.argsort(-np.nan_to_num(scores, nan=-math.inf), kind="stable")[:MAX_CHOSEN]
    return sorted(best.tolist()), f"{MAX_CHOSEN} of {values.shape[1]} shown, {why}"


def _apart(values: FloatArray, weights: FloatArray, mode: IntArray) -> float:
    """The share of a variance that lies between modes; NaN where there is none."""
    own = (mode >= 0) & np.isfinite(values)
    mass = np.bincount(mode[own], weights[own])
    mean = np.bincount(mode[own], weights[own] * values[own]) / np.where(mass > 0.0, mass, 1.0)
    middle = (mass * mean).sum() / mass.sum()
    total = (weights[own] * (values[own] - middle) ** 2).sum()
    return float((mass * (mean - middle) ** 2).sum() / total) if total > 0.0 else math.nan
