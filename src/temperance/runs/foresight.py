"""The jumps that a chain will propose: they follow from its random numbers, not from where it is."""

from collections.abc import Iterator

import numpy as np

from temperance.core.state import AT_BASE, JUMP_UNIFORMS, FloatArray, WordArray
from temperance.moves.independence import compiled_jumps
from temperance.runs.state import RunState

AT_ONCE = 256  # iterations, which take less than a millisecond in a few dimensions


def coming_jumps(now: RunState, last: int) -> Iterator[FloatArray]:
    """Where the base level of a chain that has frozen will propose to jump to, up to iteration ``last``.

    Its streams stay where they are.
    """
    state, mixture = now.core, now.learner.mixture
    first, dim = now.n_done, state.position.shape[1]
    normal, uniform = _generator(state.normal_stream[0]), _generator(state.jump_stream)
    while first < last and len(mixture.centre) and mixture.chance[0] > 0.0:
        size = min(AT_ONCE, last - first)
        normals = normal.standard_normal((size, dim))
        uniforms = uniform.random((size, 2, JUMP_UNIFORMS))[:, AT_BASE].copy()
        points = np.empty((size, dim))
        yield from points[: compiled_jumps()(normals, uniforms, mixture, points)]
        first += size


def _generator(stream: WordArray) -> np.random.Generator:
    """NumPy's generator at the place of a stream."""
    bits = np.random.SFC64(0)
    bits.state = {**bits.state, "state": {"state": stream.copy()}}
    return np.random.Generator(bits)
