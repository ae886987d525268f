"""The shape Σ of each level: steps and directions from it, and what keeps it healthy.

Whoever learns Σ asks for one update Σ ← keep (Σ + w wᵀ / total) a level; it is made when the next step
passes over Σ.
"""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.linalg import Bundle, step_only, update_and_step
from temperance.core.numeric import clamp, power_gain
from temperance.core.state import NOTHING, STEP, Chain, Info, Schedule, Settings, State

SCALE_HIT, COVARIANCE_HIT = 1, 2


@compiled
def step_levels(chain: Chain, row: int) -> None:
    """X + e^θ Σ^½ z, or Σ^½ z, at every level whose move wants that; writes ``info.proposal``.

    ``state.deviation`` has what Σ has yet to learn: one pass over the factor serves both. Levels that want
    no step take in what waits for them all the same.
    """
    state, info = chain.state, chain.info
    waits = state.update_waits[0] != 0
    n_passed = state.n_levels[0] if waits else info.n_active[0]
    n_bundles = (n_passed + LANES - 1) // LANES
    for turn in range(n_bundles):
        # To and fro, so that each iteration begins with the factors that are still in the cache.
        bundle = turn if state.iteration[0] % 2 == 0 else n_bundles - 1 - turn
        wanted = gather(bundle, state, info, chain.schedule)
        if not (wanted or waits):
            continue
        work = Bundle(
            state.cov_factor[bundle],
            state.cov_diag[bundle],
            state.deviation[bundle],
            state.update_total[bundle],
            state.update_keep[bundle],
            info.scale,
            chain.noise.normals[bundle, row],
            info.moved,
        )
        if waits:
            update_and_step(work)
        else:
            step_only(work)
        scatter(bundle, info, chain.schedule)
    state.update_waits[0] = 0


@compiled
def wanted_of_shape(level: int, info: Info, schedule: Schedule) -> int:
    """What the move of a level wants of its shape."""
    return int(schedule.shape[info.move[level]]) if level < info.n_active[0] else NOTHING


@compiled
def gather(bundle: int, state: State, info: Info, schedule: Schedule) -> bool:
    """Scales and starts of one bundle into its lanes, in place; whether any of its levels wants a step."""
    any_wanted = False
    for lane in range(LANES):
        level = bundle * LANES + lane
        wanted = wanted_of_shape(level, info, schedule)
        any_wanted = any_wanted or wanted != NOTHING
        info.scale[0, lane] = 0.0 if wanted == NOTHING else 1.0
        if wanted == STEP:
            info.scale[0, lane] = math.exp(state.log_scale[level])
            for i in range(info.moved.shape[0]):
                info.moved[i, lane] = state.position[level, i]
        else:
            for i in range(info.moved.shape[0]):
                info.moved[i, lane] = 0.0
    return any_wanted


@compiled
def scatter(bundle: int, info: Info, schedule: Schedule) -> None:
    """The steps of one bundle out of its lanes, in place."""
    for lane in range(LANES):
        level = bundle * LANES + lane
        if wanted_of_shape(level, info, schedule) != NOTHING:
            for i in range(info.moved.shape[0]):
                info.proposal[level, i] = info.moved[i, lane]


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
def learn_covariances(state: State, gain: float) -> None:
    """Eqs (8) and (9) at every level, in place, with the state after the move and the old mean."""
    for bundle in range((state.n_levels[0] + LANES - 1) // LANES):
        for lane in range(LANES):
            state.update_total[bundle, 0, lane] = (1.0 - gain) / gain
            state.update_keep[bundle, 0, lane] = 1.0 - gain
    for level in range(state.n_levels[0]):
        centre(level, gain, state)
    state.update_waits[0] = 1


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
def bounded_log_scale(moved: float, state: State, settings: Settings) -> float:
    """A log scale inside its compact set; it is noted, in place, when the edge was hit."""
    bounded = clamp(moved, settings.min_log_scale, settings.max_log_scale)
    state.bound_hits[SCALE_HIT] += bounded != moved
    return bounded


@compiled
def average_late(state: State, settings: Settings) -> None:
    """Sum scales and log gaps over late tuning; their averages are what is frozen. In place."""
    if state.iteration[0] < settings.average_after:
        return
    for level in range(state.n_levels[0]):
        state.n_averaged[level] += 1
        state.log_scale_sum[level] += state.log_scale[level]
        state.log_gap_sum[level] += state.log_gap[level]
