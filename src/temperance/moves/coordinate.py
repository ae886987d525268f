"""Steps along one coordinate: now and then, in place of a step in all of them.

A shape that serves the whole level is no use where a few coordinates sit in a narrow ridge and others do not:
a coordinate on its own learns its scale in some dozens of steps. The coordinates take turns.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.move import Move
from temperance.core.schedule import every_of, turn_of
from temperance.core.schema import of_level
from temperance.core.shape import bounded_log_scale
from temperance.core.state import SINGLE, FloatArray


class Rows(NamedTuple):
    """What each level remembers."""

    coordinate_log_scale: Annotated[FloatArray, of_level("dim")]


@compiled
def begin(chain: Any, row: int, level: int) -> None:
    """The proposal moves one coordinate alone, in place."""
    state, info, schedule = chain.state, chain.info, chain.schedule
    turn = turn_of(level, state, schedule) // every_of(info.move[level], schedule)
    chosen = turn % state.position.shape[1]
    for i in range(state.position.shape[1]):
        info.proposal[level, i] = state.position[level, i]
    step = math.exp(state.coordinate_log_scale[level, chosen])
    info.proposal[level, chosen] += step * chain.noise.normals[level // LANES, row, 0, level % LANES]
    info.which[level] = chosen


@compiled
def learn(chain: Any, row: int, gain: float, own: int) -> None:  # noqa: ARG001  it has a gain of its own
    """The scale of the coordinate that moved learns to be accepted at the wanted rate, in place."""
    state, info, settings = chain.state, chain.info, chain.settings
    turns = 1.0 + state.iteration[0] // (every_of(own, chain.schedule) * state.position.shape[1])
    for level in range(state.n_levels[0]):
        if info.move[level] == own:
            change = (info.accept_prob[level] - settings.target_coordinate_accept) / math.sqrt(turns)
            moved = state.coordinate_log_scale[level, info.which[level]] + change
            bounded = bounded_log_scale(moved, state, settings)
            state.coordinate_log_scale[level, info.which[level]] = bounded


def first(state: Any, variances: FloatArray) -> None:
    """Scales begin at the standard deviations that the levels begin with, in place."""
    state.coordinate_log_scale[:] = 0.5 * np.log(variances)[:, None]


COORDINATE = Move(
    name="coordinate", begin=begin, advance=metropolis, learn=learn, kind=SINGLE, rows=Rows, first=first
)
