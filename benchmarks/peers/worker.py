"""Repetitions of one peer on one task; run inside the peer's own environment by run.py.

``python worker.py PEER TASK BUDGET FIRST LAST`` prints one JSON line a repetition.
"""

import contextlib
import importlib
import json
import os
import sys
import time
import traceback

import numpy as np
from tasks import make_task, score


def main() -> None:
    """Run repetitions FIRST to LAST - 1."""
    peer_name, task_name = sys.argv[1:3]
    budget, first, last = (int(word) for word in sys.argv[3:6])
    peer = importlib.import_module(f"peer_{peer_name}")
    bare = make_task(task_name, budget).seconds_bare()
    for repetition in range(first, last):
        row = {"peer": peer_name, "task": task_name, "budget": budget, "repetition": repetition}
        print(json.dumps(row | {"seconds_bare": bare} | _one(peer, task_name, budget, repetition)), flush=True)


def _one(peer, task_name: str, budget: int, repetition: int) -> dict:
    task = make_task(task_name, budget)
    np.random.seed(repetition)  # noqa: NPY002  some peers draw from the global generator
    began = time.perf_counter()
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            outcome = peer.run(task, repetition)
    except Exception:  # noqa: BLE001  a peer's failure is a result
        return {"failed": traceback.format_exc(limit=-1)[-300:], "evaluations": task.n_evaluations}
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "evaluations": task.n_evaluations, "draws": len(outcome.draws)} | score(task, outcome)


if __name__ == "__main__":
    main()
