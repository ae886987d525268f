"""The one way in which the loop asks a target for log densities."""

import math
from typing import Any

from temperance.core.compile import compiled
from temperance.core.state import (
    INFINITE,
    LEVEL,
    NOT_A_NUMBER,
    RUNNING,
    STATUS,
    STOP,
    STOPPED,
    Info,
    IntArray,
    Settings,
    State,
)


@compiled
def clear_answers(n_points: int, info: Info) -> None:
    """Write every row of the answers before a user's code runs, in place: nothing is left of earlier ones.

    A row that a target forgets is then NaN, which never passes; the prior of a target without one is zero.
    """
    for k in range(n_points):
        info.log_density[k] = math.nan
        info.log_prior[k] = 0.0
    for k in range(min(n_points, info.gradient.shape[0])):
        for i in range(info.gradient.shape[2]):
            info.gradient[k, 0, i] = math.nan
            info.gradient[k, 1, i] = 0.0


@compiled
def screen(state: State, info: Info, settings: Settings, control: IntArray) -> None:
    """Stop at a NaN or +inf log density, or refuse the point, in place."""
    for k in range(info.n_asked[0]):
        value = info.log_density[k] + info.log_prior[k]
        if not (math.isnan(value) or value == math.inf):
            continue
        if settings.refuse_bad:
            info.log_density[k] = -math.inf
            info.log_prior[k] = -math.inf
            state.n_refused[0] += 1
        elif control[STATUS] == RUNNING:
            control[STATUS] = NOT_A_NUMBER if math.isnan(value) else INFINITE
            control[LEVEL] = k


@compiled
def answered(evaluate: Any, context: int, info: Info, control: IntArray) -> bool:
    """Have the points that are asked for evaluated, in place; whether nothing stopped it."""
    n_points = info.n_asked[0]
    clear_answers(n_points, info)
    control[LEVEL] = 0
    evaluate(
        context,
        info.proposal,
        n_points,
        info.log_density,
        info.log_prior,
        info.gradient,
        info.scratch,
        control,
    )
    if control[STOP] != 0:
        control[STATUS] = STOPPED if control[STATUS] == RUNNING else control[STATUS]
        return False
    return bool(control[STATUS] == RUNNING)


@compiled
def ask(evaluate: Any, context: int, state: State, info: Info, settings: Settings, control: IntArray) -> bool:
    """Have the points that are asked for evaluated and screened, in place; whether the run may go on."""
    if answered(evaluate, context, info, control):
        info.n_evaluations[0] += info.n_asked[0]
        screen(state, info, settings, control)
    return bool(control[STATUS] == RUNNING)
