"""What one iteration leaves in the trace."""

from temperance.core.compile import compiled
from temperance.core.robust import stepped
from temperance.core.state import Info, State, Trace


@compiled
def record(state: State, info: Info, row: int, trace: Trace) -> None:
    """Write one row of the trace, in place."""
    for i in range(state.position.shape[1]):
        trace.draws[row, i] = state.position[0, i]
    trace.log_prior[row] = state.log_prior[0]
    trace.base_accept_prob[row] = info.walk_accept_prob[0]
    trace.jump[row] = info.jump[0]
    trace.evaluations[row] = info.n_active[0]
    trace.swap_attempts[row] = info.swap_attempts[0]
    trace.swap_accepted[row] = info.swap_accepted[0]
    trace.base_swaps[row] = info.base_swaps[0]
    trace.n_levels[row] = state.n_levels[0]
    record_levels(state, info, row, trace)


@compiled
def record_levels(state: State, info: Info, row: int, trace: Trace) -> None:
    """The columns of the trace that have one entry for each level, in place."""
    n_levels, n_active = state.n_levels[0], info.n_active[0]
    for level in range(n_levels):
        trace.log_density[row, level] = state.log_density[level]
        trace.replica[row, level] = state.replica[level]
    for level in range(n_active):
        if stepped(level, info):
            trace.walk_accept_prob[row, level] = info.walk_accept_prob[level]
    for level in range(n_active - 1):
        trace.adjacent_swap_accept[row, level] = info.adjacent_swap_accept[level]
    if trace.beta.shape[0] > 0:
        for level in range(n_levels):
            trace.beta[row, level] = state.beta[level]
            trace.log_scale[row, level] = state.log_scale[level]
    if trace.level_draws.shape[0] > 0:
        for level in range(n_levels):
            for i in range(state.position.shape[1]):
                trace.level_draws[row, level, i] = state.position[level, i]
