"""Whether the ladder suffices: looks at it while tuning, and what is to be changed.

A look goes by what all chains that learn together have seen, in their order, so that they change alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from temperance.core.state import FloatArray, IntArray, State, Trace
from temperance.modes.policy import HEATING, JUMPING, LEARNING, MANY
from temperance.runs.learner import Learner
from temperance.runs.levels import apparent_scales, covariance_of, covariances
from temperance.runs.plan import Plan, looks, unimodal_scale
from temperance.runs.state import RunState
from temperance.theory import chi_square_quantile, gaussian_log_ratio


@dataclass(frozen=True)
class Sight:
    """What is seen of a ladder."""

    temperature: FloatArray  # of each level, infinite at the prior
    score: FloatArray  # scale beside that of one mode; NaN where it is not known
    rate: FloatArray  # at which each pair would exchange, over late iterations
    base_gap: float  # widest squared distance from one mode to the next, in widths of the base level
    hot_gap: float  # the same in widths of the hottest level
    is_far: bool  # whether any level is so far out that it may have no end to go to, or ever had none
    off: IntArray  # levels that went twice as far at each look, without end
    jumps_carry: bool  # whether jumps or leaps between modes are at least as good as walks


@dataclass(frozen=True)
class Change:
    """What is to be done to a ladder, and why, in words."""

    out: tuple[int, ...] = ()  # levels that go
    between: tuple[int, ...] = ()  # edges that get a level in their middle
    above: int = 0  # levels beyond the hottest
    why: str = ""


def is_look(plan: Plan, n_done: int) -> bool:
    """Whether it is time for a look."""
    return n_done in looks(plan)


def looked(plan: Plan, chains: Sequence[RunState], traces: Sequence[Trace]) -> tuple[Sight, Change]:
    """What is seen of the ladders of these chains, and what is to be done; nothing is changed here."""
    sight, n_done = seen(plan, chains, traces), chains[0].n_done
    if n_done > HEATING.last_change * plan.tune or len({int(now.core.n_levels[0]) for now in chains}) > 1:
        return sight, Change()
    return sight, change(plan, sight, n_done)


def seen(plan: Plan, chains: Sequence[RunState], traces: Sequence[Trace]) -> Sight:
    """What there is to see."""
    states, n_done = [now.core for now in chains], chains[0].n_done
    n_levels = min(int(state.n_levels[0]) for state in states)
    late = slice(int(HEATING.lately * n_done), n_done)
    rates = np.concatenate([trace.adjacent_swap_accept[late, : n_levels - 1] for trace in traces])
    with np.errstate(divide="ignore"):
        temperature = 1.0 / np.mean([state.beta[:n_levels] for state in states], axis=0)
    gaps = [widest_gap(_modes(chains, level), mean_shape(states, level)) for level in (0, n_levels - 1)]
    return Sight(
        temperature=temperature,
        score=pooled_score(plan, states)[:n_levels],
        rate=rates.mean(axis=0, dtype=np.float64),
        base_gap=gaps[0],
        hot_gap=gaps[1],
        is_far=any(is_far_out(now.core) or now.ran_off for now in chains),
        off=np.unique(np.concatenate([runs_off(state) for state in states])),
        jumps_carry=all(carries(now.learner, plan) for now in chains),
    )


def change(plan: Plan, sight: Sight, n_done: int) -> Change:
    """What is to be done to a ladder that looks like this."""
    if n_done < HEATING.settled * plan.tune:
        return Change()
    if plan.ends_at_prior:
        return by_rate(plan, sight)
    free = int(sight.off.min(initial=len(sight.temperature)))
    if free < len(sight.temperature):
        gone = tuple(range(max(free, plan.n_levels), len(sight.temperature)))
        return Change(out=gone, why="they had no end to go to") if gone else Change()
    room = plan.most_levels - len(sight.temperature)
    if sight.jumps_carry or sight.is_far or room <= 0:
        return Change()
    between = dead_edges(sight)[:room] if sight.base_gap > apart(plan.dim) else []
    above = levels_above(plan, sight, room - len(between))
    return Change(between=tuple(between), above=above, why=_reason(between, above))


def by_rate(plan: Plan, sight: Sight) -> Change:
    """As many edges as give the wanted rate, where all of them exchange alike.

    New levels come where the fewest exchange, and those go whose neighbours exchange most.
    """
    n_edges, wanted = len(sight.rate), plan.settings.adaptation.swap_acceptance
    length = math.fsum(edge_length(rate) for rate in sight.rate)
    needed = max(1, math.ceil(length / edge_length(wanted)))
    if needed > n_edges:
        most = min(needed - n_edges, _at_once(n_edges + 1), plan.most_levels - n_edges - 1)
        edges = sorted(int(edge) for edge in np.argsort(sight.rate, kind="stable")[: max(most, 0)])
        return Change(between=tuple(edges), why="swaps were rarer than wanted" if edges else "")
    trimming = plan.settings.trimming
    spare = min(n_edges - needed, n_edges + 1 - max(trimming.min_levels, 2)) if trimming.enabled else 0
    ease = sight.rate[:-1] + sight.rate[1:]  # of the edges on both sides of each level but the first and last
    gone = sorted(int(level) + 1 for level in np.argsort(-ease, kind="stable")[: max(spare, 0)])
    return Change(out=tuple(gone), why="swaps were more frequent than wanted" if gone else "")


def edge_length(rate: float) -> float:
    """How far apart two levels are that exchange at this rate: lengths of edges in a row add up.

    Log densities of neighbours are taken for normal, as in `gaussian_log_ratio`: 2 Φ(−length / 2).
    """
    return -2.0 * NormalDist().inv_cdf(0.5 * min(max(rate, HEATING.least_rate), 1.0))


def dead_edges(sight: Sight) -> list[int]:
    """Edges over which nearly nothing passes, though there are temperatures between."""
    ratio = sight.temperature[1:] / sight.temperature[:-1]
    return [int(edge) for edge in np.flatnonzero((sight.rate < HEATING.dead) & (ratio > HEATING.least_ratio))]


def levels_above(plan: Plan, sight: Sight, room: int) -> int:
    """How many it takes until modes have merged: squared distances in widths fall as 1/T.

    None where there is not room for as many: modes that are still apart at the hottest level are not joined,
    and every level more would be paid for in each iteration.
    """
    gap = max(sight.hot_gap if sight.hot_gap > apart(plan.dim) else 0.0, gap_by_score(plan, sight))
    if gap <= HEATING.merged:
        return 0
    steps = math.ceil(math.log(gap / HEATING.merged) / step_ratio(plan))
    return min(steps, _at_once(len(sight.temperature))) if steps <= room else 0


def apart(dim: int) -> float:
    """The squared distance beyond which two modes are apart.

    In many dimensions that of two independent states of one mode is larger than in few, and clusters of
    a walk that is slow lie as far from each other.
    """
    of_states = 2.0 * chi_square_quantile(LEARNING.explained, dim)
    return max(HEATING.apart, of_states) if dim > MANY.beyond else HEATING.apart


def gap_by_score(plan: Plan, sight: Sight) -> float:
    """The squared distance of two modes that the spread of the hottest level speaks of; zero if of none.

    It speaks of several modes where a colder level, stuck in one of them, is at ease with its shape; or where
    it is so large that no shape is to blame. Where a colder level is more at ease than the hottest one, heat
    has joined all that there was, and what is left are walls.
    Modes D apart add D²/4 to the spread along a line.
    """
    last, colder = sight.score[-1], sight.score[:-1][~np.isnan(sight.score[:-1])]
    easiest = colder.max(initial=0.0)
    plainly = HEATING.plainly_several if last >= easiest else 0.0
    allowed = HEATING.several if easiest >= 1.0 else plainly
    return float(4.0 * plan.dim * (1.0 / last**2 - 1.0)) if last < allowed else 0.0


def widest_gap(points: FloatArray, shape: FloatArray) -> float:
    """The longest squared distance on the shortest tree over all points, in widths of a shape."""
    white = np.linalg.solve(np.linalg.cholesky(shape), points.T).T
    nearest, gap = np.full(len(points), np.inf), 0.0
    place, waiting = 0, np.arange(len(points)) > 0
    while np.any(waiting):
        nearest = np.minimum(nearest, np.sum((white - white[place]) ** 2, axis=1))
        place = int(np.argmin(np.where(waiting, nearest, np.inf)))
        gap, waiting[place] = max(gap, float(nearest[place])), False
    return gap


def mean_shape(states: Sequence[State], level: int) -> FloatArray:
    """The shape of a level, over all chains."""
    shape: FloatArray = np.mean([covariance_of(state, level) for state in states], axis=0)
    return shape


def _modes(chains: Sequence[RunState], level: int) -> FloatArray:
    """Where modes are, as far as they were learnt; else where each chain is at a level."""
    centres = chains[0].learner.components.centre
    if len(centres):
        return centres
    return np.array([now.core.mean[level] for now in chains])


def step_ratio(plan: Plan) -> float:
    """Log of the ratio of temperatures from one new level to the next."""
    return gaussian_log_ratio(plan.settings.adaptation.swap_acceptance, plan.dim)


def pooled_score(plan: Plan, states: Sequence[State]) -> FloatArray:
    """The score of each level beside that of one mode, as if all chains were one.

    What the chains' means differ by adds to the spread: each may sit in a mode of its own.
    """
    n_levels = min(int(state.n_levels[0]) for state in states)
    scores = np.array([apparent_scales(plan, state)[:n_levels] for state in states])
    scale = np.exp(np.array([state.log_scale[:n_levels] for state in states]))
    spread = np.mean(scale**2 / scores**2, axis=0)
    if len(states) > 1:
        means = np.array([state.mean[:n_levels] for state in states])
        within = np.mean([covariances(state)[:n_levels] for state in states], axis=0)
        between = means - means.mean(axis=0)
        squares = [np.sum(part.T * np.linalg.solve(shape, part.T), axis=0)
                   for part, shape in zip(np.swapaxes(between, 0, 1), within, strict=True)]  # fmt: skip
        spread = spread + np.sum(squares, axis=1) / (len(states) - 1) / plan.dim
    pooled: FloatArray = np.sqrt(np.mean(scale**2, axis=0) / spread) / unimodal_scale(plan)
    return pooled


def reach(state: State) -> FloatArray:
    """How far out each level is, in widths of the base level and over its temperature."""
    n_levels = int(state.n_levels[0])
    width = np.sqrt(np.diag(covariance_of(state, 0)))
    far = np.max(np.abs(state.position[:n_levels] - state.mean[0]) / width, axis=1)
    free = state.beta[:n_levels] > 0.0
    beta = np.where(free, state.beta[:n_levels], state.beta[:n_levels][free][-1])
    reached: FloatArray = far * beta
    return reached


def runs_off(state: State) -> IntArray:
    """Levels that are far out, and were twice as far at each look as at the one before.

    One that goes to another mode is near before and far afterwards; it is not on its way.
    """
    now = reach(state)
    last, before = state.reached[: len(now)].T
    outgrown = (now > HEATING.outgrown * last) & (last > HEATING.outgrown * before)
    return np.flatnonzero(outgrown & (last > HEATING.on_the_way) & (now > HEATING.far))


def is_far_out(state: State) -> bool:
    """Whether any level is far out in a tail; in another mode the log density would be as high as here."""
    reached = reach(state)
    fall = state.log_density[0] - state.log_density[: len(reached)]
    return bool(np.any((reached > HEATING.far) & (fall > HEATING.deep * state.position.shape[1])))


def note_reach(state: State) -> None:
    """Remember where levels are for the next two looks, in place."""
    now = reach(state)
    state.reached[: len(now), 1] = state.reached[: len(now), 0]
    state.reached[: len(now), 0] = now


def carries(learner: Learner, plan: Plan) -> bool:
    """Whether jumps or leaps go from one mode to another, at least as well as a walk goes on."""
    worth = max(min(learner.acceptance, learner.efficiency), learner.leaps.shown)
    return len(learner.components) > 1 and worth >= JUMPING.half_chance / plan.dim


def _at_once(n_levels: int) -> int:
    return max(1, int(HEATING.at_once * n_levels))


def _reason(between: Sequence[int], above: int) -> str:
    reasons = [
        "nearly nothing passed between two of them" if between else "",
        "the hottest still had several modes" if above else "",
    ]
    return " and ".join(reason for reason in reasons if reason)
