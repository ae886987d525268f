"""Quantities that follow from the parameters, computed for draws that are kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from temperance.checks import numeric_array, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError, RunError, TemperanceError
from temperance.models.layout import Layout
from temperance.models.likelihood import shaped
from temperance.origin import came_from
from temperance.parameters import check_name
from temperance.targets import read_only
from temperance.targets.functions import takes_data


class Derived:
    """A user's function from a dict of parameters to a dict of further quantities."""

    def __init__(self, function: Any, layout: Layout) -> None:
        if not callable(function):
            raise InvalidTypeError(f"derived must be a function, got {type(function).__name__}: {function!r}")
        self._function = function
        self._shape = shaped(layout, vector=False)
        dims = {dim for name in layout.names.shapes for dim in layout.names.dims_of(name)}
        self._taken = {*layout.names.shapes, *dims}

    def __call__(self, values: FloatArray, data: Any) -> dict[str, FloatArray]:
        """The quantities of rows of values, each (n, ...)."""
        made = [self._of_one(row, data) for row in values]
        for later in made[1:]:
            self._compare(made[0], later)
        return {name: np.stack([one[name] for one in made]) for name in made[0]}

    def _of_one(self, row: FloatArray, data: Any) -> dict[str, FloatArray]:
        arguments = (self._shape(row), read_only(data)) if takes_data(self._function) else (self._shape(row),)
        try:
            made = self._function(*arguments)
        except TemperanceError:
            raise
        except Exception as error:
            raise RunError(f"derived raised {type(error).__name__}: {error}{came_from(error)}") from error
        if not isinstance(made, Mapping) or not made:
            raise InvalidTypeError(f"derived must return a dict of quantities, got {made!r}")
        return {name: self._checked(name, value) for name, value in made.items()}

    def _checked(self, name: Any, value: Any) -> FloatArray:
        with within("derived"):
            check_name(name)
        if name in self._taken:
            raise InvalidInputError(f"derived returns {name!r}, which is a parameter or a dimension already")
        return numeric_array(f"derived: {name}", value, "fiub", "a number or an array").astype(np.float64)

    def _compare(self, first: Mapping[str, FloatArray], later: Mapping[str, FloatArray]) -> None:
        if first.keys() != later.keys():
            odd = sorted(first.keys() ^ later.keys())[0]
            raise InvalidInputError(
                f"derived must return the same names for all draws, and {odd!r} comes and goes"
            )
        for name, value in first.items():
            if value.shape != later[name].shape:
                raise InvalidInputError(
                    f"derived: {name} must have one shape for all draws, got {value.shape} "
                    f"and {later[name].shape}"
                )
