"""Starts in the terms of a model: a dict of values of some variables or all, one vector, or a function."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from temperance.checks import numeric_array
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.parameters import Parameters

# From the values that are known and a generator for the others (None where all are known) to coordinates.
Replaced = Callable[[Mapping[str, FloatArray], Any], FloatArray]


def start_from(given: Any, names: Parameters, replaced: Replaced) -> Any:
    """A start in coordinates: a point, or a function of a generator."""
    if callable(given):
        return lambda generator: _finite(replaced(_known(given(generator), names), generator))
    known = _known(given, names)
    if len(known) == len(names.shapes):
        return _finite(replaced(known, None))
    return lambda generator: _finite(replaced(known, generator))


def _known(given: Any, names: Parameters) -> dict[str, FloatArray]:
    if not isinstance(given, Mapping):
        vector = numeric_array("initial", given, "fiu", "a dict of variables, or one vector of all values")
        if vector.shape != (names.size,):
            raise InvalidInputError(
                f"initial must be a dict of variables, or a vector of their {names.size} values; "
                f"got shape {vector.shape}"
            )
        given = names.split(vector.astype(np.float64))
    unknown = [name for name in given if name not in names.shapes]
    if unknown:
        known = ", ".join(list(names.shapes)[:10])
        raise InvalidInputError(f"initial has {unknown[0]!r}, and the variables are {known}")
    return {name: _shaped(name, value, names.shapes[name]) for name, value in given.items()}


def _shaped(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    array = numeric_array(f"initial: {name}", value, "fiu", "a number or an array of numbers")
    if array.shape != shape:
        raise InvalidInputError(f"initial: {name} must have shape {shape}, got {array.shape}")
    return array.astype(np.float64)


def _finite(point: FloatArray) -> FloatArray:
    if not np.all(np.isfinite(point)):
        raise InvalidInputError(f"initial must lie within the support of the model, got {point.tolist()}")
    return point
