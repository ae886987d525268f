"""Files that are written whole or not at all, and never over another without leave."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from temperance.errors import InvalidInputError


class FileSystem:
    """All that is ever done to a disk, one method an operation, so that a test can make each of them fail."""

    def make_folder(self, path: Path) -> None:
        """A new folder; one that is there is left as it is."""
        path.mkdir(exist_ok=True)

    def create(self, path: Path) -> BinaryIO:
        """A file of a name that nobody has."""
        return path.open("xb")

    def sync(self, file: BinaryIO) -> None:
        """What was written is on the disk when this returns."""
        file.flush()
        os.fsync(file.fileno())

    def replace(self, old: Path, new: Path) -> None:
        """Give a file another name, in one step."""
        old.replace(new)

    def sync_folder(self, folder: Path) -> None:
        """The names in a folder are on the disk when this returns."""
        if os.name == "nt":  # which opens no folder, and writes names at once
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def remove(self, path: Path) -> None:
        """Take a file away, if it is there."""
        path.unlink(missing_ok=True)


THE_DISK = FileSystem()


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
def whole_file(path: Path, system: FileSystem = THE_DISK) -> Iterator[BinaryIO]:
    """A file that takes its name once it is whole and on the disk; nothing is left of one that failed."""
    try:
        with _partial_file(path, system) as (partial, file):
            yield file
            system.sync(file)
            file.close()
            system.replace(partial, path)
            system.sync_folder(path.parent)
    except OSError as error:
        if error.filename is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None  # the partial file is our affair


PARTIAL = ".partial"  # how the name of a file ends that is not whole


@contextlib.contextmanager
def _partial_file(path: Path, system: FileSystem = THE_DISK) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file beside a path, gone at the end; of a short name, as that of the path may be at the limit."""
    partial = path.with_name(f".{secrets.token_hex(4)}{PARTIAL}")
    try:
        with system.create(partial) as file:
            yield partial, file
    finally:
        system.remove(partial)


def write_text(path: Path, text: str) -> None:
    """A text file, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())
