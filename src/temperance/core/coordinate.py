"""Steps along one coordinate: now and then, in place of a step in all of them.

A shape that serves the whole level is no use where a few coordinates sit in a narrow ridge and others do not:
a coordinate on its own learns its scale in some dozens of steps. The coordinates take turns.
"""

import math

from temperance.core.adapt import SCALE_HIT
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.numeric import clamp
from temperance.core.state import Info, Noise, Settings, State


@compiled
def turn_of(level: int, state: State, settings: Settings) -> int:
    """How many times this level could have moved; hot levels rest in between."""
    return int(state.iteration[0] if level == 0 else state.iteration[0] // settings.rest_every)


@compiled
def propose_coordinates(noise: Noise, row: int, state: State, settings: Settings, info: Info) -> None:
    """Where it is the turn of a single coordinate, the proposal moves that one alone; in place."""
    dim, every = state.position.shape[1], settings.coordinate_every
    for level in range(info.n_active[0]):
        info.coordinate[level] = -1
        turn = turn_of(level, state, settings)
        if every == 0 or turn % every != every - 1:
            continue
        chosen = (turn // every) % dim
        for i in range(dim):
            info.proposal[level, i] = state.position[level, i]
        step = math.exp(state.coordinate_log_scale[level, chosen])
        info.proposal[level, chosen] += step * noise.normals[level // LANES, row, 0, level % LANES]
        info.coordinate[level] = chosen


@compiled
def adapt_coordinates(state: State, info: Info, settings: Settings) -> None:
    """The scale of the coordinate that moved learns to be accepted at the wanted rate, in place."""
    for level in range(state.n_levels[0]):
        chosen = info.coordinate[level]
        if chosen < 0 or info.jump[level] >= 0:
            continue
        turns = 1.0 + state.iteration[0] // (settings.coordinate_every * state.position.shape[1])
        change = (info.walk_accept_prob[level] - settings.target_coordinate_accept) / math.sqrt(turns)
        moved = state.coordinate_log_scale[level, chosen] + change
        bounded = clamp(moved, settings.min_log_scale, settings.max_log_scale)
        state.bound_hits[SCALE_HIT] += bounded != moved
        state.coordinate_log_scale[level, chosen] = bounded
