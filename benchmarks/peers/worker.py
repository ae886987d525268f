"""Runs repetitions of one peer on one task inside the peer's own environment.

The runner starts it as ``python -m peers.worker PEER TASK FOLDER SECONDS SEED...``, and gives it so many
seconds after which it begins no new repetition.
"""

import datetime
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from peers.contract import WEIGHTED, Outcome, Peer, Sampler, load_adapter
from peers.density import Density
from peers.measures import measure
from peers.store import DONE, FAILED, Store
from peers.tasks import Task, get_task


def main(arguments: Sequence[str]) -> None:
    """Make every repetition asked for, and write a row for each."""
    peer, task, store = arguments[0], get_task(arguments[1]), Store(Path(arguments[2]))
    adapter = load_adapter(peer)
    density = Density(task)
    began = time.process_time()
    sampler = adapter.prepare(task, density)
    common = {
        "setup_seconds": time.process_time() - began,
        "bare_seconds": density.bare_seconds(),
        "date": str(datetime.date.today()),
        "versions": versions(adapter.PEER),
    }
    until = time.monotonic() + float(arguments[3])
    for seed in map(int, arguments[4:]):
        if time.monotonic() > until:
            break
        names = [peer, *([WEIGHTED[peer]] if peer in WEIGHTED else [])]
        for name, row in zip(names, repetition(task, density, sampler, seed), strict=False):
            store.append(task, name, {"seed": seed, **common, **row})


def repetition(task: Task, density: Density, sampler: Sampler, seed: int) -> list[dict[str, object]]:
    """One repetition as a row, and one more by its weighted sample; a failure keeps its message."""
    np.random.seed(seed)  # noqa: NPY002 - several peers draw from the global state
    density.count = 0
    began = time.process_time()
    try:
        outcome = sampler(seed)
        elapsed = time.process_time() - began
        both = [outcome] if outcome.weighted is None else [outcome, outcome.weighted]
        return [row_of(task, density, one, elapsed) for one in both]
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
        spent = {"cpu_seconds": time.process_time() - began, "evaluations": density.count}
        return [{"status": FAILED, "message": first_line(error), **spent}] * 2


def row_of(task: Task, density: Density, outcome: Outcome, elapsed: float) -> dict[str, object]:
    """What a sampler left, in numbers."""
    spent = {
        "cpu_seconds": elapsed if outcome.cpu_seconds is None else outcome.cpu_seconds,
        "evaluations": density.count if outcome.evaluations is None else outcome.evaluations,
    }
    density.check(int(spent["evaluations"]))
    return {"status": DONE, "settings": outcome.settings, **spent, **measure(task, outcome)}


def first_line(error: Exception) -> str:
    """What was said, without the traces of files that some peers add."""
    return f"{type(error).__name__}: {error}".split("\n")[0]


def versions(peer: Peer) -> str:
    """The peer and what it stands on."""
    names = [requirement.split(">")[0].split("=")[0].split("<")[0] for requirement in peer.packages]
    return " ".join(f"{name} {version(name)}" for name in (*(names or ["temperance"]), "numpy", "numba"))


if __name__ == "__main__":
    main(sys.argv[1:])
