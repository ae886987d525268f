"""All chains of a run, advanced together segment by segment. The main thread watches, and answers Ctrl-C.

A chain advances by one segment at a time, the one that has come the least far first, so that a run that ends
early has as much of each. How long segments are follows the clock; the draws do not depend on it.
"""

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from temperance.executors.contract import Executor
from temperance.executors.cores import cores_here
from temperance.runs.averaging import Ladder
from temperance.runs.chain import ChainRun
from temperance.runs.heat import is_look, looked
from temperance.runs.lengthen import reason_for_more
from temperance.runs.plan import NEVER
from temperance.runs.progress import Display
from temperance.runs.stopping import Stop, listening
from temperance.runs.teaching import begun
from temperance.runs.together import met, met_over_rounds
from temperance.runs.unraisable import noticed
from temperance.store.contract import Store

REFRESH_SECONDS = 0.05
SEGMENT_SECONDS = 0.1  # a stop, the display and what is committed wait for no longer
SENT_SEGMENT_SECONDS = 1.0  # a value and its rows travel to a worker and back in some milliseconds
FIRST_SEGMENT = 64  # iterations, before it is known how long one takes
MAX_GROWTH = 2.0  # of a segment over the last: no chain gets farther ahead than that


def default_cores(chains: int, *, runs_in_parallel: bool) -> int:
    """As many threads as help: one for densities that hold the interpreter."""
    return min(chains, cores_here()) if runs_in_parallel else 1


class Segments:
    """The segments of one chain: each as long as the last ones say."""

    def __init__(self, run: ChainRun, store: Store) -> None:
        self.run = run
        self._store = store
        self._size = FIRST_SEGMENT

    def next(self, limit: float) -> None:
        """Advance by one segment, not beyond iteration ``limit``, and hand over what it is time for."""
        began, clock = self.run.n_done, time.perf_counter()
        self.run.advance(int(min(self._size, limit - began)))
        made, seconds = self.run.n_done - began, time.perf_counter() - clock
        with self.run.handing_over:
            wanted = self.run.is_full or self._store.wants(self.run.index)
            if wanted and not self.run.abandoned:  # long before, and the run has ended without it
                self._store.append(self.run.index, self.run.hand_over())
        wanted_seconds = SEGMENT_SECONDS if self.run.elsewhere is None else SENT_SEGMENT_SECONDS
        growth = wanted_seconds / max(seconds, wanted_seconds / MAX_GROWTH)
        self._size = max(1, int(max(made, self._size / MAX_GROWTH) * max(growth, 1.0 / MAX_GROWTH)))


@dataclass(frozen=True)
class Barrier:
    """An iteration that no chain passes before all have come to it and met."""

    iteration: int
    meet: Callable[[Sequence[ChainRun]], None]


@dataclass(frozen=True)
class Crew:
    """All who have a part in a run beside its chains."""

    executor: Executor
    store: Store
    display: Display
    stop: Stop = field(default_factory=Stop)


def meetings(runs: Sequence[ChainRun]) -> Iterator[Barrier]:
    """Barriers at which chains that share learn together, from where they are."""
    while (iteration := runs[0].now.next_meeting) != NEVER:
        yield Barrier(iteration, learn_together)


def learn_together(runs: Sequence[ChainRun]) -> None:
    """All chains get what comes of what all have seen, or none does.

    At the end of the tuning they may meet several times: after each round of proposals.
    """
    if any(run.now.learner.rounds.began for run in runs):
        _learn_from_rounds(runs)
        return
    outcome = met(runs[0].plan, [run.now for run in runs], [run.tuning for run in runs])
    plan, traces, n_done = runs[0].plan, [run.tuning for run in runs], runs[0].n_done
    why = reason_for_more(plan, outcome.learners, traces, n_done)
    for run in runs if why else ():
        run.lengthen(why)
    ladders: Sequence[Ladder | None] = outcome.ladders or [None] * len(runs)
    for run, learner, ladder in zip(runs, outcome.learners, ladders, strict=True):
        run.be_told(learner, ladder, outcome.setbacks if run is runs[0] else ())
    if is_look(runs[0].plan, n_done):
        sight = looked(runs[0].plan, [run.now for run in runs], traces)
        for run in runs:
            run.take_change(*sight)
    if n_done == runs[0].plan.tune:
        _begin_rounds(runs)


