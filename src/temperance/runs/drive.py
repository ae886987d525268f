"""All chains of a run, advanced together segment by segment. The main thread watches, and answers Ctrl-C.

A chain advances by one segment at a time, the one that has come the least far first, so that a run that ends
early has as much of each. How long segments are follows the clock; the draws do not depend on it.
"""

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from temperance.executors.contract import Executor
from temperance.runs.chain import ChainRun
from temperance.runs.progress import Display
from temperance.store.contract import Store

REFRESH_SECONDS = 0.05
SEGMENT_SECONDS = 0.1  # a stop, the display and what is committed wait for no longer
FIRST_SEGMENT = 64  # iterations, before it is known how long one takes
MAX_GROWTH = 2.0  # of a segment over the last: no chain gets farther ahead than that


def default_cores(chains: int, *, runs_in_parallel: bool) -> int:
    """As many threads as help: one for densities that hold the interpreter."""
    return min(chains, os.cpu_count() or 1) if runs_in_parallel else 1


class Segments:
    """The segments of one chain: each as long as the last ones say."""

    def __init__(self, run: ChainRun, store: Store) -> None:
        self.run = run
        self._store = store
        self._size = FIRST_SEGMENT

    def next(self, limit: float) -> None:
        """Advance by one segment, not beyond iteration ``limit``, and commit it."""
        began, clock = self.run.n_done, time.perf_counter()
        self.run.advance(int(min(self._size, limit - began)))
        made, seconds = self.run.n_done - began, time.perf_counter() - clock
        self._store.commit(self.run.index, self.run.snapshot)
        growth = SEGMENT_SECONDS / max(seconds, SEGMENT_SECONDS / MAX_GROWTH)
        self._size = max(1, int(max(made, self._size / MAX_GROWTH) * max(growth, 1.0 / MAX_GROWTH)))


@dataclass(frozen=True)
class Barrier:
    """An iteration that no chain passes before all have come to it and met."""

    iteration: int
    meet: Callable[[Sequence[ChainRun]], None]


def drive(
    runs: Sequence[ChainRun],
    executor: Executor,
    store: Store,
    display: Display,
    barriers: Sequence[Barrier] = (),
) -> bool:
    """Run all chains; False when a Ctrl-C ended them early. A failed chain stops the others."""
    segments = [Segments(run, store) for run in runs]
    with executor, display:
        try:
            for barrier in barriers:
                _watch(segments, executor, display, barrier.iteration)
                barrier.meet(runs)
            _watch(segments, executor, display, math.inf)
        except KeyboardInterrupt:
            stop_all(runs)
            return False
        except BaseException:
            stop_all(runs)
            raise
    return True


def stop_all(runs: Sequence[ChainRun]) -> None:
    """Ask every chain to end."""
    for run in runs:
        run.stop()


def _watch(segments: Sequence[Segments], executor: Executor, display: Display, limit: float) -> None:
    """Keep the workers busy until no chain can go on, or all are at the limit."""
    busy: dict[Future[None], Segments] = {}
    shown = time.monotonic()
    while True:
        idle = [one for one in segments if one not in busy.values()]
        ready = [one for one in idle if one.run.goes_on and one.run.n_done < limit]
        ready.sort(key=lambda one: one.run.n_done)
        for one in ready[: executor.workers - len(busy)]:
            busy[executor.submit(functools.partial(one.next, limit))] = one
        if not busy:
            return
        for future in wait(busy, timeout=REFRESH_SECONDS, return_when=FIRST_COMPLETED).done:
            busy.pop(future)
            future.result()
        if any(one.run.failure is not None for one in segments):
            stop_all([one.run for one in segments])
        if time.monotonic() - shown >= REFRESH_SECONDS:
            display.update()
            shown = time.monotonic()
