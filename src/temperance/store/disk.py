"""A run in a folder: rows as chunks that never change, and after them a record that they count.

A thread of its own writes, so that chains do not wait for the disk. Whatever happens in between, the folder
holds the run up to the last record (see `layout`).
"""

import io
import json
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from temperance.core.state import Trace
from temperance.errors import StoreError
from temperance.files import PARTIAL, THE_DISK, FileSystem, whole_file
from temperance.store.archive import packed, write_arrays
from temperance.store.contract import PHASES, SAMPLING, Arrays, Handed
from temperance.store.layout import FORMAT, Chunk, chunk_name, commit_name, is_ours, last_number
from temperance.store.merging import merge, to_merge
from temperance.store.reading import ChunkRows, Commit
from temperance.store.rows import InMemory, lazy_trace

FLUSH_SECONDS = 1.0  # a chain hands over so often, and what was handed over is written so often
LARGEST_SHARE = 0.01  # of the time, that writing may take of a processor
MOST_WAITING = 64 * 2**20  # bytes that may wait to be written; then chains wait
RECORDS = 2  # that are kept: the last, and one to go back to


@dataclass
class Waiting:
    """Rows that were handed over and are not on the disk, by chain and phase."""

    rows: dict[str, list[Trace]] = field(default_factory=dict)
    size: int = 0

    def add(self, key: str, rows: Trace) -> None:
        """More rows."""
        self.rows.setdefault(key, []).append(rows)
        self.size += sum(column.nbytes for column in rows)

    def arrays(self) -> dict[str, Any]:
        """All columns by name, put together."""
        return {
            f"{key}.{name}": np.concatenate([getattr(trace, name) for trace in traces])
            for key, traces in self.rows.items()
            for name in Trace._fields
            if len(getattr(traces[0], name))
        }


