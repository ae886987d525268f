"""Draws in the terms of the model: what its ``constrain`` makes of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from temperance.checks import numeric_array, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError, RunError, TemperanceError
from temperance.models.contract import Constrain, Meaning
from temperance.origin import came_from
from temperance.parameters import Parameters, check_name

Values = dict[str, FloatArray]
Shapes = dict[str, tuple[int, ...]]


def value_shapes(meaning: Meaning, point: FloatArray) -> Shapes:
    """The values of one point, before the run: their names and shapes; none where there is no ``constrain``.

    A name that both a coordinate and a value have must mean one thing.
    """
    if meaning.constrain is None:
        return {}
    values = _called(meaning.constrain, point[None].copy())
    if meaning.names is not None:
        _check_against(meaning.names, point, values)
    return _shapes(values)


def values_of(meaning: Meaning, rows: FloatArray, shapes: Shapes) -> Values:
    """The values of draws, (n, dim), with the names and shapes that there were before the run."""
    if meaning.constrain is None or not len(rows):
        return {name: np.empty((0, *shape)) for name, shape in shapes.items()}
    values = _called(meaning.constrain, rows.copy())
    if _shapes(values) != shapes:
        came = _shapes(values)
        raise InvalidTypeError(f"model: constrain must return {shapes} for all draws, got {came}")
    return values


def _called(constrain: Constrain, rows: FloatArray) -> Values:
    try:
        made = constrain(rows)
    except TemperanceError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}{came_from(error)}"
        raise RunError(f"model: constrain raised an error, {cause}") from error
    with within("model: constrain"):
        if not isinstance(made, Mapping) or not made:
            raise InvalidTypeError(f"a dictionary of arrays must be returned, got {made!r}")
        return {name: _rows_of(name, value, len(rows)) for name, value in made.items()}


def _check_against(names: Parameters, point: FloatArray, values: Values) -> None:
    own = names.split(point)
    dims = {dim for name in names.shapes for dim in names.dims_of(name)}
    for name, value in values.items():
        if name in dims:
            raise InvalidInputError(f"model: constrain returns {name!r}, which is the name of a dimension")
        if name in own and not np.array_equal(own[name], value[0]):
            raise InvalidInputError(
                f"model: constrain changes {name!r}, which is also the name of a coordinate; call the "
                f"coordinate something else, such as 'log_{name}'"
            )


def _shapes(values: Values) -> Shapes:
    return {name: value.shape[1:] for name, value in values.items()}


def _rows_of(name: Any, value: Any, n: int) -> FloatArray:
    check_name(name)
    array = numeric_array(name, value, "fiub", "an array of numbers")
    if array.ndim == 0 or len(array) != n:
        raise InvalidInputError(f"{name} must have a row for each of {n} draws, got shape {array.shape}")
    return array.astype(np.float64)
