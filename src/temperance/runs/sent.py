"""Chains whose segments are made by workers.

A worker gets the value of a chain, makes some iterations, and returns the value after them with their rows.
It keeps nothing in between, so that any other can make the next segment, or this one again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from temperance.core.state import STATUS, STOPPED, Trace
from temperance.errors import PoolError
from temperance.executors.trouble import Trouble, packed
from temperance.runs.chain import ChainRun
from temperance.runs.plan import Plan, plan_from_plain, plan_to_plain
from temperance.runs.snapshot import Snapshot, snapshot
from temperance.runs.unraisable import noticed
from temperance.swaps.recipe import FACTORIES
from temperance.targets import Target
from temperance.targets.pooled import has_come


@dataclass(frozen=True)
class Order:
    """So many iterations more of a chain with this value; rows of the tuning while it learns from them."""

    chain: int
    n_iterations: int
    value: Snapshot
    tuning: Trace | None


@dataclass(frozen=True)
class Made:
    """The value after a segment, the rows that are new or changed, and what ended it, if something did."""

    value: Snapshot
    n_tuned: int  # rows of the tuning before these
    tuning: Trace
    sampling: Trace
    n_wasted: int  # evaluations of a scout that did not come back
    status: int
    failure: Trouble | None


class SegmentsOf:
    """The work of a worker: segments of the chains of a plan."""

    def __init__(self, plan: Plan, seeds: Sequence[np.random.SeedSequence]) -> None:
        self._plan, self._seeds = plan, seeds

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        recipe = self._plan.strategy.recipe
        return _arrived, (plan_to_plain(self._plan), recipe, self._plan.target, list(self._seeds))

    def __call__(self, order: Order) -> Made:
        """Make a segment."""
        seed, n, value = self._seeds[order.chain], order.n_iterations, order.value
        run = ChainRun.from_snapshot(self._plan, order.chain, seed, value, window=n, tuning=order.tuning)
        tune = run.plan.tune  # which may be longer by now than that of the plan
        run.rows.begin_at(max(0, run.n_done - tune))
        n_tuned = min(run.n_done - int(run.is_to_learn), tune)  # scouts count in the row before them
        with noticed():
            run.advance(n)
        tuning, sampling = run.rows.since(n_tuned, run.n_written)
        failure = None if run.failure is None else packed(run.failure)
        status = int(run.control[STATUS])
        return Made(snapshot(run.now, "now"), n_tuned, tuning, sampling, run.n_wasted, status, failure)


def _arrived(plain: Any, recipe: Any, target: Target, seeds: list[np.random.SeedSequence]) -> SegmentsOf:
    """The same in a worker, with all loaded that takes time, so that the first segment takes no longer."""
    strategy = FACTORIES[recipe.made_by](**dict(recipe.arguments))
    plan = plan_from_plain(plain, target, swaps=strategy)
    ChainRun(plan, 0, None, seeds[0], window=1)
    return SegmentsOf(plan, seeds)


def can_be_sent(plan: Plan) -> bool:
    """Whether a plan can be made anew from plain values and a user's functions: not with moves by hand."""
    return plan.strategy.recipe is not None and isinstance(plan.settings.adaptation.walk, str)


class Elsewhere:
    """Where the segments of a chain are made."""

    def __init__(self, ask: Callable[[Order], "Future[Made]"], limit: float | None) -> None:
        self._ask, self._limit = ask, limit

    def advance(self, run: ChainRun, n_iterations: int) -> None:
        """Have so many iterations made; none, if somebody asks the chain to stop meanwhile."""
        tuning = None if run.now.frozen else run.tuned()
        future = self._ask(Order(run.index, n_iterations, snapshot(run.now, "now"), tuning))
        if not has_come(future, run.control, self._limit):
            future.cancel()
            run.control[STATUS] = STOPPED
            return
        made, began, was_due = future.result(), run.n_done, run.something_is_due
        if not isinstance(made, Made):
            raise PoolError(f"a worker must answer with a segment of a chain, got {type(made).__name__}")
        run.take(made.value, made.n_tuned, made.tuning, made.sampling)
        run.n_wasted = made.n_wasted
        run.control[STATUS] = made.status
        run.failure = None if made.failure is None else made.failure.unpacked()
        if run.n_done == began and run.running and not was_due:
            raise PoolError(f"a worker made none of the {n_iterations} iterations that it was asked for")
