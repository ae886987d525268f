"""What the fields of a record are, said once: its axes, and where it goes when levels change places.

A record is a named tuple of arrays. Its annotations are the table from which all is made that goes over every
field: numba's types, allocation, the exchange and the moving of levels, snapshots.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numba import from_dtype, types

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
    inherited: bool = True  # a level that is put in beside another begins with what that has


def of(*axes: str | int, fill: float = 0) -> Field:
    """A field with these axes: names that `sizes` knows, or numbers."""
    return Field(axes, None, fill)


def of_replica(*axes: str | int, fill: float = 0) -> Field:
    """A field with a row for each level, which goes along when positions are exchanged."""
    return Field(("level", *axes), REPLICA, fill)


def of_level(*axes: str | int, fill: float = 0, inherited: bool = True) -> Field:
    """A field with a row for each level, which stays when positions are exchanged."""
    return Field(("level", *axes), LEVEL, fill, inherited)


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


def assembled(name: str, module: str, *parts: type | None) -> Any:
    """One record with the fields of several. It is to stand in ``module`` under its name, as pickles ask."""
    members = [
        member
        for part in parts
        if part is not None
        for member in get_type_hints(part, include_extras=True).items()
    ]
    record: Any = NamedTuple(name, members)  # type: ignore[misc]  # made of what the parts declare
    record.__module__ = module
    return record


def numba_type(kind: Any, instead: Mapping[Any, Any] | None = None) -> Any:
    """The numba type of a record, of one that holds records, or of a plain number.

    ``instead`` has records that stand in for others, by what they stand in for.
    """
    if kind in _PLAIN:
        return _PLAIN[kind]
    kind = (instead or {}).get(kind, kind)
    members = get_type_hints(kind, include_extras=True).values()
    return types.NamedTuple([_member_type(member, instead) for member in members], kind)


_PLAIN = {bool: types.boolean, int: types.int64, float: types.float64}


def _member_type(member: Any, instead: Mapping[Any, Any] | None) -> Any:
    if not hasattr(member, "__metadata__"):
        return numba_type(member, instead)
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
    """A function of (record, a, b) that does to each such field what ``actions`` has for its layout.

    A layout is "level" or "bundle", the first axis, and the number of axes.
    """
    chosen = [
        (place, actions[field.axes[0], len(field.axes)])
        for place, (_, field) in enumerate(fields(record).values())
        if field.belongs_to in belongs_to
    ]
    return statement_by_statement(
        [f"{{}}(record[{place}], a, b)" for place, _ in chosen], [action for _, action in chosen]
    )


def statement_by_statement(lines: Sequence[str], kernels: Sequence[Any], last: str = "pass") -> Any:
    """A function of (record, a, b) written out: each line calls the kernel in its place by the name ``{}``.

    A loop over kernels is nothing that numba compiles; a chain of functions takes it ten times as long.
    """
    names = [f"kernel_{number}" for number in range(len(kernels))]
    body = [line.format(name) for line, name in zip(lines, names, strict=True)]
    source = "\n    ".join(["def act(record, a, b):", *body, last])
    namespace: dict[str, Any] = dict(zip(names, kernels, strict=True))
    exec(source, namespace)
    return namespace["act"]
