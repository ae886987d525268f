"""From where scouts are sent: starts, surprising points, the best one, and levels that no mode explains."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, State
from temperance.modes.policy import MANY, SCOUTING, SURPRISE
from temperance.modes.surprise import margin, surprises, tail_dof
from temperance.runs.candidates import Points, Rows, no_points
from temperance.runs.learner import Learner, explained_within, is_aside
from temperance.runs.plan import Plan, sends_scouts


@dataclass(frozen=True)
class Departures:
    """Points that scouts leave from at one time; the first ``n_surprising`` are of that kind."""

    points: Points
    n_surprising: int

    def __len__(self) -> int:
        return len(self.points)

    def surprising(self, rows: Rows) -> Points:
        """Those among some rows that surprise, which are the first of them."""
        return self.points.chosen(rows[rows < self.n_surprising])


def to_scout(
    learner: Learner, plan: Plan, state: State, n_done: int, n_evaluations: int
) -> tuple[Learner, Departures]:
    """The points that scouts leave from after this iteration, as many as can be afforded.

    What was given comes first, then points that surprise, then levels. The best point of all has a scout of
    its own, early and once more at the end of the tuning, whether it surprises or not.
    """
    learner = with_surprises(learner, plan, state)
    none = Departures(no_points(plan.dim), 0)
    if not sends_scouts(plan) or not len(learner.components) or is_aside(learner, plan):
        return replace(learner, next_check=learner.next_fit), none
    at_end = n_done == plan.tune
    if n_done < learner.next_check and not at_end:
        return learner, none
    n_free = n_affordable(learner, plan, n_evaluations)
    n_others = n_free - (SCOUTING.free if plan.dim > MANY.beyond else 0)
    learner, surprising = _surprising(learner, plan, n_others, n_evaluations)
    learner, given = _starts(learner, plan, n_free - len(surprising))
    learner, best = _best(learner, plan, state, at_end=at_end)
    n_others -= len(surprising) + len(given) + len(best)
    levels = no_points(plan.dim)
    if n_done >= learner.next_check:
        pause = max(SCOUTING.check_per_dim * plan.dim, SCOUTING.min_check, n_done // SCOUTING.checks_a_decade)
        learner = replace(learner, next_check=n_done + pause)
        rows = _levels(learner, plan, state, n_evaluations)[: max(0, n_others)]
        levels = Points(state.position[rows], state.log_density[rows] + state.log_prior[rows])
    chosen = surprising.joined(given).joined(best).joined(levels)
    return learner, Departures(chosen, len(surprising))


def to_climb(
    learner: Learner, plan: Plan, n_done: int, n_evaluations: int, at_once: int
) -> tuple[Learner, Points]:
    """The next points that the search climbs from: as many as go side by side, once these are paid."""
    n_left = len(learner.scattered)
    allowed = plan.search * n_evaluations - learner.n_search_evaluations
    n_climbs = min(int(max(0.0, allowed) / usual_steps(plan.dim)), n_left, at_once)
    if not len(learner.components) or (n_climbs < min(at_once, n_left) and n_done < plan.tune):
        return learner, no_points(plan.dim)
    chosen = Points(learner.scattered[:n_climbs], np.full(n_climbs, -np.inf))
    return replace(learner, scattered=learner.scattered[n_climbs:]), chosen


def with_surprises(learner: Learner, plan: Plan, state: State) -> Learner:
    """With the most surprising point of each level, as far as what is known now does not explain it."""
    live = np.flatnonzero(state.surprise[: int(state.n_levels[0])] > -np.inf)
    waiting = learner.surprising.joined(Points(state.surprise_point[live], state.surprise_log_target[live]))
    if not len(waiting) or not len(learner.components):
        return replace(learner, surprising=waiting)
    known, vain = (learner.components, learner.mixture), learner.vain
    learner = replace(learner, tail_dof=tail_dof(vain.point, vain.log_target, *known))
    above = surprises(waiting.point, waiting.log_target, *known, learner.tail_dof)
    order = np.argsort(-above, kind="stable")[: SURPRISE.waiting]
    is_news = are_news(learner, plan, waiting, above)
    return replace(learner, surprising=waiting.chosen(order[is_news[order]]))


def are_news(learner: Learner, plan: Plan, points: Points, above: FloatArray) -> npt.NDArray[np.bool_]:
    """Which of these are that far above what is known: in a mode its core may be denser than was believed."""
    is_far = learner.nearest(points.point) > explained_within(plan)
    news: npt.NDArray[np.bool_] = above > np.where(is_far, SURPRISE.margin, margin(plan.dim))
    return news


def forget_surprises(state: State) -> None:
    """Begin to look for them anew, in place."""
    state.surprise[:] = -np.inf


def note_best_start(state: State) -> None:
    """The best point of all so far is one of the starts, in place."""
    live = slice(0, int(state.n_levels[0]))
    log_target = state.log_density[live] + state.log_prior[live]
    state.best_point[:], state.best_log_target[0] = state.position[np.argmax(log_target)], log_target.max()


def scout_steps(dim: int) -> int:
    """Steps in one round of a scout."""
    return max(SCOUTING.steps_per_dim * dim, SCOUTING.min_steps)


def n_affordable(learner: Learner, plan: Plan, n_evaluations: int) -> int:
    """How many scouts stay within the share that they may use."""
    allowed = plan.settings.jumps.scout_share * n_evaluations - learner.n_scout_evaluations
    return max(0, int(allowed / usual_steps(plan.dim)) + SCOUTING.free)


def usual_steps(dim: int) -> int:
    """Evaluations of a scout, as it usually goes."""
    return SCOUTING.usual_rounds * scout_steps(dim)


def _surprising(learner: Learner, plan: Plan, n_free: int, n_evaluations: int) -> tuple[Learner, Points]:
    """The most surprising points, one of those that are close together."""
    share = SURPRISE.share * plan.settings.jumps.scout_share
    allowed = share * n_evaluations - learner.n_surprise_evaluations
    n_most = max(0, min(n_free, int(allowed / usual_steps(plan.dim)) + SCOUTING.free))
    rows = far_apart(learner.surprising.point, learner.pooled, explained_within(plan), n_most)
    left = np.setdiff1d(np.arange(len(learner.surprising)), rows)
    return replace(learner, surprising=learner.surprising.chosen(left)), learner.surprising.chosen(rows)


def far_apart(points: FloatArray, shape: FloatArray, limit: float, n_most: int) -> Rows:
    """So many of the first points of which none is near one before, by squared distance in a shape."""
    whitened = np.linalg.solve(np.linalg.cholesky(shape), points.T).T
    rows: list[int] = []
    for row, point in enumerate(whitened):
        near = len(rows) and ((whitened[rows] - point) ** 2).sum(axis=1).min() <= limit
        if len(rows) < n_most and not near:
            rows.append(row)
    return np.array(rows, dtype=np.intp)


def _starts(learner: Learner, plan: Plan, n_free: int) -> tuple[Learner, Points]:
    """Starts that no mode explains and no scout has left from, the highest first."""
    given = learner.starts.points
    rows = np.flatnonzero(learner.starts.scouted == 0.0)
    if not len(rows):
        return learner, no_points(plan.dim)
    point, log_target = given.point[rows], given.log_target[rows]
    above = surprises(point, log_target, learner.components, learner.mixture, learner.tail_dof)
    rows = rows[(learner.nearest(point) > explained_within(plan)) | (above > margin(plan.dim))]
    rows = rows[np.argsort(-given.log_target[rows], kind="stable")][: max(0, n_free)]
    return replace(learner, starts=learner.starts.left_from(rows)), given.chosen(rows)


def _best(learner: Learner, plan: Plan, state: State, *, at_end: bool) -> tuple[Learner, Points]:
    """The best point of all, the first time, and at the end if there is a better one by then.

    In many dimensions there always is: then it has to surprise, too.
    """
    best, before = float(state.best_log_target[0]), learner.best_scouted
    if not np.isfinite(best) or best <= before or not (at_end or before == -np.inf):
        return learner, no_points(plan.dim)
    point = Points(state.best_point[None].copy(), np.array([best]))
    if plan.dim > MANY.beyond and before > -np.inf:
        known = learner.components, learner.mixture, learner.tail_dof
        if not are_news(learner, plan, point, surprises(point.point, point.log_target, *known))[0]:
            return learner, no_points(plan.dim)
    return replace(learner, best_scouted=best), point


def _levels(learner: Learner, plan: Plan, state: State, n_evaluations: int) -> list[int]:
    """Levels whose states no mode explains, the hottest first.

    A state of a hot level may be explained by one mode and yet lie in the valley of another. So when all
    are explained, a few scouts start from the hottest level.
    """
    n_levels = int(state.n_levels[0])
    distance = learner.nearest(state.position[1:n_levels]) * state.beta[1:n_levels]
    levels = [int(level) + 1 for level in np.flatnonzero(distance > explained_within(plan))][::-1]
    blind = SCOUTING.blind_share * plan.settings.jumps.scout_share * n_evaluations
    if not levels and n_levels > 1 and learner.n_scout_evaluations < blind:
        return [n_levels - 1]
    return levels
