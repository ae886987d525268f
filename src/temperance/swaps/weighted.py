"""Strategies given by any weight of a pair, symmetric or not, with the full ratio of Eq. (3)."""

import functools
import math
from collections.abc import Callable
from typing import Any

from temperance.core.compile import compiled, compiled_around, compiled_around_for
from temperance.core.state import SwapView, propose_pair_signature
from temperance.swaps.strategy import Strategy


def from_log_weight(log_weight: Any, *, name: str, symmetric: bool = False) -> Strategy:
    """A strategy from a compiled ``log_weight(i, j, position, log_density, beta)``."""
    kernel = functools.cache(lambda: _weighted_kernel(log_weight))
    return Strategy(name=name, symmetric=symmetric, kernel=kernel)


@compiled
def exchange_view(view: SwapView, i: int, j: int) -> None:
    """T_ij on what the strategy sees, in place."""
    for k in range(view.position.shape[1]):
        view.position[i, k], view.position[j, k] = view.position[j, k], view.position[i, k]
    view.log_density[i], view.log_density[j] = view.log_density[j], view.log_density[i]


@compiled
def log_total(view: SwapView, n_pairs: int) -> float:
    """Log of the sum of the weights whose logs are in ``view.weight``."""
    largest = -math.inf
    for pair in range(n_pairs):
        largest = max(largest, view.weight[pair])
    if largest == -math.inf:
        return largest
    total = 0.0
    for pair in range(n_pairs):
        total += math.exp(view.weight[pair] - largest)
    return largest + math.log(total)


@compiled
def pick_pair(view: SwapView, n_pairs: int, log_sum: float, choice: float) -> int:
    """The pair whose cumulative probability first exceeds ``choice``."""
    chosen = 0
    cumulative = 0.0
    for pair in range(n_pairs):
        if view.weight[pair] > -math.inf:
            chosen = pair
            cumulative += math.exp(view.weight[pair] - log_sum)
            if choice < cumulative:
                break
    return chosen


@compiled
def write_pair(view: SwapView, index: int) -> None:
    """Levels of the pair with this index, in the order (0,1), (0,2), … (1,2), …; in place."""
    i = 0
    row = view.n_levels[0] - 1
    while index >= row:
        index -= row
        i += 1
        row -= 1
    view.pair[0] = i
    view.pair[1] = i + 1 + index


def _weighted_kernel(log_weight: Any) -> Callable[..., float]:
    @compiled_around
    def fill_weights(view: SwapView) -> None:
        pair = 0
        for i in range(view.n_levels[0]):
            for j in range(i + 1, view.n_levels[0]):
                view.weight[pair] = log_weight(i, j, view.position, view.log_density, view.beta)
                pair += 1

    @compiled_around_for(propose_pair_signature())
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        n_pairs = view.n_levels[0] * (view.n_levels[0] - 1) // 2
        fill_weights(view)
        log_sum = log_total(view, n_pairs)
        if log_sum == -math.inf:
            return 0.0
        chosen = pick_pair(view, n_pairs, log_sum, choice)
        write_pair(view, chosen)
        forward = view.weight[chosen] - log_sum
        exchange_view(view, view.pair[0], view.pair[1])
        fill_weights(view)
        backward = view.weight[chosen] - log_total(view, n_pairs)
        exchange_view(view, view.pair[0], view.pair[1])
        return float(backward - forward)

    return propose_pair
