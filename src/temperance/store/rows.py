"""A trace whose columns are read when they are asked for."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from temperance.core.state import BY_LEVEL, Trace
from temperance.store.archive import Array

Record = TypeVar("Record")  # a dataclass with the rows of both phases and the temperatures left


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


def of_levels(trace: Trace, n_levels: int) -> Trace:
    """A trace with columns for so many levels: fewer, or more that hold nothing."""
    lazy: Any = trace
    if isinstance(lazy, LazyTrace):
        return cast(Trace, lazy.of_levels(n_levels))
    return Trace._make(_of_levels(name, getattr(trace, name), n_levels) for name in Trace._fields)


def _of_levels(name: str, column: Array, n_levels: int) -> Array:
    if name not in BY_LEVEL or column.shape[1] == n_levels:
        return column
    if column.shape[1] > n_levels:
        return column[:, :n_levels]
    wider = np.full((len(column), n_levels, *column.shape[2:]), BY_LEVEL[name], dtype=column.dtype)
    wider[:, : column.shape[1]] = column
    return wider


def n_levels_of(trace: Trace) -> int:
    """How many levels a trace has columns for."""
    lazy: Any = trace
    return lazy.width if isinstance(lazy, LazyTrace) else int(trace.log_density.shape[1])


def alike(records: Sequence[Record], most_levels: int) -> tuple[Record, ...]:
    """Records of chains with columns for as many levels: in the tuning for all that there ever were."""
    chains: Any = records
    drawn = max(max(n_levels_of(chain.sampling), len(chain.beta)) for chain in chains)
    return tuple(
        replace(chain, tuning=of_levels(chain.tuning, most_levels), sampling=of_levels(chain.sampling, drawn))
        for chain in chains
    )


def lazy_trace(empty: Trace, kept: Collection[str], sources: Sequence[Source]) -> Trace:
    """The rows of several sources, one after the other. ``empty`` has no rows; columns not kept stay so."""
    return cast(Trace, LazyTrace(empty, kept, sources))  # which it is to all who read it


class LazyTrace:
    """A `Trace` to all who read it. A column that was read stays; one that was not takes no memory."""

    _fields = Trace._fields

    def __init__(self, empty: Trace, kept: Collection[str], sources: Sequence[Source]) -> None:
        self._empty, self._kept = empty, kept
        self.width = int(empty.log_density.shape[1])  # levels that there are columns for
        self._sources = [source for source in sources if source.n_rows]
        self.n_rows = sum(source.n_rows for source in self._sources)

    def of_levels(self, n_levels: int) -> "LazyTrace":
        """The same with columns for so many levels."""
        return LazyTrace(of_levels(self._empty, n_levels), self._kept, self._sources)

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
                rows = slice(start + first, start + first + len(piece))
                column[rows] = _of_levels(name, piece, self.width)
            start += source.n_rows
        return column
