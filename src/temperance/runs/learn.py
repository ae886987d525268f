"""What a chain learns about modes while it tunes: from its states, and from scouts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from temperance.core.scout import Scout
from temperance.core.state import FloatArray, Mixture, State, Trace
from temperance.modes.components import Components, log_fall, squares
from temperance.modes.fit import Sample, chi_square_quantile, fit_modes
from temperance.modes.mixture import make_mixture, no_mixture, whitened_squares, with_mass
from temperance.modes.worth import efficiency, jump_chance, rest_every, tuning_chance
from temperance.runs.plan import Plan
from temperance.runs.record import LearntModes
from temperance.runs.seeds import SCOUTS, keyed

FIRST_FIT = 0.03  # of the tuning
FIT_GROWTH = 1.35  # the next fit comes when there are so many times as many states
EARLY_FITS = 0.2  # of the tuning, in which even a mixture that will be good may be bad
HOPELESS = 1e-6  # an efficiency that nothing has been seen to recover from
ASIDE_GROWTH = 2.0  # between fits of a mixture that is hopeless so far
LAST_FIT = 0.85  # of the tuning; then one more at its end
EARLY_STATES = 1.0 / 3.0  # of those seen are too early to learn from
MAX_STATES, MAX_ARCHIVE = 1_500, 1_500
MAX_WORK = 4e7  # states squared times dimension: what linking them takes
MAX_MODES = 400
CHECK_PER_DIM, MIN_CHECK, CHECKS_A_DECADE = 2, 20, 40
SCOUT_STEPS, MIN_SCOUT_STEPS = 15, 60  # per dimension in each round, and at least
MAX_ROUNDS = 6
SCOUT_KEPT = 10
BLIND_SHARE = 0.3  # of the evaluations of scouts, for those that start where nothing is unexplained
EXPLAINED_QUANTILE = 0.999
WORTH_A_STATE = 1.0 / 3.0  # over the dimension: how much of an independent state a step of a walk is
PRIOR_ACCEPTANCE, PRIOR_JUMPS = 0.3, 20
KEEP_OLD = 0.8  # a new mixture that is worth less than this share of the old one is not taken

Knowledge = dict[str, Any]


@dataclass
class Archive:
    """States that scouts brought back."""

    point: FloatArray
    log_density: FloatArray
    width: FloatArray

    def add(self, scout: Scout) -> None:
        """Keep what a scout kept. Its scale tells how wide a mode is that is wider than the base's."""
        width = np.full(len(scout.kept), max(1.0, math.exp(scout.log_scale[0])))
        self.width = np.concatenate([self.width, width])[-MAX_ARCHIVE:]
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
        self._seed = seed
        self._components: Components | None = None
        self._pooled = np.eye(plan.dim)
        self._broad = (np.zeros(plan.dim), np.eye(plan.dim))
        self._archive = Archive(np.empty((0, plan.dim)), np.empty(0), np.empty(0))
        self._next_fit = max(int(FIRST_FIT * plan.tune), 5 * plan.dim)
        self._next_check = self._next_fit
        self._fitted_at = 0
        self._acceptance = PRIOR_ACCEPTANCE
        self._novelty = 0.0

    @property
    def _aside(self) -> bool:
        """Whether no mixture will do here, so that the evaluations are better spent on walks."""
        return self._fitted_at > EARLY_FITS * self._plan.tune and self.efficiency < HOPELESS

    def next_stop(self, iteration: int) -> int:
        """The next iteration of the tuning after which there is something to learn."""
        return max(iteration + 1, min(self._next_fit, self._next_check, self._plan.tune))

    def remember(self) -> Knowledge:
        """All that is known now; nothing of it changes when more is learnt."""
        chance = self.mixture.chance.copy()
        archive = replace(self._archive)
        return {**vars(self), "mixture": self.mixture._replace(chance=chance), "_archive": archive}

    def go_back(self, knowledge: Knowledge, n_done: int) -> None:
        """To what was known before learning failed; the next try comes when it would have come."""
        vars(self).update(knowledge)
        self._plan_fit(n_done)
        self._next_check = self._next_fit

    def learn(self, trace: Trace, shape: FloatArray, n_done: int) -> None:
        """Fit anew when it is time to, and see how jumps have fared."""
        acceptance = self._measured(trace, n_done)
        if n_done >= min(self._next_fit, self._plan.tune):
            self._fit(trace, shape, n_done)
            self._acceptance = acceptance
            self._fitted_at = n_done
            self._plan_fit(n_done)
        worth = min(acceptance, self.efficiency)
        self.mixture.chance[0] = 0.0 if self._aside else tuning_chance(worth, self._plan.dim)

    def scout_from(self, state: State, n_done: int, n_evaluations: int) -> list[int]:
        """Levels to send a scout from: those whose states no mode explains, the hottest first.

        A state of a hot level may be explained by one mode and yet lie in the valley of another. So when all
        are explained, a few scouts start from the hottest level.
        """
        if self._components is None or self._aside:
            self._next_check = self._next_fit
            return []
        if n_done < self._next_check:
            return []
        pause = max(CHECK_PER_DIM * self._plan.dim, MIN_CHECK, n_done // CHECKS_A_DECADE)
        self._next_check = n_done + pause
        n_levels = int(state.n_levels[0])
        distance = self._nearest(state.position[1:n_levels]) * state.beta[1:n_levels]
        limit = chi_square_quantile(EXPLAINED_QUANTILE, self._plan.dim)
        levels = [int(level) + 1 for level in np.flatnonzero(distance > limit)][::-1]
        share = self._plan.settings.jumps.scout_share
        if not levels and n_levels > 1 and self.n_scout_evaluations < BLIND_SHARE * share * n_evaluations:
            return [n_levels - 1]
        return levels

    def afford_scout(self, n_evaluations: int) -> bool:
        """Whether one more scout stays within the share that they may use; without a share there is none."""
        share = self._plan.settings.jumps.scout_share
        steps = 2 * max(SCOUT_STEPS * self._plan.dim, MIN_SCOUT_STEPS)
        allowed = share * n_evaluations + 2 * steps
        return share > 0.0 and self.n_scout_evaluations + steps <= allowed

    def new_scout(self, state: State, level: int, root: FloatArray) -> Scout:
        """A scout that starts at what is at a level, and whose first proposals have this lower factor."""
        dim = self._plan.dim
        n_steps = max(SCOUT_STEPS * dim, MIN_SCOUT_STEPS)
        return Scout(
            position=state.position[level].copy(),
            log_target=state.log_density[level : level + 1] + state.log_prior[level : level + 1],
            log_scale=np.zeros(1),
            root=root,
            normals=np.empty((n_steps, dim)),
            uniforms=np.empty(n_steps),
            kept=np.empty((SCOUT_KEPT, dim)),
            kept_log_target=np.full(SCOUT_KEPT, -np.inf),
        )

    def rounds(self, scout: Scout) -> Iterator[None]:
        """Stops before each round of a scout's walk, for which it gets new random numbers.

        Once it climbs no more, what it found becomes a mode if no other explains it. One that still climbs
        after the last round is given up.
        """
        rng = np.random.default_rng(keyed(self._seed, SCOUTS, self.n_scouts))
        self.n_scouts += 1
        before = -math.inf
        for _ in range(MAX_ROUNDS):
            rng.standard_normal(out=scout.normals)
            rng.random(out=scout.uniforms)
            yield
            self.n_scout_evaluations += len(scout.uniforms)
            reached = float(np.mean(scout.kept_log_target))
            # Within a mode the log density varies by √(d/2).
            if math.isfinite(reached) and reached - before < math.sqrt(0.5 * self._plan.dim):
                self._take(scout)
                return
            before = reached

    def freeze(self, n_levels: int) -> None:
        """The tuning is over: how often to jump and to rest from now on."""
        worth = min(self._acceptance, self.efficiency)
        self.mixture.chance[0] = jump_chance(worth, self._plan.dim) if self._components is not None else 0.0
        if self.mixture.chance[0] > 0.0 and n_levels > 1 and not self._plan.adapts_for_ever:
            self.rest_every = rest_every(worth, self._novelty, n_levels)

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

    def _plan_fit(self, n_done: int) -> None:
        """When to fit again."""
        growth = ASIDE_GROWTH if self._aside else FIT_GROWTH
        self._next_fit = max(int(growth * n_done), n_done + 1)
        if self._next_fit > LAST_FIT * self._plan.tune:
            self._next_fit = self._plan.tune

    def _take(self, scout: Scout) -> None:
        """What a scout found becomes a mode if no other explains it."""
        centre = scout.kept.mean(axis=0)
        limit = chi_square_quantile(EXPLAINED_QUANTILE, self._plan.dim)
        if self._components is None or self._nearest(centre[None])[0] <= limit:
            return
        covariance = math.exp(2.0 * scout.log_scale[0]) * self._pooled
        falls = log_fall(squares(scout.kept, centre, covariance), self._plan.dim)
        peak = np.median(scout.kept_log_target + falls)
        found = Components(centre[None], covariance[None], np.array([peak]), np.array([len(scout.kept)]))
        joined = with_mass(self._components.joined(found))
        if len(joined) <= len(self._components):
            return
        self._components = joined
        self._archive.add(scout)
        chance = self.mixture.chance[0]
        self.mixture = make_mixture(self._components, *self._broad)
        self.mixture.chance[0] = chance

    def _nearest(self, points: FloatArray) -> FloatArray:
        """Squared distance to the nearest mode; the broad component is none."""
        nearest: FloatArray = whitened_squares(points, self.mixture)[:, :-1].min(axis=1)
        return nearest

    def _unknown_share(self, trace: Trace, n_done: int) -> float:
        """Share of the states since the last fit that no mode explains: what the ladder still discovers."""
        points, _ = distinct_states(trace, self._fitted_at, n_done)
        if self._components is None or not len(points):
            return 1.0
        limit = chi_square_quantile(EXPLAINED_QUANTILE, self._plan.dim)
        return float(np.mean(self._nearest(points) > limit))

    def _measured(self, trace: Trace, n_done: int) -> float:
        """Acceptance of jumps from this mixture, with what was known before as a few jumps more."""
        seen = trace.jump_accept_prob[self._fitted_at : n_done, 0].astype(np.float64)
        seen = seen[~np.isnan(seen)]
        return float((PRIOR_JUMPS * self._acceptance + seen.sum()) / (PRIOR_JUMPS + len(seen)))

    def _fit(self, trace: Trace, shape: FloatArray, n_done: int) -> None:
        self._novelty = self._unknown_share(trace, n_done)
        first = int(EARLY_STATES * n_done)
        points, log_density = distinct_states(trace, first, n_done)
        if len(points) <= self._plan.dim + 2:
            return
        worth = min(1.0, (n_done - first) * WORTH_A_STATE / (self._plan.dim * len(points)))
        sample = Sample(
            np.concatenate([points, self._archive.point]),
            np.concatenate([log_density, self._archive.log_density]),
            np.concatenate([np.ones(len(points)), self._archive.width]),
            np.arange(len(points) + len(self._archive.point)) < len(points),
            worth,
        )
        components, pooled = fit_modes(sample, shape, MAX_MODES)
        components = with_mass(components)
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
    """States of the base level between two iterations and their log densities, none twice in a row."""
    n_states = min(MAX_STATES, int(math.sqrt(MAX_WORK / trace.draws.shape[1])))
    rows = slice(first, end, max(1, (end - first) // n_states))
    points = trace.draws[rows]
    log_density = trace.log_density[rows, 0] + trace.log_prior[rows]
    moved = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))
    return points[moved], log_density[moved]
