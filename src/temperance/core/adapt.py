"""Phase 2: each level's walk learns, from where it is and from how its proposals were accepted."""

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.numeric import clamp, power_gain
from temperance.core.robust import learn_shapes, stepped
from temperance.core.state import Info, Settings, State

SCALE_HIT, COVARIANCE_HIT = 1, 2


@compiled
def covariance_gain(state: State, settings: Settings) -> float:
    """γ of this iteration for means and covariances."""
    return power_gain(
        state.iteration[0] + 1,
        settings.cov_gain_scale,
        settings.cov_gain_exponent,
        settings.cov_gain_delay,
    )


@compiled
def adapt_walks(state: State, info: Info, settings: Settings, gain: float) -> None:
    """What the walks learn from the state that they left, at every level, in place.

    Every kind of walk asks for one update Σ ← keep (Σ + w wᵀ / total) a level; it is made when the next
    proposal passes over Σ.
    """
    bound_variances(settings, state)
    cov_gain = covariance_gain(state, settings)
    if settings.robust:
        learn_shapes(state, info, settings, cov_gain)
    else:
        learn_covariances(state, info, settings, gain, cov_gain)
    state.update_waits[0] = 1


@compiled
def learn_covariances(state: State, info: Info, settings: Settings, gain: float, cov_gain: float) -> None:
    """Eqs (8)–(10), in place, with the state after the walk and the old mean.

    Only a step in all coordinates teaches a scale.
    """
    for bundle in range((state.n_levels[0] + LANES - 1) // LANES):
        for lane in range(LANES):
            state.update_total[bundle, 0, lane] = (1.0 - cov_gain) / cov_gain
            state.update_keep[bundle, 0, lane] = 1.0 - cov_gain
    for level in range(state.n_levels[0]):
        centre(level, cov_gain, state)
        if not stepped(level, info):
            continue
        moved = state.log_scale[level] + gain * (info.walk_accept_prob[level] - settings.target_walk_accept)
        bounded = clamp(moved, settings.min_log_scale, settings.max_log_scale)
        state.bound_hits[SCALE_HIT] += bounded != moved
        state.log_scale[level] = bounded


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
    for level in range(state.n_levels[0]):
        state.n_averaged[level] += 1
        state.log_scale_sum[level] += state.log_scale[level]
        state.log_gap_sum[level] += state.log_gap[level]
