"""Names for the places of a vector of values, for compiled functions."""

import keyword
import math
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from temperance.errors import InvalidInputError
from temperance.models.layout import Layout


def offsets(parameters: Any) -> Any:
    """Where each parameter is in the vector that a compiled function gets: a number, or a slice.

    ``at = offsets(parameters)`` makes ``x[at.mu]`` a number, and ``x[at.weights]`` an array, where that has a
    shape (an array of several dimensions comes as one row). Compiled code takes all of it as constants.
    """
    layout = Layout(parameters)
    places, start = {}, 0
    for name, shape in layout.names.shapes.items():
        end = start + math.prod(shape)
        places[name] = slice(start, end) if shape else start
        start = end
    return _tuple(places)


def _tuple(places: Mapping[str, Any]) -> Any:
    for name in places:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise InvalidInputError(f"parameters: {name!r} cannot be written as at.{name}; rename it")
    make: Any = namedtuple  # its fields are the user's names, which no checker knows
    return make("Offsets", list(places))(*places.values())
