"""What the fields of a record are, said once: its axes, and where it goes when levels change places.

A record is a named tuple of arrays. Its annotations are the table from which all is made that goes over every
field: numba's types, allocation, the exchange and the moving of levels, snapshots.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
from numba import from_dtype, types

from temperance.core.compile import compiled
from temperance.core.lanes import LANES

Record = TypeVar("Record", bound=tuple[Any, ...])

# What a field belongs to: the position, which travels through the ladder, or the level, which does not.
REPLICA, LEVEL = "replica", "level"


@dataclass(frozen=True)
class Field:
    """The axes of an array, what it belongs to, and what it holds at first."""

    axes: tuple[str | int, ...]
    belongs_to: str | None
    fill: float


def of(*axes: str | int, fill: float = 0) -> Field:
    """A field with these axes: names that `sizes` knows, or numbers."""
    return Field(axes, None, fill)


def of_replica(*axes: str | int, fill: float = 0) -> Field:
    """A field with a row for each level, which goes along when positions are exchanged."""
    return Field(("level", *axes), REPLICA, fill)


def of_level(*axes: str | int, fill: float = 0) -> Field:
    """A field with a row for each level, which stays when positions are exchanged."""
    return Field(("level", *axes), LEVEL, fill)


def of_lane(*axes: str | int, fill: float = 0) -> Field:
    """The same in bundles: level l is lane l mod LANES of bundle l div LANES."""
    return Field(("bundle", *axes, "lane"), LEVEL, fill)


def sizes(n_levels: int, dim: int, **others: int) -> dict[str, int]:
    """How long each axis is. Levels stand one by one, or in bundles of lanes."""
    return {
        "level": n_levels,
        "bundle": -(-n_levels // LANES),
        "lane": LANES,
        "dim": dim,
        "below": dim * (dim - 1) // 2,
        **others,
    }


@functools.cache
def fields(record: type) -> dict[str, tuple[np.dtype[Any], Field]]:
    """The array fields of a record, with their types of numbers."""
    table = {}
    for name, hint in get_type_hints(record, include_extras=True).items():
        array, field = get_args(hint)
        table[name] = (_dtype(array), field)
    return table


def numba_type(kind: Any) -> Any:
    """The numba type of a record, of one that holds records, or of a plain number."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    members = get_type_hints(kind, include_extras=True).values()
    return types.NamedTuple([_member_type(member) for member in members], kind)


_PLAIN = {bool: types.boolean, int: types.int64, float: types.float64}


def _member_type(member: Any) -> Any:
    if not hasattr(member, "__metadata__"):
        return numba_type(member)
    array, field = get_args(member)
    return types.Array(from_dtype(_dtype(array)), len(field.axes), "C")


def _dtype(array: Any) -> np.dtype[Any]:
    """The type of the numbers in an array, from its annotation."""
    inner = get_args(array)[-1]  # dtype[float64], and from NumPy 2.5 on float64 itself
    found: np.dtype[Any] = np.dtype(next(iter(get_args(inner)), inner))
    return found


def allocate(record: type[Record], lengths: Mapping[str, int], **given: Any) -> Record:
    """A record of new arrays; those in ``given`` are taken as they are."""
    arrays = {name: new_array(record, name, lengths) for name in fields(record) if name not in given}
    return record(**arrays, **given)


def new_array(record: type, name: str, lengths: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """One array of a record, filled as its field says."""
    dtype, field = fields(record)[name]
    shape = tuple(axis if isinstance(axis, int) else lengths[axis] for axis in field.axes)
    return np.full(shape, field.fill, dtype=dtype)


def snapshot(record: tuple[Any, ...]) -> dict[str, np.ndarray[Any, Any]]:
    """Copies of all arrays of a record, by name."""
    return {name: getattr(record, name).copy() for name in fields(type(record))}


def restore(record: tuple[Any, ...], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Put a snapshot back into a record, in place."""
    for name in fields(type(record)):
        getattr(record, name)[...] = arrays[name]


def for_each_field(record: type, belongs_to: tuple[str, ...], actions: Mapping[Any, Any]) -> Any:
    """A kernel of (record, i, j) that does to each such field what ``actions`` has for its layout.

    A layout is "level" or "bundle", the first axis, and the number of axes.
    """
    chosen = [
        (place, actions[field.axes[0], len(field.axes)])
        for place, (_, field) in enumerate(fields(record).values())
        if field.belongs_to in belongs_to
    ]
    kernel: Any = compiled(_nothing)
    for place, action in reversed(chosen):
        kernel = _then(place, action, kernel)
    return kernel


def _nothing(record: Any, i: int, j: int) -> None:
    pass


def _then(place: int, action: Callable[..., None], rest: Any) -> Any:
    @compiled
    def act(record: Any, i: int, j: int) -> None:
        action(record[place], i, j)
        rest(record, i, j)

    return act
