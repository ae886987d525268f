"""What one iteration leaves in the trace."""

from temperance.core.compile import compiled
from temperance.core.state import JUMP, LEAP, LEAPT, WALK, WALKED, Chain, Info, Schedule, State, Trace


@compiled
def record(chain: Chain, row: int) -> None:
    """Write one row of the trace, in place."""
    state, info, trace = chain.state, chain.info, chain.trace
    for i in range(state.position.shape[1]):
        trace.draws[row, i] = state.position[0, i]
    trace.log_prior[row] = state.log_prior[0]
    trace.base_accept_prob[row] = info.accept_prob[0]
    trace.jump[row] = what_base_did(chain)
    trace.evaluations[row] = info.n_evaluations[0]
    trace.n_moved[row] = info.n_active[0]
    trace.swap_attempts[row] = info.swap_attempts[0]
    trace.swap_accepted[row] = info.swap_accepted[0]
    trace.base_swaps[row] = info.base_swaps[0]
    trace.n_levels[row] = state.n_levels[0]
    record_proposal(info, row, trace)
    record_levels(state, info, chain.schedule, row, trace)


@compiled
def what_base_did(chain: Chain) -> int:
    """The component of a jump, or a number below zero that says what was made instead."""
    kind = chain.schedule.kind[chain.info.move[0]]
    if kind == JUMP:
        return int(chain.info.which[0])
    return LEAPT - int(chain.info.variant[0]) if kind == LEAP else WALKED


@compiled
def record_proposal(info: Info, row: int, trace: Trace) -> None:
    """What the base level proposed, whether it was accepted or not, in place."""
    if trace.proposal.shape[0] == 0:
        return
    for i in range(trace.proposal.shape[1]):
        trace.proposal[row, i] = info.base_proposal[i]
    trace.proposal_log_density[row] = info.base_log_parts[0] + info.base_log_parts[1]


@compiled
def record_levels(state: State, info: Info, schedule: Schedule, row: int, trace: Trace) -> None:
    """The columns of the trace that have one entry for each level, in place."""
    n_levels, n_active = state.n_levels[0], info.n_active[0]
    for level in range(n_levels):
        trace.log_density[row, level] = state.log_density[level]
        trace.replica[row, level] = state.replica[level]
    for level in range(n_active):
        if schedule.kind[info.move[level]] == WALK:
            trace.walk_accept_prob[row, level] = info.accept_prob[level]
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
