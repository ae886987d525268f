"""Names for the places of a vector of values, for compiled functions."""

import math
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

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
    kind: Any = namedtuple("Offsets", places, rename=True)  # noqa: PYI024  its fields are the user's names
    return kind(*places.values())
