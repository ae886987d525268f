"""A walk that learns the shape inside a mode: robust adaptive Metropolis (Vihola 2012).

The covariance of a level with several modes is a poor shape inside one. This walk grows Σ along the
direction of a proposal that was accepted more readily than wanted, and shrinks it along one that was not.
Its scale stays at the one that is right for a Gaussian, so that Σ tends to the covariance within a mode.
"""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.numeric import power_gain
from temperance.core.state import Info, Noise, Settings, State
from temperance.core.unimodal import follow_levels

# An update that changes nothing to speak of: no division by zero, and every lane stays finite.
SMALLEST_CHANGE = 1e-12


@compiled
def stepped(level: int, info: Info) -> bool:
    """Whether a level proposed a step in all coordinates."""
    return bool(info.jump[level] < 0 and info.coordinate[level] < 0)


@compiled
def note_directions(noise: Noise, row: int, state: State, info: Info) -> None:
    """Direction Σ^½ z / |z| of every step in all coordinates, zero otherwise; in place, before accepting."""
    for level in range(state.n_levels[0]):
        bundle, lane = level // LANES, level % LANES
        if not stepped(level, info):
            for i in range(state.position.shape[1]):
                state.deviation[bundle, i, lane] = 0.0
            continue
        square = 0.0
        for i in range(state.position.shape[1]):
            square += noise.normals[bundle, row, i, lane] ** 2
        length = math.exp(state.log_scale[level]) * math.sqrt(max(square, SMALLEST_CHANGE))
        for i in range(state.position.shape[1]):
            step = info.proposal[level, i] - state.position[level, i]
            state.deviation[bundle, i, lane] = step / length


@compiled
def learn_shapes(state: State, info: Info, settings: Settings, cov_gain: float) -> None:
    """Σ ← Σ^½ (I + γ (η − wanted) z zᵀ / |z|²) Σ^½ᵀ at every level that stepped in all coordinates, in place.

    Means and spreads of the levels are followed beside it, to tell one mode from several.
    """
    n_steps = state.iteration[0]
    if settings.coordinate_every > 0:
        n_steps -= n_steps // settings.coordinate_every  # the others say nothing about the shape
    gain = power_gain(
        n_steps + 1,
        settings.shape_gain_scale,
        settings.shape_gain_exponent,
        settings.shape_gain_delay,
    )
    for level in range(state.update_total.shape[0] * LANES):
        change = SMALLEST_CHANGE
        if level < state.n_levels[0] and stepped(level, info):
            change = gain * (info.walk_accept_prob[level] - settings.target_walk_accept)
        if abs(change) < SMALLEST_CHANGE:
            change = SMALLEST_CHANGE
        state.update_total[level // LANES, 0, level % LANES] = 1.0 / change
        state.update_keep[level // LANES, 0, level % LANES] = 1.0
    follow_levels(cov_gain, state, info.scratch)
