"""Phase 2: each level's walk learns its mean, covariance and scale."""

import math

from temperance.core.compile import compiled
from temperance.core.linalg import rank_one_update
from temperance.core.numeric import clamp
from temperance.core.state import FloatArray, Info, Settings, State

MAX_GAIN = 0.99
SCALE_HIT, COVARIANCE_HIT = 1, 2


@compiled
def power_gain(step: int, scale: float, exponent: float, delay: float) -> float:
    """γ[step] = scale · (step + 1 + delay)^−exponent, kept below one."""
    return min(scale * math.pow(step + 1.0 + delay, -exponent), MAX_GAIN)


@compiled
def adapt_walks(state: State, info: Info, settings: Settings, gain: float) -> None:
    """Eqs (8)–(10) at every level, in place, with the state after the walk and the old mean."""
    cov_gain = power_gain(
        state.iteration[0] + 1,
        settings.cov_gain_scale,
        settings.cov_gain_exponent,
        settings.cov_gain_delay,
    )
    for level in range(state.n_levels[0]):
        centre(level, cov_gain, state, info.scratch)
        rank_one_update(level, cov_gain, state.cov_factor, state.cov_diag, info.scratch)
        bound_variances(level, settings, state)
        moved = state.log_scale[level] + gain * (info.walk_accept_prob[level] - settings.target_walk_accept)
        bounded = clamp(moved, settings.min_log_scale, settings.max_log_scale)
        state.bound_hits[SCALE_HIT] += bounded != moved
        state.log_scale[level] = bounded


@compiled
def centre(level: int, gain: float, state: State, deviation: FloatArray) -> None:
    """Write x − μ with the old mean, then move the mean, Eq. (8), in place."""
    for i in range(deviation.shape[0]):
        deviation[i] = state.position[level, i] - state.mean[level, i]
        state.mean[level, i] += gain * deviation[i]


@compiled
def bound_variances(level: int, settings: Settings, state: State) -> None:
    """Keep the factor's diagonal inside its compact set, in place."""
    for k in range(state.cov_diag.shape[1]):
        bounded = clamp(state.cov_diag[level, k], settings.min_variance, settings.max_variance)
        state.bound_hits[COVARIANCE_HIT] += bounded != state.cov_diag[level, k]
        state.cov_diag[level, k] = bounded


@compiled
def average_late(state: State, settings: Settings) -> None:
    """Sum scales and log gaps over late tuning; their averages are what is frozen. In place."""
    if state.iteration[0] < settings.average_after:
        return
    state.n_averaged[0] += 1
    for level in range(state.n_levels[0]):
        state.log_scale_sum[level] += state.log_scale[level]
        state.log_gap_sum[level] += state.log_gap[level]
