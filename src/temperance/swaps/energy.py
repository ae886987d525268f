"""Equi-energy swaps (EE): pairs of similar log density are preferred, Eq. (6)."""

import functools
import math

import numpy as np

from temperance.core.compile import compiled, kernel_digest
from temperance.core.state import FloatArray, SwapView
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Kernel, Strategy, pair_kernel, repeated

FEW_LEVELS = 16  # up to here insertion beats the heap


@built_in
def equi_energy(*, repeats: int = 1) -> Strategy:
    """Equi-energy (EE): p_ij proportional to ``exp(-|log π(x_i) - log π(x_j)|)``, in O(L log L)."""
    return Strategy(
        name="equi-energy",
        symmetric=True,
        kernel=_equi_energy_kernel,
        attempts=repeated(repeats),
        definition=_equi_energy_weights,
    )


def _equi_energy_weights(_: FloatArray, log_density: FloatArray, __: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        distance = np.abs(log_density[:, None] - log_density)
    return np.where(np.isnan(distance), -np.inf, -distance)


@compiled
def comes_after(view: SwapView, level: int, other: int) -> bool:
    """Order by log density, and by level among equals."""
    if view.log_density[level] == view.log_density[other]:
        return level > other
    return bool(view.log_density[level] > view.log_density[other])


@compiled
def sift_down(view: SwapView, root: int, end: int) -> None:
    """Let one entry of the heap ``view.order[:end]`` sink to its place; in place."""
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and comes_after(view, view.order[child + 1], view.order[child]):
            child += 1
        if not comes_after(view, view.order[child], view.order[root]):
            break
        view.order[root], view.order[child] = view.order[child], view.order[root]
        root = child


@compiled
def sort_few_levels(view: SwapView) -> None:
    """Insertion from the hot end, where log densities are low: that is nearly the order; in place."""
    n_levels = view.n_levels[0]
    for done in range(n_levels):
        level, place = n_levels - 1 - done, done
        while place > 0 and comes_after(view, view.order[place - 1], level):
            view.order[place] = view.order[place - 1]
            place -= 1
        view.order[place] = level


@compiled
def sort_levels(view: SwapView) -> None:
    """Levels in rising order of log density, into ``view.order``; by heapsort when they are many."""
    n_levels = view.n_levels[0]
    if n_levels <= FEW_LEVELS:
        sort_few_levels(view)
        return
    for level in range(n_levels):
        view.order[level] = level
    for root in range(n_levels // 2 - 1, -1, -1):
        sift_down(view, root, n_levels)
    for end in range(n_levels - 1, 0, -1):
        view.order[0], view.order[end] = view.order[end], view.order[0]
        sift_down(view, 0, end)


@compiled
def energy_gap(view: SwapView, k: int) -> float:
    """How far the k-th log density lies above the one below it; infinite between two of -inf."""
    gap = view.log_density[view.order[k]] - view.log_density[view.order[k - 1]]
    return math.inf if math.isnan(gap) else gap


@compiled
def fill_sums(view: SwapView, smallest: float) -> float:
    """Total weight of all pairs, shifted by the smallest gap so that nothing underflows.

    The k-th sum is the weight of the pairs of the k-th level with those below it,
    ``S_k = S_{k-1} exp(-gap_k) + exp(smallest - gap_k)``; ``view.weight`` gets the sums, then the decays.
    """
    n_levels = view.n_levels[0]
    view.weight[0] = 0.0
    total = 0.0
    for k in range(1, n_levels):
        gap = energy_gap(view, k)
        decay = math.exp(-gap)
        view.weight[n_levels + k] = decay
        view.weight[k] = view.weight[k - 1] * decay + math.exp(smallest - gap)
        total += view.weight[k]
    return total


@compiled
def pick_upper(view: SwapView, threshold: float) -> int:
    """The k whose cumulative sum first exceeds the threshold."""
    chosen = 1
    for k in range(1, view.n_levels[0]):
        if view.weight[k] > 0.0:
            chosen = k
            if threshold < view.weight[k]:
                break
            threshold -= view.weight[k]
    return chosen


@compiled
def pick_lower(view: SwapView, upper: int, threshold: float, smallest: float) -> int:
    """The partner below the k-th level, walking down through ever smaller weights."""
    n_levels = view.n_levels[0]
    weight = math.exp(smallest - energy_gap(view, upper))
    lower = upper - 1
    while lower > 0 and threshold >= weight:
        threshold -= weight
        weight *= view.weight[n_levels + lower]
        if weight <= 0.0:
            break
        lower -= 1
    return lower


@functools.cache
def _equi_energy_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, other: float) -> float:
        digest  # noqa: B018  part of the cache key
        sort_levels(view)
        smallest = math.inf
        for k in range(1, view.n_levels[0]):
            smallest = min(smallest, energy_gap(view, k))
        if smallest == math.inf:
            return 0.0
        upper = pick_upper(view, choice * fill_sums(view, smallest))
        lower = pick_lower(view, upper, other * view.weight[upper], smallest)
        one, two = view.order[upper], view.order[lower]
        view.pair[0] = min(one, two)
        view.pair[1] = max(one, two)
        return 0.0

    return propose_pair
