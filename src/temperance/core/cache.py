"""Compiled code on disk, also where neither the package nor the home folder can be written to."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import numba

from temperance.core.numba_internals.storage import kept_in, says_no_folder

NOT_KEPT = Path()
OTHERS_MAY_WRITE = 0o022
_in_use: list[Path] = []


def kept_on_disk(function: Any, signature: Any, options: dict[str, Any]) -> Any:
    """Compile a function for one signature, or load what an earlier process compiled."""
    try:
        return numba.jit(signature, cache=True, **options)(function)
    except RuntimeError as error:
        if not says_no_folder(error):
            raise
    if not _in_use:
        _in_use.append(_temporary_folder())
    with kept_in(_in_use[0]):
        return numba.jit(signature, cache=_in_use[0] != NOT_KEPT, **options)(function)


def substitute_folder() -> Path | None:
    """Where compiled code goes for want of a better place, `NOT_KEPT` if nowhere; None if all is well."""
    return _in_use[0] if _in_use else None


def _temporary_folder() -> Path:
    """One folder for each user. Code is loaded from it, so that nobody else may write there."""
    try:
        folder = Path(tempfile.gettempdir()) / f"temperance-{_user()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if _is_private(folder) else Path(tempfile.mkdtemp(prefix="temperance-"))
    except OSError:
        return NOT_KEPT


def _is_private(folder: Path) -> bool:
    if os.name == "nt":  # where each user has temporary files of their own
        return True
    found = folder.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == _user()
    return is_ours and not found.st_mode & OTHERS_MAY_WRITE


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
