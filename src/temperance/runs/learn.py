"""What a chain learns about modes while it tunes: states are clustered, and scouts look where warm levels are."""

import math
from dataclasses import dataclass

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture, State, Trace
from temperance.modes.components import Components, log_fall, squares
from temperance.modes.fit import Sample, chi_square_quantile, fit_modes
from temperance.modes.mixture import make_mixture, no_mixture, whitened_squares
from temperance.modes.worth import efficiency, jump_chance, rest_every, tuning_chance
from temperance.runs.plan import Plan
from temperance.runs.record import LearntModes

FIRST_FIT = 0.03  # of the tuning
FIT_GROWTH = 1.35  # the next fit comes when there are so many times as many states
LAST_FIT = 0.85  # of the tuning; then one more at its end
EARLY_STATES = 1.0 / 3.0  # of those seen are too early to learn from
MAX_STATES, MAX_ARCHIVE = 1_500, 1_500
MAX_MODES = 400
CHECK_PER_DIM, MIN_CHECK, CHECKS_A_DECADE = 2, 10, 50
SCOUT_STEPS = 30  # per dimension
SCOUT_KEPT = 10
EXPLAINED_QUANTILE = 0.999
WORTH_A_STATE = 1.0 / 3.0  # over the dimension: how much of an independent state a step of a walk is
PRIOR_ACCEPTANCE, PRIOR_JUMPS = 0.3, 20
KEEP_OLD = 0.8  # a new mixture that is worth less than this share of the old one is not taken


@dataclass
class Archive:
    """States that scouts brought back."""

    point: FloatArray
    log_density: FloatArray

    def add(self, scout: Scout) -> None:
        """Keep what a scout kept."""
        self.point = np.concatenate([self.point, scout.kept])[-MAX_ARCHIVE:]
        self.log_density = np.concatenate([self.log_density, scout.kept_log_target])[-MAX_ARCHIVE:]


