"""The one way in which the loop asks a target for log densities."""

import math
from typing import Any

from temperance.core.compile import compiled
from temperance.core.state import LEVEL, RUNNING, STATUS, STOP, STOPPED, Chain, Info
from temperance.core.walk import screen


@compiled
def clear_answers(n_points: int, info: Info) -> None:
    """Write every row of the answers before a user's code runs, in place: nothing is left of earlier ones.

    A row that a target forgets is then NaN, which never passes; the prior of a target without one is zero.
    """
    for level in range(n_points):
        info.log_density[level] = math.nan
        info.log_prior[level] = 0.0


@compiled
def ask(evaluate: Any, context: int, chain: Chain) -> bool:
    """Have the proposals evaluated and screened, in place; whether the run may go on."""
    info, control, n_points = chain.info, chain.control, chain.info.n_active[0]
    clear_answers(n_points, info)
    control[LEVEL] = 0
    evaluate(context, info.proposal, n_points, info.log_density, info.log_prior, info.scratch, control)
    if control[STOP] != 0:
        control[STATUS] = STOPPED if control[STATUS] == RUNNING else control[STATUS]
    elif control[STATUS] == RUNNING:
        screen(chain.state, info, chain.settings, control)
    return bool(control[STATUS] == RUNNING)
