"""Phase 3: one pair of levels, drawn from p_ij(x), is exchanged or not."""

import math
from collections.abc import Callable

from temperance.core.compile import compiled
from temperance.core.numeric import capped_log_prob
from temperance.core.state import Info, Noise, State, SwapView


@compiled
def swap_log_accept(
    log_density_i: float, log_density_j: float, beta_i: float, beta_j: float, log_weight_ratio: float
) -> float:
    """Log of the swap acceptance probability, Eq. (3).

    ``log_weight_ratio`` is ``log p_ij(T_ij x) - log p_ij(x)``; it is zero for a symmetric
    strategy, and Eq. (3) is then Eq. (7).
    """
    return capped_log_prob(log_weight_ratio + (beta_j - beta_i) * (log_density_i - log_density_j))


@compiled
def exchange_levels(i: int, j: int, state: State) -> None:
    """T_ij: what sits at the two levels changes places, in place."""
    for k in range(state.position.shape[1]):
        state.position[i, k], state.position[j, k] = state.position[j, k], state.position[i, k]
    state.log_density[i], state.log_density[j] = state.log_density[j], state.log_density[i]
    state.log_prior[i], state.log_prior[j] = state.log_prior[j], state.log_prior[i]
    state.replica[i], state.replica[j] = state.replica[j], state.replica[i]


@compiled
def swap(
    propose_pair: Callable[[SwapView, float, float], float],
    view: SwapView,
    noise: Noise,
    row: int,
    state: State,
    info: Info,
) -> None:
    """Which pair, and is it accepted: in place. The numbers are drawn whatever happens."""
    info.swap_accept_prob[0] = 0.0
    info.swap_accepted[0] = 0
    view.pair[0] = view.pair[1] = -1
    if state.n_levels[0] < 2:
        return
    log_weight_ratio = propose_pair(view, noise.swap_uniforms[row, 0], noise.swap_uniforms[row, 1])
    i, j = view.pair[0], view.pair[1]
    if i < 0:
        return
    log_accept = swap_log_accept(
        state.log_density[i], state.log_density[j], state.beta[i], state.beta[j], log_weight_ratio
    )
    info.swap_accept_prob[0] = math.exp(log_accept)
    if noise.swap_uniforms[row, 2] < info.swap_accept_prob[0]:
        info.swap_accepted[0] = 1
        exchange_levels(i, j, state)
