"""Many swaps an iteration: even and odd edges in turn, or a heat bath over random pairs."""

import functools

from temperance.core.compile import compiled, kernel_digest
from temperance.core.state import SwapView
from temperance.swaps.blind import choose_any_pair, uniform_weights
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Kernel, Strategy, pair_kernel


@built_in
def even_odd() -> Strategy:
    """DEO: all even edges, in the next iteration all odd ones. Invariant, but not reversible."""
    return Strategy(
        name="even-odd", symmetric=True, reversible=False, kernel=_even_odd_kernel, attempts=_half
    )


@built_in
def stochastic_even_odd() -> Strategy:
    """SEO: all even edges or all odd ones, by the toss of a coin. Reversible."""
    return Strategy(name="stochastic even-odd", symmetric=True, kernel=_coin_kernel, attempts=_half)


@built_in
def heat_bath() -> Strategy:
    """L² random pairs, each exchanged with its conditional probability. Reversible."""
    return Strategy(
        name="heat bath",
        symmetric=True,
        heat_bath=True,
        kernel=_heat_bath_kernel,
        attempts=lambda n_levels: n_levels**2,
        definition=uniform_weights,
    )


def _half(n_levels: int) -> int:
    return max(n_levels // 2, 1)


@compiled
def choose_edge(view: SwapView, parity: int) -> None:
    """The edge of this attempt, if the ladder is long enough; in place."""
    lower = 2 * view.clock[1] + parity
    if lower + 1 < view.n_levels[0]:
        view.pair[0] = lower
        view.pair[1] = lower + 1


@functools.cache
def _even_odd_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, _: float, __: float) -> float:
        digest  # noqa: B018  part of the cache key
        choose_edge(view, view.clock[0] % 2)
        return 0.0

    return propose_pair


@functools.cache
def _heat_bath_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, other: float) -> float:
        digest  # noqa: B018  part of the cache key
        if view.clock[1] < view.n_levels[0] ** 2:  # fewer levels than at the start want fewer attempts
            choose_any_pair(view, choice, other)
        return 0.0

    return propose_pair


@functools.cache
def _coin_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, coin: float, _: float) -> float:
        digest  # noqa: B018  part of the cache key
        if view.clock[1] == 0:
            view.order[0] = 1 if coin < 0.5 else 0  # holds for all attempts of the iteration
        choose_edge(view, view.order[0])
        return 0.0

    return propose_pair
