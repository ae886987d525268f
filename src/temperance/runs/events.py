"""What happens between segments: learning while tuning, and what is made of it for the draws.

Each event takes the value of a chain and returns what is new in it. Where something cannot be learnt, what
was known before takes its place, and it is noted.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from temperance.core.state import FloatArray, Mixture, Trace
from temperance.modes.policy import JUMPING, LEARNING, MANY, SCOUTING
from temperance.runs.candidates import no_points
from temperance.runs.departures import to_climb, to_scout
from temperance.runs.learn import frozen, learnt, postponed
from temperance.runs.learner import Learner
from temperance.runs.levels import apparent_scales, covariance_of, own_component
from temperance.runs.pace import coordinate_every
from temperance.runs.plan import Plan, unimodal_scale
from temperance.runs.scouting import Walk, explore, new_climbs, new_scouts, side_by_side, with_finds
from temperance.runs.seeds import SCOUTS, SEARCH, keyed
from temperance.runs.state import RunState
from temperance.runs.teaching import Ask, over, with_lesson, with_round
from temperance.theory import learnt_acceptance

Known = TypeVar("Known")


@dataclass(frozen=True)
class Lesson:
    """What is known after an event of the tuning."""

    swap_parameters: FloatArray
    coordinate_every: int
    learner: Learner
    setbacks: tuple[str, ...]


@np.errstate(all="ignore")
def learn(
    plan: Plan,
    now: RunState,
    trace: Trace,
    seed: np.random.SeedSequence,
    walk: Walk,
    met: Sequence[str] = (),
) -> Lesson:
    """Everything that is learnt after this iteration, from the rows of the tuning and by scouts.

    ``met`` has what ended scouts, in words, once they have walked; the first of a chain is noted.
    """
    notes = Notes(now.n_done)
    parameters = notes.attempt("the swaps", lambda: _parameters(plan, now, trace), now.swap_parameters)
    every = notes.attempt(
        "how often to move one coordinate", lambda: _pace(plan, now, trace), now.coordinate_every
    )
    learner = now.learner
    if plan.settings.jumps.enabled:
        shape = covariance_of(now.core, 0)
        unfitted = postponed(learner, plan, now.n_done)
        learner = notes.attempt(
            "modes", lambda: learnt(now.learner, plan, trace, shape, now.n_done), unfitted
        )
        unscouted = replace(learner, next_check=learner.next_fit)
        fitted, covariance = learner, math.exp(2.0 * now.core.log_scale[0]) * shape
        learner = notes.attempt(
            "scouts", lambda: _scouted(fitted, plan, now, trace, covariance, seed, walk), unscouted
        )
        scouted = learner
        learner = notes.attempt(
            "the search", lambda: _searched(scouted, plan, now, trace, covariance, seed, walk), scouted
        )
        if met and learner.n_scouts_lost and not now.learner.n_scouts_lost:
            notes.add(f"scouts, after iteration {now.n_done}: one of them ended at {met[0]}")
    return Lesson(parameters, every, learner, tuple(notes.setbacks))


@np.errstate(all="ignore")
def teach(
    plan: Plan, now: RunState, trace: Trace, seed: np.random.SeedSequence, ask: Ask
) -> tuple[Learner, tuple[str, ...]]:
    """A share of a round of proposals, and what it teaches a chain that learns alone."""
    notes, learner, n_done = Notes(now.n_done), now.learner, now.n_done
    ended = over(learner, plan)
    made = notes.attempt(
        "a round of proposals", lambda: with_round(learner, plan, trace, n_done, seed, ask), ended
    )
    if made.rounds.under_way and not plan.shares:
        made = notes.attempt(
            "rounds of proposals", lambda: with_lesson([made], plan, [trace], n_done)[0], ended
        )
    return made, tuple(notes.setbacks)


@np.errstate(all="ignore")
def for_the_draws(plan: Plan, now: RunState) -> tuple[Learner, Mixture, tuple[str, ...]]:
    """How often to jump and to rest, what the hottest level draws afresh from, and what failed."""
    notes, jumps = Notes(now.n_done), plan.settings.jumps
    learner, refresh, n_levels = now.learner, now.refresh, int(now.core.n_levels[0])
    if jumps.enabled:
        learner = notes.attempt("how often to jump", lambda: frozen(now.learner, plan, n_levels), learner)
    if jumps.enabled and jumps.refresh and n_levels > 1:
        refresh = notes.attempt("the hottest level", lambda: _refresh(plan, now), refresh)
    return learner, refresh, tuple(notes.setbacks)


class Notes:
    """What could not be learnt after an iteration, in words."""

    def __init__(self, iteration: int) -> None:
        self.setbacks: list[str] = []
        self._iteration = iteration

    def attempt(self, what: str, learn: Callable[[], Known], known: Known) -> Known:
        """What can be learnt from what was drawn; where that fails, what was known, and it is noted."""
        try:
            return learn()
        except Exception as error:  # noqa: BLE001  whatever is wrong with what was drawn
            self.add(f"{what}, after iteration {self._iteration}: {error!r}")
            return known

    def add(self, what: str) -> None:
        """One thing more that did not go as it should."""
        self.setbacks.append(what)


def _parameters(plan: Plan, now: RunState, trace: Trace) -> FloatArray:
    """What the strategy learns from the half of tuning that has just ended."""
    learn, end = plan.strategy.learn, now.n_done
    if learn is None or end not in (plan.tune // 2, plan.tune):
        return now.swap_parameters
    return learn(trace.log_density[end - max(plan.tune // 2, 1) : end])


def _pace(plan: Plan, now: RunState, trace: Trace) -> int:
    """At the end of tuning: how often to move a single coordinate from now on."""
    end, every = now.n_done, now.coordinate_every
    if plan.settings.adaptation.coordinate_every is not None or end < plan.tune:
        return every
    return coordinate_every(trace, end // 2, end, every)


def _scouted(
    learner: Learner,
    plan: Plan,
    now: RunState,
    trace: Trace,
    covariance: FloatArray,
    seed: np.random.SeedSequence,
    walk: Walk,
) -> Learner:
    """What scouts find that are sent where no mode is known, as many side by side as there is room for."""
    evaluated = int(trace.evaluations[: now.n_done].sum())
    learner, leaving = to_scout(learner, plan, now.core, now.n_done, evaluated)
    at_once = side_by_side(plan.n_levels, plan.dim)
    for first in range(0, len(leaving), at_once):
        rows = np.arange(first, min(first + at_once, len(leaving)))
        scouts = new_scouts(leaving.points.chosen(rows), covariance)
        rngs = [np.random.default_rng(keyed(seed, SCOUTS, learner.n_scouts + k)) for k in range(len(rows))]
        at_rest = explore(scouts, rngs, walk)
        learner = with_finds(learner, plan, scouts, at_rest, leaving.surprising(rows))
        spent = scouts.n_evaluations
        learner = replace(
            learner,
            n_scouts=learner.n_scouts + len(rows),
            n_scout_evaluations=learner.n_scout_evaluations + int(spent.sum()),
            n_surprise_evaluations=learner.n_surprise_evaluations
            + int(spent[rows < leaving.n_surprising].sum()),
        )
    return learner


def _searched(
    learner: Learner,
    plan: Plan,
    now: RunState,
    trace: Trace,
    covariance: FloatArray,
    seed: np.random.SeedSequence,
    walk: Walk,
) -> Learner:
    """What is found by climbs from scattered points, as many side by side as there is room for."""
    at_once = side_by_side(plan.n_levels, plan.dim)
    while len(learner.scattered):
        evaluated = int(trace.evaluations[: now.n_done].sum())
        learner, points = to_climb(learner, plan, now.n_done, evaluated, at_once)
        if not len(points):
            break
        climbs = new_climbs(points, covariance, learner.components.centre)
        first = learner.n_climbs
        rngs = [np.random.default_rng(keyed(seed, SEARCH, 1 + first + k)) for k in range(len(points))]
        at_rest = explore(climbs, rngs, walk, SCOUTING.climb_rounds)
        learner = with_finds(learner, plan, climbs, at_rest, no_points(plan.dim))
        learner = replace(
            learner,
            n_climbs=first + len(points),
            n_search_evaluations=learner.n_search_evaluations + int(climbs.n_evaluations.sum()),
        )
    return learner


def _refresh(plan: Plan, now: RunState) -> Mixture:
    """A hottest level with one mode gets fresh proposals from what is known of it.

    In many dimensions only if more than a few of them would be accepted.
    """
    scales = apparent_scales(plan, now.core)
    n_independent = now.n_done * LEARNING.worth_a_state / plan.dim
    worth = learnt_acceptance(plan.dim, n_independent)
    is_vain = plan.dim > MANY.beyond and worth < JUMPING.half_chance / plan.dim
    if scales[-1] >= unimodal_scale(plan) and not is_vain:
        return own_component(now.core, len(scales) - 1)
    return now.refresh
