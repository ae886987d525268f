"""Which move each level makes in an iteration.

The choice follows from the iteration and from uniforms that nothing else uses, never from the state. Each
move leaves the law of its level as it is; so does a move that is chosen without a look at the state.
"""

from temperance.core.compile import compiled
from temperance.core.state import AT_BASE, EVERYWHERE, RESTING, Chain, FloatArray, Schedule, State


@compiled
def choose_moves(chain: Chain, row: int) -> None:
    """What every level does in this iteration, in place: all move, or all but the base rest."""
    state, info, schedule = chain.state, chain.info, chain.schedule
    n_levels, rest_every = state.n_levels[0], schedule.rest_every[0]
    rests = rest_every > 1 and state.iteration[0] % rest_every != 0
    info.n_active[0] = 1 if rests else n_levels
    info.n_evaluations[0] = info.n_rounds[0] = 0
    turn = state.iteration[0]
    for level in range(info.n_active[0]):
        entry = entry_of(level, turn, state, schedule, chain.noise.jump_uniforms, row)
        info.move[level] = schedule.move[entry]
        info.variant[level] = schedule.variant[entry]
        info.which[level] = -1
        info.log_proposal_ratio[level] = 0.0
        if level == 0:
            turn = turn // rest_every  # of all hot levels
    for level in range(info.n_active[0], n_levels):
        info.move[level] = RESTING


@compiled
def entry_of(level: int, turn: int, state: State, schedule: Schedule, uniforms: FloatArray, row: int) -> int:
    """The first entry whose turn it is and whose chance is taken, or else the last.

    The hottest level is never the base.
    """
    last = schedule.move.shape[0] - 1
    hottest = level == state.n_levels[0] - 1 and level > 0
    for entry in range(last):
        every, place = schedule.every[entry], schedule.place[entry]
        if turn % every != every - 1:
            continue
        if place == EVERYWHERE:
            return int(entry)
        is_there = level == 0 if place == AT_BASE else hottest
        if is_there and uniforms[row, place, 0] < schedule.chance[entry]:
            return int(entry)
    return int(last)


@compiled
def turn_of(level: int, state: State, schedule: Schedule) -> int:
    """How many times this level could have moved; hot levels rest in between."""
    return int(state.iteration[0] if level == 0 else state.iteration[0] // schedule.rest_every[0])


@compiled
def turns_of_others(iteration: int, schedule: Schedule) -> int:
    """How many turns so far were not for the last entry, beside those that were left to chance."""
    turns = 0
    for entry in range(schedule.move.shape[0] - 1):
        if schedule.place[entry] == EVERYWHERE:
            turns += iteration // schedule.every[entry]
    return turns


@compiled
def every_of(move: int, schedule: Schedule) -> int:
    """One turn in how many belongs to a move."""
    for entry in range(schedule.move.shape[0]):
        if schedule.move[entry] == move:
            return int(schedule.every[entry])
    return 1
