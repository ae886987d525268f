"""Phase 3: pairs of levels, each drawn from p_ij(x), are exchanged or not."""

import math
from collections.abc import Callable

from temperance.core.compile import compiled
from temperance.core.levels import exchange_levels
from temperance.core.numeric import capped_log_prob, heat_bath_prob
from temperance.core.state import BAD_WEIGHT, STATUS, SWAP_UNIFORMS, Chain, Info, State, SwapView


@compiled
def swap_log_ratio(
    log_density_i: float, log_density_j: float, beta_i: float, beta_j: float, log_weight_ratio: float
) -> float:
    """Log of what Eq. (3) caps at one.

    ``log_weight_ratio`` is ``log p_ij(T_ij x) - log p_ij(x)``; it is zero for a symmetric
    strategy, and Eq. (3) is then Eq. (7).
    """
    return log_weight_ratio + (beta_j - beta_i) * (log_density_i - log_density_j)


@compiled
def swap_log_accept(
    log_density_i: float, log_density_j: float, beta_i: float, beta_j: float, log_weight_ratio: float
) -> float:
    """Log of the swap acceptance probability, Eq. (3)."""
    return capped_log_prob(swap_log_ratio(log_density_i, log_density_j, beta_i, beta_j, log_weight_ratio))


@compiled
def pair_accept_prob(i: int, j: int, log_weight_ratio: float, heat_bath: bool, state: State) -> float:
    """α_ij of Eq. (3); or, in a heat bath, the conditional probability of the exchanged state."""
    here, there = state.log_density[i], state.log_density[j]
    if heat_bath:
        log_ratio = swap_log_ratio(here, there, state.beta[i], state.beta[j], log_weight_ratio)
        return heat_bath_prob(log_ratio)
    return math.exp(swap_log_accept(here, there, state.beta[i], state.beta[j], log_weight_ratio))


@compiled
def note_attempt(i: int, accepted: bool, info: Info) -> None:
    """Count one attempt, in place."""
    info.swap_attempts[0] += 1
    if accepted:
        info.swap_accepted[0] += 1
        info.base_swaps[0] += i == 0


@compiled
def forget_swaps(info: Info) -> None:
    """No swap has happened yet in this iteration; in place."""
    info.swap_attempts[0] = info.swap_accepted[0] = info.base_swaps[0] = 0


@compiled
def swap(propose_pair: Callable[[SwapView, float, float], float], chain: Chain, row: int) -> None:
    """Which pair, is it accepted, what to note: as often as the strategy wants, in place.

    The random numbers are spent whatever happens. A strategy answers NaN when a weight is not a weight.
    """
    state, info, view, settings, _, _, noise, _, control = chain
    view.clock[0] = state.iteration[0] // settings.rest_every
    for attempt in range(settings.n_swaps if state.n_levels[0] > 1 else 0):
        first = SWAP_UNIFORMS * attempt
        view.clock[1] = attempt
        view.pair[0] = view.pair[1] = -1
        log_weight_ratio = propose_pair(
            view, noise.swap_uniforms[row, first], noise.swap_uniforms[row, first + 1]
        )
        if math.isnan(log_weight_ratio):
            control[STATUS] = BAD_WEIGHT
            return
        i, j = view.pair[0], view.pair[1]
        if i >= 0:
            accept_prob = pair_accept_prob(i, j, log_weight_ratio, settings.heat_bath, state)
            accepted = noise.swap_uniforms[row, first + 2] < accept_prob
            note_attempt(i, accepted, info)
            if accepted:
                exchange_levels(i, j, state)
