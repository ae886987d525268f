"""Random numbers, drawn in blocks from streams that nothing but the seed determines."""

import numpy as np

from temperance.core.state import SWAP_UNIFORMS, Noise

BLOCK_NUMBERS = 2**17  # doubles a block, small enough to stay in a core's cache
MAX_BLOCK = 8192


class NoiseSource:
    """For each level one stream of normals and one of uniforms, and one stream for the swaps.

    Numbers are consumed at a fixed rate, so that neither the size of a block nor a dropped level
    changes what any other level gets.
    """

    def __init__(self, seed: np.random.SeedSequence, n_levels: int, dim: int, n_swaps: int = 1) -> None:
        streams = [np.random.Generator(np.random.SFC64(child)) for child in seed.spawn(1 + 2 * n_levels)]
        self._swaps, self._normals, self._uniforms = streams[0], streams[1::2], streams[2::2]
        self._swap_numbers = SWAP_UNIFORMS * n_swaps
        numbers = n_levels * (dim + 1) + self._swap_numbers
        self.block_size = int(np.clip(BLOCK_NUMBERS // numbers, 1, MAX_BLOCK))
        self._normal_buffer = np.empty(n_levels * self.block_size * dim)
        self._uniform_buffer = np.empty(n_levels * self.block_size)
        self._swap_buffer = np.empty(self.block_size * self._swap_numbers)
        self._dim = dim

    def draw(self, n_iterations: int, n_live: int) -> Noise:
        """Numbers for the next iterations of the live levels; overwrites those drawn before."""
        n_levels = len(self._normals)
        size = n_levels * n_iterations
        normals = self._normal_buffer[: size * self._dim].reshape(n_levels, n_iterations, self._dim)
        uniforms = self._uniform_buffer[:size].reshape(n_levels, n_iterations)
        swaps = self._swap_buffer[: n_iterations * self._swap_numbers].reshape(
            n_iterations, self._swap_numbers
        )
        for level in range(n_live):
            self._normals[level].standard_normal(out=normals[level])
            self._uniforms[level].random(out=uniforms[level])
        self._swaps.random(out=swaps)
        return Noise(normals, uniforms, swaps)
