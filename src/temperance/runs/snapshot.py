"""Values as plain arrays by name, and back: nothing is left out, and nothing needs a pickle.

A value is a dataclass or a named tuple whose fields are arrays, numbers, tuples of words, or such values.
"""

import functools
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_origin, get_type_hints

import numpy as np

Snapshot = dict[str, np.ndarray[Any, Any]]


def snapshot(value: Any, name: str = "") -> Snapshot:
    """Copies of all that a value holds, under the names of its fields with dots between."""
    kind: Any = type(value)
    members = _members(kind)
    if members is None:
        return {name: np.array(value, dtype=_words(value))}
    taken: Snapshot = {}
    for member in members:
        taken |= snapshot(getattr(value, member), f"{name}.{member}" if name else member)
    return taken


def restored(
    kind: Any,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    name: str = "",
    instead: Mapping[Any, Any] | None = None,
) -> Any:
    """The value of this kind that a snapshot was taken of.

    ``instead`` has kinds that stand in for others, by what they stand in for.
    """
    kind = kind if isinstance(kind, types.GenericAlias) else (instead or {}).get(kind, kind)
    members = _members(kind)
    if members is not None:
        parts = {
            member: restored(hint, arrays, f"{name}.{member}" if name else member, instead)
            for member, hint in members.items()
        }
        return kind(**parts)
    array = arrays[name]
    if kind in (bool, int, float):
        return kind(array[()])
    return tuple(str(word) for word in array) if get_origin(kind) is tuple else array.copy()


@functools.cache
def _members(kind: Any) -> dict[str, Any] | None:
    """The fields of a value with their kinds; None for what has none."""
    if isinstance(kind, types.GenericAlias) or not isinstance(kind, type):
        return None
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return {field.name: hints[field.name] for field in fields(kind)}
    return get_type_hints(kind) if hasattr(kind, "_fields") else None


def _words(value: Any) -> Any:
    return np.str_ if isinstance(value, tuple) else None
