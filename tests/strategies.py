"""Swap strategies for tests: the built-in ones, and some that depend on positions, levels and β."""

import math

import numba

import temperance as tp
from temperance.swaps.weighted import from_log_weight


@numba.njit
def scaled_energy(i, j, x, log_density, beta):
    return -abs(log_density[i] - log_density[j]) * (beta[i] - beta[j])


@numba.njit
def far_apart(i, j, x, log_density, beta):
    return math.log(1e-3 + abs(x[i, 0] - x[j, 0])) - 0.3 * i


@numba.njit
def lopsided(i, j, x, log_density, beta):
    return -0.8 * min(max(log_density[i], -20.0), 20.0) + 0.5 * j


LOG_WEIGHTS = {f.__name__: f for f in (scaled_energy, far_apart, lopsided)}
STRATEGIES = {
    "adjacent": tp.swaps.adjacent(),
    "uniform": tp.swaps.uniform(),
    "equi_energy": tp.swaps.equi_energy(),
    **{name: from_log_weight(weight, name=name) for name, weight in LOG_WEIGHTS.items()},
}
