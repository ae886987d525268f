"""Strategies that do not look at the state: adjacent levels (AL) and any two levels (RA)."""

import functools

import numpy as np

from temperance.core.compile import compiled, kernel_digest
from temperance.core.state import FloatArray, SwapView
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Kernel, Strategy, pair_kernel, repeated


@built_in
def adjacent(*, repeats: int = 1) -> Strategy:
    """AL: two neighbouring levels, each edge equally likely."""
    return Strategy(
        name="adjacent",
        symmetric=True,
        kernel=_adjacent_kernel,
        attempts=repeated(repeats),
        definition=_adjacent_weights,
    )


@built_in
def uniform(*, repeats: int = 1) -> Strategy:
    """RA: any two levels, each pair equally likely."""
    return Strategy(
        name="uniform",
        symmetric=True,
        kernel=_uniform_kernel,
        attempts=repeated(repeats),
        definition=uniform_weights,
    )


def _adjacent_weights(_: FloatArray, log_density: FloatArray, __: FloatArray) -> FloatArray:
    n_levels = len(log_density)
    return np.where(np.eye(n_levels, k=1) == 1.0, 0.0, -np.inf)


def uniform_weights(_: FloatArray, log_density: FloatArray, __: FloatArray) -> FloatArray:
    """Every pair alike."""
    return np.zeros((len(log_density), len(log_density)))


@compiled
def choose_any_pair(view: SwapView, choice: float, other: float) -> None:
    """Two different levels, each pair equally likely; in place."""
    n_levels = view.n_levels[0]
    first = int(choice * n_levels)
    second = int(other * (n_levels - 1))
    second += 1 if second >= first else 0
    view.pair[0] = min(first, second)
    view.pair[1] = max(first, second)


@functools.cache
def _adjacent_kernel() -> Kernel:
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
def _uniform_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, other: float) -> float:
        digest  # noqa: B018  part of the cache key
        choose_any_pair(view, choice, other)
        return 0.0

    return propose_pair
