"""Scouts: walks at the base temperature from where warm levels are, to see which mode they came from."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray
from temperance.modes.policy import SCOUTING
from temperance.runs.learn import scout_steps, with_found
from temperance.runs.learner import Learner
from temperance.runs.plan import Plan


def new_scout(point: FloatArray, log_target: float, covariance: FloatArray) -> Scout:
    """A scout that starts at a point, and whose first proposals have this covariance."""
    dim = len(point)
    n_steps, n_kept = scout_steps(dim), SCOUTING.kept
    return Scout(
        position=point.copy(),
        log_target=np.array([log_target]),
        log_scale=np.zeros(1),
        root=np.linalg.cholesky(covariance).astype(np.float64),
        normals=np.empty((n_steps, dim)),
        uniforms=np.empty(n_steps),
        kept=np.empty((n_kept, dim)),
        kept_log_target=np.full(n_kept, -np.inf),
        tried=np.empty((n_steps, dim)),
        tried_log_target=np.full(n_steps, -np.inf),
    )


def explore(
    learner: Learner, plan: Plan, scout: Scout, rng: np.random.Generator, walk: Callable[[Scout], bool]
) -> Learner:
    """Rounds of a scout's walk until it climbs no more: what it found becomes a mode if no other explains it.

    One that still climbs after the last round is given up, and so is one whose walk was ended.
    """
    learner = replace(learner, n_scouts=learner.n_scouts + 1)
    before = -math.inf
    for _ in range(SCOUTING.max_rounds):
        rng.standard_normal(out=scout.normals)
        rng.random(out=scout.uniforms)
        if not walk(scout):
            break
        learner = replace(learner, n_scout_evaluations=learner.n_scout_evaluations + len(scout.uniforms))
        reached = float(np.mean(scout.kept_log_target))
        # Within a mode the log density varies by √(d/2).
        if math.isfinite(reached) and reached - before < math.sqrt(0.5 * plan.dim):
            return with_found(learner, plan, scout)
        before = reached
    return learner
