"""Weights from the paper and its authors' first experiments that are not symmetric.

Δ is log π(x_i) − log π(x_j), level i the colder. They need the ratio of normalised weights in Eq. (3): a
weight that is symmetric in the two states is not enough when it depends on β or on the level.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numba.extending import is_jitted

from temperance.checks import one_of
from temperance.core.compile import compiled, compiled_around, kernel_digest
from temperance.core.state import FloatArray, SwapView
from temperance.swaps.custom import custom
from temperance.swaps.recipe import built_in
from temperance.swaps.strategy import Definition, Kernel, Strategy, pair_kernel, repeated
from temperance.swaps.weighted import propose_weighted

# Places in the strategy's parameters, and the values they take.
FORMULA, METRIC = 0, 1
SCALED, BIG_JUMPS, UPHILL, COLD_ENERGY = 0.0, 1.0, 2.0, 3.0
METRICS = ("euclidean", "manhattan", "chebyshev")


@built_in
def scaled_energy(*, repeats: int = 1) -> Strategy:
    """Weights ``exp(-|Δ| (β_i - β_j))``: similar energies, the more so the further apart the levels."""
    return _formula("scaled energy", SCALED, repeats)


@built_in
def big_jumps(*, metric: str | Callable[..., float] = "euclidean", repeats: int = 1) -> Strategy:
    """Weights ``exp(-|Δ| (β_i - β_j) / (1 + distance))``: far positions may differ more in energy.

    ``metric`` is a name, or a function of two vectors, best compiled with ``@numba.njit``.
    """
    if callable(metric):
        return replace(custom(_jump_weight(metric), log=True, repeats=repeats), name="big jumps")
    one_of("metric", metric, METRICS)
    return _formula("big jumps", BIG_JUMPS, repeats, metric)


@built_in
def uphill(*, repeats: int = 1) -> Strategy:
    """Weights min(1, exp(-Δ)): pairs whose hotter position is the likelier one."""
    return _formula("uphill", UPHILL, repeats)


@built_in
def cold_energy(*, repeats: int = 1) -> Strategy:
    """Weights exp(-(β_i - β_j) log π(x_i)): pairs whose colder position is unlikely."""
    return _formula("cold energy", COLD_ENERGY, repeats)


def _jump_weight(metric: Callable[..., float]) -> Any:
    def weight(i: int, j: int, x: FloatArray, log_density: FloatArray, beta: FloatArray) -> float:
        delta = float(log_density[i] - log_density[j])
        if not math.isfinite(delta):
            return -math.inf
        return float(-abs(delta) * (beta[i] - beta[j]) / (1.0 + metric(x[i], x[j])))

    return compiled_around(weight) if is_jitted(metric) else weight


def _formula(name: str, formula: float, repeats: int, metric: str = METRICS[0]) -> Strategy:
    parameters = np.array([formula, float(METRICS.index(metric))])
    return Strategy(
        name=name,
        symmetric=False,
        kernel=_formula_kernel,
        attempts=repeated(repeats),
        definition=_definition(formula, metric),
        parameters=parameters,
    )


def _definition(formula: float, metric: str) -> Definition:
    def weights(position: FloatArray, log_density: FloatArray, beta: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            delta = log_density[:, None] - log_density
        gap = beta[:, None] - beta
        offsets = np.abs(position[:, None] - position)
        distance = {
            "euclidean": np.sqrt((offsets**2).sum(axis=2)),
            "manhattan": offsets.sum(axis=2),
            "chebyshev": offsets.max(axis=2),
        }[metric]
        with np.errstate(invalid="ignore"):
            logs = {
                SCALED: -np.abs(delta) * gap,
                BIG_JUMPS: -np.abs(delta) * gap / (1.0 + distance),
                UPHILL: np.minimum(0.0, -delta),
                COLD_ENERGY: -gap * log_density[:, None],
            }[formula]
        return np.where(np.isfinite(delta), logs, -np.inf)

    return weights


@compiled
def distance_between(view: SwapView, i: int, j: int) -> float:
    """How far apart two positions are, by the strategy's metric."""
    total, largest = 0.0, 0.0
    squared = view.parameters[METRIC] == 0.0
    for k in range(view.position.shape[1]):
        offset = abs(view.position[i, k] - view.position[j, k])
        total += offset * offset if squared else offset
        largest = max(largest, offset)
    if squared:
        return math.sqrt(total)
    return total if view.parameters[METRIC] == 1.0 else largest


@compiled
def formula_log_weight(view: SwapView, i: int, j: int) -> float:
    """The log weight of one pair; a position of density zero is exchanged with none."""
    delta = float(view.log_density[i] - view.log_density[j])
    gap = float(view.beta[i] - view.beta[j])
    if not math.isfinite(delta):
        return -math.inf
    formula = view.parameters[FORMULA]
    if formula == SCALED:
        return -abs(delta) * gap
    if formula == BIG_JUMPS:
        return -abs(delta) * gap / (1.0 + distance_between(view, i, j))
    if formula == UPHILL:
        return min(0.0, -delta)
    return float(-gap * view.log_density[i])


@compiled
def fill_formula(view: SwapView) -> None:
    """The log weights of all pairs, in place."""
    pair = 0
    for i in range(view.n_levels[0]):
        for j in range(i + 1, view.n_levels[0]):
            view.weight[pair] = formula_log_weight(view, i, j)
            pair += 1


@functools.cache
def _formula_kernel() -> Kernel:
    digest = kernel_digest()

    @pair_kernel
    def propose_pair(view: SwapView, choice: float, _: float) -> float:
        digest  # noqa: B018  part of the cache key
        return propose_weighted(fill_formula, view, choice)

    return propose_pair
