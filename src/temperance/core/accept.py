"""How a level comes to be where it was proposed to be."""

import math

from temperance.core.compile import compiled
from temperance.core.numeric import capped_log_prob, tempered_difference
from temperance.core.state import CHANGED, Chain, Info, IntArray, State


@compiled
def log_accept(level: int, k: int, state: State, info: Info) -> float:
    """Log η of the point in row ``k``: the tempered part is raised to β, the prior is not."""
    tempered = tempered_difference(state.beta[level], info.log_density[k], state.log_density[level])
    prior = info.log_prior[k] - state.log_prior[level]
    return capped_log_prob(tempered + prior + info.log_proposal_ratio[level])


@compiled
def settle_at(level: int, k: int, state: State, info: Info, control: IntArray) -> None:
    """The level is now at the point in row ``k``, in place."""
    control[CHANGED] = 1
    state.log_density[level] = info.log_density[k]
    state.log_prior[level] = info.log_prior[k]
    for i in range(state.position.shape[1]):
        state.position[level, i] = info.proposal[k, i]


@compiled
def metropolis(chain: Chain, row: int, level: int, k: int) -> bool:
    """Move to the point in row ``k`` with probability η, in place; nothing more is asked for."""
    state, info = chain.state, chain.info
    accept_prob = math.exp(log_accept(level, k, state, info))
    info.accept_prob[level] = accept_prob
    if chain.noise.uniforms[level, row] < accept_prob:
        settle_at(level, k, state, info, chain.control)
    return False