def _learn_from_rounds(runs: Sequence[ChainRun]) -> None:
    outcome = met_over_rounds(runs[0].plan, [run.now for run in runs], [run.tuning for run in runs])
    for run, learner in zip(runs, outcome.learners, strict=True):
        run.be_told(learner, None, outcome.setbacks if run is runs[0] else ())


def _begin_rounds(runs: Sequence[ChainRun]) -> None:
    learners, traces = [run.now.learner for run in runs], [run.tuning for run in runs]
    coming = begun(learners, runs[0].plan, traces, runs[0].n_done)
    for run, learner in zip(runs, coming, strict=True):
        if learner.rounds.is_due:
            run.be_told(learner, None, ())


def drive(runs: Sequence[ChainRun], crew: Crew, barriers: Iterable[Barrier] = ()) -> None:
    """Run all chains to their end, or until somebody stops them. A failed chain stops the others.

    Whatever ends it, all that was drawn is handed over to the store.
    """
    segments = [Segments(run, crew.store) for run in runs]
    with listening(crew.stop), noticed():
        try:
            with crew.executor, crew.display:
                _pass_all(segments, crew, barriers)
        finally:
            for run in runs:
                crew.store.append(run.index, run.rescue() if run.abandoned else run.hand_over())


def stop_all(runs: Sequence[ChainRun]) -> None:
    """Ask every chain to end."""
    for run in runs:
        run.stop()


def _pass_all(segments: Sequence[Segments], crew: Crew, barriers: Iterable[Barrier]) -> None:
    runs = [one.run for one in segments]
    try:
        for barrier in barriers:
            _watch(segments, crew, barrier.iteration)
            if not all(_has_arrived(run, barrier) for run in runs):
                return  # something ended the run
            barrier.meet(runs)
            # At once, as chains that have met cannot go on with others that have not.
            crew.store.append_all({run.index: run.hand_over() for run in runs})
        _watch(segments, crew, math.inf)
    except KeyboardInterrupt:  # by a handler that is not ours
        crew.stop.set("SIGINT")
        stop_all(runs)
    except BaseException:
        stop_all(runs)
        raise


def _has_arrived(run: ChainRun, barrier: Barrier) -> bool:
    return run.running and run.n_done == barrier.iteration and not run.something_is_due


def _watch(segments: Sequence[Segments], crew: Crew, limit: float) -> None:
    """Keep the workers busy until no chain can go on, or all are at the limit."""
    busy: dict[Future[None], Segments] = {}
    shown = time.monotonic()
    while True:
        if crew.stop.is_set() or any(one.run.failure is not None for one in segments):
            stop_all([one.run for one in segments])
        if crew.stop.is_urgent:
            _abandon(busy.values(), crew.executor)
            return
        idle = [one for one in segments if one not in busy.values()]
        ready = [
            one for one in idle if one.run.goes_on and (one.run.n_done < limit or one.run.something_is_due)
        ]
        ready.sort(key=lambda one: one.run.n_done)
        for one in ready[: crew.executor.workers - len(busy)]:
            busy[crew.executor.submit(functools.partial(one.next, limit))] = one
        if not busy:
            return
        for future in wait(busy, timeout=REFRESH_SECONDS, return_when=FIRST_COMPLETED).done:
            busy.pop(future)
            future.result()
        crew.store.check()
        if time.monotonic() - shown >= REFRESH_SECONDS:
            crew.display.update()
            shown = time.monotonic()


def _abandon(segments: Iterable[Segments], executor: Executor) -> None:
    """Leave calls that are under way to themselves."""
    executor.abandon()
    for one in segments:
        one.run.abandon()
