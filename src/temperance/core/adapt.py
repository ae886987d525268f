"""Phase 2: each level's walk learns its mean, covariance and scale."""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.numeric import clamp
from temperance.core.state import Info, Settings, State

MAX_GAIN = 0.99
SCALE_HIT, COVARIANCE_HIT = 1, 2


@compiled
def power_gain(step: int, scale: float, exponent: float, delay: float) -> float:
    """γ[step] = scale · (step + 1 + delay)^−exponent, kept below one."""
    return min(scale * math.pow(step + 1.0 + delay, -exponent), MAX_GAIN)


@compiled
def adapt_walks(state: State, info: Info, settings: Settings, gain: float) -> None:
    """Eqs (8)–(10) at every level, in place, with the state after the walk and the old mean.

    Of Eq. (9) only x − μ is noted: the covariance takes it in when the next proposal passes over it.
    """
    cov_gain = power_gain(
        state.iteration[0] + 1,
        settings.cov_gain_scale,
        settings.cov_gain_exponent,
        settings.cov_gain_delay,
    )
    bound_variances(settings, state)
    for level in range(state.n_levels[0]):
        centre(level, cov_gain, state)
        moved = state.log_scale[level] + gain * (info.walk_accept_prob[level] - settings.target_walk_accept)
        bounded = clamp(moved, settings.min_log_scale, settings.max_log_scale)
        state.bound_hits[SCALE_HIT] += bounded != moved
        state.log_scale[level] = bounded
    state.pending_gain[0] = cov_gain


@compiled
def centre(level: int, gain: float, state: State) -> None:
    """Note x − μ with the old mean, for Eq. (9), then move the mean, Eq. (8); in place."""
    bundle, lane = level // LANES, level % LANES
    for i in range(state.position.shape[1]):
        deviation = state.position[level, i] - state.mean[level, i]
        state.deviation[bundle, i, lane] = deviation
        state.mean[level, i] += gain * deviation


@compiled
def bound_variances(settings: Settings, state: State) -> None:
    """Keep the diagonals inside their compact set, in place; lanes without a live level too, uncounted."""
    n_levels = state.n_levels[0]
    for bundle in range((n_levels + LANES - 1) // LANES):
        for k in range(state.cov_diag.shape[1]):
            for lane in range(LANES):
                variance = state.cov_diag[bundle, k, lane]
                if variance < settings.min_variance or variance > settings.max_variance:
                    bounded = clamp(variance, settings.min_variance, settings.max_variance)
                    state.cov_diag[bundle, k, lane] = bounded
                    state.bound_hits[COVARIANCE_HIT] += bundle * LANES + lane < n_levels


@compiled
def average_late(state: State, settings: Settings) -> None:
    """Sum scales and log gaps over late tuning; their averages are what is frozen. In place."""
    if state.iteration[0] < settings.average_after:
        return
    state.n_averaged[0] += 1
    for level in range(state.n_levels[0]):
        state.log_scale_sum[level] += state.log_scale[level]
        state.log_gap_sum[level] += state.log_gap[level]
