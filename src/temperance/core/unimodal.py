"""Does a level have one mode or several? One score, the same in whatever coordinates the target is written.

The paper tells by the scale e^θ of a walk that has the covariance C of its level. In many dimensions such a
walk is accepted at the wanted rate when e^θ √(tr(Σ⁻¹C)/d) is the scale that suits a Gaussian, Σ being the
covariance within a mode. A robust walk learns Σ itself and keeps that scale. So the score of its level is the
scale over √(tr(Σ⁻¹C)/d), where tr(Σ⁻¹C)/d is measured as the mean over the states x of (x − μ)ᵀΣ⁻¹(x − μ)/d
while the walk goes on.
"""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.state import FloatArray, State

# A mean begins anew whenever the number of iterations has doubled, so that it forgets what Σ was at first.
JUDGED, NEXT = 0, 1  # the mean that the score uses, and the one that takes its place at the next doubling
FIRST_BEGIN, FIRST_BEGIN_PER_DIM = 64, 8  # iterations
# States of a walk change over some d steps: measuring every so many of them loses little.
PART_OF_DIM = 8


@compiled
def follow_levels(gain: float, state: State, room: FloatArray) -> None:
    """The running mean of every level, and how far its states are from it beside Σ; in place."""
    dim, iteration = state.position.shape[1], state.iteration[0] + 1
    power = last_power(state.iteration[0])
    stride = max(1, dim // PART_OF_DIM)
    for level in range(state.n_levels[0]):
        if iteration % stride == 0:
            square = mean_square(level, state, room)
            for which, begun in ((JUDGED, power // 2), (NEXT, power)):
                n_measured = iteration // stride - max(begun, state.put_in[level]) // stride
                state.spread[level, which] += (square - state.spread[level, which]) / max(n_measured, 1)
        for i in range(dim):
            state.mean[level, i] += gain * (state.position[level, i] - state.mean[level, i])
    if last_power(iteration) == iteration >= max(FIRST_BEGIN, FIRST_BEGIN_PER_DIM * dim):
        for level in range(state.n_levels[0]):
            state.spread[level, JUDGED] = state.spread[level, NEXT]
            state.spread[level, NEXT] = 0.0


@compiled
def last_power(iteration: int) -> int:
    """The largest power of two up to here, one at least."""
    power = 1
    while 2 * power <= iteration:
        power *= 2
    return power


@compiled
def mean_square(level: int, state: State, room: FloatArray) -> float:
    """(x − μ)ᵀΣ⁻¹(x − μ)/d at one level, with Σ = L D Lᵀ."""
    bundle, lane, dim = level // LANES, level % LANES, room.shape[0]
    for i in range(dim):
        room[i] = state.position[level, i] - state.mean[level, i]
    square, place = 0.0, 0
    for k in range(dim):
        square += room[k] * room[k] / state.cov_diag[bundle, k, lane]
        for i in range(k + 1, dim):
            room[i] -= state.cov_factor[bundle, place, lane] * room[k]
            place += 1
    return float(square / dim)


@compiled
def scale_beside(log_scale: float, spread: float) -> float:
    """The scale of a level over the root of its spread; NaN where that is not known (yet)."""
    return math.exp(log_scale) / math.sqrt(spread) if spread > 0.0 else math.nan
