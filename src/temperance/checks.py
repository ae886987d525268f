"""Checks of what a user passes in: each error names the parameter, what is allowed and what came."""

import contextlib
import math
import numbers
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from temperance.errors import InvalidInputError, InvalidTypeError, TemperanceError

REAL_DTYPES = ("float", "bfloat", "int", "uint")  # as all array libraries begin their names


@contextlib.contextmanager
def within(name: str) -> Iterator[None]:
    """Let errors say what the parameter that they name is a part of."""
    try:
        yield
    except TemperanceError as error:
        raise type(error)(f"{name}: {error}") from error


def whole_number(name: str, value: Any, *, least: int) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidTypeError(f"{name} must be a whole number, got {type(value).__name__}: {value!r}")
    if value < least:
        raise InvalidInputError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number_between(name: str, value: Any, low: float, high: float, *, closed: str = "neither") -> float:
    """A finite number in the interval; ``closed`` says which ends belong to it."""
    number = real_number(name, value)
    above = number >= low if closed in ("left", "both") else number > low
    below = number <= high if closed in ("right", "both") else number < high
    if not (above and below):
        left = "[" if closed in ("left", "both") else "("
        right = "]" if closed in ("right", "both") else ")"
        raise InvalidInputError(f"{name} must lie in {left}{low:g}, {high:g}{right}, got {number:g}")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False, nothing that merely counts as one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidTypeError(f"{name} must be True or False, got {type(value).__name__}: {value!r}")
    return bool(value)


def numeric_array(name: str, values: Any, kinds: str, wanted: str) -> np.ndarray[Any, Any]:
    """An array whose dtype is of one of ``kinds``; ``wanted`` says what was expected."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} must be {wanted}, got {values!r}") from error
    if array.dtype.kind not in kinds and array.size:
        raise InvalidTypeError(f"{name} must be {wanted}, got {values!r}")
    return array


def real_number(name: str, value: Any) -> float:
    """A real number that is not NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidTypeError(f"{name} must be a number, got {type(value).__name__}: {value!r}")
    if math.isnan(value):
        raise InvalidInputError(f"{name} must be a number, got NaN")
    return float(value)


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InvalidInputError(f"{name} must be one of {words}, got {value!r}")
    return str(value)


def instance_of(name: str, value: Any, kind: type, cure: str) -> None:
    """An object of one class; ``cure`` says how to make one."""
    if not isinstance(value, kind):
        raise InvalidTypeError(f"{name} must be {cure}, got {type(value).__name__}: {value!r}")


def ordered_bounds(name: str, value: Any) -> tuple[float, float]:
    """A pair ``(low, high)`` of positive finite numbers."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidTypeError(f"{name} must be a pair (low, high), got {value!r}")
    low, high = (real_number(name, end) for end in value)
    if not 0.0 < low < high < math.inf:
        raise InvalidInputError(f"{name} must satisfy 0 < low < high < inf, got ({low:g}, {high:g})")
    return low, high


def checked_value(value: Any, name: str) -> float:
    """What a user's function returned: numbers and 0-d arrays become floats, all else is refused by name."""
    number = value if isinstance(value, numbers.Real) else _held_by(value)
    if isinstance(number, np.ndarray):
        raise InvalidTypeError(
            f"{name} must return one number, got an array of shape {number.shape}; "
            "return a float, for instance value[0] or value.sum(); a log density that takes the rows of an "
            "(n, dim) array needs vectorized=True"
        )
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise InvalidTypeError(f"{name} must return one number, got {type(value).__name__}: {value!r}")
    return float(number)


def _held_by(value: Any) -> Any:
    """The number in a 0-d array of any library; what is no such array stays as it is."""
    dtype = str(getattr(value, "dtype", "")).rpartition(".")[2]
    if getattr(value, "ndim", None) == 0 and dtype.startswith(REAL_DTYPES):
        return float(value)  # of an array that its library would not convert, such as a tensor with gradients
    return np.asarray(value)[()] if hasattr(value, "__array__") else value