class Disk:
    """The store of a run that outlives its process. Nobody else writes to the folder until it is closed."""

    def __init__(
        self,
        folder: Path,
        run: Mapping[str, Any],
        empty: Trace,
        *,
        kept: Collection[str],
        n_chains: int,
        observe: Callable[[], Mapping[str, Any]] = dict,
        after: Commit | None = None,
        system: FileSystem = THE_DISK,
    ) -> None:
        self.folder = folder
        self._observe = observe  # where the run stands, for those who watch the folder
        self._run, self._empty, self._kept_columns, self._system = run, empty, kept, system
        self._chunks = [] if after is None else list(after.chunks)
        self._kept = [] if after is None else [(after.number, after.chunks)]
        none: list[Arrays] = [{} for _ in range(n_chains)]
        self._snapshots = none if after is None else list[Arrays](after.snapshots)
        self._seconds = 0.0 if after is None else float(after.facts["seconds"])
        self._began = time.monotonic()
        self._n_rows = {
            f"{chain}.{phase}": 0 if after is None else after.n_rows(chain, phase)
            for chain in range(n_chains)
            for phase in PHASES
        }
        self._number = last_number(path.name for path in folder.iterdir())
        self._handed_at = [time.monotonic()] * n_chains
        self._interval = FLUSH_SECONDS
        self._waiting, self._writing = Waiting(), Waiting()
        self._failure: BaseException | None = None
        self._told = threading.Condition()
        self._closing = False
        self._writer: threading.Thread | None = None

    def begin(self) -> None:
        """Commit what there is, and then write as rows come."""
        self._commit({})
        self._writer = threading.Thread(target=self._work, name="temperance-store", daemon=True)
        self._writer.start()

    def wants(self, chain: int) -> bool:
        """Whether it is time that this chain hands over what it has."""
        return time.monotonic() - self._handed_at[chain] >= self._interval

    def append(self, chain: int, handed: Handed) -> None:
        """Take rows and a snapshot; waits while there is too much to write."""
        self.append_all({chain: handed})

    def append_all(self, handed: Mapping[int, Handed]) -> None:
        """Likewise of several chains, all in the same record."""
        with self._told:
            self._told.wait_for(lambda: self._waiting.size < MOST_WAITING or self._failure is not None)
            for chain, one in handed.items():
                self._handed_at[chain] = time.monotonic()
                if one.snapshot:
                    self._snapshots[chain] = one.snapshot
                for phase, rows in one.rows.items():
                    if len(rows.draws):
                        self._waiting.add(f"{chain}.{phase}", rows)
            self._told.notify_all()

    def tell(self, facts: Mapping[str, Any]) -> None:
        """Facts of the run that have changed: they are in the next record."""
        self._run = {**self._run, **facts}

    def sampled(self, chain: int) -> Trace:
        """All rows of the draws, on the disk or not yet; read when asked for."""
        key = f"{chain}.{SAMPLING}"
        with self._told:
            chunks = tuple(self._chunks)
            fresh = [*self._writing.rows.get(key, []), *self._waiting.rows.get(key, [])]
        stored = ChunkRows(self.folder, chunks, chain, SAMPLING)
        return lazy_trace(self._empty, self._kept_columns, [stored, *map(InMemory, fresh)])

    def check(self) -> None:
        """Raise what went wrong in writing, if anything did."""
        if self._failure is not None:
            raise StoreError(
                f"the run could not be written to {self.folder}: {self._failure}; what was committed before "
                "stays readable, and the run can be resumed from there"
            ) from self._failure

    def close(self, ended: Mapping[str, Any]) -> None:
        """Commit all that was handed over, with how the run ended, and let others write."""
        with self._told:
            self._closing = True
            self._told.notify_all()
        if self._writer is not None:
            self._writer.join()
        if self._failure is None:
            self._attempt(lambda: self._flush(ended))

    def _work(self) -> None:
        """Write what waits, every so often, until the end."""
        while self._failure is None:
            with self._told:
                self._told.wait_for(self._is_urgent, timeout=self._interval)
                if self._closing:
                    return
            if self._waiting.rows:
                self._attempt(lambda: self._flush({}))

    def _is_urgent(self) -> bool:
        return self._closing or self._waiting.size >= MOST_WAITING

    def _attempt(self, write: Callable[[], None]) -> None:
        """An error stays until somebody asks; chains that wait are let go."""
        began = time.thread_time()
        try:
            write()
        except BaseException as error:  # noqa: BLE001  raised again by `check`
            with self._told:
                self._failure = error
                self._told.notify_all()
        self._interval = max(FLUSH_SECONDS, (time.thread_time() - began) / LARGEST_SHARE)

    def _flush(self, ended: Mapping[str, Any]) -> None:
        """One chunk with all rows that wait, the record that it counts, and larger chunks now and then."""
        with self._told:
            self._writing, self._waiting = self._waiting, Waiting()
            snapshots = list(self._snapshots)
            self._told.notify_all()
        chunk = self._write_chunk() if self._writing.rows else None
        with self._told:
            if chunk is not None:
                self._chunks.append(chunk)
            self._writing = Waiting()
        self._commit(ended, snapshots)
        while count := to_merge(self._chunks):
            merged = merge(self.folder, self._chunks[-count:], self._system)
            with self._told:
                self._chunks[-count:] = [merged]
            self._commit(ended, snapshots)

    def _write_chunk(self) -> Chunk:
        path = self.folder / chunk_name(self._number + 1, self._number + 1)
        with whole_file(path, self._system) as file:
            write_arrays(file, self._writing.arrays())
        rows = {}
        for key, traces in self._writing.rows.items():
            first = self._n_rows[key]
            self._n_rows[key] = first + sum(len(trace.draws) for trace in traces)
            rows[key] = (first, self._n_rows[key])
        return Chunk(path.name, path.stat().st_size, rows)

    def _commit(self, ended: Mapping[str, Any], snapshots: list[Arrays] | None = None) -> None:
        """Write a record of all chunks and snapshots; then what no record needs may go."""
        taken = self._snapshots if snapshots is None else snapshots
        table, content = packed(
            {f"{chain}.{name}": array for chain, one in enumerate(taken) for name, array in one.items()}
        )
        facts = {
            "format": FORMAT,
            "run": self._run,
            "chains": len(taken),
            "chunks": [chunk.to_json() for chunk in self._chunks],
            "time": time.time(),
            "seconds": self._seconds + time.monotonic() - self._began,
            "progress": dict(self._observe()),
            "ended": dict(ended),
            "table": table,
        }
        record = io.BytesIO()
        write_arrays(record, {"facts": np.array(json.dumps(facts)), "snapshots": content})
        self._number += 1
        path = self.folder / commit_name(self._number, record.getvalue())
        with whole_file(path, self._system) as file:
            file.write(record.getvalue())
        self._kept = [*self._kept, (self._number, tuple(self._chunks))][-RECORDS:]
        self._clean()

    def _clean(self) -> None:
        """Remove records before those that are kept, and chunks that none of these names."""
        needed = {chunk.file for _, chunks in self._kept for chunk in chunks}
        numbers = {number for number, _ in self._kept}
        for path in sorted(self.folder.iterdir()):
            record = path.name.startswith("commit") and last_number([path.name]) in numbers
            left_over = is_ours(path.name) or path.name.endswith(PARTIAL)
            if left_over and not record and path.name not in needed:
                self._system.remove(path)
