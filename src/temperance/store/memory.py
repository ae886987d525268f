"""Rows in memory, which last as long as the process."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from temperance.core.state import Trace
from temperance.store.contract import SAMPLING, Handed
from temperance.store.rows import n_levels_of, of_levels


class Chain(Protocol):
    """One that has room for all that it will draw."""

    def drawn(self) -> Trace:
        """What it has drawn so far."""


class InPlace:
    """Chains keep all that they record where they recorded it: there is nothing to hand over."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._chains = chains

    def wants(self, chain: int) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def append(self, chain: int, handed: Handed) -> None:
        """The rows are where they are."""

    def append_all(self, handed: Mapping[int, Handed]) -> None:
        """Likewise."""

    def tell(self, facts: Mapping[str, Any]) -> None:
        """Nobody reads them."""

    def sampled(self, chain: int) -> Trace:
        """What the chain has."""
        return self._chains[chain].drawn()

    def close(self, ended: Mapping[str, Any]) -> None:
        """There is nothing to write."""

    def check(self) -> None:
        """Nothing can fail."""


class Memory:
    """Of the draws, the rows and columns that are to be kept, copied out of the chains' windows."""

    def __init__(self, rooms: Sequence[Trace]) -> None:
        self._rooms = list(rooms)
        self._n_rows = [0 for _ in rooms]

    def wants(self, chain: int) -> bool:  # noqa: ARG002
        """Not before the window is full."""
        return False

    def append(self, chain: int, handed: Handed) -> None:
        """Copy the rows of the draws; those of the tuning stay with the chain."""
        rows, first = handed.rows[SAMPLING], self._n_rows[chain]
        room = _with_room(self._rooms[chain], first + len(rows.draws))
        room = self._rooms[chain] = of_levels(room, max(n_levels_of(room), n_levels_of(rows)))
        columns: Any = zip(room, rows, strict=True)
        for column, new in columns:
            column[first : first + len(new)] = new
        self._n_rows[chain] = first + len(rows.draws)

    def append_all(self, handed: Mapping[int, Handed]) -> None:
        """Likewise of several chains."""
        for chain, one in handed.items():
            self.append(chain, one)

    def tell(self, facts: Mapping[str, Any]) -> None:
        """Nobody reads them."""

    def sampled(self, chain: int) -> Trace:
        """The rows so far."""
        end = self._n_rows[chain]
        return Trace._make(column[:end] for column in self._rooms[chain])

    def close(self, ended: Mapping[str, Any]) -> None:
        """There is nothing to write."""

    def check(self) -> None:
        """Nothing can fail."""


def _with_room(room: Trace, n_rows: int) -> Trace:
    """A trace with room for so many rows: twice as much as before, where that does not suffice."""
    if n_rows <= len(room.draws):
        return room
    size = max(n_rows, 2 * len(room.draws))
    columns: Any = room
    return Trace._make(_longer(column, size) if len(column) else column for column in columns)


def _longer(column: Any, size: int) -> Any:
    longer = np.empty((size, *column.shape[1:]), dtype=column.dtype)
    longer[: len(column)] = column
    return longer
