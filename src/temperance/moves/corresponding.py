"""Corresponding points: from where the base level is in one mode to the same place of another mode.

The mode i that the state x belongs to is drawn by responsibility, another mode j by weight, and the point is
y = c_j + L_j L_i⁻¹ (x − c_i). The way back asks for the modes j and i, so that it is accepted with

    ℓ(y) |L_j| r_j(y) w_i/(1 − w_j) / (ℓ(x) |L_i| r_i(x) w_j/(1 − w_i)).

It is exact whatever the modes are like, as long as they do not change.
"""

import math
from typing import Annotated, Any, NamedTuple

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.move import Move
from temperance.core.schema import of
from temperance.core.state import AT_BASE, JUMP_DOF, LEAP, FloatArray, Maps

ORIGIN, GOAL = 1, 2  # places of the uniforms; the first says whether to leap


class Room(NamedTuple):
    """A point in the widths of its mode, and the log of the sum of the claims of all modes on it."""

    whitened: Annotated[FloatArray, of("dim")]
    log_claims: Annotated[FloatArray, of(1)]


@compiled
def whiten(kind: int, mode: int, point: FloatArray, maps: Maps, whitened: FloatArray) -> float:
    """Where a point lies in a mode, in its widths, in place; the squared distance from the centre."""
    square = 0.0
    for i in range(point.shape[0]):
        coordinate = 0.0
        for k in range(i + 1):
            coordinate += maps.whitener[kind, mode, i, k] * (point[k] - maps.centre[mode, k])
        whitened[i] = coordinate
        square += coordinate * coordinate
    return square


@compiled
def log_claim(kind: int, mode: int, square: float, maps: Maps) -> float:
    """Log of weight times density, of Student's t, of a mode at this squared distance.

    A constant that is the same for all modes is left out.
    """
    fall = 0.5 * (JUMP_DOF + maps.centre.shape[1]) * math.log1p(square / JUMP_DOF)
    return float(maps.log_weight[mode] - maps.log_volume[kind, mode] - fall)


@compiled
def log_sum(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    largest = max(one, other)
    if largest == -math.inf:
        return largest
    return largest + math.log1p(math.exp(min(one, other) - largest))


@compiled
def choose_origin(uniform: float, kind: int, point: FloatArray, maps: Maps, info: Any) -> int:
    """The mode that a point belongs to, by responsibility; the sum of all claims is noted, in place.

    Mode by mode: each takes the place of those before with its share of the sum so far, and what is left of
    the uniform is uniform again.
    """
    chosen, total = 0, -math.inf
    for mode in range(maps.centre.shape[0]):
        claim = log_claim(kind, mode, whiten(kind, mode, point, maps, info.whitened), maps)
        total = log_sum(total, claim)
        share = math.exp(claim - total) if claim > -math.inf else 0.0
        if uniform < share:
            chosen, uniform = mode, uniform / share
        elif share < 1.0:
            uniform = (uniform - share) / (1.0 - share)
    info.log_claims[0] = total
    return chosen


@compiled
def log_claims_with(
    kind: int, mode: int, claim: float, point: FloatArray, maps: Maps, whitened: FloatArray
) -> float:
    """Log of the sum of the claims of all modes on a point, where that of one mode is known."""
    total = claim
    for other in range(maps.centre.shape[0]):
        if other != mode:
            total = log_sum(total, log_claim(kind, other, whiten(kind, other, point, maps, whitened), maps))
    return total


@compiled
def log_others(mode: int, maps: Maps) -> float:
    """Log of the weight of all modes but one."""
    total = -math.inf
    for other in range(maps.log_weight.shape[0]):
        if other != mode:
            total = log_sum(total, maps.log_weight[other])
    return total


@compiled
def choose_goal(uniform: float, origin: int, maps: Maps) -> int:
    """Another mode, by weight."""
    left, chosen = uniform * math.exp(log_others(origin, maps)), -1
    for mode in range(maps.log_weight.shape[0]):
        if mode == origin or left < 0.0:
            continue
        chosen = mode
        left -= math.exp(maps.log_weight[mode])
    return chosen


@compiled
def place_in(kind: int, mode: int, whitened: FloatArray, maps: Maps, point: FloatArray) -> None:
    """The point that lies there in a mode; writes ``point``."""
    for i in range(point.shape[0]):
        step = 0.0
        for k in range(i + 1):
            step += maps.root[kind, mode, i, k] * whitened[k]
        point[i] = maps.centre[mode, i] + step


@compiled
def log_choice(origin: int, goal: int, maps: Maps) -> float:
    """Log of the chance of a goal, once the origin is chosen."""
    return float(maps.log_weight[goal] - log_others(origin, maps))


@compiled
def begin(chain: Any, row: int, level: int) -> None:
    """The same place of another mode; in place. A point that is too far out for any mode stays."""
    info, maps, kind = chain.info, chain.maps, chain.info.variant[level]
    point, proposal, uniforms = chain.state.position[level], info.proposal[level], chain.noise.jump_uniforms
    origin = choose_origin(uniforms[row, AT_BASE, ORIGIN], kind, point, maps, info)
    goal = choose_goal(uniforms[row, AT_BASE, GOAL], origin, maps)
    info.which[level] = goal
    square = whiten(kind, origin, point, maps, info.whitened)
    if not square < math.inf:
        for i in range(point.shape[0]):
            proposal[i] = point[i]
        info.log_proposal_ratio[level] = -math.inf
        return
    place_in(kind, goal, info.whitened, maps, proposal)
    here, there = log_claim(kind, origin, square, maps), log_claim(kind, goal, square, maps)
    way = here - info.log_claims[0] + log_choice(origin, goal, maps)
    back = there - log_claims_with(kind, goal, there, proposal, maps, info.whitened)
    back += log_choice(goal, origin, maps)
    volume = maps.log_volume[kind, goal] - maps.log_volume[kind, origin]
    ratio = back - way + volume
    info.log_proposal_ratio[level] = -math.inf if math.isnan(ratio) else ratio


CORRESPONDING = Move(name="corresponding", begin=begin, advance=metropolis, kind=LEAP, room=Room)
