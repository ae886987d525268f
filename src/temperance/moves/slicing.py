"""Slice sampling along one line at a time: stepping out and shrinkage (Neal 2003), within a fixed budget.

The line goes along a direction drawn from the shape of the level, or along a coordinate in its turn. An
interval of width w that holds the state is put at random around it. Its ends step out while they lie
in the slice. Points are drawn from it, each of which cuts it down, until one lies in the slice.

All points that any state of the slice and the interval would ask for on the way to another are asked for on
the way back, in the same number. So a level that has used up its budget may stay where it is, and the law
is exact: a transition and its reverse are given up together.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from temperance.core.accept import settle_at
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.move import Move
from temperance.core.numeric import tempered_difference
from temperance.core.schedule import every_of, turn_of, turns_of_others
from temperance.core.schema import of, of_level
from temperance.core.shape import bound_variances, bounded_log_scale, covariance_gain, learn_covariances
from temperance.core.state import DIRECTION, FloatArray, IntArray

# Neal's limit on the steps of both ends together; the width learns to need one or two.
MAX_STEPS = 8
# Points in all. Shrinkage halves an interval or more, so that a dozen find a slice a thousandth as wide.
BUDGET = 20
# Uniforms: how high the slice is, where the interval lies, how steps are shared; then one a point.
HEIGHT, OFFSET, SHARE, FIRST_POINT = 0, 1, 2, 3
# A slice through a Gaussian along a unit direction is this wide, in the mean over its heights.
GAUSSIAN_WIDTH = 2.0 * math.sqrt(math.pi / 2.0)
ALONG_COORDINATE = 1  # the other form of the move
TINY = 1e-300  # a squared length that is never divided by
# What is being asked for.
LEFT_END, RIGHT_END, POINT = 0, 1, 2
# Columns of the numbers of a line.
LEFT, RIGHT, AT, WIDTH, LOG_HEIGHT = 0, 1, 2, 3, 4
# Columns of its counts.
PHASE, LEFT_STEPS, RIGHT_STEPS, N_GROWN, N_SHRUNK = 0, 1, 2, 3, 4


class Rows(NamedTuple):
    """What each level remembers: the log of the width along a direction, and along each coordinate."""

    direction_log_width: Annotated[FloatArray, of_level()]
    coordinate_log_width: Annotated[FloatArray, of_level("dim")]


class Room(NamedTuple):
    """The line of each level, while it is searched."""

    direction: Annotated[FloatArray, of("level", "dim")]
    line: Annotated[FloatArray, of("level", 5)]  # ends, point, width at first, log height
    tally: Annotated[IntArray, of("level", 5)]


@compiled
def begin(chain: Any, row: int, level: int) -> None:
    """The line, the height, the interval and its first end; in place."""
    info, uniforms = chain.info, chain.noise.move_uniforms[level, row]
    width = math.exp(aim(chain, row, level))
    line, count = info.line[level], info.tally[level]
    line[LOG_HEIGHT] = math.log1p(-uniforms[HEIGHT])
    line[WIDTH] = width
    line[LEFT] = -width * uniforms[OFFSET]
    line[RIGHT] = line[LEFT] + width
    count[LEFT_STEPS] = int(MAX_STEPS * uniforms[SHARE])
    count[RIGHT_STEPS] = MAX_STEPS - 1 - count[LEFT_STEPS]
    count[N_GROWN] = count[N_SHRUNK] = 0
    count[PHASE] = LEFT_END
    info.accept_prob[level] = 0.0
    next_question(level, level, uniforms, chain.state.position, info)


@compiled
def aim(chain: Any, row: int, level: int) -> float:
    """Write the direction of the line, of unit length by the shape or along a coordinate; its log width."""
    state, info, dim = chain.state, chain.info, chain.state.position.shape[1]
    if info.variant[level] == ALONG_COORDINATE:
        every = every_of(info.move[level], chain.schedule)
        chosen = (turn_of(level, state, chain.schedule) // every) % dim
        for i in range(dim):
            info.direction[level, i] = 1.0 if i == chosen else 0.0
        info.which[level] = chosen
        return float(state.coordinate_log_width[level, chosen])
    square = 0.0
    for i in range(dim):
        square += chain.noise.normals[level // LANES, row, i, level % LANES] ** 2
    for i in range(dim):
        info.direction[level, i] = info.proposal[level, i] / math.sqrt(max(square, TINY))
    return float(state.direction_log_width[level])


@compiled
def advance(chain: Any, row: int, level: int, k: int) -> bool:
    """What to ask for after the answer in row ``k``, in place; a point in the slice is the new state."""
    state, info = chain.state, chain.info
    line, count = info.line[level], info.tally[level]
    tempered = tempered_difference(state.beta[level], info.log_density[k], state.log_density[level])
    rise = tempered + info.log_prior[k] - state.log_prior[level]
    inside = rise >= line[LOG_HEIGHT]  # False for a NaN
    if count[PHASE] == POINT and inside:
        info.accept_prob[level] = 1.0
        settle_at(level, k, state, info, chain.control)
        return False
    if info.n_rounds[0] >= BUDGET:
        return False
    follow(inside, line, count)
    next_question(level, k, chain.noise.move_uniforms[level, row], state.position, info)
    return True


@compiled
def follow(inside: bool, line: FloatArray, count: IntArray) -> None:
    """What the answer says about the interval, in place."""
    if count[PHASE] == POINT:
        line[LEFT if line[AT] < 0.0 else RIGHT] = line[AT]
        count[N_SHRUNK] += 1
        return
    steps = LEFT_STEPS if count[PHASE] == LEFT_END else RIGHT_STEPS
    if not inside:
        count[steps] = 0
        return
    count[N_GROWN] += 1
    count[steps] -= 1
    if count[PHASE] == LEFT_END:
        line[LEFT] -= line[WIDTH]
    else:
        line[RIGHT] += line[WIDTH]


@compiled
def next_question(level: int, k: int, uniforms: FloatArray, position: FloatArray, info: Any) -> None:
    """Write the next point of the line into row ``k``: an end that may step out, or a point between."""
    line, count = info.line[level], info.tally[level]
    if count[LEFT_STEPS] > 0:
        count[PHASE], line[AT] = LEFT_END, line[LEFT]
    elif count[RIGHT_STEPS] > 0:
        count[PHASE], line[AT] = RIGHT_END, line[RIGHT]
    else:
        uniform = uniforms[FIRST_POINT + count[N_SHRUNK]]
        count[PHASE], line[AT] = POINT, line[LEFT] + uniform * (line[RIGHT] - line[LEFT])
    for i in range(position.shape[1]):
        info.proposal[k, i] = position[level, i] + line[AT] * info.direction[level, i]


@compiled
def learn(chain: Any, row: int, gain: float, own: int) -> None:  # noqa: ARG001  it has a gain of its own
    """Directions from the covariance of the level, and widths that grow as often as they shrink; in place.

    A width learns as fast as it has turns: there are many coordinates, and each is rarely the one.
    """
    state, info, settings, schedule = chain.state, chain.info, chain.settings, chain.schedule
    bound_variances(settings, state)
    learn_covariances(state, covariance_gain(state, settings))
    others = turns_of_others(state.iteration[0], schedule)
    for level in range(state.n_levels[0]):
        if info.move[level] != own:
            continue
        grown, shrunk = info.tally[level, N_GROWN], info.tally[level, N_SHRUNK]
        excess = (grown - shrunk) / (grown + shrunk) if grown + shrunk > 0 else 0.0
        if info.variant[level] == ALONG_COORDINATE:
            change = excess / math.sqrt(1.0 + others // state.position.shape[1])
            moved = state.coordinate_log_width[level, info.which[level]] + change
            bounded = bounded_log_scale(moved, state, settings)
            state.coordinate_log_width[level, info.which[level]] = bounded
        else:
            moved = state.direction_log_width[level] + excess / math.sqrt(1.0 + state.iteration[0] - others)
            state.direction_log_width[level] = bounded_log_scale(moved, state, settings)


def first(state: Any, variances: FloatArray) -> None:
    """Widths begin at what suits a Gaussian with the variances that the levels begin with, in place."""
    state.direction_log_width[:] = math.log(GAUSSIAN_WIDTH)
    state.coordinate_log_width[:] = math.log(GAUSSIAN_WIDTH) + 0.5 * np.log(variances)[:, None]


SLICE = Move(
    name="slice",
    begin=begin,
    advance=advance,
    learn=learn,
    shape=DIRECTION,
    max_evaluations=BUDGET,
    n_uniforms=FIRST_POINT + BUDGET,
    rows=Rows,
    room=Room,
    first=first,
)
