"""A run on disk, read: also one that is being written, and a damaged one as far as it is good."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temperance.errors import DamagedFileError, InvalidInputError
from temperance.store.archive import Array, read_array, read_arrays, unpacked
from temperance.store.layout import FORMAT, Chunk, commits_in, digest, is_begun

MAX_TRIES = 20  # readings of a folder in which files are merged meanwhile


@dataclass(frozen=True)
class Commit:
    """A commit record: what was asked for, what there is, and snapshots of the chains."""

    number: int
    facts: Mapping[str, Any]
    chunks: tuple[Chunk, ...]
    snapshots: tuple[dict[str, Array], ...]  # chain by chain
    is_cut: bool = False  # some chunks are damaged, and left out with all after them

    def n_rows(self, chain: int, phase: str) -> int:
        """Rows committed."""
        ends = [chunk.rows[key][1] for chunk in self.chunks if (key := f"{chain}.{phase}") in chunk.rows]
        return max(ends, default=0)


def last_commit(folder: Path) -> tuple[Commit, list[str]]:
    """The newest record that is good, and what is wrong with those after it."""
    bad: list[str] = []
    for _ in range(MAX_TRIES):
        bad = []
        names = commits_in(path.name for path in _listed(folder))
        try:
            for _, name in names:
                try:
                    return read_commit(folder / name), bad
                except DamagedFileError as error:
                    bad.append(str(error))
        except FileNotFoundError:  # the run went on meanwhile
            continue
        break
    if bad:
        raise DamagedFileError(f"path: {folder} has no commit record that is good: {'; '.join(bad)}")
    if is_begun([path.name for path in _listed(folder)]):
        raise InvalidInputError(
            f"path: {folder} holds no draws yet: its run has only begun, or was ended before there were any; "
            "then the same call of sample (temperance sample) begins it again"
        )
    raise InvalidInputError(f"path: {folder} holds no run of temperance")


def read_commit(path: Path) -> Commit:
    """A commit record, checked as a whole."""
    ((number, _),) = commits_in([path.name])
    if digest(path.read_bytes()) != path.stem.rsplit("-", 1)[1]:
        raise DamagedFileError(f"{path} is damaged: its checksum differs")
    arrays = read_arrays(path)
    facts = json.loads(str(arrays.pop("facts")))
    if facts["format"] != FORMAT:
        raise InvalidInputError(
            f"path: {path} has format {facts['format']}, this version reads {FORMAT}; it was written by "
            f"temperance {facts['run'].get('versions', {}).get('temperance', 'unknown')}"
        )
    snapshots: list[dict[str, Array]] = [{} for _ in range(facts["chains"])]
    for name, array in unpacked(facts["table"], arrays["snapshots"]).items():
        chain, _, rest = name.partition(".")
        snapshots[int(chain)][rest] = array
    chunks = tuple(Chunk.from_json(one) for one in facts["chunks"])
    return Commit(number, facts, chunks, tuple(snapshots))


def damage(folder: Path, commit: Commit, *, thorough: bool) -> tuple[Commit, list[str]]:
    """A commit cut off before the first chunk that is not as it was written, and what is wrong.

    At a glance only the sizes of files are compared; thoroughly, all are read.
    """
    for place, chunk in enumerate(commit.chunks):
        wrong = _wrong(folder / chunk.file, chunk, thorough=thorough)
        if wrong:
            lost = ", ".join(
                f"{key.split('.')[1]} rows from {first + 1} on of chain {int(key.split('.')[0]) + 1}"
                for key, (first, _) in chunk.rows.items()
            )
            return replace(commit, chunks=commit.chunks[:place], is_cut=True), [
                f"{wrong}; missing are {lost}"
            ]
    return commit, []


def _wrong(path: Path, chunk: Chunk, *, thorough: bool) -> str:
    try:
        size = path.stat().st_size
        if size != chunk.size:
            return f"{path} is damaged: it has {size:,} bytes of {chunk.size:,}"
        if thorough:
            read_arrays(path)
    except FileNotFoundError:
        return f"{path} is gone"
    except DamagedFileError as error:
        return str(error)
    return ""


class ChunkRows:
    """Rows of one chain and phase, read from chunks when asked for.

    Chunks may be merged while somebody reads: then the newest record says where the rows have gone.
    """

    def __init__(self, folder: Path, chunks: tuple[Chunk, ...], chain: int, phase: str) -> None:
        self._folder, self._chunks = folder, chunks
        self._key = f"{chain}.{phase}"
        self.n_rows = max((end for _, (_, end) in self._pieces()), default=0)

    def read(self, column: str) -> Iterator[tuple[int, Array]]:
        """The pieces of a column with the row that each begins at, in order."""
        done = 0
        for _ in range(MAX_TRIES):
            try:
                for chunk, (first, end) in self._pieces():
                    if done < end and first < self.n_rows:
                        piece = read_array(self._folder / chunk.file, f"{self._key}.{column}")
                        yield done, piece[done - first : self.n_rows - first]
                        done = min(end, self.n_rows)
            except FileNotFoundError as error:
                gone = error
                self._chunks = last_commit(self._folder)[0].chunks
            else:
                return
        raise DamagedFileError(f"{gone.filename} is gone") from gone

    def _pieces(self) -> list[tuple[Chunk, tuple[int, int]]]:
        return [(chunk, chunk.rows[self._key]) for chunk in self._chunks if self._key in chunk.rows]


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise InvalidInputError(f"path: {folder} cannot be read: {error.strerror or error}") from error
