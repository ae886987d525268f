"""A walk that learns the shape inside a mode: robust adaptive Metropolis (Vihola 2012).

The covariance of a level with several modes is a poor shape inside one. This walk grows Σ along the
direction of a proposal that was accepted more readily than wanted, and shrinks it along one that was not.
Its scale stays at the one that is right for a Gaussian, so that Σ tends to the covariance within a mode.
"""

import math

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.move import Move
from temperance.core.numeric import power_gain
from temperance.core.schedule import turns_of_others
from temperance.core.shape import bound_variances, covariance_gain
from temperance.core.state import STEP, Chain, FloatArray, Info, State
from temperance.core.unimodal import JUDGED, follow_levels, scale_beside

# An update that changes nothing to speak of: no division by zero, and every lane stays finite.
SMALLEST_CHANGE = 1e-12


@compiled
def advance(chain: Chain, row: int, level: int, k: int) -> bool:
    """Accept or not; beforehand note the direction, which is what the shape learns along."""
    if chain.settings.adapting:
        note_direction(level, row, chain.noise.normals, chain.info, chain.state)
    return metropolis(chain, row, level, k)


@compiled
def note_direction(level: int, row: int, normals: FloatArray, info: Info, state: State) -> None:
    """Σ^½ z / |z| of the step that is proposed, in place."""
    bundle, lane = level // LANES, level % LANES
    square = 0.0
    for i in range(state.position.shape[1]):
        square += normals[bundle, row, i, lane] ** 2
    length = math.exp(state.log_scale[level]) * math.sqrt(max(square, SMALLEST_CHANGE))
    for i in range(state.position.shape[1]):
        step = info.proposal[level, i] - state.position[level, i]
        state.deviation[bundle, i, lane] = step / length


@compiled
def learn(chain: Chain, row: int, gain: float, own: int) -> None:  # noqa: ARG001  it has a gain of its own
    """Σ ← Σ^½ (I + γ (η − wanted) z zᵀ / |z|²) Σ^½ᵀ at every level that made such a step, in place.

    Means and spreads of the levels are followed beside it, to tell one mode from several.
    """
    state, info, settings = chain.state, chain.info, chain.settings
    bound_variances(settings, state)
    n_steps = state.iteration[0] - turns_of_others(state.iteration[0], chain.schedule)
    shape_gain = power_gain(
        n_steps + 1, settings.shape_gain_scale, settings.shape_gain_exponent, settings.shape_gain_delay
    )
    n_bundles = (state.n_levels[0] + LANES - 1) // LANES  # of levels that there are
    for level in range(n_bundles * LANES):
        bundle, lane, change = level // LANES, level % LANES, SMALLEST_CHANGE
        if level < state.n_levels[0]:
            if info.move[level] == own:
                change = shape_gain * (info.accept_prob[level] - settings.target_walk_accept)
            else:
                forget_direction(level, state)
        if abs(change) < SMALLEST_CHANGE:
            change = SMALLEST_CHANGE
        state.update_total[bundle, 0, lane] = 1.0 / change
        state.update_keep[bundle, 0, lane] = 1.0
    follow_levels(covariance_gain(state, settings), state, info.scratch)
    state.update_waits[0] = 1


@compiled
def forget_direction(level: int, state: State) -> None:
    """Other moves teach no shape, in place."""
    for i in range(state.position.shape[1]):
        state.deviation[level // LANES, i, level % LANES] = 0.0


@compiled
def score(state: State, level: int) -> float:
    """The scale over the root of the spread of the states beside Σ."""
    return scale_beside(state.log_scale[level], state.spread[level, JUDGED])


ROBUST = Move(name="robust", advance=advance, learn=learn, score=score, shape=STEP)
