"""Jumps: proposals from a mixture that does not look at where the state is.

At the base level the mixture is one of modes, learnt while tuning; at the hottest level it has one component,
the level itself. A jump is accepted with the full density of the mixture in its ratio, so it is exact
whatever the mixture is, as long as it does not change.
"""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.state import JUMP_DOF, Chain, FloatArray, Info, Mixture, Noise

BASE = 0  # the first of the two places that jump; the other is the hottest level


@compiled
def whitened_square(component: int, point: FloatArray, mixture: Mixture) -> float:
    """Squared distance of a point from the centre of a component, in its own widths."""
    square = 0.0
    for i in range(point.shape[0]):
        coordinate = 0.0
        for k in range(i + 1):
            coordinate += mixture.whitener[component, i, k] * (point[k] - mixture.centre[component, k])
        square += coordinate * coordinate
    return square


@compiled
def mixture_log_density(point: FloatArray, mixture: Mixture) -> float:
    """Log density of the whole mixture at a point, up to a constant that all components share."""
    power = 0.5 * (JUMP_DOF + point.shape[0])
    largest, total = -math.inf, 0.0
    for component in range(mixture.centre.shape[0]):
        square = whitened_square(component, point, mixture)
        value = mixture.log_height[component] - power * math.log1p(square / JUMP_DOF)
        if value > largest:
            total = total * math.exp(largest - value) + 1.0
            largest = value
        else:
            total += math.exp(value - largest)
    return largest + math.log(total)


@compiled
def choose_component(uniform: float, mixture: Mixture) -> int:
    """A component by its weight."""
    last = mixture.cumulative.shape[0] - 1
    component = 0
    while component < last and uniform * mixture.cumulative[last] >= mixture.cumulative[component]:
        component += 1
    return component


@compiled
def stretch(uniforms: FloatArray) -> float:
    """√(ν / χ²_ν): what turns a normal vector into one of Student's t, ν even."""
    chi_square = 0.0
    for k in range(2, uniforms.shape[0]):
        chi_square -= 2.0 * math.log1p(-uniforms[k])
    return math.sqrt(JUMP_DOF / max(chi_square, 1e-300))


@compiled
def jump(
    level: int, place: int, mixture: Mixture, noise: Noise, row: int, here: FloatArray, info: Info
) -> None:
    """With the mixture's chance, replace the proposal of a level by a draw from it; in place.

    The normals are those that the walk would have used.
    """
    uniforms = noise.jump_uniforms[row, place]
    if mixture.centre.shape[0] == 0 or uniforms[0] >= mixture.chance[0]:
        return
    component, length = choose_component(uniforms[1], mixture), stretch(uniforms)
    proposal = info.proposal[level]
    for i in range(here.shape[0]):
        step = 0.0
        for k in range(i + 1):
            step += mixture.root[component, i, k] * noise.normals[level // LANES, row, k, level % LANES]
        proposal[i] = mixture.centre[component, i] + length * step
    info.jump[level] = component
    for point, sign in ((here, 1.0), (proposal, -1.0)):
        info.log_proposal_ratio[level] += sign * mixture_log_density(point, mixture)


@compiled
def propose_jumps(chain: Chain, row: int) -> None:
    """Jumps of the base level and of the hottest, in place of some of their walks."""
    state, info, noise = chain.state, chain.info, chain.noise
    if noise.jump_uniforms.shape[0] == 0:
        return
    for place in range(2):  # a loop, so that the compiler meets the kernel once
        level = 0 if place == BASE else state.n_levels[0] - 1
        mixture = chain.jumps if place == BASE else chain.refresh
        if place == BASE or 0 < level < info.n_active[0]:
            jump(level, place, mixture, noise, row, state.position[level], info)
