"""Compiled targets that need room to work in, which each chain has for itself."""

import numpy as np

from temperance.targets.compiled import CompiledTarget
from temperance.targets.contract import Bound, Buffers
from temperance.targets.data import DataTable
from temperance.targets.functions import Functions


class RoomyTarget(CompiledTarget):
    """Functions of ``(x, data)`` that may write to the first of their data, an array.

    Chains may run at once: each gets such an array of its own, and all share the rest.
    """

    def __init__(self, functions: Functions) -> None:
        super().__init__(functions)
        self._shared = DataTable(functions.data) if self._table is None else self._table
        self._size = len(functions.data[0])

    def bind(self, buffers: Buffers) -> Bound:  # noqa: ARG002  it takes the buffers with each call
        """Tie the functions to one chain's buffers, and to room of its own."""
        room, table = np.empty(self._size), self._shared.table.copy()
        table[0] = room.ctypes.data
        return Bound(self._evaluate, int(table.ctypes.data), keep_alive=(self._shared, table, room))
