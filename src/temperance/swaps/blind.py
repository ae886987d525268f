"""Strategies that do not look at the state: adjacent levels (AL) and any two levels (RA)."""

import functools
from collections.abc import Callable

from temperance.core.compile import kernel_digest
from temperance.core.state import SwapView
from temperance.swaps.strategy import Strategy, pair_kernel


def adjacent() -> Strategy:
    """AL: two neighbouring levels, each edge equally likely."""
    return Strategy(name="adjacent", symmetric=True, kernel=_adjacent_kernel)


def uniform() -> Strategy:
    """RA: any two levels, each pair equally likely."""
    return Strategy(name="uniform", symmetric=True, kernel=_uniform_kernel)


@functools.cache
def _adjacent_kernel() -> Callable[..., float]:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        digest  # noqa: B018  part of the cache key
        lower = int(choice * (view.n_levels[0] - 1))
        view.pair[0] = lower
        view.pair[1] = lower + 1
        return 0.0

    return propose_pair


@functools.cache
def _uniform_kernel() -> Callable[..., float]:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, other: float) -> float:
        digest  # noqa: B018  part of the cache key
        n_levels = view.n_levels[0]
        first = int(choice * n_levels)
        second = int(other * (n_levels - 1))
        second += 1 if second >= first else 0
        view.pair[0] = min(first, second)
        view.pair[1] = max(first, second)
        return 0.0

    return propose_pair
