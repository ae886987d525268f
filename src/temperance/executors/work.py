"""Work that is sent to workers once and then asked for often.

A worker that does not know a piece of work says so, and is asked again with it. So it need not be known
how many workers there are, nor when a new one takes the place of another.
"""

import enum
import os
import pickle
import signal
import threading
import uuid
from collections.abc import Callable
from typing import Any

from temperance.executors.pickling import sendable

Function = Callable[[Any], Any]
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
# How launchers tell a process how many there are: OpenMPI, MPICH and its relatives, and PMIx as SLURM has it.
WORLD_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE")
MOST_KNOWN = 8  # pieces of work that a worker keeps, since pools of others outlive a run


class Unknown(enum.Enum):
    """The answer of a worker that was never sent the work."""

    WORK = enum.auto()


class Work:
    """A function of one argument, with a name of its own for all workers."""

    def __init__(self, function: Function, name: str, *, travels: bool = True) -> None:
        self.function = function
        self.token = uuid.uuid4().hex
        self.payload = sendable(function, name) if travels else b""


def outlast_signals() -> None:
    """Leave what ends a run to the run, which then ends its workers: terminals and batch systems tell all.

    A run that is gone is noticed in another way.
    """
    for name in ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def has_world() -> bool:
    """Whether a launcher of MPI has started this process beside others."""
    told = [os.environ.get(name, "1") for name in WORLD_SIZES]
    return any(value.isdigit() and int(value) > 1 for value in told)


_known: dict[str, Function] = {}
_lock = threading.Lock()


def done(item: tuple[Any, ...]) -> Any:
    """Do the work of a token, which comes with its payload if it may be unknown; in a worker.

    Without an argument it is only taken to heart.
    """
    token, payload, *arguments = item
    with _lock:
        function = _known.get(token)
        if function is None and payload is not None:
            function = _known[token] = pickle.loads(payload)
            for old in list(_known)[:-MOST_KNOWN]:
                del _known[old]
    if function is None:
        return Unknown.WORK
    return function(*arguments) if arguments else None


def done_under_mpi(item: tuple[Any, ...]) -> Any:
    """The same in a process of MPI. A launcher passes signals to all of them: they are for the run alone.

    A worker that ended by one would take the run with it before this has written what it has.
    """
    if threading.current_thread() is threading.main_thread():
        outlast_signals()
    return done(item)
