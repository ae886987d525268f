"""What a chain knows about modes, as a value."""

import math
from dataclasses import dataclass

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.components import Components, no_components
from temperance.modes.leaps import Leaps, no_leaps
from temperance.modes.mixture import no_mixture
from temperance.modes.policy import LEARNING, SURPRISE
from temperance.modes.student import whitened_squares
from temperance.runs.brought import Archive, no_archive
from temperance.runs.candidates import Points, Starts, no_points
from temperance.runs.plan import Plan, next_meeting
from temperance.runs.rounds import Rounds, no_rounds
from temperance.theory import chi_square_quantile


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
    rounds: Rounds
    told_at: FloatArray  # (component,) of those that chains share: when all came to know of it
    seen: FloatArray  # (component,) likewise: one if this chain had been there by itself before, else zero
    starts: Starts  # the distinct points that this chain was given
    surprising: Points  # points that no mode explains, of all that were evaluated
    scattered: FloatArray  # (point, dim) from where the search has yet to climb
    vain: Points  # those from where scouts came back and had found nothing
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
    n_surprise_evaluations: int = 0  # of these, by scouts that left from surprising points
    n_climbs: int = 0
    n_search_evaluations: int = 0  # by climbs
    n_scouts_lost: int = 0  # that met a NaN, a +inf or an error
    tail_dof: float = SURPRISE.dofs[0]  # of modes, by the points where scouts had found nothing
    best_scouted: float = -math.inf  # log density of the best point that a scout has left from

    def nearest(self, points: FloatArray) -> FloatArray:
        """Squared distance of points to the nearest mode; wide and broad components are none."""
        nearest: FloatArray = whitened_squares(points, self.mixture)[:, : len(self.components)].min(axis=1)
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
        rounds=no_rounds(dim),
        told_at=np.empty(0),
        seen=np.empty(0),
        starts=Starts(no_points(dim), np.empty(0)),
        surprising=no_points(dim),
        scattered=np.empty((0, dim)),
        vain=no_points(dim),
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
