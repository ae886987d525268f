"""Swap strategies for tests: the built-in ones, and some that depend on positions, levels and β.

Each comes with its weights written a second time, from the paper.
"""

import functools
import itertools
import math

import numba
import numpy as np

import naive
import temperance as tp
from temperance.swaps.custom import _compiled_kernel

RING_EDGES = [-3.0, -1.0, 1.0]


@numba.njit
def far_apart(i, j, x, log_density, beta):
    return math.log(1e-3 + abs(x[i, 0] - x[j, 0])) - 0.3 * i


@numba.njit
def lopsided(i, j, x, log_density, beta):
    return -0.8 * min(max(log_density[i], -20.0), 20.0) + 0.5 * j


def own(log_weight, name):
    """As `custom` makes it, but also with the compiler off."""
    kernel = functools.cache(lambda: _compiled_kernel(log_weight))
    return tp.swaps.Strategy(name=name, symmetric=False, kernel=kernel)


def weights_from(log_weight):
    def weights(points, energies, beta):
        pairs = list(itertools.combinations(range(len(beta)), 2))
        logs = np.array([log_weight(i, j, points, energies, beta) for i, j in pairs])
        if np.all(logs == -np.inf):
            return dict.fromkeys(pairs, 0.0)
        return dict(zip(pairs, np.exp(logs - logs.max()), strict=True))

    return weights


def where_finite(log_weight):
    """Pairs with a density of zero in them are left alone."""

    def guarded(i, j, x, u, beta):
        return log_weight(i, j, x, u, beta) if np.isfinite(u[i] - u[j]) else -np.inf

    return weights_from(np.errstate(invalid="ignore")(guarded))


def ring(energy):
    return sum(energy >= edge for edge in RING_EDGES)


WEIGHTS = {
    "equi_energy": lambda x, u, beta: naive.equi_energy_weights(u),
    "adjacent": lambda x, u, beta: {(i, i + 1): 1.0 for i in range(len(beta) - 1)},
    "uniform": weights_from(lambda i, j, x, u, beta: 0.0),
    "energy_rings": weights_from(lambda i, j, x, u, beta: 0.0 if ring(u[i]) == ring(u[j]) else -np.inf),
    "scaled_energy": where_finite(lambda i, j, x, u, beta: -abs(u[i] - u[j]) * (beta[i] - beta[j])),
    "big_jumps": where_finite(
        lambda i, j, x, u, beta: -abs(u[i] - u[j]) * (beta[i] - beta[j]) / (1 + np.linalg.norm(x[i] - x[j]))
    ),
    "uphill": where_finite(lambda i, j, x, u, beta: min(0.0, -(u[i] - u[j]))),
    "cold_energy": where_finite(lambda i, j, x, u, beta: -(beta[i] - beta[j]) * u[i]),
    "far_apart": weights_from(far_apart),
    "lopsided": weights_from(lopsided),
}
STRATEGIES = {
    "equi_energy": tp.swaps.equi_energy(),
    "adjacent": tp.swaps.adjacent(),
    "uniform": tp.swaps.uniform(),
    "energy_rings": tp.swaps.energy_rings(RING_EDGES),
    "scaled_energy": tp.swaps.scaled_energy(),
    "big_jumps": tp.swaps.big_jumps(),
    "uphill": tp.swaps.uphill(),
    "cold_energy": tp.swaps.cold_energy(),
    "far_apart": own(far_apart, "far_apart"),
    "lopsided": own(lopsided, "lopsided"),
}
SYMMETRIC = ["equi_energy", "adjacent", "uniform", "energy_rings"]
SWEEPS = {
    "even_odd": tp.swaps.even_odd(),
    "stochastic_even_odd": tp.swaps.stochastic_even_odd(),
    "heat_bath": tp.swaps.heat_bath(),
    "equi_energy_thrice": tp.swaps.equi_energy(repeats=3),
}
