"""Jumps: independence Metropolis–Hastings proposals, from a mixture that does not look at where the state is.

At the base level the mixture is one of modes, learnt while tuning; at the hottest level it has one component,
the level itself. A jump is accepted with the full density of the mixture in its ratio, so it is exact
whatever the mixture is, as long as it does not change.
"""

import functools
import math
from collections.abc import Callable

from numba import types

from temperance.core.accept import metropolis
from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.lanes import LANES
from temperance.core.mixture import mixture_log_density
from temperance.core.move import Move
from temperance.core.schema import numba_type
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


@functools.cache
def compiled_jumps() -> Callable[[FloatArray, FloatArray, Mixture, FloatArray], int]:
    """Where rows of random numbers would jump to: their points, as `begin` makes them, and how many."""
    digest = kernel_digest()
    matrix = types.float64[:, ::1]

    @compiled_for(types.int64(matrix, matrix, numba_type(Mixture), matrix))
    def jumps(normals: FloatArray, uniforms: FloatArray, mixture: Mixture, points: FloatArray) -> int:
        digest  # noqa: B018  part of the cache key
        n_jumps = 0
        for row in range(normals.shape[0]):
            if uniforms[row, 0] < mixture.chance[0]:
                component = choose_component(uniforms[row, 1], mixture)
                draw_jump(component, stretch(uniforms[row]), mixture, normals[row], points[n_jumps])
                n_jumps += 1
        return n_jumps

    return jumps


INDEPENDENCE = Move(name="independence", begin=begin, advance=metropolis, kind=JUMP)
