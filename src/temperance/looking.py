"""Looks at a run with goals: whether its draws are enough, and how many there are to be at the next look.

Where the looks are follows from what was drawn, and from nothing else but a budget of seconds. So a run with
goals has the draws of a run that was asked for as many, and one that is stopped and resumed looks where it
would have looked.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from temperance.results.reached import FIGURES, GOALS_MET, UNKNOWN, evaluations_of, is_met, never_known
from temperance.results.result import Result
from temperance.runs.chain import ChainRun
from temperance.runs.drive import Barrier, meetings
from temperance.store.contract import Store
from temperance.until import Until

LEAST_GROWTH, MOST_GROWTH = 1.1, 2.0  # of the draws, from one look to the next
MARGIN = 1.05  # over the draws that a goal seems to need
BLIND_GROWTH = 1.5  # where nothing tells how many draws a goal needs
FEWEST = 100  # draws a chain that are made whatever the budget
WORTH_MAKING = 0.05  # of the draws that there are; what a budget has left for fewer is left

INF, UNLIMITED = math.inf, 2**60
LOOK = "look"  # in the facts of a run: how many draws there are at the next look

# The result of what was drawn so far, and what its values failed with.
Gathered = Callable[[], tuple[Result, BaseException | None]]


class Looks:
    """When a run with goals is looked at, and what came of it. ``ended_by`` says why it goes on no longer."""

    def __init__(self, until: Until, first: int, gathered: Gathered, store: Store) -> None:
        self.until, self.ended_by = until, ""
        self._at, self._gathered, self._store = first, gathered, store
        self._began = self._draws_began = time.monotonic()
        self._n_before = 0  # draws of a chain that were there when the clock was set

    def barriers(self, runs: Sequence[ChainRun]) -> Iterator[Barrier]:
        """Where chains meet while tuning, and then where they are looked at."""
        yield from meetings(runs)
        while min(run.n_done for run in runs) < runs[0].plan.tune:  # which may become longer on the way
            yield Barrier(runs[0].plan.tune, lambda _: None)
        self._draws_began, self._n_before = time.monotonic(), max(0, _n_drawn(runs))
        if all(run.n_done == run.plan.tune for run in runs):
            self._plan_first(runs)
        while not self.ended_by:
            self._announce(runs)
            yield Barrier(runs[0].plan.tune + self._at, self._look)

    def _plan_first(self, runs: Sequence[ChainRun]) -> None:
        """The first draws, or as many as there is a budget for."""
        spent = sum(int(run.tuning.evaluations.sum()) for run in runs)
        most, _ = self._affordable(0, spent, spent / max(runs[0].plan.tune, 1))
        self._at = max(min(self._at, most), min(self._at, FEWEST))

    def _announce(self, runs: Sequence[ChainRun]) -> None:
        for run in runs:
            run.look_at = self._at
        self._store.tell({LOOK: self._at})

    def _look(self, runs: Sequence[ChainRun]) -> None:
        """See what was drawn; then there are enough draws, or the next look is later."""
        self._store.append_all({run.index: run.hand_over() for run in runs})
        result, trouble = self._gathered()  # values that cannot be made end it, and show as an error
        self.ended_by = self._decided(result, runs[0]) if trouble is None else UNKNOWN
        for run in runs if self.ended_by else ():
            run.end_here()

    def _decided(self, result: Result, run: ChainRun) -> str:
        """Why there are enough draws; nothing where there are to be more."""
        n_draws, goals = run.n_done - run.plan.tune, self.until.goals
        found = {name: FIGURES[name](result) for name in goals}
        if goals and all(is_met(name, found[name], goals[name]) for name in goals):
            return GOALS_MET
        if never_known(found, n_draws):
            return UNKNOWN
        spent = evaluations_of(result)
        tuned = sum(int(chain.tuning.evaluations.sum()) for chain in result.chains)
        most, budget = self._affordable(n_draws, spent, (spent - tuned) / max(n_draws, 1))
        wanted = math.ceil(n_draws * growth(found, goals) / run.plan.thin) * run.plan.thin
        self._at = min(wanted, most)
        return "" if self._at > n_draws else budget

    def _affordable(self, n_draws: int, spent: int, cost: float) -> tuple[int, str]:
        """Draws a chain that the budgets allow, and which of them allows the fewest."""
        most = {"draws": self.until.draws or n_draws}
        if self.until.evaluations is not None:
            left = (self.until.evaluations - spent) / max(cost, 1.0)
            most["evaluations"] = _worth(n_draws, left)
        if self.until.seconds is not None:
            now = time.monotonic()
            speed = (n_draws - self._n_before) / max(now - self._draws_began, 1e-9)
            left = self.until.seconds - (now - self._began)
            most["seconds"] = _worth(n_draws, left * speed if speed > 0.0 else math.copysign(INF, left))
        fewest = min(most, key=lambda name: most[name])
        return most[fewest], fewest


def growth(found: Mapping[str, float], goals: Mapping[str, float]) -> float:
    """By how much the draws are to grow: as errors fall with the root of their number, with some margin."""
    needed = [MARGIN * _needed(name, found[name], goals[name]) for name in goals]
    return min(max([*needed, LEAST_GROWTH]), MOST_GROWTH) if needed else MOST_GROWTH


def _needed(name: str, found: float, wanted: float) -> float:
    """Times as many draws as a goal seems to need; none more where it is met."""
    if is_met(name, found, wanted):
        return 0.0
    if not math.isfinite(found):
        return MOST_GROWTH
    if name == "r_hat":
        return BLIND_GROWTH
    return wanted / max(found, 1.0) if name == "ess" else (found / wanted) ** 2


def _worth(n_draws: int, more: float) -> int:
    """So many draws and so many more, if that is worth it."""
    worth = more > WORTH_MAKING * n_draws
    return n_draws + int(min(more, UNLIMITED)) if worth else n_draws


def _n_drawn(runs: Sequence[ChainRun]) -> int:
    return min(run.n_done - run.plan.tune for run in runs)
