"""A trace whose columns are read when they are asked for."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol, cast

import numpy as np

from temperance.core.state import Trace
from temperance.store.archive import Array


class Source(Protocol):
    """Where some rows are."""

    n_rows: int

    def read(self, column: str) -> Iterator[tuple[int, Array]]:
        """Pieces of a column with the row that each begins at."""


class InMemory:
    """Rows that are not on the disk, or not yet."""

    def __init__(self, rows: Trace) -> None:
        self._rows = rows
        self.n_rows = len(rows.draws)

    def read(self, column: str) -> Iterator[tuple[int, Array]]:
        """All of it."""
        yield 0, getattr(self._rows, column)


def lazy_trace(empty: Trace, kept: Collection[str], sources: Sequence[Source]) -> Trace:
    """The rows of several sources, one after the other. ``empty`` has no rows; columns not kept stay so."""
    return cast(Trace, LazyTrace(empty, kept, sources))  # which it is to all who read it


class LazyTrace:
    """A `Trace` to all who read it. A column that was read stays; one that was not takes no memory."""

    _fields = Trace._fields

    def __init__(self, empty: Trace, kept: Collection[str], sources: Sequence[Source]) -> None:
        self._empty, self._kept = empty, kept
        self._sources = [source for source in sources if source.n_rows]
        self.n_rows = sum(source.n_rows for source in self._sources)

    def __getattr__(self, name: str) -> Any:
        if name not in Trace._fields:
            raise AttributeError(name)
        column = self._read(name)
        setattr(self, name, column)
        return column

    def __iter__(self) -> Iterator[Array]:
        return (getattr(self, name) for name in self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def _read(self, name: str) -> Array:
        empty = getattr(self._empty, name)
        if name not in self._kept:
            return empty  # type: ignore[no-any-return]
        column = np.empty((self.n_rows, *empty.shape[1:]), dtype=empty.dtype)
        start = 0
        for source in self._sources:
            for first, piece in source.read(name):
                column[start + first : start + first + len(piece)] = piece
            start += source.n_rows
        return column
