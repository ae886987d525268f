"""What happens between segments: learning while tuning, and what is made of it for the draws.

Each event takes the value of a chain and returns what is new in it. Where something cannot be learnt, what
was known before takes its place, and it is noted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture, Trace
from temperance.runs.candidates import left_from, next_start
from temperance.runs.learn import affords_scout, frozen, learnt, postponed, to_scout
from temperance.runs.learner import Learner
from temperance.runs.levels import apparent_scales, covariance_of, own_component
from temperance.runs.pace import coordinate_every
from temperance.runs.plan import Plan, unimodal_scale
from temperance.runs.scouting import explore, new_scout
from temperance.runs.seeds import SCOUTS, keyed
from temperance.runs.state import RunState

Known = TypeVar("Known")
Walk = Callable[[Scout], bool]  # one round of a scout; whether it came to its end


@dataclass(frozen=True)
class Lesson:
    """What is known after an event of the tuning."""

    swap_parameters: FloatArray
    coordinate_every: int
    learner: Learner
    setbacks: tuple[str, ...]


@np.errstate(all="ignore")
def learn(plan: Plan, now: RunState, trace: Trace, seed: np.random.SeedSequence, walk: Walk) -> Lesson:
    """Everything that is learnt after this iteration, from the rows of the tuning and by scouts."""
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
    return Lesson(parameters, every, learner, tuple(notes.setbacks))


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
            self.setbacks.append(f"{what}, after iteration {self._iteration}: {error!r}")
            return known


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
    """What scouts find that are sent where no mode is known."""
    evaluated = int(trace.evaluations[: now.n_done].sum())
    is_due = now.n_done >= learner.next_check
    learner, levels = to_scout(learner, plan, now.core, now.n_done, evaluated)

    def explored(learner: Learner, point: FloatArray, log_target: float) -> Learner:
        scout = new_scout(point, log_target, covariance)
        rng = np.random.default_rng(keyed(seed, SCOUTS, learner.n_scouts))
        return explore(learner, plan, scout, rng, walk)

    while is_due and len(learner.components) and affords_scout(learner, plan, evaluated):
        row = next_start(learner, plan)
        if row is None:
            break
        point, log_target = learner.start[row], float(learner.start_log_target[row])
        learner = explored(left_from(learner, row), point, log_target)
    for level in levels:
        if affords_scout(learner, plan, evaluated):
            log_target = float(now.core.log_density[level] + now.core.log_prior[level])
            learner = explored(learner, now.core.position[level], log_target)
    return learner


def _refresh(plan: Plan, now: RunState) -> Mixture:
    """A hottest level with one mode gets fresh proposals from what is known of it."""
    scales = apparent_scales(plan, now.core)
    if scales[-1] >= unimodal_scale(plan):
        return own_component(now.core, len(scales) - 1)
    return now.refresh
