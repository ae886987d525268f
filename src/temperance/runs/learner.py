"""What a chain knows about modes, as a value."""

import math
from dataclasses import dataclass

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture
from temperance.modes.components import Components, no_components
from temperance.modes.leaps import Leaps, no_leaps
from temperance.modes.mixture import no_mixture
from temperance.modes.policy import LEARNING, SCOUTING
from temperance.modes.student import whitened_squares
from temperance.runs.plan import Plan, next_meeting
from temperance.theory import chi_square_quantile


@dataclass(frozen=True)
class Archive:
    """What scouts brought back: states, which make modes, and all that they evaluated at last."""

    point: FloatArray
    log_density: FloatArray
    width: FloatArray
    tried: FloatArray
    tried_log_density: FloatArray

    @staticmethod
    def columns() -> tuple[str, ...]:
        """The names of the columns, in order."""
        return "point", "log_density", "width", "tried", "tried_log_density"

    def with_scout(self, scout: Scout) -> "Archive":
        """With what a scout kept. Its scale tells how wide a mode is that is wider than the base's."""
        width = np.full(len(scout.kept), max(1.0, math.exp(scout.log_scale[0])))
        most, finite = SCOUTING.max_archive, np.isfinite(scout.tried_log_target)
        return Archive(
            np.concatenate([self.point, scout.kept])[-most:],
            np.concatenate([self.log_density, scout.kept_log_target])[-most:],
            np.concatenate([self.width, width])[-most:],
            np.concatenate([self.tried, scout.tried[finite]])[-most:],
            np.concatenate([self.tried_log_density, scout.tried_log_target[finite]])[-most:],
        )


def no_archive(dim: int) -> Archive:
    """Nothing yet."""
    return Archive(np.empty((0, dim)), np.empty(0), np.empty(0), np.empty((0, dim)), np.empty(0))


@dataclass(frozen=True)
class Learner:
    """All that one chain knows about modes: arrays and plain numbers."""

    mixture: Mixture
    components: Components  # none before the first fit
    pooled: FloatArray  # covariance within modes
    broad_mean: FloatArray
    broad_covariance: FloatArray
    archive: Archive
    leaps: Leaps
    told_at: FloatArray  # (component,) of those that chains share: when all came to know of it
    seen: FloatArray  # (component,) likewise: one if this chain had been there by itself before, else zero
    start: FloatArray  # (start, dim) the distinct points that this chain was given
    start_log_target: FloatArray  # (start,)
    start_scouted: FloatArray  # (start,) one if a scout has left from there, else zero
    next_fit: int
    next_check: int
    shape_is_known: bool = False  # ``pooled`` is that of components which describe many states well
    fitted_at: int = 0
    acceptance: float = LEARNING.prior_acceptance
    efficiency: float = 0.0
    efficiency_before: float = 0.0  # at the fit before
    novelty: float = 0.0
    rest_every: int = 1
    n_scouts: int = 0
    n_scout_evaluations: int = 0

    def nearest(self, points: FloatArray) -> FloatArray:
        """Squared distance of points to the nearest mode; the broad component is none."""
        nearest: FloatArray = whitened_squares(points, self.mixture)[:, :-1].min(axis=1)
        return nearest


def first_learner(plan: Plan) -> Learner:
    """Nothing is known yet."""
    dim = plan.dim
    next_fit = max(int(LEARNING.first_fit * plan.tune), LEARNING.first_fit_per_dim * dim)
    if plan.shares:
        next_fit = next_meeting(plan, 0)
    return Learner(
        mixture=no_mixture(dim),
        components=no_components(dim),
        pooled=np.eye(dim),
        broad_mean=np.zeros(dim),
        broad_covariance=np.eye(dim),
        archive=no_archive(dim),
        leaps=no_leaps(dim),
        told_at=np.empty(0),
        seen=np.empty(0),
        start=np.empty((0, dim)),
        start_log_target=np.empty(0),
        start_scouted=np.empty(0),
        next_fit=next_fit,
        next_check=next_fit,
    )


def explained_within(plan: Plan) -> float:
    """The squared distance up to which a mode explains a state."""
    return chi_square_quantile(LEARNING.explained, plan.dim)


def is_aside(learner: Learner, plan: Plan) -> bool:
    """Whether no mixture will do here, so that the evaluations are better spent on walks.

    Where there are modes to leap between, it is worth to go on learning.
    """
    if np.any(learner.leaps.chance > 0.0):
        return False
    return learner.fitted_at > LEARNING.early_fits * plan.tune and learner.efficiency < LEARNING.hopeless
