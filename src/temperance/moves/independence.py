"""Jumps: independence Metropolis–Hastings proposals, from a mixture that does not look at where the state is.

At the base level the mixture is one of modes, learnt while tuning; at the hottest level it has one component,
the level itself. A jump is accepted with the full density of the mixture in its ratio, so it is exact
whatever the mixture is, as long as it does not change.
"""

import math

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.mixture import mixture_log_density
from temperance.core.move import Move
from temperance.core.state import AT_BASE, AT_HOTTEST, JUMP, JUMP_DOF, Chain, FloatArray, Mixture


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
def draw_jump(
    component: int, length: float, mixture: Mixture, normals: FloatArray, point: FloatArray
) -> None:
    """A draw from a component, ``length`` times as far out as these normals; writes ``point``."""
    for i in range(point.shape[0]):
        step = 0.0
        for k in range(i + 1):
            step += mixture.root[component, i, k] * normals[k]
        point[i] = mixture.centre[component, i] + length * step


@compiled
def begin(chain: Chain, row: int, level: int) -> None:
    """The base level jumps to one of the modes, the hottest to anywhere in itself; in place.

    The normals are those that a walk would have used.
    """
    info, noise = chain.info, chain.noise
    place, mixture = (AT_BASE, chain.jumps) if level == 0 else (AT_HOTTEST, chain.refresh)
    uniforms, proposal = noise.jump_uniforms[row, place], info.proposal[level]
    component = choose_component(uniforms[1], mixture)
    normals = noise.normals[level // LANES, row, :, level % LANES]
    draw_jump(component, stretch(uniforms), mixture, normals, proposal)
    info.which[level] = component
    for point, sign in ((chain.state.position[level], 1.0), (proposal, -1.0)):
        info.log_proposal_ratio[level] += sign * mixture_log_density(point, mixture)


INDEPENDENCE = Move(name="independence", begin=begin, advance=metropolis, kind=JUMP)
