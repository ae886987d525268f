"""Drawing a pair from any weights, symmetric or not, with the full ratio of Eq. (3).

The log weights of all pairs stand in ``view.weight`` in the order (0,1), (0,2), … (1,2), …
"""

import math
from collections.abc import Callable

from temperance.core.compile import compiled
from temperance.core.state import SwapView


@compiled
def count_pairs(view: SwapView) -> int:
    """How many pairs the live levels form."""
    n_levels = view.n_levels[0]
    return int(n_levels * (n_levels - 1) // 2)


@compiled
def exchange_view(view: SwapView, i: int, j: int) -> None:
    """T_ij on what the strategy sees; in place, and its own inverse."""
    for k in range(view.position.shape[1]):
        view.position[i, k], view.position[j, k] = view.position[j, k], view.position[i, k]
    view.log_density[i], view.log_density[j] = view.log_density[j], view.log_density[i]


@compiled
def log_total(view: SwapView) -> float:
    """Log of the sum of all weights; NaN when one of them is not a weight."""
    n_pairs = count_pairs(view)
    largest = -math.inf
    for pair in range(n_pairs):
        if math.isnan(view.weight[pair]) or view.weight[pair] == math.inf:
            write_pair(view, pair)
            return math.nan
        largest = max(largest, view.weight[pair])
    if largest == -math.inf:
        return largest
    total = 0.0
    for pair in range(n_pairs):
        total += math.exp(view.weight[pair] - largest)
    return largest + math.log(total)


@compiled
def pick_pair(view: SwapView, log_sum: float, choice: float) -> int:
    """The pair whose cumulative probability first exceeds ``choice``."""
    chosen = 0
    cumulative = 0.0
    for pair in range(count_pairs(view)):
        if view.weight[pair] > -math.inf:
            chosen = pair
            cumulative += math.exp(view.weight[pair] - log_sum)
            if choice < cumulative:
                break
    return chosen


@compiled
def write_pair(view: SwapView, index: int) -> None:
    """Levels of the pair with this index; in place."""
    i = 0
    row = view.n_levels[0] - 1
    while index >= row:
        index -= row
        i += 1
        row -= 1
    view.pair[0] = i
    view.pair[1] = i + 1 + index


@compiled
def pair_index(view: SwapView) -> int:
    """The index of the pair that the view holds."""
    i, j = view.pair[0], view.pair[1]
    return int(i * (2 * view.n_levels[0] - i - 1) // 2 + j - i - 1)


@compiled
def draw_weighted(view: SwapView, choice: float) -> float:
    """Draw a pair and return its log probability: NaN for a bad weight, -inf when there is no pair."""
    log_sum = log_total(view)
    if math.isnan(log_sum) or log_sum == -math.inf:
        return log_sum
    chosen = pick_pair(view, log_sum, choice)
    write_pair(view, chosen)
    return float(view.weight[chosen] - log_sum)


@compiled
def way_back(view: SwapView, forward: float) -> float:
    """Log p_ij(T_ij x) - log p_ij(x), from the weights at T_ij x; -inf when there is no way back."""
    index = pair_index(view)
    log_sum = log_total(view)
    if log_sum == -math.inf:
        return log_sum
    return float(view.weight[index] - log_sum - forward)


@compiled
def propose_weighted(fill_weights: Callable[[SwapView], None], view: SwapView, choice: float) -> float:
    """Draw a pair from the weights that ``fill_weights`` writes; the log ratio of its two probabilities."""
    fill_weights(view)
    forward = draw_weighted(view, choice)
    if math.isnan(forward):
        return forward
    i, j = view.pair[0], view.pair[1]
    if i < 0:
        return 0.0
    exchange_view(view, i, j)
    fill_weights(view)
    ratio = way_back(view, forward)
    exchange_view(view, i, j)
    return ratio
