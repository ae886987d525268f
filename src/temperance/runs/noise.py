"""Random numbers, drawn in blocks from streams that nothing but the seed determines."""

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.random import Streams, compiled_fill, ziggurat
from temperance.core.state import JUMP_UNIFORMS, SWAP_UNIFORMS, IntArray, Noise, State
from temperance.runs.plan import Plan
from temperance.runs.seeds import JUMPS, MOVES, NORMALS, SWAPS, UNIFORMS, stream

# Doubles a block: four megabytes, so that entering the loop, a tenth of a millisecond, is seldom.
BLOCK_NUMBERS = 2**19
MAX_BLOCK = 8192


def first_streams(state: State, seed: np.random.SeedSequence) -> None:
    """Begin all streams of a chain, in place."""
    for level, born in enumerate(state.born[: state.n_levels[0]]):
        state.normal_stream[level] = stream(seed, NORMALS, int(born))
        state.uniform_stream[level] = stream(seed, UNIFORMS, int(born))
        state.move_stream[level] = stream(seed, MOVES, int(born))
    state.swap_stream[:] = stream(seed, SWAPS)
    state.jump_stream[:] = stream(seed, JUMPS)


class NoiseBlocks:
    """Room for the random numbers of a block, and the way back when it was not used up.

    Each level has a stream of normals, one of uniforms, and one of what its moves use beside these; the swaps
    and the jumps have one each. Numbers are consumed at a fixed rate, so that neither the size of a block nor
    a dropped level changes what others get. Each stream gives what NumPy's SFC64 would give from the same
    seed.
    """

    def __init__(
        self, n_levels: int, dim: int, n_swaps: int = 1, *, jumps: bool = False, n_move_uniforms: int = 0
    ) -> None:
        self._fill = compiled_fill()
        swap_numbers = SWAP_UNIFORMS * n_swaps
        n_bundles = -(-n_levels // LANES)
        jump_numbers = 2 * JUMP_UNIFORMS if jumps else 0
        numbers = n_bundles * LANES * dim + n_levels * (1 + n_move_uniforms) + swap_numbers + jump_numbers
        self.block_size = int(np.clip(BLOCK_NUMBERS // numbers, 1, MAX_BLOCK))
        self._normals = np.zeros(n_bundles * self.block_size * dim * LANES)
        self._uniforms = np.zeros(n_levels * self.block_size)
        self._moves = np.zeros(n_levels * self.block_size * n_move_uniforms)
        self._swaps = np.zeros(self.block_size * swap_numbers)
        self._jumps = np.zeros(self.block_size * jump_numbers)
        self._shapes = (n_bundles, dim, n_levels, n_move_uniforms)
        self.n_swaps = n_swaps  # in an iteration; fewer than at first leave room
        self._before: tuple[Streams, IntArray, int, int, int] | None = None

    def draw(self, state: State, n_iterations: int, *, first: int = 0, step: int = 1) -> Noise:
        """Numbers for the next iterations of the live levels; overwrites those drawn before.

        Hot levels and swaps get theirs from the iteration ``first`` of the block on, once every ``step``.
        """
        n_live = int(state.n_levels[0])
        streams = streams_of(state)
        before = Streams._make(one.copy() for one in streams)
        self._before = before, state.born[:n_live].copy(), n_live, first, step
        noise = self._room(n_iterations)
        self._fill(streams, n_live, first, step, ziggurat(), noise)
        return noise

    def give_back(self, state: State, n_used: int) -> None:
        """Streams as if only so many iterations of the last block had been drawn, in place.

        Levels may have been dropped or moved meanwhile; each keeps its own streams.
        """
        if self._before is None:
            return
        streams, born, n_live, first, step = self._before
        self._fill(streams, n_live, first, step, ziggurat(), self._room(n_used))
        for level in range(int(state.n_levels[0])):
            (place,) = np.flatnonzero(born == state.born[level])
            state.normal_stream[level] = streams.normal[place]
            state.uniform_stream[level] = streams.uniform[place]
            state.move_stream[level] = streams.move[place]
        state.swap_stream[:], state.jump_stream[:] = streams.swap, streams.jump

    def _room(self, n_iterations: int) -> Noise:
        n_bundles, dim, n_levels, n_moves = self._shapes
        swap_numbers = SWAP_UNIFORMS * self.n_swaps
        return Noise(
            self._normals[: n_bundles * n_iterations * dim * LANES].reshape(
                n_bundles, n_iterations, dim, LANES
            ),
            self._uniforms[: n_levels * n_iterations].reshape(n_levels, n_iterations),
            self._moves[: n_levels * n_iterations * n_moves].reshape(n_levels, n_iterations, n_moves),
            self._swaps[: n_iterations * swap_numbers].reshape(n_iterations, swap_numbers),
            self._jumps[: n_iterations * 2 * JUMP_UNIFORMS].reshape(-1, 2, JUMP_UNIFORMS),
        )


def noise_for(plan: Plan, n_swaps: int) -> NoiseBlocks:
    """Room for the random numbers of one chain, which attempts so many swaps in an iteration now."""
    jumps, n_uniforms = plan.settings.jumps.enabled, plan.walk.n_uniforms
    most = plan.strategy.attempts(plan.most_levels)
    blocks = NoiseBlocks(plan.most_levels, plan.dim, most, jumps=jumps, n_move_uniforms=n_uniforms)
    blocks.n_swaps = n_swaps
    return blocks


def streams_of(state: State) -> Streams:
    """The streams of a chain, which drawing moves on."""
    return Streams(
        state.normal_stream, state.uniform_stream, state.move_stream, state.swap_stream, state.jump_stream
    )
