"""Files that are written whole or not at all, and never over another without leave."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from temperance.errors import InvalidInputError


def require_writable(path: Path, *, overwrite: bool, name: str = "path") -> None:
    """Refuse a place where no file can be put, in words that begin with the name of the parameter."""
    try:
        _require_room(path, overwrite, name)
        with _partial_file(path):
            pass
    except OSError as error:
        raise InvalidInputError(f"{name}: {path} cannot be written: {error.strerror or error}") from error


def _require_room(path: Path, overwrite: bool, name: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        path.lstat()  # raises where the name is too long, which the questions below may take for absent
    if not path.parent.is_dir():
        raise InvalidInputError(f"{name}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InvalidInputError(f"{name}: {path} is a folder")
    if path.exists() and not overwrite:
        raise InvalidInputError(
            f"{name}: {path} exists; choose another name, or replace it (overwrite=True, --overwrite)"
        )


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name once it is whole and on the disk; nothing is left of one that failed."""
    try:
        with _partial_file(path) as (partial, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()
            partial.replace(path)
    except OSError as error:
        if error.filename is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None  # the partial file is our affair


@contextlib.contextmanager
def _partial_file(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file beside a path, gone at the end; of a short name, as that of the path may be at the limit."""
    partial = path.with_name(f".{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            yield partial, file
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text file, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())
