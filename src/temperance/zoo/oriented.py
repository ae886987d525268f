"""Normal modes each of which has a shape of its own."""

import functools
import math
from functools import partial

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import whole_number
from temperance.zoo.gaussians import normal_start
from temperance.zoo.mixtures import Component, mixture_density, mixture_moments
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

SEED = 17  # of the directions
RADIUS = 20.0  # of the centres about the origin
SHORTEST, LONGEST = 0.2, 2.0  # standard deviations along the axes of a mode


def oriented_modes(dim: int = 5) -> Problem:
    """As many normal modes as dimensions, each stretched tenfold along axes of its own.

    Their centres are orthogonal, twenty from the origin, and the weights are 1 : 2 : … : ``dim``. Sampling
    that assumes one shape for all modes, or for all of a level, is off in every one of them. The density is
    written without the Gaussians' common factor; all is exact.
    """
    dim = whole_number("dim", dim, least=2)
    weights = np.arange(1.0, dim + 1.0) / (0.5 * dim * (dim + 1.0))
    centres, roots = _shapes(dim)
    covariances = roots @ np.swapaxes(roots, 1, 2)
    mean, covariance = mixture_moments(weights, centres, np.tensordot(weights, covariances, 1))
    return Problem(
        name=f"oriented modes, {dim}-d",
        dim=dim,
        log_density=mixture_density(_normals(dim), tuple(weights.tolist())),
        start=partial(normal_start, np.zeros(dim), np.sqrt(np.diag(covariance))),
        mean=mean,
        covariance=covariance,
        log_normaliser=0.5 * dim * math.log(2.0 * math.pi),
        modes=centres,
        mode_weights=weights,
        sampler=partial(_draws, centres, roots, weights),
    )


def _shapes(dim: int) -> tuple[FloatArray, FloatArray]:
    """Centres, and for each mode a square root of its covariance: the axes times their lengths."""
    generator = np.random.default_rng(SEED)
    turned = [np.linalg.qr(generator.standard_normal((dim, dim)))[0] for _ in range(dim + 1)]
    lengths = np.geomspace(SHORTEST, LONGEST, dim)
    return RADIUS * turned[0], np.array([axes * lengths for axes in turned[1:]])


@functools.lru_cache
def _normals(dim: int) -> Component:
    centres, roots = _shapes(dim)
    whiteners = np.ascontiguousarray(np.linalg.inv(roots))
    log_heights = np.linalg.slogdet(whiteners)[1]

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            z = 0.0
            for j in range(x.shape[0]):
                z += whiteners[k, i, j] * (x[j] - centres[k, j])
            total += z * z
        return float(log_heights[k] - 0.5 * total)

    return component


def _draws(
    centres: FloatArray, roots: FloatArray, weights: FloatArray, generator: np.random.Generator, n: int
) -> FloatArray:
    chosen = generator.choice(len(weights), size=n, p=weights)
    normals = generator.standard_normal((n, centres.shape[1]))
    draws: FloatArray = centres[chosen] + np.einsum("nij,nj->ni", roots[chosen], normals)
    return draws
