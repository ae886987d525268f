"""Phase 4: the gaps between temperatures learn to exchange at the wanted rate."""

import math

from temperance.core.compile import compiled
from temperance.core.numeric import clamp, power_gain
from temperance.core.state import Info, Settings, State
from temperance.core.swap import swap_log_accept

TEMPERATURE_HIT = 0


@compiled
def measure_edges(state: State, info: Info) -> None:
    """ξ: would adjacent levels exchange? At the new positions and the old β, whatever the strategy."""
    for level in range(state.n_levels[0] - 1):
        info.adjacent_swap_accept[level] = math.exp(
            swap_log_accept(
                state.log_density[level],
                state.log_density[level + 1],
                state.beta[level],
                state.beta[level + 1],
                0.0,
            )
        )


@compiled
def adapt_gaps(state: State, info: Info, settings: Settings) -> None:
    """Robbins–Monro on log(T_{l+1} − T_l), in place. A level at β = 0 stays where it is.

    With equal edges the rate of all of them, the one to β = 0 included, takes the place of the wanted rate.
    """
    wanted = mean_edge(state, info) if settings.equal_edges else settings.target_swap_accept
    n_free = state.n_levels[0] - (1 if settings.pinned else 0)
    gain = power_gain(
        state.iteration[0] + 1, settings.gap_gain_scale, settings.gap_gain_exponent, settings.gap_gain_delay
    )
    for level in range(n_free - 1):
        moved = state.log_gap[level] + gain * (info.adjacent_swap_accept[level] - wanted)
        bounded = clamp(moved, settings.min_log_gap, settings.max_log_gap)
        # Beside a level at β = 0 a gap may grow for ever and do no harm: both ends are then the prior.
        state.bound_hits[TEMPERATURE_HIT] += bounded > moved or (bounded < moved and not settings.pinned)
        state.log_gap[level] = bounded
    set_betas(state, n_free)


@compiled
def mean_edge(state: State, info: Info) -> float:
    """The mean of ξ over all edges."""
    n_edges, total = state.n_levels[0] - 1, 0.0
    for level in range(n_edges):
        total += info.adjacent_swap_accept[level]
    return float(total / max(n_edges, 1))


@compiled
def set_betas(state: State, n_free: int) -> None:
    """β = 1/T from the log gaps, in place."""
    temperature = 1.0
    for level in range(n_free - 1):
        temperature += math.exp(state.log_gap[level])
        state.beta[level + 1] = 1.0 / temperature
