"""Workers that nobody asked for: when they pay, whether they can be had, and what is said about it.

Whatever comes of it, and whatever it measures, the draws are the same.
"""

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from temperance.errors import TemperanceError
from temperance.executors.cores import cores_here
from temperance.executors.pool import Pool, is_frozen
from temperance.executors.work import has_world
from temperance.executors.worker import WORKER
from temperance.executors.workers import Workers
from temperance.models.contract import ModelSpec
from temperance.pooling import WORTH_ASKING, Again, Alone, Shared, asking
from temperance.runs.chain import ChainRun
from temperance.runs.plan import Plan
from temperance.runs.progress import tell

LONG = 20.0  # seconds of a run on one core; workers take one or two to begin
LARGEST = 100 * 2**20  # bytes of a density with its data, of which every worker would have a copy
SEVERAL = 1.5  # cores that a density keeps busy by itself


class NoUseError(Exception):
    """Why there are no workers, in words for the user."""


@dataclass(frozen=True)
class Unasked(Alone):
    """A run whose density is evaluated by workers of ours if it turns out to pay."""

    within: contextlib.ExitStack
    shows: bool

    def share(
        self, plan: Plan, runs: list[ChainRun], seeds: Sequence[np.random.SeedSequence], again: Again
    ) -> tuple[Plan, list[ChainRun]]:
        """The plan and the chains, with workers if the run is long, and they can be had."""
        n_workers = worthwhile_workers(plan, runs)
        if n_workers < 2 or not may_have_workers():
            return plan, runs
        with contextlib.ExitStack() as trying:
            try:
                shared = trying.enter_context(asking(self.spec, Pool(n_workers)))
                made = shared.share(*self._tried(shared, plan, runs, again), seeds, again)
            except (NoUseError, TemperanceError) as error:
                self._note(f"one core is used, since {error}; cores=1 says that this is meant")
                return plan, runs
            self.within.push(trying.pop_all())
        self._note(f"{n_workers} worker processes evaluate the log density; cores=1 keeps it in this one")
        return made

    def _tried(
        self, workers: Shared, plan: Plan, runs: list[ChainRun], again: Again
    ) -> tuple[Plan, list[ChainRun]]:
        """The chains with workers that give, in all bits, the values that are known where the first one is.

        A function of a module whose variables were changed since is another one in a new process.
        """
        if workers.n_bytes > LARGEST:
            raise NoUseError(f"{plan.target.name} has {workers.n_bytes:,} bytes with its data")
        shared = replace(plan, target=workers.target)
        others = again(shared)
        state, n_levels = runs[0].state, int(runs[0].state.n_levels[0])
        error = others[0].evaluate(state.position[:n_levels])
        if isinstance(error, KeyboardInterrupt):
            raise error
        info = others[0].info
        values = info.log_density[:n_levels] + info.log_prior[:n_levels]
        if error is not None:
            raise NoUseError(f"{plan.target.name} failed in a worker ({type(error).__name__}: {error})")
        if not np.array_equal(values, state.log_density[:n_levels] + state.log_prior[:n_levels]):
            raise NoUseError(f"{plan.target.name} has other values in a worker")
        return shared, others

    def _note(self, text: str) -> None:
        if self.shows:
            tell(f"{text}\n")


def worthwhile_workers(plan: Plan, runs: Sequence[ChainRun]) -> int:
    """How many workers would pay, by what a point took where chains are and all they may make; else 1."""
    seconds, cores_used = min(run.cost for run in runs)
    n_points = sum(
        max(0, plan.tune - run.n_done) * plan.n_levels + min(plan.draws, run.n_in_all - run.n_done)
        for run in runs
    )
    is_dear = seconds > WORTH_ASKING * Workers.cost
    if seconds * n_points < LONG or cores_used > SEVERAL or (len(runs) == 1 and not is_dear):
        return 1
    return min(cores_here(), len(runs) * (plan.n_levels if is_dear else 1))


def may_have_workers() -> bool:
    """Whether this process is no worker of anybody, and an interpreter that can be started again."""
    in_a_worker = WORKER in os.environ or multiprocessing.parent_process() is not None or has_world()
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and not in_a_worker and not is_frozen()


def those_who_work(
    spec: ModelSpec, within: contextlib.ExitStack, *, pool: Any, cores: Any, shows: bool
) -> Alone:
    """Who evaluates the density while ``within`` is open: workers, or none; without a word, what pays."""
    if pool is not None:
        return within.enter_context(asking(spec, pool))
    takes_points = getattr(getattr(spec.target, "bare", spec.target), "rows_stand_alone", False)
    if cores is None and takes_points and not spec.target.runs_in_parallel:
        return Unasked(spec, within, shows)
    return Alone(spec)
