"""One function in each of the three forms that sample() takes."""

from typing import Any

import numpy as np

from temperance.targets.functions import takes_data

KINDS = ("plain", "vectorized", "njit")


def form(kind: str, function: Any) -> Any:
    """An ``@njit`` function itself, called from Python, or called for each row: the same bits always."""
    if kind == "njit":
        return function
    wrapper = _over_rows(function) if kind == "vectorized" else _from_python(function)
    wrapper.__name__ = function.__name__
    return wrapper


def interpreted(kind: str, function: Any) -> Any:
    """As `form`, but the two Python kinds interpret the function's source."""
    return form(kind, function if kind == "njit" else function.py_func)


def _from_python(function: Any) -> Any:
    if takes_data(function):
        return lambda x, data: function(x, data)
    return lambda x: function(x)


def _over_rows(function: Any) -> Any:
    if takes_data(function):
        return lambda points, data: np.array([function(point, data) for point in points])
    return lambda points: np.array([function(point) for point in points])
