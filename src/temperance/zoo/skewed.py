"""Modes that lean to one side: a mixture of products of skew normals."""

import functools
import math
from functools import partial

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, whole_number
from temperance.zoo.gaussians import normal_start
from temperance.zoo.mixtures import Component, mixture_density, mixture_moments
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

DISTANCE = 14.0  # between neighbours along the first coordinate, in scales
WEIGHTS = (0.5, 0.3, 0.2)
FAR_OUT = -20.0  # where the normal distribution function is its asymptotic series to seven digits


def skew_modes(dim: int = 3, *, slant: float = 4.0) -> Problem:
    """Three modes whose coordinates are independent skew normals (Azzalini 1985) of scale 1.

    Neighbours are fourteen scales apart along the first coordinate and lean to opposite sides; the weights
    are 0.5, 0.3 and 0.2. Each mode has one sharp flank and one long one, so that no ellipse describes it.
    ``slant`` is the shape parameter of SciPy's ``skewnorm``. The density is written without the normals'
    constants; the modes are the means of the components. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    slant = number_between("slant", slant, 0.0, 100.0, closed="both")
    weights, places, sides = np.array(WEIGHTS), _places(dim), _sides(dim)
    delta = slant / math.hypot(1.0, slant)
    centres = places + sides * delta * math.sqrt(2.0 / math.pi)
    variance = 1.0 - 2.0 * delta**2 / math.pi
    mean, covariance = mixture_moments(weights, centres, variance * np.eye(dim))
    return Problem(
        name=f"skew modes, {dim}-d",
        dim=dim,
        log_density=mixture_density(_products(dim, slant), WEIGHTS),
        start=partial(normal_start, mean, np.sqrt(np.diag(covariance))),
        mean=mean,
        covariance=covariance,
        log_normaliser=dim * math.log(0.5 * math.sqrt(2.0 * math.pi)),
        modes=centres,
        mode_weights=weights,
        sampler=partial(_draws, places, sides, delta, weights),
    )


def _places(dim: int) -> FloatArray:
    places = np.zeros((len(WEIGHTS), dim))
    places[:, 0] = DISTANCE * np.arange(len(WEIGHTS))
    return places


def _sides(dim: int) -> FloatArray:
    """Which way each coordinate of each mode leans."""
    return np.where((np.arange(len(WEIGHTS))[:, None] + np.arange(dim)) % 2 == 0, 1.0, -1.0)


@numba.njit
def log_normal_cdf(t: float) -> float:
    """Log of the standard normal distribution function, also where it is below the smallest number."""
    if t > FAR_OUT:
        return math.log(0.5 * math.erfc(-t / math.sqrt(2.0)))
    square = t * t
    series = 1.0 - 1.0 / square + 3.0 / square**2 - 15.0 / square**3
    return -0.5 * square - math.log(-t * math.sqrt(2.0 * math.pi)) + math.log(series)


@functools.lru_cache
def _products(dim: int, slant: float) -> Component:
    places, sides = _places(dim), _sides(dim)

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            z = x[i] - places[k, i]
            total += log_normal_cdf(slant * sides[k, i] * z) - 0.5 * z * z
        return total

    return component


def _draws(
    places: FloatArray,
    sides: FloatArray,
    delta: float,
    weights: FloatArray,
    generator: np.random.Generator,
    n: int,
) -> FloatArray:
    chosen = generator.choice(len(weights), size=n, p=weights)
    folded, plain = (
        np.abs(generator.standard_normal((n, places.shape[1]))),
        generator.standard_normal((n, places.shape[1])),
    )
    draws: FloatArray = places[chosen] + sides[chosen] * (
        delta * np.abs(folded) + math.sqrt(1.0 - delta**2) * plain
    )
    return draws
