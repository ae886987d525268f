"""Two thin shells in a box: the usual trial of nested samplers, whose evidence is known."""

import functools
import math
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import whole_number
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

PLACE, RADIUS, WIDTH, SIDE = 3.5, 2.0, 0.1, 6.0  # of the centres, of a shell, and half the side of the box


def gaussian_shells(dim: int = 2) -> Problem:
    """Two shells with radius 2 and width 0.1 about ±3.5 on the first axis, with a uniform prior on [-6, 6]ᵈ.

    The log density is log likelihood plus log prior and -inf outside the box, so that ``log_normaliser`` is
    the log evidence (Feroz, Hobson & Bridges 2009). The modes are the centres, where there is no mass.
    """
    dim = whole_number("dim", dim, least=2)
    area = _area(dim)
    variance = (_radial_moment(dim + 1) / _radial_moment(dim - 1)) / dim
    covariance = variance * np.eye(dim)
    covariance[0, 0] += PLACE**2
    return Problem(
        name=f"Gaussian shells, {dim}-d",
        dim=dim,
        log_density=_density(dim),
        start=partial(_start, dim),
        mean=np.zeros(dim),
        covariance=covariance,
        log_normaliser=math.log(2.0 * area * _radial_moment(dim - 1)) - dim * math.log(2.0 * SIDE),
        modes=np.outer([-PLACE, PLACE], np.eye(dim)[0]),
        mode_weights=np.full(2, 0.5),
        sampler=partial(_draws, dim),
    )


def _area(dim: int) -> float:
    """Of the unit sphere."""
    return float(2.0 * math.pi ** (0.5 * dim) / math.gamma(0.5 * dim))


def _radial_moment(power: int) -> float:
    """E rⁿ for r normal about the radius; what lies below zero, twenty widths off, is nothing."""
    before, moment = 1.0, RADIUS
    for n in range(2, power + 1):
        before, moment = moment, RADIUS * moment + (n - 1) * WIDTH**2 * before
    return moment


@functools.lru_cache
def _density(dim: int) -> Any:
    constant = -0.5 * math.log(2.0 * math.pi * WIDTH**2) - dim * math.log(2.0 * SIDE)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        rest = 0.0
        for i in range(x.shape[0]):
            if abs(x[i]) > SIDE:
                return -math.inf
            if i > 0:
                rest += x[i] * x[i]
        left = -0.5 * ((math.sqrt((x[0] + PLACE) ** 2 + rest) - RADIUS) / WIDTH) ** 2
        right = -0.5 * ((math.sqrt((x[0] - PLACE) ** 2 + rest) - RADIUS) / WIDTH) ** 2
        high = max(left, right)
        return high + math.log1p(math.exp(min(left, right) - high)) + constant

    return log_density


def _start(dim: int, generator: np.random.Generator) -> FloatArray:
    return generator.uniform(-SIDE, SIDE, size=dim)


def _draws(dim: int, generator: np.random.Generator, n: int) -> FloatArray:
    directions = generator.standard_normal((n, dim))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    draws = directions * _radii(dim, generator, n)[:, None]
    draws[:, 0] += np.where(generator.random(n) < 0.5, -PLACE, PLACE)
    return draws


def _radii(dim: int, generator: np.random.Generator, n: int) -> FloatArray:
    """Draws of r to the power dim - 1 times the normal density, by rejection.

    With m the most likely r, (r / m) exp(1 - r / m) to that power is at most one, and is what the density
    is over a multiple of the normal density about m.
    """
    power = dim - 1
    likeliest = 0.5 * (RADIUS + math.sqrt(RADIUS**2 + 4.0 * power * WIDTH**2))
    kept = np.empty(0)
    while len(kept) < n:
        ratios = np.maximum(generator.normal(likeliest, WIDTH, size=n) / likeliest, 0.0)
        kept = np.append(
            kept, likeliest * ratios[generator.random(n) < (ratios * np.exp(1.0 - ratios)) ** power]
        )
    return kept[:n]
