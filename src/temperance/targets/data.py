"""Arrays that reach a compiled density by address, so that new data need no new compilation.

A table of integers holds the address and the shape of each array; its own address is the target's context.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from temperance.checks import numeric_array
from temperance.core.compile import compiled_around
from temperance.core.numba_internals.addresses import pointer
from temperance.core.state import IntArray
from temperance.errors import InvalidTypeError


class DataTable:
    """Copies of the user's arrays, which a density may write to, with the table that leads to them.

    Arrays of ours may come first; the user's function does not get these.
    """

    def __init__(self, data: Any, ours: tuple[Any, ...] = ()) -> None:
        self.is_tuple = isinstance(data, tuple)
        self.ours = tuple(_private_copy(item) for item in ours)
        self.arrays = tuple(_private_copy(item) for item in (data if self.is_tuple else (data,)))
        arrays = (*self.ours, *self.arrays)
        entries = [entry for array in arrays for entry in (array.ctypes.data, *array.shape)]
        self.table: IntArray = np.array(entries, dtype=np.int64)

    @property
    def address(self) -> int:
        """Where the table is."""
        return int(self.table.ctypes.data)

    def loader(self) -> Callable[[int], Any]:
        """A compiled function from the table's address to the data as the user gave them."""
        return _loader(self.is_tuple, _kinds(self.arrays), sum(1 + array.ndim for array in self.ours))

    def loader_of_ours(self) -> Callable[[int], Any]:
        """Likewise to the arrays of ours, as a tuple."""
        return _loader(True, _kinds(self.ours), 0)


_LOADERS: dict[Any, Callable[[int], Any]] = {}
Kinds = tuple[tuple[np.dtype[Any], int], ...]


def _kinds(arrays: tuple[np.ndarray[Any, Any], ...]) -> Kinds:
    return tuple((array.dtype, array.ndim) for array in arrays)


def _loader(is_tuple: bool, kinds: Kinds, offset: int) -> Callable[[int], Any]:
    key = (is_tuple, kinds, offset)
    if key not in _LOADERS:
        _LOADERS[key] = _load_tuple(kinds, offset) if is_tuple else _load_array(kinds[0], offset)
    return _LOADERS[key]


def _load_tuple(kinds: Kinds, offset: int) -> Callable[[int], Any]:
    if not kinds:
        return compiled_around(lambda _: ())
    first = _load_array(kinds[0], offset)
    rest = _load_tuple(kinds[1:], offset + 1 + kinds[0][1])
    return compiled_around(lambda address: (first(address), *rest(address)))


def _load_array(kind: tuple[np.dtype[Any], int], offset: int) -> Callable[[int], Any]:
    dtype, ndim = kind
    shape = _load_shape(ndim, offset + 1)

    @compiled_around
    def load(address: int) -> Any:
        table = numba.carray(pointer(address), offset + 1, np.int64)
        return numba.carray(pointer(table[offset]), shape(address), dtype)

    return load


def _load_shape(ndim: int, offset: int) -> Callable[[int], Any]:
    if ndim == 0:
        return compiled_around(lambda _: ())
    rest = _load_shape(ndim - 1, offset + 1)

    @compiled_around
    def load(address: int) -> Any:
        table = numba.carray(pointer(address), offset + 1, np.int64)
        return (table[offset], *rest(address))

    return load


def _private_copy(item: Any) -> np.ndarray[Any, Any]:
    array = numeric_array("data", item, "fiubc", "an array of numbers or a tuple of such arrays")
    if array.dtype in (np.float16, np.longdouble, np.clongdouble):
        raise InvalidTypeError(f"data of dtype {array.dtype} cannot be compiled; use float64")
    return array.astype(array.dtype.newbyteorder("="), order="C", subok=False)
