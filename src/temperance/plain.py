"""Values as JSON knows them, and back: frozen dataclasses of numbers, words, pairs and such dataclasses.

Strict JSON has no infinity: what is not finite goes as a word. An error names the key, with dots between.
"""

import math
import types
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from temperance.checks import one_of, within
from temperance.errors import InvalidInputError, InvalidTypeError

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
FORMAT_KEY = "format"


def to_plain(value: Any) -> Any:
    """A value as None, truth values, numbers, words, lists and dictionaries."""
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(member) for key, member in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [to_plain(member) for member in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    raise InvalidTypeError(f"{type(value).__name__} cannot be stored as a plain value: {value!r}")


def from_plain(kind: Any, plain: Any, name: str) -> Any:
    """The value of this kind that `to_plain` made a plain one of; ``name`` is what errors call it."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, plain, name)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return one_of(name, plain, inner)
    if origin in (Union, types.UnionType):
        wanted = [one for one in inner if one is not types.NoneType]
        return None if plain is None else from_plain(wanted[0], plain, name)
    if origin is tuple:
        return _tuple(inner, plain, name)
    return _number(name, plain) if kind is float else exactly(kind, plain, name)


def exactly(kind: type, plain: Any, name: str) -> Any:
    """A plain value of one kind; True is no number."""
    if not isinstance(plain, kind) or (isinstance(plain, bool) and kind is not bool):
        raise InvalidTypeError(
            f"{name} must be of kind {kind.__name__}, got {type(plain).__name__}: {plain!r}"
        )
    return plain


def record(name: str, plain: Any, keys: Collection[str]) -> dict[str, Any]:
    """A dictionary with exactly these keys."""
    given = exactly(dict, plain, name)
    for key in keys:
        if key not in given:
            raise InvalidInputError(f"{name}.{key} is missing")
    for key in given:
        if key not in keys:
            raise InvalidInputError(f"{name}.{key} is unknown; known are {', '.join(keys)}")
    return dict(given)


def unstamped(name: str, plain: Any, newest: int) -> dict[str, Any]:
    """A dictionary without its format number, which must be one that is read here."""
    given = dict(exactly(dict, plain, name))
    if FORMAT_KEY not in given:
        raise InvalidInputError(f"{name}.{FORMAT_KEY} is missing")
    number = exactly(int, given.pop(FORMAT_KEY), f"{name}.{FORMAT_KEY}")
    if number != newest:
        cause = "a newer temperance wrote it" if number > newest else "it is older than any release"
        raise InvalidInputError(f"{name}.{FORMAT_KEY} must be {newest}, got {number}: {cause}")
    return given


def _dataclass(kind: Any, plain: Any, name: str) -> Any:
    """One that is made already stays as it is; all fields are asked for, whatever their defaults."""
    if isinstance(plain, kind):
        return plain
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    given = record(name, plain, names)
    parts = {part: from_plain(hints[part], given[part], f"{name}.{part}") for part in names}
    with within(name):
        return kind(**parts)


def _tuple(kinds: tuple[Any, ...], plain: Any, name: str) -> tuple[Any, ...]:
    members = exactly(list, plain, name)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(members)
    if len(members) != len(kinds):
        raise InvalidInputError(f"{name} must have {len(kinds)} members, got {len(members)}: {members!r}")
    return tuple(
        from_plain(kind, member, f"{name}[{place}]")
        for place, (kind, member) in enumerate(zip(kinds, members, strict=True))
    )


def _number(name: str, plain: Any) -> float:
    if isinstance(plain, str) and plain in NOT_FINITE:
        return NOT_FINITE[plain]
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        words = ", ".join(repr(word) for word in NOT_FINITE)
        raise InvalidTypeError(f"{name} must be a number or {words}, got {type(plain).__name__}: {plain!r}")
    try:
        return float(plain)
    except OverflowError as error:
        raise InvalidInputError(f"{name} must be a number that a float can hold, got {plain}") from error
