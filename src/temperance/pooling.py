"""A run whose log density is evaluated by workers: from the model to a target of theirs, and its chains."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from temperance.executors.pool import opened
from temperance.executors.threads import Threads
from temperance.executors.work import Work
from temperance.models.contract import ModelSpec
from temperance.runs.asking import RowsOf
from temperance.runs.chain import ChainRun
from temperance.targets.pooled import PooledTarget

Begin = Callable[[int, np.random.SeedSequence], ChainRun]


@contextlib.contextmanager
def asking(spec: ModelSpec, pool: Any) -> Iterator[ModelSpec]:
    """The model, its log density evaluated by a pool of workers, if there is one, while this is open."""
    if pool is None:
        yield spec
        return
    with opened(pool) as engine:
        target = spec.target
        function = RowsOf(getattr(target, "bare", target))
        work = Work(function, target.name, travels=not engine.in_this_process)
        pooled = PooledTarget(target, functools.partial(engine.ask, work), engine.workers, engine.limit)
        try:
            yield replace(spec, target=pooled)
        finally:
            pooled.forget()


def begun(spec: ModelSpec, seeds: Sequence[np.random.SeedSequence], begin: Begin) -> list[ChainRun]:
    """All chains at their starts; those of workers ask for these at once."""
    first = begin(0, seeds[0])  # what has to be compiled is compiled now
    if not isinstance(spec.target, PooledTarget) or len(seeds) == 1:
        return [first, *(begin(k, own) for k, own in enumerate(seeds) if k)]
    runs: dict[int, ChainRun] = {0: first}
    with Threads(len(seeds) - 1) as threads:
        started = [
            threads.submit(lambda k=k, own=own: runs.update({k: begin(k, own)}))  # type: ignore[misc]
            for k, own in enumerate(seeds)
            if k
        ]
        try:
            for one in started:
                one.result()
        except BaseException:
            threads.abandon()
            raise
    return [runs[k] for k in range(len(seeds))]
