"""Two bananas back to back: modes that no normal fits."""

import functools
import math
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, whole_number
from temperance.zoo.curved import bent_draws
from temperance.zoo.gaussians import normal_start
from temperance.zoo.mixtures import Component, mixture_density, mixture_moments
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

LOG_TWO_PI = math.log(2.0 * math.pi)
HALF_GAP = 10.0  # from the origin to the nearest ridge, in sds across it


def two_bananas(
    dim: int = 2, *, curvature: float = 0.03, sd: float = 10.0, upper_weight: float = 2.0 / 3.0
) -> Problem:
    """Two bananas back to back, twenty sds apart, the lower one the mirror image of the upper.

    Each is a `banana`, moved along the second coordinate until its ridge begins at 10 or at -10; the upper
    one opens upwards, the lower one downwards. Most of a normal's mass, fitted to a banana, lies off its
    ridge, and moving a point from one banana to the other without mirroring it leads away from the ridge. The
    density is written without its constant. All is exact; the modes, lower and upper, are the maxima.
    """
    dim = whole_number("dim", dim, least=2)
    curvature = number_between("curvature", curvature, 0.0, math.inf, closed="left")
    sd = number_between("sd", sd, 0.0, math.inf)
    upper = number_between("upper_weight", upper_weight, 0.0, 1.0)
    weights, axis = np.array([1.0 - upper, upper]), np.eye(dim)[1]
    variances = np.ones(dim)
    variances[:2] = sd**2, 1.0 + 2.0 * curvature**2 * sd**4
    height = HALF_GAP + curvature * sd**2  # of a banana's mean
    mean, covariance = mixture_moments(weights, np.outer([-height, height], axis), np.diag(variances))
    return Problem(
        name=f"two bananas, {dim}-d",
        dim=dim,
        log_density=mixture_density(_mirrored_bananas(curvature, sd), tuple(weights.tolist())),
        start=partial(normal_start, np.zeros(dim), np.sqrt(np.diag(covariance))),
        mean=mean,
        covariance=covariance,
        log_normaliser=math.log(sd) + 0.5 * dim * LOG_TWO_PI,
        modes=np.outer([-HALF_GAP, HALF_GAP], axis),
        mode_weights=weights,
        sampler=partial(_banana_draws, partial(bent_draws, dim, curvature, sd), height, upper),
    )


@functools.lru_cache
def _mirrored_bananas(curvature: float, sd: float) -> Component:
    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        up = x[1] if k == 1 else -x[1]
        across = up - HALF_GAP - curvature * x[0] * x[0]
        total = (x[0] / sd) ** 2 + across * across
        for i in range(2, x.shape[0]):
            total += x[i] * x[i]
        return float(-0.5 * total)

    return component


def _banana_draws(
    banana: Callable[[np.random.Generator, int], FloatArray],
    height: float,
    upper_weight: float,
    generator: np.random.Generator,
    n: int,
) -> FloatArray:
    draws = banana(generator, n)
    draws[:, 1] = np.where(generator.random(n) < upper_weight, 1.0, -1.0) * (height + draws[:, 1])
    return draws
