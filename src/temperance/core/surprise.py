"""No evaluated point is forgotten: while tuning, each is compared with what the known modes explain.

A point is as surprising as its log density is above the largest that any one mode predicts there. Each level
keeps its most surprising one. Looking takes time: every point brings some work that may be done at its
level, and is looked at when there is some. High points, which lie within modes more often, and low ones have
work of their own each, so that neither kind crowds out the other.
"""

import math

from temperance.core.compile import compiled
from temperance.core.state import Chain, Explained, FloatArray, Info, State

POINT_WORK = 8.0  # of looking at a point, in products of two coordinates
COMPONENT_WORK = 3.0  # of looking at a component, beside the products


@compiled
def watch_points(chain: Chain) -> None:
    """Compare the points that were just evaluated with what is known, in place."""
    state, info, explained = chain.state, chain.info, chain.explained
    for k in range(info.n_asked[0]):
        log_target = info.log_density[k] + info.log_prior[k]
        note_best(state, info, k, log_target)
        if explained.log_peak.shape[0] > 0:
            level, tier = info.asker[k], 0 if log_target > explained.floor[0] else 1
            if may_look(state, level, tier, explained) and log_target > -math.inf:
                work = look_at_point(state, level, info.proposal[k], log_target, explained)
                state.credit[level, tier] -= work


@compiled
def note_best(state: State, info: Info, k: int, log_target: float) -> None:
    """Keep the point with the highest log density of all, in place."""
    if log_target > state.best_log_target[0]:
        state.best_log_target[0] = log_target
        for i in range(info.proposal.shape[1]):
            state.best_point[i] = info.proposal[k, i]


@compiled
def may_look(state: State, level: int, tier: int, explained: Explained) -> bool:
    """Whether there is work left at a level for points as high as this one; in place."""
    for k in range(2):
        state.credit[level, k] = min(state.credit[level, k] + explained.allowance[0], 0.0)
    return bool(state.credit[level, tier] >= 0.0)


@compiled
def look_at_point(
    state: State, level: int, point: FloatArray, log_target: float, explained: Explained
) -> float:
    """Keep the point if it is the most surprising of its level, in place; the work that it took to see."""
    n_components, dim, dof = explained.centre.shape[0], point.shape[0], explained.dof[0]
    power = 0.5 * (dof + dim)
    stretch = math.exp((explained.highest[0] + explained.margin[0] - log_target) / power)
    work: float = POINT_WORK + dim
    first = state.explainer[level] % n_components
    reach = dof * (explained.reach[first] * stretch - 1.0)
    if square_at_most(first, point, explained) <= reach:
        return work
    for turn in range(n_components):
        component = (first + turn) % n_components
        reach = dof * (explained.reach[component] * stretch - 1.0)
        square, products = square_within(component, point, reach, explained)
        work += COMPONENT_WORK + products
        if square <= reach:
            state.explainer[level] = component
            return work
    surprise = log_target - prediction(point, explained)
    if surprise > explained.margin[0] and surprise > state.surprise[level]:
        state.surprise[level], state.surprise_log_target[level] = surprise, log_target
        for i in range(dim):
            state.surprise_point[level, i] = point[i]
    return 2.0 * work


@compiled
def square_at_most(component: int, point: FloatArray, explained: Explained) -> float:
    """A bound on the squared distance from a centre, in the shortest width there in all directions."""
    square = 0.0
    for i in range(point.shape[0]):
        square += (point[i] - explained.centre[component, i]) ** 2
    return float(explained.slope[component] * square)


@compiled
def square_within(
    component: int, point: FloatArray, limit: float, explained: Explained
) -> tuple[float, float]:
    """Squared distance from a centre in the widths there, or a part of it beyond the limit; and the work."""
    square, products = 0.0, 0.0
    for i in range(point.shape[0]):
        coordinate = 0.0
        for k in range(i + 1):
            coordinate += explained.whitener[component, i, k] * (point[k] - explained.centre[component, k])
        square += coordinate * coordinate
        products += i + 1.0
        if not square <= limit:
            break
    return square, products


@compiled
def prediction(point: FloatArray, explained: Explained) -> float:
    """The largest log density that any one mode predicts at a point."""
    dof, largest = explained.dof[0], -math.inf
    power = 0.5 * (dof + point.shape[0])
    for component in range(explained.centre.shape[0]):
        square, _ = square_within(component, point, math.inf, explained)
        largest = max(largest, explained.log_peak[component] - power * math.log1p(square / dof))
    return float(largest)
