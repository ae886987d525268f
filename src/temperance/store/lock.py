"""One writer for each folder: a lock that the system lets go of when its process ends, in whatever way."""

import json
import os
import platform
from pathlib import Path
from typing import Any

from temperance.errors import InvalidInputError
from temperance.store.layout import LOCK

if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, BEYOND, os.SEEK_SET)  # where nothing is written, so that others can read who it is
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


BEYOND = 2**20


class Lock:
    """Held from here to `release`. The file names who holds it, and is empty when nobody does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _take(self._handle, self.path)
            _write(self._handle, {"host": platform.node(), "pid": os.getpid()})
        except BaseException:
            os.close(self._handle)
            raise

    def release(self) -> None:
        """Let others write."""
        _write(self._handle, None)
        os.close(self._handle)


def holder(folder: Path) -> dict[str, Any] | None:
    """Who writes to a folder now; None when nobody does, also after a crash. Nothing is locked."""
    path = folder / LOCK
    try:
        named = _named(path)
    except FileNotFoundError:
        return None
    if named is None or named["host"] != platform.node():
        return named
    return named if _alive(int(named["pid"])) else None


def _take(handle: int, path: Path) -> None:
    """Lock the file, or say who has."""
    named = _named(path)
    if named is not None and named["host"] != platform.node():
        raise InvalidInputError(
            f"store: {path.parent} is written to by process {named['pid']} on {named['host']}; if that has "
            f"ended, delete {path}"
        )
    try:
        _lock(handle)
    except OSError as error:
        named = _named(path)
        who = "another process" if named is None else f"process {named['pid']}"
        raise InvalidInputError(
            f"store: {path.parent} is written to by {who}; wait until it ends, or stop it"
        ) from error


def _named(path: Path) -> dict[str, Any] | None:
    """What the file says; nobody, where it was cut off in the middle."""
    try:
        named = json.loads(path.read_text())
        return {"host": str(named["host"]), "pid": int(named["pid"])}
    except FileNotFoundError:
        raise
    except (ValueError, TypeError, KeyError):
        return None


def _write(handle: int, named: dict[str, Any] | None) -> None:
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    if named is not None:
        os.write(handle, json.dumps(named).encode())


def _alive(pid: int) -> bool:
    if os.name == "nt":  # pragma: no cover  to ask would be to end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        pass
    return True
