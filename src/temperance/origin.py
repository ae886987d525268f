"""What a user's function is called, and the line of a user's code that an error came from."""

import contextlib
import os
import sysconfig
import traceback
from pathlib import Path
from typing import Any

NOT_SHOWN = (f"{Path(__file__).parent}{os.sep}", f"{sysconfig.get_paths()['stdlib']}{os.sep}", "<frozen")
INSTALLED = {"site-packages", "dist-packages"}
SAYS_ITS_KIND = "says_its_kind"  # likewise, without its type
MOST_TOLD = 500  # letters of an error of somebody else
PLACE = "_temperance_place"  # of an error that came from another process, without its traceback


def function_name(function: Any) -> str:
    """The name of a function, for messages."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def origin(error: BaseException | None) -> str:
    """``file:line`` of the innermost line that the user wrote; empty where no traceback tells."""
    told = getattr(error, PLACE, "")
    if told:
        return str(told)
    trace = None if error is None else error.__traceback__
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(NOT_SHOWN)]
    written = [frame for frame in frames if INSTALLED.isdisjoint(Path(frame.filename).parts)] or frames
    return f"{written[-1].filename}:{written[-1].lineno}" if written else ""


def came_from(error: BaseException | None) -> str:
    """The same as the end of a message."""
    place = origin(error)
    return f", from {place}" if place else ""


def told(error: BaseException | None) -> str:
    """The same with what the error says itself, so that no traceback has to be read for it."""
    if error is None:
        return ""
    words = " ".join(str(error).split())
    kind = "" if hasattr(error, SAYS_ITS_KIND) else type(error).__name__
    text = ": ".join(part for part in (kind, words) if part)
    short = f"{text[:MOST_TOLD]} ..." if len(text) > MOST_TOLD else text
    return f"{came_from(error)} ({short})"


def with_place(error: BaseException, place: str) -> BaseException:
    """An error that knows where it came from, if it takes attributes."""
    with contextlib.suppress(AttributeError):
        setattr(error, PLACE, place)
    return error
