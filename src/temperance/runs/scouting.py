"""Scouts: walks at the base temperature, side by side, and what becomes of what they find."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from temperance.core.schema import allocate
from temperance.core.scout import Scouts
from temperance.core.state import JUMP_DOF, FloatArray
from temperance.modes.components import Components
from temperance.modes.mixture import make_mixture, with_chance, with_mass
from temperance.modes.policy import MANY, SCOUTING, SURPRISE
from temperance.modes.refine import regressed
from temperance.modes.regress import Known
from temperance.modes.student import log_fall, squares
from temperance.modes.surprise import margin, surprises
from temperance.runs.brought import Found, found_by
from temperance.runs.candidates import Points
from temperance.runs.departures import scout_steps
from temperance.runs.learner import Learner, explained_within
from temperance.runs.plan import Plan

Walk = Callable[[Scouts], bool]  # one round of scouts; whether it came to its end


def new_scouts(points: Points, covariance: FloatArray) -> Scouts:
    """Scouts that start at points, and whose first proposals have this covariance."""
    n_scouts, dim = points.point.shape
    lengths = {"scout": n_scouts, "dim": dim, "step": scout_steps(dim), "kept": SCOUTING.kept}
    scouts: Scouts = allocate(Scouts, lengths)
    scouts.position[:], scouts.log_target[:] = points.point, points.log_target
    scouts.root[:] = np.linalg.cholesky(covariance)
    scouts.walking[:] = 1
    return scouts


def new_climbs(points: Points, covariance: FloatArray, centres: FloatArray) -> Scouts:
    """The same for climbs from points that were not evaluated yet: far from all modes they step far."""
    climbs = new_scouts(points, covariance)
    n_points, dim = points.point.shape
    away = (points.point[:, None] - centres[None]).reshape(-1, dim)
    distance = np.linalg.norm(np.linalg.solve(climbs.root, away.T), axis=0)
    stride = SCOUTING.stride * distance.reshape(n_points, -1).min(axis=1) / math.sqrt(dim)
    climbs.log_scale[:] = np.log(np.maximum(stride, 1.0))
    return climbs


def side_by_side(n_rows: int, dim: int) -> int:
    """How many scouts walk at once, where there is room to ask for so many points."""
    return max(1, min(n_rows, SCOUTING.max_numbers // (scout_steps(dim) * dim)))


def explore(
    scouts: Scouts,
    rngs: Sequence[np.random.Generator],
    walk: Walk,
    max_rounds: int = SCOUTING.max_rounds,
) -> list[int]:
    """Rounds of the walks until they climb no more; those that came to rest somewhere, by number.

    One that still climbs after the last round is given up, and so is one that met an error, or that has not
    come into the support. One whose start was not evaluated begins with that.
    """
    dim = scouts.position.shape[1]
    before = np.full(len(scouts.walking), -np.inf)
    at_rest: list[int] = []
    for _ in range(max_rounds):
        for scout in np.flatnonzero(scouts.walking).tolist():
            rngs[scout].standard_normal(out=scouts.normals[scout])
            rngs[scout].random(out=scouts.uniforms[scout])
            if scouts.log_target[scout] == -np.inf:
                scouts.normals[scout, 0] = 0.0
        if not walk(scouts):
            break
        for scout in np.flatnonzero(scouts.walking).tolist():
            reached = float(np.mean(scouts.kept_log_target[scout]))
            # Within a mode the log density varies by √(d/2).
            if math.isfinite(reached) and reached - before[scout] < math.sqrt(0.5 * dim):
                at_rest.append(scout)
            if scout in at_rest or scouts.log_target[scout] == -np.inf:
                scouts.walking[scout] = 0
            before[scout] = reached
        if not scouts.walking.any():
            break
    return sorted(at_rest)


def with_finds(learner: Learner, plan: Plan, scouts: Scouts, at_rest: Sequence[int], left: Points) -> Learner:
    """With what they found, one after the other.

    The first of them ``left`` from points that surprise: such tails are explained from now on, where these
    have found nothing.
    """
    for scout in at_rest:
        known = learner
        learner = with_found(learner, plan, found_by(scouts, scout))
        if scout < len(left) and learner is known and lies_in_tail(learner, plan, left.point[scout]):
            learner = with_vain(learner, left.chosen(np.array([scout])))
    return replace(learner, n_scouts_lost=learner.n_scouts_lost + int(np.count_nonzero(scouts.met)))


def lies_in_tail(learner: Learner, plan: Plan, point: FloatArray) -> bool:
    """Whether a point is far from all modes, so that tails are what would explain it."""
    return bool(learner.nearest(point[None])[0] > explained_within(plan))


def with_vain(learner: Learner, left: Points) -> Learner:
    """With a note of points that looked like another mode and are not."""
    vain = learner.vain.joined(left)
    return replace(learner, vain=vain.chosen(np.arange(len(vain))[-SURPRISE.n_vain :]))


def with_found(learner: Learner, plan: Plan, found: Found) -> Learner:
    """What a scout found becomes a mode if no other explains it."""
    centre = found.kept.mean(axis=0)
    if not len(learner.components) or not _is_new(learner, plan, found, centre):
        return learner
    covariance = math.exp(2.0 * found.log_scale) * learner.pooled
    falls = log_fall(squares(found.kept, centre, covariance), plan.dim)
    peak = np.median(found.kept_log_target + falls)
    mode = Components(centre[None], covariance[None], np.array([peak]), np.array([len(found.kept)]))
    mode, _ = regressed(mode, _known_to(found), learner.pooled, split=False)
    joined = with_mass(learner.components.joined(mode))
    if len(joined) <= len(learner.components):
        return learner
    mixture = make_mixture(joined, learner.broad_mean, learner.broad_covariance)
    return replace(
        learner,
        components=joined,
        archive=learner.archive.with_scout(found),
        mixture=with_chance(mixture, float(learner.mixture.chance[0])),
    )


def _is_new(learner: Learner, plan: Plan, found: Found, centre: FloatArray) -> bool:
    """Whether no mode explains where a scout has come to: all are far, or the density is far higher.

    In many dimensions tails reach far: there only the density tells.
    """
    if plan.dim <= MANY.beyond and learner.nearest(centre[None])[0] > explained_within(plan):
        return True
    above = surprises(found.kept, found.kept_log_target, learner.components, learner.mixture, JUMP_DOF)
    return bool(np.median(above) > margin(plan.dim))


def _known_to(found: Found) -> Known:
    """What a scout evaluated in its last round; its states are where it was."""
    finite = found.is_finite
    return Known(
        np.concatenate([found.kept, found.tried[finite]]),
        np.append(found.kept_log_target, found.tried_log_target[finite]),
        np.arange(len(found.kept) + np.count_nonzero(finite)) < len(found.kept),
    )
