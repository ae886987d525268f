"""What a chain knows about modes, as a value, and the events by which it comes to know more.

An event takes a `Learner` and returns another; nothing is changed in place. So an event that fails or is
stopped halfway leaves what was known as it was.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture, State, Trace
from temperance.modes.components import Components, no_components
from temperance.modes.fit import Sample, fit_modes
from temperance.modes.learnt import LearntModes
from temperance.modes.mixture import make_mixture, no_mixture, with_chance, with_mass
from temperance.modes.policy import LEARNING, REGRESSION, SCOUTING
from temperance.modes.regress import Known, regressed
from temperance.modes.student import log_fall, squares, whitened_squares
from temperance.modes.worth import efficiency, jump_chance, rest_every, tuning_chance
from temperance.runs.plan import Plan
from temperance.theory import chi_square_quantile


@dataclass(frozen=True)
class Archive:
    """States that scouts brought back."""

    point: FloatArray
    log_density: FloatArray
    width: FloatArray

    def with_scout(self, scout: Scout) -> "Archive":
        """With what a scout kept. Its scale tells how wide a mode is that is wider than the base's."""
        width = np.full(len(scout.kept), max(1.0, math.exp(scout.log_scale[0])))
        most = SCOUTING.max_archive
        return Archive(
            np.concatenate([self.point, scout.kept])[-most:],
            np.concatenate([self.log_density, scout.kept_log_target])[-most:],
            np.concatenate([self.width, width])[-most:],
        )


@dataclass(frozen=True)
class Learner:
    """All that one chain knows about modes: arrays and plain numbers."""

    mixture: Mixture
    components: Components  # none before the first fit
    pooled: FloatArray  # covariance within modes
    broad_mean: FloatArray
    broad_covariance: FloatArray
    archive: Archive
    next_fit: int
    next_check: int
    fitted_at: int = 0
    acceptance: float = LEARNING.prior_acceptance
    efficiency: float = 0.0
    novelty: float = 0.0
    rest_every: int = 1
    n_scouts: int = 0
    n_scout_evaluations: int = 0


def first_learner(plan: Plan) -> Learner:
    """Nothing is known yet."""
    dim = plan.dim
    next_fit = max(int(LEARNING.first_fit * plan.tune), LEARNING.first_fit_per_dim * dim)
    return Learner(
        mixture=no_mixture(dim),
        components=no_components(dim),
        pooled=np.eye(dim),
        broad_mean=np.zeros(dim),
        broad_covariance=np.eye(dim),
        archive=Archive(np.empty((0, dim)), np.empty(0), np.empty(0)),
        next_fit=next_fit,
        next_check=next_fit,
    )


def next_stop(learner: Learner, plan: Plan, iteration: int) -> int:
    """The next iteration of the tuning after which there is something to learn."""
    return max(iteration + 1, min(learner.next_fit, learner.next_check, plan.tune))


def postponed(learner: Learner, plan: Plan, n_done: int) -> Learner:
    """The same knowledge after learning failed; the next try comes when it would have come."""
    next_fit = _next_fit(learner, plan, n_done)
    return replace(learner, next_fit=next_fit, next_check=next_fit)


def learnt(learner: Learner, plan: Plan, trace: Trace, shape: FloatArray, n_done: int) -> Learner:
    """Fit anew when it is time to, and see how jumps have fared."""
    acceptance = _measured(learner, trace, n_done)
    if n_done >= min(learner.next_fit, plan.tune):
        learner = _fitted(learner, plan, trace, shape, n_done)
        learner = replace(learner, acceptance=acceptance, fitted_at=n_done)
        learner = replace(learner, next_fit=_next_fit(learner, plan, n_done))
    worth = min(acceptance, learner.efficiency)
    chance = 0.0 if _aside(learner, plan) else tuning_chance(worth, plan.dim)
    return replace(learner, mixture=with_chance(learner.mixture, chance))


def to_scout(
    learner: Learner, plan: Plan, state: State, n_done: int, n_evaluations: int
) -> tuple[Learner, list[int]]:
    """Levels to send a scout from: those whose states no mode explains, the hottest first.

    A state of a hot level may be explained by one mode and yet lie in the valley of another. So when all
    are explained, a few scouts start from the hottest level.
    """
    if not len(learner.components) or _aside(learner, plan):
        return replace(learner, next_check=learner.next_fit), []
    if n_done < learner.next_check:
        return learner, []
    pause = max(SCOUTING.check_per_dim * plan.dim, SCOUTING.min_check, n_done // SCOUTING.checks_a_decade)
    learner = replace(learner, next_check=n_done + pause)
    n_levels = int(state.n_levels[0])
    distance = _nearest(learner, state.position[1:n_levels]) * state.beta[1:n_levels]
    levels = [int(level) + 1 for level in np.flatnonzero(distance > _limit(plan))][::-1]
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
    if not len(learner.components) or _nearest(learner, centre[None])[0] <= _limit(plan):
        return learner
    covariance = math.exp(2.0 * scout.log_scale[0]) * learner.pooled
    falls = log_fall(squares(scout.kept, centre, covariance), plan.dim)
    peak = np.median(scout.kept_log_target + falls)
    found = Components(centre[None], covariance[None], np.array([peak]), np.array([len(scout.kept)]))
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


def frozen(learner: Learner, plan: Plan, n_levels: int) -> Learner:
    """The tuning is over: how often to jump and to rest from now on."""
    worth = min(learner.acceptance, learner.efficiency)
    chance = jump_chance(worth, plan.dim) if len(learner.components) else 0.0
    rest = learner.rest_every
    if chance > 0.0 and n_levels > 1 and not plan.adapts_for_ever:
        rest = rest_every(worth, learner.novelty, n_levels)
    return replace(learner, mixture=with_chance(learner.mixture, chance), rest_every=rest)


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
    )


