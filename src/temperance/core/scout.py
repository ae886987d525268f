"""Scouts: walks at the base temperature from points that no mode explains, to see which mode these belong to.

Several walk side by side, so that densities which like many points at once are asked for as many. Each has
random numbers of its own, and what it sees does not depend on who walks beside it.
"""

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.evaluate import answered
from temperance.core.numeric import capped_log_prob
from temperance.core.schema import numba_type, of
from temperance.core.state import FloatArray, Info, IntArray, Settings, State, evaluate_type


class Scouts(NamedTuple):
    """Walks side by side: where they are, what they are made with, and the states that they keep."""

    position: Annotated[FloatArray, of("scout", "dim")]
    log_target: Annotated[FloatArray, of("scout")]  # likelihood and prior
    log_scale: Annotated[FloatArray, of("scout")]
    root: Annotated[FloatArray, of("dim", "dim")]  # lower factor of their first proposals
    normals: Annotated[FloatArray, of("scout", "step", "dim")]
    uniforms: Annotated[FloatArray, of("scout", "step")]
    kept: Annotated[FloatArray, of("scout", "kept", "dim")]  # states of the second half
    kept_log_target: Annotated[FloatArray, of("scout", "kept")]
    tried: Annotated[FloatArray, of("scout", "step", "dim")]  # all points that were evaluated
    tried_log_target: Annotated[FloatArray, of("scout", "step")]
    walking: Annotated[IntArray, of("scout")]  # one while it walks
    met: Annotated[IntArray, of("scout")]  # the step, from one on, at which an error ended it
    n_evaluations: Annotated[IntArray, of("scout")]
    n_steps: Annotated[IntArray, of(1)]  # that all have made in this round


@compiled
def propose_step(scouts: Scouts, scout: int, step: int, proposal: FloatArray) -> None:
    """A random-walk step, written into ``proposal``."""
    scale = math.exp(scouts.log_scale[scout])
    for i in range(proposal.shape[0]):
        length = 0.0
        for k in range(i + 1):
            length += scouts.root[i, k] * scouts.normals[scout, step, k]
        proposal[i] = scouts.position[scout, i] + scale * length


@compiled
def propose_steps(scouts: Scouts, step: int, info: Info) -> None:
    """A step of every scout that walks, one after the other, in place."""
    info.n_asked[0] = 0
    for scout in range(scouts.walking.shape[0]):
        if scouts.walking[scout] == 1:
            info.asker[info.n_asked[0]] = 0
            propose_step(scouts, scout, step, info.proposal[info.n_asked[0]])
            info.n_asked[0] += 1


@compiled
def take_step(
    scouts: Scouts, scout: int, step: int, log_target: float, wanted: float, proposal: FloatArray
) -> None:
    """Accept the step or not, learn the scale, keep the state when its turn has come; in place."""
    accept_prob = math.exp(capped_log_prob(log_target - scouts.log_target[scout]))
    scouts.tried_log_target[scout, step] = log_target
    for i in range(proposal.shape[0]):
        scouts.tried[scout, step, i] = proposal[i]
    if scouts.uniforms[scout, step] < accept_prob:
        scouts.log_target[scout] = log_target
        for i in range(proposal.shape[0]):
            scouts.position[scout, i] = proposal[i]
    scouts.log_scale[scout] += (accept_prob - wanted) / math.sqrt(step + 1.0)
    n_steps, n_kept = scouts.uniforms.shape[1], scouts.kept.shape[1]
    late = step - n_steps // 2
    place = late * n_kept // (n_steps - n_steps // 2)
    if late >= 0:
        scouts.kept_log_target[scout, place] = scouts.log_target[scout]
        for i in range(proposal.shape[0]):
            scouts.kept[scout, place, i] = scouts.position[scout, i]


@compiled
def take_steps(scouts: Scouts, step: int, state: State, info: Info, settings: Settings) -> None:
    """The same for every scout that walks, in place; a NaN or +inf ends the one that meets it."""
    row = 0
    for scout in range(scouts.walking.shape[0]):
        if scouts.walking[scout] == 0:
            continue
        log_target = info.log_density[row] + info.log_prior[row]
        scouts.n_evaluations[scout] += 1
        if math.isnan(log_target) or log_target == math.inf:
            log_target = -math.inf
            if settings.refuse_bad:
                state.n_refused[0] += 1
            else:
                scouts.walking[scout], scouts.met[scout] = 0, step + 1
        take_step(scouts, scout, step, log_target, settings.target_walk_accept, info.proposal[row])
        row += 1


@functools.cache
def compiled_scouts(state: type, info: type, keep: bool) -> Callable[..., int]:
    """The walks of scouts beside a chain with records of these types, compiled on first use and cached."""
    digest = kernel_digest()
    records = [numba_type(kind) for kind in (state, info, Settings, Scouts)]
    signature = types.int64(evaluate_type(), types.intp, *records[:3], types.int64[::1], records[3])

    @compiled_for(signature, keep=keep)
    def run_scouts(
        evaluate: Any,
        context: int,
        state: State,
        info: Info,
        settings: Settings,
        control: IntArray,
        scouts: Scouts,
    ) -> int:
        """Walk on at β = 1 to the end of a round; the steps made. Of the chain only buffers are used."""
        digest  # noqa: B018  part of the cache key
        for step in range(scouts.n_steps[0], scouts.uniforms.shape[1]):
            propose_steps(scouts, step, info)
            if info.n_asked[0] == 0 or not answered(evaluate, context, info, control):
                break
            take_steps(scouts, step, state, info, settings)
            scouts.n_steps[0] = step + 1
        return int(scouts.n_steps[0])

    return run_scouts
