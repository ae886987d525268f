"""Errors that travel from one process to another."""

import pickle
import traceback
from dataclasses import dataclass

from temperance.executors.pickling import dumps
from temperance.origin import origin, with_place


class WorkerError(Exception):
    """An error of a worker that could not be sent as it was: its kind and words."""

    says_its_kind = True


class WorkerTracebackError(Exception):
    """Where an error came from in a worker, shown as the cause of that error."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


@dataclass(frozen=True)
class Trouble:
    """An error: itself, if it can be pickled, and its words, its place and its traceback in any case.

    Its cause travels beside it, since pickle forgets causes.
    """

    pickled: bytes | None
    words: str
    place: str
    trace: str
    cause: "Trouble | None" = None

    def unpacked(self) -> BaseException:
        """The error, to be raised here; ``origin`` finds the line that it came from."""
        error: BaseException = WorkerError(self.words)
        if self.pickled is not None:
            error = pickle.loads(self.pickled)
        error.__cause__ = WorkerTracebackError(self.trace) if self.cause is None else self.cause.unpacked()
        return with_place(error, self.place)


def packed(error: BaseException) -> Trouble:
    """An error, ready to travel."""
    trace = "".join(traceback.format_exception(error))
    cause = None if error.__cause__ is None else packed(error.__cause__)
    return Trouble(_pickled(error), f"{type(error).__name__}: {error}", origin(error), trace, cause)


def _pickled(error: BaseException) -> bytes | None:
    """None where it would not arrive as it is; some errors only fail when they are read."""
    try:
        made = dumps(error)
        arrived = pickle.loads(made)
    except Exception:  # noqa: BLE001  whatever an error of a user's does
        return None
    return made if type(arrived) is type(error) and str(arrived) == str(error) else None
