"""Modes with heavy tails: a mixture of Student's t."""

import functools
import math
from functools import partial

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, whole_number
from temperance.zoo.gaussians import normal_start
from temperance.zoo.mixtures import Component, mixture_density, mixture_moments, squared_distance
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

DISTANCE = 20.0  # between neighbours, in scales of a mode
LIGHTEST_TAILS = 1e6  # degrees of freedom; beyond it the log-gammas of the constant cancel too many digits


def student_modes(dim: int = 2, *, dof: float = 3.0, n_modes: int = 5) -> Problem:
    """Multivariate t modes of scale 1 on a circle, with weights 1 : 2 : … : ``n_modes``.

    Their centres are a regular polygon in the first two coordinates, neighbours twenty scales apart. A normal
    fitted to a mode has tails that are far too light, so that jumps drawn from it hardly ever return what
    went out there. ``dof`` must exceed 2, where the covariance begins to exist; up to 4 the fourth
    moments do not, and averages of squares converge slowly. The density is written without the t's constant.
    All is exact, with a reservation: the weights are those of the components, and with three degrees of
    freedom two draws in a thousand lie nearer to another component's centre than to their own.
    """
    dim = whole_number("dim", dim, least=2)
    dof = number_between("dof", dof, 2.0, LIGHTEST_TAILS, closed="right")
    n_modes = whole_number("n_modes", n_modes, least=2)
    weights = np.arange(1.0, n_modes + 1.0) / (0.5 * n_modes * (n_modes + 1.0))
    centres = _polygon(n_modes, dim)
    mean, covariance = mixture_moments(weights, centres, dof / (dof - 2.0) * np.eye(dim))
    return Problem(
        name=f"student modes, {n_modes} in {dim}-d",
        dim=dim,
        log_density=mixture_density(_round_students(n_modes, dim, dof), tuple(weights.tolist())),
        start=partial(normal_start, np.zeros(dim), np.sqrt(np.diag(covariance))),
        mean=mean,
        covariance=covariance,
        log_normaliser=_log_constant(dim, dof),
        modes=centres,
        mode_weights=weights,
        sampler=partial(_draws, centres, weights, dof),
    )


def _polygon(n_modes: int, dim: int) -> FloatArray:
    """Corners of a regular polygon about the origin, in the first two coordinates."""
    radius = 0.5 * DISTANCE / math.sin(math.pi / n_modes)
    angles = 2.0 * math.pi * np.arange(n_modes) / n_modes
    centres = np.zeros((n_modes, dim))
    centres[:, 0], centres[:, 1] = radius * np.cos(angles), radius * np.sin(angles)
    return centres


def _log_constant(dim: int, dof: float) -> float:
    """Log of the integral of (1 + |x|² / dof)^(-(dof + dim) / 2)."""
    return math.lgamma(0.5 * dof) - math.lgamma(0.5 * (dof + dim)) + 0.5 * dim * math.log(dof * math.pi)


@functools.lru_cache
def _round_students(n_modes: int, dim: int, dof: float) -> Component:
    centres = _polygon(n_modes, dim)

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        return -0.5 * (dof + dim) * math.log1p(squared_distance(x, centres, k) / dof)

    return component


def _draws(
    centres: FloatArray, weights: FloatArray, dof: float, generator: np.random.Generator, n: int
) -> FloatArray:
    chosen = generator.choice(len(weights), size=n, p=weights)
    stretch = np.sqrt(dof / generator.chisquare(dof, size=(n, 1)))
    draws: FloatArray = centres[chosen] + stretch * generator.standard_normal((n, centres.shape[1]))
    return draws
