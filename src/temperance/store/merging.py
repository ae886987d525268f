"""Small chunks put together into larger ones, so that a long run is hundreds of files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from temperance.files import FileSystem, whole_file
from temperance.store.archive import Array, Pieces, read_array, read_arrays, write_pieces
from temperance.store.layout import Chunk, chunk_name, last_number

FAN_IN = 64  # chunks that are put together, at most
FULL = 128 * 2**20  # bytes from which on a chunk stays as it is


def to_merge(chunks: Sequence[Chunk]) -> int:
    """How many of the last chunks should become one; zero when it is not time."""
    count = size = 0
    for chunk in reversed(chunks):
        if chunk.size >= FULL or chunk.merged != chunks[-1].merged:
            break
        count, size = count + 1, size + chunk.size
    return count if count >= FAN_IN or (size >= FULL and count > 1) else 0


def merge(folder: Path, chunks: Sequence[Chunk], system: FileSystem) -> Chunk:
    """One new chunk with the rows of several; they stay."""
    first = int(chunks[0].file.split("-")[1])
    path = folder / chunk_name(first, last_number([chunks[-1].file]))
    holders: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        for key in chunk.rows:
            holders.setdefault(key, []).append(chunk)
    rows = {key: (those[0].rows[key][0], those[-1].rows[key][1]) for key, those in holders.items()}
    pieces: dict[str, Pieces] = {}
    for key, those in holders.items():
        n_rows = rows[key][1] - rows[key][0]
        for name, model in _columns(folder / those[0].file, key).items():
            parts = _parts(folder, those, name)
            pieces[name] = Pieces(model.dtype, (n_rows, *model.shape[1:]), parts)
    with whole_file(path, system) as file:
        write_pieces(file, pieces)
    return Chunk(path.name, path.stat().st_size, rows, chunks[-1].merged + 1)


def _columns(path: Path, key: str) -> dict[str, Array]:
    """The arrays of one chain and phase."""
    return {name: array for name, array in read_arrays(path).items() if name.startswith(f"{key}.")}


def _parts(folder: Path, chunks: Sequence[Chunk], name: str) -> Iterator[Array]:
    return (read_array(folder / chunk.file, name) for chunk in chunks)
