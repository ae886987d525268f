"""Arrays by name in one file: an uncompressed .npz, which NumPy reads, written from end to end.

Each array has a checksum of its own, so that one can be read without the others and never comes back wrong.
"""

import io
import math
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from temperance.errors import DamagedFileError

Array = np.ndarray[Any, Any]
ENDING = ".npy"


class _Onward:
    """A file that can only be written on, so that no header is written twice."""

    def __init__(self, file: BinaryIO) -> None:
        self.write, self.flush = file.write, file.flush


@dataclass(frozen=True)
class Pieces:
    """One array as pieces along its first axis, each read when its turn comes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]  # of the whole
    parts: Iterable[Array]


def write_arrays(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """All arrays, each whole."""
    write_pieces(file, {name: Pieces(array.dtype, array.shape, [array]) for name, array in arrays.items()})


def write_pieces(file: BinaryIO, arrays: Mapping[str, Pieces]) -> None:
    """All arrays, piece by piece, so that no more than a piece is in memory."""
    stream: Any = _Onward(file)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in arrays.items():
            with archive.open(f"{name}{ENDING}", "w", force_zip64=True) as member:
                member.write(_header(pieces.dtype, pieces.shape))
                for part in pieces.parts:
                    member.write(np.ascontiguousarray(part).tobytes())


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    text = io.BytesIO()
    facts = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(text, facts)
    return text.getvalue()


def packed(arrays: Mapping[str, Array]) -> tuple[list[list[Any]], Array]:
    """Many small arrays as one of bytes, and a table of what is where: a file of each would cost more."""
    table = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    content = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return table, np.frombuffer(content, dtype=np.uint8)


def unpacked(table: Iterable[Sequence[Any]], content: Array) -> dict[str, Array]:
    """The arrays that `packed` put together."""
    arrays, start, everything = {}, 0, content.tobytes()
    for name, kind, shape in table:
        dtype = np.dtype(str(kind))
        if dtype.hasobject:
            raise ValueError(f"{name} holds objects")
        count = math.prod(shape)
        arrays[str(name)] = np.frombuffer(everything, dtype, count, start).reshape(shape).copy()
        start += count * dtype.itemsize
    return arrays


def read_array(path: Path, name: str) -> Array:
    """One array, checked."""
    return read_arrays(path, [name])[name]


def read_arrays(path: Path, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Some arrays of a file, or all. Each is read to its end, where its checksum is looked at."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(entry.comment for entry in archive.infolist()):  # we write none
                raise ValueError("a comment has swallowed what comes after it")
            wanted = [one.removesuffix(ENDING) for one in archive.namelist()] if names is None else names
            return {name: _array(archive.read(f"{name}{ENDING}")) for name in wanted}
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever a damaged file does to zlib, zipfile, NumPy and us
        raise DamagedFileError(f"{path} is damaged: {error!r}") from error


def _array(content: bytes) -> Array:
    array: Array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return array
