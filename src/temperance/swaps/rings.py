"""Energy rings (PTEEM): exchange only within a ring of similar log density (Baragatti et al. 2013)."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from temperance.checks import numeric_array, whole_number
from temperance.core.compile import compiled, kernel_digest
from temperance.core.state import FloatArray, SwapView
from temperance.errors import InvalidInputError
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Definition, Kernel, Strategy, pair_kernel, repeated


@built_in
def energy_rings(edges: int | np.integer[Any] | Sequence[float] = 5, *, repeats: int = 1) -> Strategy:
    """Pairs whose log densities lie in one ring, all equally likely.

    ``edges`` are log densities that divide the rings, rising; or the number of rings, whose edges are then
    quantiles of the log densities that all levels saw while tuning: of the first half for the second
    half, and of the second half for the draws. Until then all pairs share one ring.
    """
    learn: Callable[[FloatArray], FloatArray] | None = None
    if isinstance(edges, int | np.integer) and not isinstance(edges, bool):
        n_rings = whole_number("edges", edges, least=2)
        inner = np.full(n_rings - 1, np.inf)
        learn = functools.partial(_quantile_edges, n_rings)
    else:
        inner = _checked_edges(edges)
    return Strategy(
        name="energy rings",
        symmetric=True,
        kernel=_rings_kernel,
        attempts=repeated(repeats),
        definition=_ring_weights(inner),
        parameters=inner,
        learn=learn,
    )


def _checked_edges(edges: Any) -> FloatArray:
    array = numeric_array("edges", edges, "fiu", "a rising list of log densities, or a number of rings")
    if array.ndim != 1 or len(array) == 0:
        raise InvalidInputError(f"edges must be a list of log densities or a whole number, got {edges!r}")
    if np.any(np.diff(array) <= 0.0) or not np.all(np.isfinite(array)):
        raise InvalidInputError(f"edges must rise strictly and be finite, got {array.tolist()}")
    return array.astype(np.float64)


def _quantile_edges(n_rings: int, log_density: FloatArray) -> FloatArray:
    seen = log_density[np.isfinite(log_density)]
    return np.quantile(seen, np.arange(1, n_rings) / n_rings) if len(seen) else np.full(n_rings - 1, np.inf)


def _ring_weights(edges: FloatArray) -> Definition:
    def weights(_: FloatArray, log_density: FloatArray, __: FloatArray) -> FloatArray:
        ring = np.searchsorted(edges, log_density, side="right")
        return np.where(ring[:, None] == ring, 0.0, -np.inf)

    return weights


@compiled
def ring_of(view: SwapView, level: int) -> int:
    """How many edges the level's log density has reached."""
    ring = 0
    for k in range(view.parameters.shape[0]):
        ring += view.log_density[level] >= view.parameters[k]
    return ring


@functools.cache
def _rings_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        digest  # noqa: B018  part of the cache key
        n_levels = view.n_levels[0]
        n_pairs = 0
        for level in range(n_levels):
            view.order[level] = ring_of(view, level)
        for i in range(n_levels):
            for j in range(i + 1, n_levels):
                n_pairs += view.order[i] == view.order[j]
        left = int(choice * n_pairs)
        for i in range(n_levels):
            for j in range(i + 1, n_levels):
                if view.order[i] == view.order[j]:
                    if left == 0:
                        view.pair[0] = i
                        view.pair[1] = j
                    left -= 1
        return 0.0

    return propose_pair
