"""Levels that change places: made from the table of the state's fields, so that none is forgotten."""

from typing import Any

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.schema import LEVEL, REPLICA, for_each_field
from temperance.core.specialised import specialised
from temperance.core.state import FloatArray, State


@compiled
def exchange_numbers(array: FloatArray, i: int, j: int) -> None:
    """Two numbers of a column change places."""
    array[i], array[j] = array[j], array[i]


@compiled
def exchange_rows(array: FloatArray, i: int, j: int) -> None:
    """Two rows change places."""
    for k in range(array.shape[1]):
        array[i, k], array[j, k] = array[j, k], array[i, k]


@compiled
def copy_number(array: FloatArray, source: int, target: int) -> None:
    """One number of a column is put over another."""
    array[target] = array[source]


@compiled
def copy_row(array: FloatArray, source: int, target: int) -> None:
    """One row is put over another."""
    for k in range(array.shape[1]):
        array[target, k] = array[source, k]


@compiled
def copy_lane(array: FloatArray, source: int, target: int) -> None:
    """What one level has in its lane is put over another's."""
    for k in range(array.shape[1]):
        array[target // LANES, k, target % LANES] = array[source // LANES, k, source % LANES]


_EXCHANGE = {("level", 1): exchange_numbers, ("level", 2): exchange_rows}
_COPY = {("level", 1): copy_number, ("level", 2): copy_row, ("bundle", 3): copy_lane}


@specialised(lambda record: for_each_field(record, (REPLICA,), _EXCHANGE))
def _exchange(state: Any, i: int, j: int) -> None:
    """What belongs to two positions changes places."""


@specialised(lambda record: for_each_field(record, (REPLICA, LEVEL), _COPY))
def _copy(state: Any, source: int, target: int) -> None:
    """All of one level is put over another."""


@compiled
def exchange_levels(i: int, j: int, state: State) -> None:
    """T_ij: what sits at the two levels changes places, in place."""
    _exchange(state, i, j)


@compiled
def move_level(source: int, target: int, state: State) -> None:
    """Copy all that belongs to one level, and what sits there, over another; in place."""
    _copy(state, source, target)