class ModeLearner:
    """The mixture of one chain, as far as it is learnt."""

    def __init__(self, plan: Plan, seed: np.random.SeedSequence) -> None:
        self.mixture: Mixture = no_mixture(plan.dim)
        self.efficiency = 0.0
        self.rest_every = 1
        self.n_scouts = self.n_scout_evaluations = 0
        self._plan = plan
        self._rng = np.random.default_rng(seed)
        self._components: Components | None = None
        self._pooled = np.eye(plan.dim)
        self._broad = (np.zeros(plan.dim), np.eye(plan.dim))
        self._archive = Archive(np.empty((0, plan.dim)), np.empty(0))
        self._next_fit = max(int(FIRST_FIT * plan.tune), 5 * plan.dim)
        self._next_check = self._next_fit
        self._fitted_at = 0
        self._acceptance = PRIOR_ACCEPTANCE

    def next_stop(self, iteration: int) -> int:
        """The next iteration of the tuning after which there is something to learn."""
        return max(iteration + 1, min(self._next_fit, self._next_check, self._plan.tune))

    def learn(self, trace: Trace, shape: FloatArray, n_done: int) -> None:
        """Fit anew when it is time to, and see how jumps have fared."""
        acceptance = self._measured(trace, n_done)
        if n_done >= min(self._next_fit, self._plan.tune):
            self._fit(trace, shape, n_done)
            self._acceptance = acceptance
            self._fitted_at = n_done
            self._next_fit = max(int(FIT_GROWTH * n_done), n_done + 1)
            if self._next_fit > LAST_FIT * self._plan.tune:
                self._next_fit = self._plan.tune
        self.mixture.chance[0] = tuning_chance(min(acceptance, self.efficiency), self._plan.dim)

    def unexplained(self, state: State, n_done: int) -> list[int]:
        """Warm levels whose states no mode explains, when it is time to look."""
        if self._components is None or n_done < self._next_check:
            return []
        pause = max(CHECK_PER_DIM * self._plan.dim, MIN_CHECK, n_done // CHECKS_A_DECADE)
        self._next_check = n_done + pause
        n_levels = int(state.n_levels[0])
        distance = self._nearest(state.position[1:n_levels]) * state.beta[1:n_levels]
        limit = chi_square_quantile(EXPLAINED_QUANTILE, self._plan.dim)
        return [level + 1 for level in np.flatnonzero(distance > limit)]

    def afford_scout(self, n_evaluations: int) -> bool:
        """Whether one more scout stays within the share that they may use."""
        steps = SCOUT_STEPS * self._plan.dim
        allowed = self._plan.settings.jumps.scout_share * n_evaluations + 2 * steps
        return self.n_scout_evaluations + steps <= allowed

    def new_scout(self, root: FloatArray) -> Scout:
        """A scout with its random numbers, whose first proposals have this lower factor."""
        dim = self._plan.dim
        n_steps = SCOUT_STEPS * dim
        return Scout(
            position=np.empty(dim),
            log_target=np.empty(1),
            log_scale=np.zeros(1),
            root=root,
            normals=self._rng.standard_normal((n_steps, dim)),
            uniforms=self._rng.random(n_steps),
            kept=np.empty((SCOUT_KEPT, dim)),
            kept_log_target=np.empty(SCOUT_KEPT),
        )

    def take(self, scout: Scout) -> None:
        """What a scout found becomes a mode if no other explains it."""
        self.n_scouts += 1
        self.n_scout_evaluations += len(scout.uniforms)
        centre = scout.kept.mean(axis=0)
        limit = chi_square_quantile(EXPLAINED_QUANTILE, self._plan.dim)
        if self._components is None or self._nearest(centre[None])[0] <= limit:
            return
        covariance = math.exp(2.0 * scout.log_scale[0]) * self._pooled
        falls = log_fall(squares(scout.kept, centre, covariance), self._plan.dim)
        peak = np.median(scout.kept_log_target + falls)
        found = Components(centre[None], covariance[None], np.array([peak]), np.array([len(scout.kept)]))
        self._components = self._components.joined(found)
        self._archive.add(scout)
        chance = self.mixture.chance[0]
        self.mixture = make_mixture(self._components, *self._broad)
        self.mixture.chance[0] = chance

    def freeze(self, n_levels: int) -> None:
        """The tuning is over: how often to jump and to rest from now on."""
        worth = min(self._acceptance, self.efficiency)
        self.mixture.chance[0] = jump_chance(worth, self._plan.dim) if self._components is not None else 0.0
        if self.mixture.chance[0] > 0.0 and n_levels > 1 and not self._plan.adapts_for_ever:
            self.rest_every = rest_every(worth, n_levels)

    def leave(self) -> LearntModes | None:
        """What is known, for the record."""
        if self._components is None:
            return None
        mixture = self.mixture
        return LearntModes(
            weight=np.diff(mixture.cumulative, prepend=0.0),
            centre=mixture.centre,
            covariance=mixture.root @ np.swapaxes(mixture.root, 1, 2),
            chance=float(mixture.chance[0]),
            efficiency=self.efficiency,
            rest_every=self.rest_every,
            n_scouts=self.n_scouts,
        )

    def _nearest(self, points: FloatArray) -> FloatArray:
        """Squared distance to the nearest mode; the broad component is none."""
        nearest: FloatArray = whitened_squares(points, self.mixture)[:, :-1].min(axis=1)
        return nearest

    def _measured(self, trace: Trace, n_done: int) -> float:
        """Acceptance of jumps from this mixture, with what was known before as a few jumps more."""
        seen = trace.jump_accept_prob[self._fitted_at : n_done, 0].astype(np.float64)
        seen = seen[~np.isnan(seen)]
        return float((PRIOR_JUMPS * self._acceptance + seen.sum()) / (PRIOR_JUMPS + len(seen)))

    def _fit(self, trace: Trace, shape: FloatArray, n_done: int) -> None:
        first = int(EARLY_STATES * n_done)
        points, log_density = distinct_states(trace, first, n_done)
        if len(points) <= self._plan.dim + 2:
            return
        worth = min(1.0, (n_done - first) * WORTH_A_STATE / (self._plan.dim * len(points)))
        sample = Sample(
            np.concatenate([points, self._archive.point]),
            np.concatenate([log_density, self._archive.log_density]),
            worth,
        )
        components, pooled = fit_modes(sample, shape, MAX_MODES)
        broad = points.mean(axis=0), np.cov(points.T).reshape(shape.shape) + pooled / len(points)
        mixture = make_mixture(components, *broad)
        gained = efficiency(mixture, points, log_density)
        if self._components is not None:
            before = efficiency(self.mixture, points, log_density)
            if gained < KEEP_OLD * before:
                self.efficiency = before
                return
        self._components, self._pooled, self._broad = components, pooled, broad
        self.mixture, self.efficiency = mixture, gained


def distinct_states(trace: Trace, first: int, end: int) -> tuple[FloatArray, FloatArray]:
    """States of the base level between two iterations and their log densities, thinned, none twice in a row."""
    rows = slice(first, end, max(1, (end - first) // MAX_STATES))
    points = trace.draws[rows]
    log_density = trace.log_density[rows, 0] + trace.log_prior[rows]
    moved = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))
    return points[moved], log_density[moved]
