"""A worker process of our own: reads work and arguments from its standard input, answers on its output."""

import contextlib
import os
import pickle
import struct
import threading
import time
from typing import IO, Any

from temperance.executors.trouble import packed
from temperance.executors.work import done, outlast_signals

LENGTH = struct.Struct("<Q")
WORKER = "TEMPERANCE_WORKER"  # in the environment of a worker
ORPHAN_SECONDS = 1.0  # between two looks at whether the run is still there


def send(stream: IO[bytes], message: bytes) -> None:
    """One message, whole."""
    stream.write(LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message; EOFError where there is none, or not all of it."""
    head = stream.read(LENGTH.size)
    body = stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if len(head) < LENGTH.size or len(body) < LENGTH.unpack(head)[0]:
        raise EOFError
    return body


def main() -> None:
    """Answer until there are no more questions."""
    outlast_signals()
    questions, answers = _channels()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            send(answers, _answered(receive(questions)))


def _channels() -> tuple[IO[bytes], IO[bytes]]:
    """Two ends for messages. What a density prints goes to the standard error, and it reads nothing."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


def _answered(question: bytes) -> bytes:
    """What there is to say to a question: an answer, or what kept it from being one."""
    try:
        answer: tuple[Any, Any] = (done(pickle.loads(question)), None)
        return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  the run raises it
        return pickle.dumps((None, packed(error)), protocol=pickle.HIGHEST_PROTOCOL)


def _end_with_parent(parent: int) -> None:
    """A run that was killed cannot say so, and a call of the density may take long."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