def distinct_states(trace: Trace, first: int, end: int) -> tuple[FloatArray, FloatArray]:
    """States of the base level between two iterations and their log densities, none twice in a row."""
    n_states = min(LEARNING.max_states, int(math.sqrt(LEARNING.max_work / trace.draws.shape[1])))
    rows = slice(first, end, max(1, (end - first) // n_states))
    points = trace.draws[rows]
    log_density = trace.log_density[rows, 0] + trace.log_prior[rows]
    moved = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))
    return points[moved], log_density[moved]


def refused(trace: Trace, first: int, end: int) -> tuple[FloatArray, FloatArray]:
    """Points that the base level proposed between two iterations and is not at, and their log densities."""
    rows = slice(first, end, max(1, (end - first) // REGRESSION.max_points))
    points, log_density = trace.proposal[rows], trace.proposal_log_density[rows]
    left = np.isfinite(log_density) & np.any(points != trace.draws[rows], axis=1)
    return points[left], log_density[left]


def _known(sample: Sample, points: FloatArray, log_density: FloatArray) -> Known:
    """All points of which the log density is known: the sample, and these."""
    return Known(
        np.concatenate([sample.point, points]),
        np.concatenate([sample.log_density, log_density]),
        np.append(sample.own, np.zeros(len(points), dtype=np.bool_)),
    )


def _aside(learner: Learner, plan: Plan) -> bool:
    """Whether no mixture will do here, so that the evaluations are better spent on walks."""
    return learner.fitted_at > LEARNING.early_fits * plan.tune and learner.efficiency < LEARNING.hopeless


def _next_fit(learner: Learner, plan: Plan, n_done: int) -> int:
    growth = LEARNING.aside_growth if _aside(learner, plan) else LEARNING.fit_growth
    coming = max(int(growth * n_done), n_done + 1)
    return plan.tune if coming > LEARNING.last_fit * plan.tune else coming


def _limit(plan: Plan) -> float:
    """The squared distance up to which a mode explains a state."""
    return chi_square_quantile(LEARNING.explained, plan.dim)


def _nearest(learner: Learner, points: FloatArray) -> FloatArray:
    """Squared distance to the nearest mode; the broad component is none."""
    nearest: FloatArray = whitened_squares(points, learner.mixture)[:, :-1].min(axis=1)
    return nearest


def _unknown_share(learner: Learner, plan: Plan, trace: Trace, n_done: int) -> float:
    """Share of the states since the last fit that no mode explains: what the ladder still discovers."""
    points, _ = distinct_states(trace, learner.fitted_at, n_done)
    if not len(learner.components) or not len(points):
        return 1.0
    return float(np.mean(_nearest(learner, points) > _limit(plan)))


def _measured(learner: Learner, trace: Trace, n_done: int) -> float:
    """Acceptance of jumps from this mixture, with what was known before as a few jumps more."""
    since = slice(learner.fitted_at, n_done)
    seen = trace.base_accept_prob[since][trace.jump[since] >= 0].astype(np.float64)
    before = LEARNING.prior_jumps * learner.acceptance
    return float((before + seen.sum()) / (LEARNING.prior_jumps + len(seen)))


def _fitted(learner: Learner, plan: Plan, trace: Trace, shape: FloatArray, n_done: int) -> Learner:
    """With a mixture fitted to the states so far, unless the old one is better."""
    learner = replace(learner, novelty=_unknown_share(learner, plan, trace, n_done))
    first = int(LEARNING.early_states * n_done)
    points, log_density = distinct_states(trace, first, n_done)
    if len(points) <= plan.dim + 2:
        return learner
    worth = min(1.0, (n_done - first) * LEARNING.worth_a_state / (plan.dim * len(points)))
    archive = learner.archive
    sample = Sample(
        np.concatenate([points, archive.point]),
        np.concatenate([log_density, archive.log_density]),
        np.concatenate([np.ones(len(points)), archive.width]),
        np.arange(len(points) + len(archive.point)) < len(points),
        worth,
    )
    components, pooled = fit_modes(sample, shape, LEARNING.max_modes)
    known = _known(sample, *refused(trace, first, n_done))
    late = n_done >= REGRESSION.split_after * plan.tune
    components = with_mass(regressed(with_mass(components), known, split=late))
    broad = points.mean(axis=0), np.cov(points.T).reshape(shape.shape) + pooled / len(points)
    mixture = make_mixture(components, *broad)
    gained = efficiency(mixture, points, log_density)
    if len(learner.components):
        before = efficiency(learner.mixture, points, log_density)
        if gained < LEARNING.keep_old * before:
            return replace(learner, efficiency=before)
    return replace(
        learner,
        mixture=mixture,
        components=components,
        pooled=pooled,
        broad_mean=broad[0],
        broad_covariance=broad[1],
        efficiency=gained,
    )
