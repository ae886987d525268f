"""A folder made ready for a run, and nobody else's: new, of a run that goes on, or of one to be replaced."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from temperance.errors import InvalidInputError
from temperance.files import THE_DISK, FileSystem, whole_file
from temperance.store.layout import LOCK, PROBE, is_begun, is_run
from temperance.store.lock import Lock


@contextlib.contextmanager
def claimed(folder: Path, *, overwrite: bool, system: FileSystem = THE_DISK) -> Iterator[None]:
    """A folder that can be written to and is ours alone while this is open.

    It must be new, empty, or hold a run that may be replaced. What is made here and stays unused goes again.
    """
    with _said_plainly(folder):
        _require_free(folder, overwrite=overwrite)
        is_new = not os.path.lexists(folder)
        system.make_folder(folder)
    try:
        with _said_plainly(folder):
            lock = Lock(folder)
        try:
            with _said_plainly(folder):
                _require_writable(folder, system)
            yield
        finally:
            lock.release()
    finally:
        if is_new and not is_run(folder):
            _undo(folder)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Nobody else writes to a folder while this is open."""
    lock = Lock(folder)
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _said_plainly(folder: Path) -> Iterator[None]:
    """An error of the disk as one of the parameter."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"store: {folder} cannot be written: {error.strerror or error}") from error


def _require_free(folder: Path, *, overwrite: bool) -> None:
    if not folder.parent.is_dir():
        raise InvalidInputError(f"store: the folder {folder.parent} does not exist")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InvalidInputError(f"store: {folder} is a file, not a folder")
    if is_run(folder):
        if not overwrite:
            raise InvalidInputError(
                f"store: {folder} holds a run; go on with it (temperance.resume, temperance resume), choose "
                "another name, or replace it (overwrite=True, --overwrite)"
            )
        return
    names = [path.name for path in folder.iterdir()]
    if names and not is_begun(names):
        raise InvalidInputError(f"store: {folder} is not empty and holds no run; choose another name")


def _require_writable(folder: Path, system: FileSystem) -> None:
    with whole_file(folder / PROBE, system) as file:
        file.write(b"can be written")
    system.remove(folder / PROBE)


def _undo(folder: Path) -> None:
    """Take a folder away in which nothing has begun."""
    with contextlib.suppress(OSError):
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
