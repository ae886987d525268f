"""Two rings far apart: modes whose centres are empty."""

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

HALF_GAP = 10.0  # from the origin to the nearest rim, in thicknesses


def rings(
    dim: int = 2, *, radius: float = 5.0, thickness: float = 0.5, right_weight: float = 2.0 / 3.0
) -> Problem:
    """Two rings in the plane of the first two coordinates, their rims twenty thicknesses apart.

    About its centre a ring is exp(-(r - radius)² / (2 thickness²)), where r is the distance in the plane; the
    other coordinates are N(0, thickness²). The mean of a ring is where nothing is: a normal fitted to it
    fills the hole, and a walk that fits the whole is far too wide across the rim. The density is written
    without its constant, which like the moments is a closed form. All is exact, but the modes are the
    centres of the rings, not maxima.
    """
    dim = whole_number("dim", dim, least=2)
    radius = number_between("radius", radius, 0.0, math.inf, closed="left")
    thickness = number_between("thickness", thickness, 0.0, math.inf)
    right = number_between("right_weight", right_weight, 0.0, 1.0)
    weights, place = np.array([1.0 - right, right]), radius + HALF_GAP * thickness
    centres = np.outer([-place, place], np.eye(dim)[0])
    area, mean_square = _radial_integrals(radius, thickness)
    variances = np.full(dim, thickness**2)
    variances[:2] = 0.5 * mean_square
    mean, covariance = mixture_moments(weights, centres, np.diag(variances))
    return Problem(
        name=f"rings, {dim}-d",
        dim=dim,
        log_density=mixture_density(_ring(radius, thickness), tuple(weights.tolist())),
        start=partial(normal_start, np.zeros(dim), np.sqrt(np.diag(covariance))),
        mean=mean,
        covariance=covariance,
        log_normaliser=math.log(area) + 0.5 * (dim - 2) * math.log(2.0 * math.pi * thickness**2),
        modes=centres,
        mode_weights=weights,
        sampler=partial(_draws, centres, radius, thickness, right),
    )


def _radial_integrals(radius: float, thickness: float) -> tuple[float, float]:
    """A ring's integral over the plane, and the mean of the squared distance from its centre.

    With r = radius + thickness z both follow from the integrals of zⁿ exp(-z² / 2) over z > -radius /
    thickness, n = 0 … 3, which are known by parts.
    """
    edge = radius / thickness
    at_edge = math.exp(-0.5 * edge**2)
    zeroth = math.sqrt(0.5 * math.pi) * math.erfc(-edge / math.sqrt(2.0))
    first, second, third = at_edge, zeroth - edge * at_edge, (edge**2 + 2.0) * at_edge
    mass = edge * zeroth + first  # the integral of r, in thicknesses
    cubes = edge**3 * zeroth + 3.0 * edge**2 * first + 3.0 * edge * second + third  # and of r³
    return 2.0 * math.pi * thickness**2 * mass, thickness**2 * cubes / mass


@functools.lru_cache
def _ring(radius: float, thickness: float) -> Component:
    place = radius + HALF_GAP * thickness

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        along = x[0] - place if k == 1 else x[0] + place
        total = (math.sqrt(along * along + x[1] * x[1]) - radius) ** 2
        for i in range(2, x.shape[0]):
            total += x[i] * x[i]
        return float(-0.5 * total / thickness**2)

    return component


def _draws(
    centres: FloatArray,
    radius: float,
    thickness: float,
    right_weight: float,
    generator: np.random.Generator,
    n: int,
) -> FloatArray:
    draws = thickness * generator.standard_normal((n, centres.shape[1]))
    angles = generator.uniform(0.0, 2.0 * math.pi, size=n)
    distances = _radii(radius, thickness, generator, n)
    draws[:, 0], draws[:, 1] = distances * np.cos(angles), distances * np.sin(angles)
    draws += centres[(generator.random(n) < right_weight).astype(np.intp)]
    return draws


def _radii(radius: float, thickness: float, generator: np.random.Generator, n: int) -> FloatArray:
    """Draws of r exp(-(r - radius)² / (2 thickness²)), r > 0, by rejection.

    With m the most likely r, r ≤ m exp(r / m - 1) bounds it by a multiple of N(m, thickness²), so that a
    normal r is kept with probability (r / m) exp(1 - r / m).
    """
    likeliest = 0.5 * (radius + math.sqrt(radius**2 + 4.0 * thickness**2))
    kept = np.empty(0)
    while len(kept) < n:
        ratios = generator.normal(likeliest, thickness, size=n) / likeliest
        accepted = generator.random(n) < ratios * np.exp(1.0 - ratios)  # never where r is negative
        kept = np.append(kept, likeliest * ratios[accepted])
    return kept[:n]
