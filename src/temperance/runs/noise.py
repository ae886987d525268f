"""Random numbers, drawn in blocks from streams that nothing but the seed determines."""

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.random import compiled_fill, ziggurat
from temperance.core.state import JUMP_UNIFORMS, SWAP_UNIFORMS, Noise

BLOCK_NUMBERS = 2**17  # doubles a block, small enough to stay in a core's cache
MAX_BLOCK = 8192


class NoiseSource:
    """For each level one stream of normals and one of uniforms, one stream for the swaps, one for the jumps.

    Numbers are consumed at a fixed rate, so that neither the size of a block nor a dropped level
    changes what any other level gets. Each stream gives what NumPy's SFC64 would give from the same seed.
    """

    def __init__(
        self, seed: np.random.SeedSequence, n_levels: int, dim: int, n_swaps: int = 1, *, jumps: bool = False
    ) -> None:
        generators = [np.random.SFC64(child) for child in seed.spawn(2 + 2 * n_levels)]
        self._streams = np.array([generator.state["state"]["state"] for generator in generators])
        self._fill = compiled_fill()
        swap_numbers = SWAP_UNIFORMS * n_swaps
        n_bundles = -(-n_levels // LANES)
        jump_numbers = 2 * JUMP_UNIFORMS if jumps else 0
        numbers = n_bundles * LANES * dim + n_levels + swap_numbers + jump_numbers
        self.block_size = int(np.clip(BLOCK_NUMBERS // numbers, 1, MAX_BLOCK))
        self._normals = np.zeros(n_bundles * self.block_size * dim * LANES)
        self._uniforms = np.zeros(n_levels * self.block_size)
        self._swaps = np.zeros(self.block_size * swap_numbers)
        self._jumps = np.zeros(self.block_size * jump_numbers)
        self._shapes = (n_bundles, dim, n_levels, swap_numbers)

    def draw(self, n_iterations: int, n_live: int, *, first: int = 0, step: int = 1) -> Noise:
        """Numbers for the next iterations of the live levels; overwrites those drawn before.

        Hot levels and swaps get theirs from the iteration ``first`` of the block on, once every ``step``.
        """
        n_bundles, dim, n_levels, swap_numbers = self._shapes
        noise = Noise(
            self._normals[: n_bundles * n_iterations * dim * LANES].reshape(
                n_bundles, n_iterations, dim, LANES
            ),
            self._uniforms[: n_levels * n_iterations].reshape(n_levels, n_iterations),
            self._swaps[: n_iterations * swap_numbers].reshape(n_iterations, swap_numbers),
            self._jumps[: n_iterations * 2 * JUMP_UNIFORMS].reshape(-1, 2, JUMP_UNIFORMS),
        )
        self._fill(self._streams, n_live, first, step, ziggurat(), noise)
        return noise
