"""Scouts: a copy of a warm state walks at the base temperature, to see which mode it came from."""

import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.evaluate import ask
from temperance.core.numeric import capped_log_prob
from temperance.core.schema import numba_type, of
from temperance.core.state import FloatArray, Info, IntArray, Settings, State, evaluate_type


class Scout(NamedTuple):
    """One walk: where it is, what it is made with, and the states that it keeps."""

    position: Annotated[FloatArray, of("dim")]
    log_target: Annotated[FloatArray, of(1)]  # likelihood and prior
    log_scale: Annotated[FloatArray, of(1)]
    root: Annotated[FloatArray, of("dim", "dim")]  # lower factor of its first proposals
    normals: Annotated[FloatArray, of("step", "dim")]
    uniforms: Annotated[FloatArray, of("step")]
    kept: Annotated[FloatArray, of("kept", "dim")]  # states of the second half
    kept_log_target: Annotated[FloatArray, of("kept")]
    tried: Annotated[FloatArray, of("step", "dim")]  # all points that were evaluated
    tried_log_target: Annotated[FloatArray, of("step")]


@compiled
def propose_step(scout: Scout, step: int, proposal: FloatArray) -> None:
    """A random-walk step, written into ``proposal``."""
    scale = math.exp(scout.log_scale[0])
    for i in range(proposal.shape[0]):
        length = 0.0
        for k in range(i + 1):
            length += scout.root[i, k] * scout.normals[step, k]
        proposal[i] = scout.position[i] + scale * length


@compiled
def take_step(scout: Scout, step: int, log_target: float, wanted: float, proposal: FloatArray) -> None:
    """Accept the step or not, learn the scale, keep the state when its turn has come; in place."""
    accept_prob = math.exp(capped_log_prob(log_target - scout.log_target[0]))
    scout.tried_log_target[step] = log_target
    for i in range(proposal.shape[0]):
        scout.tried[step, i] = proposal[i]
    if scout.uniforms[step] < accept_prob:
        scout.log_target[0] = log_target
        for i in range(proposal.shape[0]):
            scout.position[i] = proposal[i]
    scout.log_scale[0] += (accept_prob - wanted) / math.sqrt(step + 1.0)
    n_steps, n_kept = scout.uniforms.shape[0], scout.kept.shape[0]
    late = step - n_steps // 2
    place = late * n_kept // (n_steps - n_steps // 2)
    if late >= 0:
        scout.kept_log_target[place] = scout.log_target[0]
        for i in range(proposal.shape[0]):
            scout.kept[place, i] = scout.position[i]


@functools.cache
def compiled_scout(state: type, info: type, keep: bool) -> Callable[..., int]:
    """The walk of a scout beside a chain with records of these types, compiled on first use and cached."""
    digest = kernel_digest()
    records = [numba_type(kind) for kind in (state, info, Settings, Scout)]
    signature = types.int64(evaluate_type(), types.intp, *records[:3], types.int64[::1], records[3])

    @compiled_for(signature, keep=keep)
    def run_scout(
        evaluate: Any,
        context: int,
        state: State,
        info: Info,
        settings: Settings,
        control: IntArray,
        scout: Scout,
    ) -> int:
        """Walk on at β = 1; the steps made. Of the chain only buffers are used."""
        digest  # noqa: B018  part of the cache key
        info.n_asked[0], info.asker[0] = 1, 0
        for step in range(scout.uniforms.shape[0]):
            propose_step(scout, step, info.proposal[0])
            if not ask(evaluate, context, state, info, settings, control):
                return step
            log_target = info.log_density[0] + info.log_prior[0]
            take_step(scout, step, log_target, settings.target_walk_accept, info.proposal[0])
        return int(scout.uniforms.shape[0])

    return run_scout
