"""The events by which a chain comes to know more about modes.

An event takes a `Learner` and returns another; nothing is changed in place. So an event that fails or is
stopped halfway leaves what was known as it was.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from temperance.core.state import FloatArray, Mixture, Trace
from temperance.modes.leaps import for_good, jump_chance_beside
from temperance.modes.learnt import LearntModes
from temperance.modes.mixture import with_chance
from temperance.modes.policy import LEARNING, TEACHING
from temperance.modes.worth import jump_chance, rest_every, tuning_chance
from temperance.runs.fitting import distinct_states, fitted, material
from temperance.runs.leaping import with_leaps
from temperance.runs.learner import Learner, explained_within, is_aside
from temperance.runs.plan import Plan, next_meeting


def next_stop(learner: Learner, plan: Plan, iteration: int) -> int:
    """The next iteration of the tuning after which there is something to learn."""
    return max(iteration + 1, min(learner.next_fit, learner.next_check, plan.tune))


def postponed(learner: Learner, plan: Plan, n_done: int) -> Learner:
    """The same knowledge after learning failed; the next try comes when it would have come."""
    next_fit = fit_after(learner, plan, n_done)
    return replace(learner, next_fit=next_fit, next_check=next_fit)


def learnt(learner: Learner, plan: Plan, trace: Trace, shape: FloatArray, n_done: int) -> Learner:
    """Fit anew when it is time to, and see how jumps have fared; chains that share fit when they meet."""
    acceptance = measured([learner], [trace], n_done)
    if n_done >= min(learner.next_fit, plan.tune) and not plan.shares:
        before = learner
        learner = replace(learner, novelty=unknown_share(learner, plan, trace, n_done))
        learner = fitted(learner, plan, material(learner.archive, trace, n_done), shape, n_done)
        learner = replace(learner, acceptance=acceptance, fitted_at=n_done)
        learner = with_leaps(learner, plan, [before], [trace], n_done)
        learner = replace(learner, next_fit=fit_after(learner, plan, n_done))
    return ready_to_jump(learner, plan, acceptance)


def ready_to_jump(learner: Learner, plan: Plan, acceptance: float) -> Learner:
    """With the chance to jump that suits what jumps are worth."""
    worth = min(acceptance, learner.efficiency)
    chance = 0.0 if is_aside(learner, plan) else tuning_chance(worth, plan.dim)
    if np.any(learner.leaps.chance > 0.0):
        chance = jump_chance_beside(chance, learner.leaps)
    return replace(learner, mixture=with_chance(learner.mixture, chance))


def frozen(learner: Learner, plan: Plan, n_levels: int) -> Learner:
    """The tuning is over: how often to jump and to rest from now on."""
    worth, novelty = min(learner.acceptance, learner.efficiency), learner.novelty
    leaps = for_good(learner.leaps, learner.acceptance, plan.dim)
    chance = jump_chance(worth, plan.dim) if len(learner.components) else 0.0
    if learner.rounds.taught:
        chance = min(chance, TEACHING.max_chance)
    if np.any(leaps.chance > 0.0):
        chance = jump_chance_beside(chance, leaps)
        worth, novelty = max(worth, leaps.best), min(novelty, leaps.novelty)
    rest = learner.rest_every
    if chance > 0.0 and n_levels > 1 and not plan.adapts_for_ever:
        rest = rest_every(worth, novelty, n_levels)
    mixture = with_chance(learner.mixture, chance)
    return replace(learner, mixture=mixture, leaps=leaps, rest_every=rest)


def recorded(learner: Learner) -> LearntModes | None:
    """What is known, for the record."""
    if not len(learner.components):
        return None
    mixture = learner.mixture
    return LearntModes(
        weight=np.diff(mixture.cumulative, prepend=0.0),
        centre=mixture.centre,
        covariance=mixture.root @ np.swapaxes(mixture.root, 1, 2),
        chance=float(mixture.chance[0]),
        efficiency=learner.efficiency,
        rest_every=learner.rest_every,
        n_scouts=learner.n_scouts,
        n_broad=len(mixture.centre) - len(learner.components),
        n_climbs=learner.n_climbs,
        n_scouts_lost=learner.n_scouts_lost,
        told_at=_with_own(learner.told_at, mixture),
        seen=_with_own(learner.seen, mixture),
    )


def _with_own(told: FloatArray, mixture: Mixture) -> FloatArray:
    """What is said of shared components, and NaN for those that nobody was told of."""
    return np.append(told, np.full(len(mixture.centre) - len(told), np.nan))


def fit_after(learner: Learner, plan: Plan, n_done: int) -> int:
    """The iteration of the next fit."""
    if plan.shares:
        return next_meeting(plan, n_done)
    growth = LEARNING.aside_growth if is_aside(learner, plan) else LEARNING.fit_growth
    coming = max(int(growth * n_done), n_done + 1)
    return plan.tune if coming > LEARNING.last_fit * plan.tune else coming


def unknown_share(learner: Learner, plan: Plan, trace: Trace, n_done: int) -> float:
    """Share of the states since the last fit that no mode explains: what the ladder still discovers."""
    points, _ = distinct_states(trace, learner.fitted_at, n_done)
    if not len(learner.components) or not len(points):
        return 1.0
    return float(np.mean(learner.nearest(points) > explained_within(plan)))


def measured(learners: Sequence[Learner], traces: Sequence[Trace], n_done: int) -> float:
    """Acceptance of jumps since the last fit, with what was known before as a few jumps more."""
    seen = []
    for learner, trace in zip(learners, traces, strict=True):
        since = slice(learner.fitted_at, n_done)
        seen.append(trace.base_accept_prob[since][trace.jump[since] >= 0].astype(np.float64))
    jumps = np.concatenate(seen)
    before = LEARNING.prior_jumps * learners[0].acceptance
    return float((before + jumps.sum()) / (LEARNING.prior_jumps + len(jumps)))
