"""What a chain that has frozen will propose: jumps, and the next moves of hot levels that rest.

Jumps follow from the random numbers of the chain, not from where it is. Hot levels stay where their last swap
has left them until they move again. All streams stay where they are: these are copies.
"""

from collections.abc import Callable, Iterator

import numpy as np

from temperance.core.state import AT_BASE, JUMP_UNIFORMS, FloatArray, Mixture, Noise, State, WordArray
from temperance.moves.independence import compiled_jumps
from temperance.runs.noise import NoiseBlocks, streams_of
from temperance.runs.state import RunState

AT_ONCE = 256  # iterations, which take less than a millisecond in a few dimensions


def coming_jumps(now: RunState, last: int) -> Iterator[FloatArray]:
    """Where the base level will propose to jump to, up to an iteration, by the streams as they are now."""
    state, mixture, first = now.core, now.learner.mixture, now.n_done
    normal, uniform = _generator(state.normal_stream[0]), _generator(state.jump_stream)
    if not len(mixture.centre) or mixture.chance[0] <= 0.0:
        return iter(())
    return _jumps(mixture, state.position.shape[1], last - first, normal, uniform)


def _jumps(
    mixture: Mixture, dim: int, n_iterations: int, normal: np.random.Generator, uniform: np.random.Generator
) -> Iterator[FloatArray]:
    """The jumps of so many iterations, made when they are asked for."""
    for first in range(0, n_iterations, AT_ONCE):
        size = min(AT_ONCE, n_iterations - first)
        normals = normal.standard_normal((size, dim))
        uniforms = uniform.random((size, 2, JUMP_UNIFORMS))[:, AT_BASE].copy()
        points = np.empty((size, dim))
        yield from points[: compiled_jumps()(normals, uniforms, mixture, points)]


class HotPoints:
    """Where hot levels that rest will propose to go when they move next, up to iteration ``last``.

    ``begin`` makes the points, from a state and the random numbers of its iteration.
    """

    def __init__(
        self,
        now: RunState,
        last: int,
        blocks: NoiseBlocks,
        begin: Callable[[State, Noise], FloatArray],
    ) -> None:
        self._now, self._last, self._blocks, self._begin = now.core, last, blocks, begin
        self._every, self._at = now.learner.rest_every, now.n_done
        streams = streams_of(now.core)._asdict()
        copies = {f"{name}_stream": stream.copy() for name, stream in streams.items()}
        waits = np.zeros_like(now.core.update_waits)  # the first iteration of the draws leaves none
        self._then = now.core._replace(iteration=now.core.iteration.copy(), update_waits=waits, **copies)

    def __call__(self) -> FloatArray:
        """Those of the next move, once, while the base level asks for a point and the others rest."""
        turn, rests = divmod(int(self._now.iteration[0]), self._every)
        coming = (turn + 1) * self._every
        if not rests or not self._at <= coming < self._last:
            return self._now.position[:0]
        self._then.iteration[0] = coming
        while self._at < coming:
            self._drawn(min(self._blocks.block_size, coming - self._at))
        return self._begin(self._then, self._drawn(1))

    def _drawn(self, size: int) -> Noise:
        """The random numbers of the next iterations."""
        first = -self._at % self._every
        self._at += size
        return self._blocks.draw(self._then, size, first=first, step=self._every)


def _generator(stream: WordArray) -> np.random.Generator:
    """NumPy's generator at the place of a stream."""
    bits = np.random.SFC64(0)
    bits.state = {**bits.state, "state": {"state": stream.copy()}}
    return np.random.Generator(bits)
