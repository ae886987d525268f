"""A few of many draws, evenly spaced, in a memory that does not grow."""

import numpy as np

from temperance.core.state import FloatArray

MOST = 2048  # draws of a chain


class Sketch:
    """Every so many draws of one chain; twice as far apart whenever there are too many."""

    def __init__(self, dim: int) -> None:
        self.stride = 1
        self._draws = np.empty((0, dim))
        self._seen = 0

    def add(self, draws: FloatArray, first: int) -> None:
        """Draws from number ``first`` on; those seen before are passed over."""
        skipped = max(0, self._seen - first)
        start = first + skipped
        offset = skipped + -start % self.stride
        self._draws = np.concatenate([self._draws, draws[offset :: self.stride]])
        self._seen = max(self._seen, first + len(draws))
        while len(self._draws) > MOST:
            self._draws = self._draws[::2]
            self.stride *= 2

    def every(self, stride: int) -> FloatArray:
        """Those that are so far apart; a multiple of the sketch's own."""
        return self._draws[:: stride // self.stride]


def together(sketches: list[Sketch]) -> FloatArray:
    """The sketches of all chains, (chain, draw, dim), as long as the shortest."""
    stride = max(sketch.stride for sketch in sketches)
    rows = [sketch.every(stride) for sketch in sketches]
    return np.stack([one[: min(map(len, rows))] for one in rows])
