"""The events by which a chain comes to know more about modes.

An event takes a `Learner` and returns another; nothing is changed in place. So an event that fails or is
stopped halfway leaves what was known as it was.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture, State, Trace
from temperance.modes.components import Components
from temperance.modes.leaps import for_good, jump_chance_beside
from temperance.modes.learnt import LearntModes
from temperance.modes.mixture import make_mixture, with_chance, with_mass
from temperance.modes.policy import LEARNING, SCOUTING
from temperance.modes.refine import regressed
from temperance.modes.regress import Known
from temperance.modes.student import log_fall, squares
from temperance.modes.surprise import margin, surprises
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


def to_scout(
    learner: Learner, plan: Plan, state: State, n_done: int, n_evaluations: int
) -> tuple[Learner, list[int]]:
    """Levels to send a scout from: those whose states no mode explains, the hottest first.

    A state of a hot level may be explained by one mode and yet lie in the valley of another. So when all
    are explained, a few scouts start from the hottest level.
    """
    if not len(learner.components) or is_aside(learner, plan):
        return replace(learner, next_check=learner.next_fit), []
    if n_done < learner.next_check:
        return learner, []
    pause = max(SCOUTING.check_per_dim * plan.dim, SCOUTING.min_check, n_done // SCOUTING.checks_a_decade)
    learner = replace(learner, next_check=n_done + pause)
    n_levels = int(state.n_levels[0])
    distance = learner.nearest(state.position[1:n_levels]) * state.beta[1:n_levels]
    levels = [int(level) + 1 for level in np.flatnonzero(distance > explained_within(plan))][::-1]
    blind = SCOUTING.blind_share * plan.settings.jumps.scout_share * n_evaluations
    if not levels and n_levels > 1 and learner.n_scout_evaluations < blind:
        return learner, [n_levels - 1]
    return learner, levels


def affords_scout(learner: Learner, plan: Plan, n_evaluations: int) -> bool:
    """Whether one more scout stays within the share that they may use; without a share there is none."""
    share = plan.settings.jumps.scout_share
    steps = SCOUTING.usual_rounds * scout_steps(plan.dim)
    allowed = share * n_evaluations + SCOUTING.free * steps
    return share > 0.0 and learner.n_scout_evaluations + steps <= allowed


def scout_steps(dim: int) -> int:
    """Steps in one round of a scout."""
    return max(SCOUTING.steps_per_dim * dim, SCOUTING.min_steps)


def with_found(learner: Learner, plan: Plan, scout: Scout) -> Learner:
    """What a scout found becomes a mode if no other explains it."""
    centre = scout.kept.mean(axis=0)
    if not len(learner.components) or not _is_new(learner, plan, scout, centre):
        return learner
    covariance = math.exp(2.0 * scout.log_scale[0]) * learner.pooled
    falls = log_fall(squares(scout.kept, centre, covariance), plan.dim)
    peak = np.median(scout.kept_log_target + falls)
    found = Components(centre[None], covariance[None], np.array([peak]), np.array([len(scout.kept)]))
    found, _ = regressed(found, _seen_by(scout), learner.pooled, split=False)
    joined = with_mass(learner.components.joined(found))
    if len(joined) <= len(learner.components):
        return learner
    mixture = make_mixture(joined, learner.broad_mean, learner.broad_covariance)
    return replace(
        learner,
        components=joined,
        archive=learner.archive.with_scout(scout),
        mixture=with_chance(mixture, float(learner.mixture.chance[0])),
    )


def _is_new(learner: Learner, plan: Plan, scout: Scout, centre: FloatArray) -> bool:
    """Whether no mode explains where a scout has come to: it is far from all, or the density is far higher."""
    if learner.nearest(centre[None])[0] > explained_within(plan):
        return True
    above = surprises(scout.kept, scout.kept_log_target, learner.components, learner.mixture)
    return bool(np.median(above) > margin(plan.dim))


def _seen_by(scout: Scout) -> Known:
    """What a scout evaluated in its last round; its states are where it was."""
    finite = np.isfinite(scout.tried_log_target)
    return Known(
        np.concatenate([scout.kept, scout.tried[finite]]),
        np.append(scout.kept_log_target, scout.tried_log_target[finite]),
        np.arange(len(scout.kept) + np.count_nonzero(finite)) < len(scout.kept),
    )


def frozen(learner: Learner, plan: Plan, n_levels: int) -> Learner:
    """The tuning is over: how often to jump and to rest from now on."""
    worth, novelty = min(learner.acceptance, learner.efficiency), learner.novelty
    leaps = for_good(learner.leaps, learner.acceptance, plan.dim)
    chance = jump_chance(worth, plan.dim) if len(learner.components) else 0.0
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
