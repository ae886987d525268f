"""What mixtures share: a compiled sum over the components, their moments, and round normals as components."""

import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]
Start = Callable[[np.random.Generator], FloatArray]
LogDensity = Any  # a compiled function of one vector
Component = Any  # a compiled function of a vector and the number of a component

NEGLIGIBLE = 50.0  # in logs, far below rounding; among hundreds of modes the exp of the far ones costs most


def normal_modes(
    name: str, centres: FloatArray, sds: FloatArray, weights: FloatArray, start: Start
) -> Problem:
    """A mixture of N(centre, sd² I), written without the Gaussians' common factor; all is exact."""
    dim = centres.shape[1]
    component = _round_normals(tuple(map(tuple, centres.tolist())), tuple(sds.tolist()))
    mean, covariance = mixture_moments(weights, centres, float(weights @ sds**2) * np.eye(dim))
    return Problem(
        name=name,
        dim=dim,
        log_density=mixture_density(component, tuple(weights.tolist())),
        start=start,
        mean=mean,
        covariance=covariance,
        log_normaliser=0.5 * dim * math.log(2.0 * math.pi),
        modes=centres,
        mode_weights=weights,
        sampler=partial(_normal_draws, centres, sds, weights),
    )


def mixture_moments(
    weights: FloatArray, means: FloatArray, within: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of a mixture; ``within`` is the weighted mean of its components' covariances."""
    mean = weights @ means
    centred = means - mean
    between = (weights[:, None] * centred).T @ centred
    return mean, between + within


@functools.lru_cache
def mixture_density(component: Component, weights: tuple[float, ...]) -> LogDensity:
    """Log of the weighted sum of exp(component(x, k)), compiled once for the same component and weights."""
    log_weights = np.log(weights)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        largest, total = -math.inf, 0.0  # total is in units of the largest term so far
        for k in range(log_weights.shape[0]):
            term = log_weights[k] + component(x, k)
            if term > largest:
                total = total * math.exp(largest - term) + 1.0
                largest = term
            elif not term < largest - NEGLIGIBLE:  # so that NaN is added
                total += math.exp(term - largest)
        return float(largest + math.log(total))

    return log_density


@numba.njit
def squared_distance(x: FloatArray, centres: FloatArray, k: int) -> float:
    """From ``x`` to row ``k`` of ``centres``."""
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] - centres[k, i]) ** 2
    return total


@functools.lru_cache
def _round_normals(places: tuple[tuple[float, ...], ...], sds: tuple[float, ...]) -> Component:
    centres, half_precisions = np.array(places), 0.5 / np.array(sds) ** 2
    log_heights = -centres.shape[1] * np.log(sds)

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        return float(log_heights[k] - half_precisions[k] * squared_distance(x, centres, k))

    return component


def _normal_draws(
    centres: FloatArray, sds: FloatArray, weights: FloatArray, generator: np.random.Generator, n: int
) -> FloatArray:
    chosen = generator.choice(len(weights), size=n, p=weights)
    draws: FloatArray = centres[chosen] + sds[chosen, None] * generator.standard_normal((n, centres.shape[1]))
    return draws
