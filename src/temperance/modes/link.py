"""Which states belong together: each joins the nearest one of higher density, if that is near enough."""

import functools
from collections.abc import Callable

import numpy as np
from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.state import FloatArray, IntArray
from temperance.modes.policy import FITTING


@compiled
def note_neighbour(square: float, nearest: FloatArray) -> None:
    """Keep the smallest squared distances, sorted, in place."""
    last = nearest.shape[0] - 1
    if square >= nearest[last]:
        return
    while last > 0 and nearest[last - 1] > square:
        nearest[last] = nearest[last - 1]
        last -= 1
    nearest[last] = square


@functools.cache
def compiled_link() -> Callable[..., int]:
    """The linking of states that are sorted by falling density, compiled on first use and cached."""
    digest = kernel_digest()
    matrix, vector = types.float64[:, ::1], types.float64[::1]
    signature = types.int64(matrix, vector, types.float64, matrix, vector, types.int64[::1])

    @compiled_for(signature)
    def link(
        points: FloatArray,
        max_square: FloatArray,
        max_stretch: float,
        nearest: FloatArray,
        square_up: FloatArray,
        label: IntArray,
    ) -> int:
        """Clusters of the rows of ``points``; their number. ``label`` is written, the rest is room."""
        digest  # noqa: B018  part of the cache key
        n, dim = points.shape
        for a in range(n):
            label[a] = -1
            for b in range(a):
                square = 0.0
                for i in range(dim):
                    step = points[a, i] - points[b, i]
                    square += step * step
                if square < square_up[a]:
                    square_up[a] = square
                    label[a] = b
                note_neighbour(square, nearest[a])
                note_neighbour(square, nearest[b])
        n_clusters = 0
        for a in range(n):
            up = label[a]
            spacing = max_stretch * max_stretch * nearest[a, nearest.shape[1] - 1]
            if up >= 0 and square_up[a] < min(max(max_square[a], max_square[up]), spacing):
                label[a] = label[up]
            else:
                label[a] = n_clusters
                n_clusters += 1
        return n_clusters

    return link


def link_states(points: FloatArray, log_density: FloatArray, max_square: FloatArray) -> tuple[IntArray, int]:
    """The cluster of each row of ``points``, (state, dim) in units of a mode's width; and their number.

    A state starts a cluster of its own when the nearest state of higher density is farther than the square
    root of ``max_square`` of both, or much farther than its own neighbours (after Rodriguez & Laio 2014).
    """
    order = np.argsort(-log_density, kind="stable")
    n = len(points)
    nearest, square_up = np.full((n, FITTING.n_neighbours), np.inf), np.full(n, np.inf)
    sorted_label = np.empty(n, dtype=np.int64)
    n_clusters = compiled_link()(
        np.ascontiguousarray(points[order]),
        max_square[order],
        FITTING.max_stretch,
        nearest,
        square_up,
        sorted_label,
    )
    label = np.empty(n, dtype=np.int64)
    label[order] = sorted_label
    return label, int(n_clusters)
