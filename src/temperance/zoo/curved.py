"""Targets whose shape changes from place to place: no single covariance fits them."""

import functools
import math
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, whole_number
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]
LogDensity = Any  # a compiled function of one vector

LOG_TWO_PI = math.log(2.0 * math.pi)
WIDEST_FUNNEL = 30.0  # its variances, exp(sd²/2), are still numbers


def banana(dim: int = 2, *, curvature: float = 0.03, sd: float = 10.0) -> Problem:
    """A Gaussian bent into a parabola.

    The first coordinate is N(0, sd²), the second N(0, 1) about ``curvature`` · (x₀² - sd²), the others are
    N(0, 1). After Haario, Saksman & Tamminen (1999, Comput. Stat. 14, 375-395), up to a reflection. A
    walk whose covariance fits the whole is far too wide across the thin tails. All is exact, except that
    there are no modes but one ridge. The density is written without its constant.
    """
    dim = whole_number("dim", dim, least=2)
    curvature = number_between("curvature", curvature, -math.inf, math.inf)
    sd = number_between("sd", sd, 0.0, math.inf)
    variances = np.ones(dim)
    variances[:2] = sd**2, 1.0 + 2.0 * curvature**2 * sd**4
    return Problem(
        name=f"banana, {dim}-d",
        dim=dim,
        log_density=_bent(curvature, sd),
        start=partial(_start, np.sqrt(variances)),
        mean=np.zeros(dim),
        covariance=np.diag(variances),
        log_normaliser=math.log(sd) + 0.5 * dim * LOG_TWO_PI,
        sampler=partial(bent_draws, dim, curvature, sd),
    )


def funnel(dim: int = 10, *, sd: float = 3.0) -> Problem:
    """Neal's funnel: x₀ is N(0, sd²), the others N(0, exp(x₀)) given it.

    After Neal (2003, Ann. Stat. 31, 705-767). The scale of the others spans orders of magnitude, and the
    narrow end holds as much mass as the wide one. All is exact, except that there are no modes: the one
    maximum is far down the neck and says little. Averages of draws are slow to show the second moments,
    which come from rare large values. The density is written without its constant.
    """
    dim = whole_number("dim", dim, least=2)
    sd = number_between("sd", sd, 0.0, WIDEST_FUNNEL, closed="right")
    variances = np.full(dim, math.exp(0.5 * sd**2))
    variances[0] = sd**2
    return Problem(
        name=f"funnel, {dim}-d",
        dim=dim,
        log_density=_narrowing(sd),
        start=partial(_start, np.sqrt(variances)),
        mean=np.zeros(dim),
        covariance=np.diag(variances),
        log_normaliser=math.log(sd) + 0.5 * dim * LOG_TWO_PI,
        sampler=partial(_narrowing_draws, dim, sd),
    )


@functools.lru_cache
def _bent(curvature: float, sd: float) -> LogDensity:
    @numba.njit
    def log_density(x: FloatArray) -> float:
        across = x[1] - curvature * (x[0] * x[0] - sd * sd)
        total = (x[0] / sd) ** 2 + across * across
        for i in range(2, x.shape[0]):
            total += x[i] * x[i]
        return float(-0.5 * total)

    return log_density


@functools.lru_cache
def _narrowing(sd: float) -> LogDensity:
    @numba.njit
    def log_density(x: FloatArray) -> float:
        total = 0.0
        for i in range(1, x.shape[0]):
            total += x[i] * x[i]
        log_scales = 0.5 * (x.shape[0] - 1) * x[0]
        return float(-0.5 * (x[0] / sd) ** 2 - log_scales - 0.5 * total * math.exp(-x[0]))

    return log_density


def _start(sds: FloatArray, generator: np.random.Generator) -> FloatArray:
    """As wide as the target in each coordinate, and independent: mostly off the ridge or neck."""
    return generator.normal(0.0, sds)


def bent_draws(dim: int, curvature: float, sd: float, generator: np.random.Generator, n: int) -> FloatArray:
    """Exact draws of the banana."""
    draws = generator.standard_normal((n, dim))
    draws[:, 0] *= sd
    draws[:, 1] += curvature * (draws[:, 0] ** 2 - sd**2)
    return draws


def _narrowing_draws(dim: int, sd: float, generator: np.random.Generator, n: int) -> FloatArray:
    draws = generator.standard_normal((n, dim))
    draws[:, 0] *= sd
    draws[:, 1:] *= np.exp(0.5 * draws[:, :1])
    return draws
