"""A run with workers: what they are asked for, and which chains are made by them whole."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from temperance.errors import InvalidInputError
from temperance.executors.contract import Engine
from temperance.executors.pool import Pool, as_pool, opened
from temperance.executors.threads import Threads
from temperance.executors.work import Work
from temperance.models.contract import ModelSpec
from temperance.runs.asking import RowsOf
from temperance.runs.chain import ChainRun
from temperance.runs.plan import Plan
from temperance.runs.sent import Elsewhere, SegmentsOf, can_be_sent
from temperance.targets.pooled import PooledTarget

# Times what a question costs: a point that takes less had better be evaluated by whoever runs all its chain,
# as even ten workers are not to wait for the parent.
WORTH_ASKING = 10.0

Begin = Callable[[int, np.random.SeedSequence], ChainRun]
Again = Callable[[Plan], list[ChainRun]]  # the same chains, of another plan


@dataclass(frozen=True)
class Alone:
    """A run without workers."""

    spec: ModelSpec

    def begun(self, seeds: Sequence[np.random.SeedSequence], begin: Begin) -> list[ChainRun]:
        """All chains at their starts."""
        return [begin(k, own) for k, own in enumerate(seeds)]

    def share(
        self, plan: Plan, runs: list[ChainRun], seeds: Sequence[np.random.SeedSequence], again: Again
    ) -> tuple[Plan, list[ChainRun]]:
        """The plan and its chains, as they are made best; here there is nobody to share with."""
        del seeds, again
        return plan, runs


@dataclass(frozen=True)
class Shared(Alone):
    """A run whose log density is evaluated by workers; ``own`` is that density."""

    own: ModelSpec
    target: PooledTarget
    engine: Engine
    pool: Pool
    n_bytes: int  # of the density with its data, as each worker gets it

    def begun(self, seeds: Sequence[np.random.SeedSequence], begin: Begin) -> list[ChainRun]:
        """All chains at their starts, which are asked for at once."""
        runs = {0: begin(0, seeds[0])}  # what has to be compiled is compiled now

        def start(chain: int) -> None:
            runs[chain] = begin(chain, seeds[chain])

        with Threads(len(seeds)) as threads:
            started = [threads.submit(functools.partial(start, k)) for k in range(1, len(seeds))]
            try:
                for one in started:
                    one.result()
            except BaseException:
                threads.abandon()
                raise
        return [runs[k] for k in range(len(seeds))]

    def share(
        self, plan: Plan, runs: list[ChainRun], seeds: Sequence[np.random.SeedSequence], again: Again
    ) -> tuple[Plan, list[ChainRun]]:
        """The same, with chains that are made by workers whole, where that was asked for or is faster."""
        del again
        self._send(plan, runs, seeds)
        if runs[0].elsewhere is None:
            self.target.look_at_rows(runs[0].state.position[: int(runs[0].state.n_levels[0])])
        return plan, runs

    def _send(self, plan: Plan, runs: list[ChainRun], seeds: Sequence[np.random.SeedSequence]) -> None:
        if not can_be_sent(plan) or self.engine.in_this_process or self.pool.share == "points":
            return
        if self.pool.share is None and (
            len(runs) == 1 or self.target.seconds > WORTH_ASKING * self.engine.cost
        ):
            return
        try:
            work = Work(SegmentsOf(replace(plan, target=self.own.target), seeds), plan.target.name)
        except InvalidInputError:
            if self.pool.share == "chains":
                raise
            return  # points can be sent, as they have been before
        for run in runs:
            run.elsewhere = Elsewhere(lambda order: self.engine.ask(work, order, False), self.engine.limit)


@contextlib.contextmanager
def asking(spec: ModelSpec, given: Any) -> Iterator["Shared"]:
    """The model, its log density evaluated by a pool of workers while this is open."""
    pool = as_pool(given)
    with opened(pool) as engine:
        function = RowsOf(getattr(spec.target, "bare", spec.target))
        work = Work(function, spec.target.name, travels=not engine.in_this_process)
        target = PooledTarget(spec.target, functools.partial(engine.ask, work), engine.workers, engine.limit)
        try:
            yield Shared(replace(spec, target=target), spec, target, engine, pool, len(work.payload))
        finally:
            target.forget()
