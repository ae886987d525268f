"""Modes in many dimensions: two far from each other, alike or not, and more than any list can hold."""

import functools
import math
from functools import partial
from typing import Any, Literal

import numba
import numpy as np

from temperance.checks import one_of, whole_number
from temperance.zoo.gaussians import normal_start
from temperance.zoo.mixtures import Component, mixture_density, mixture_moments
from temperance.zoo.problem import FloatArray, Problem

Shape = Literal["round", "correlated", "unrelated", "student"]
SHAPES = ("round", "correlated", "unrelated", "student")
USUAL_DIM = 100.0  # in which the wider of two modes has variance one
VARIANCES = np.array([0.5, 1.0])  # of the two modes, beside each other
CORRELATION = 0.5  # between neighbours
SPREAD = 0.5  # sd of the logs of the widths along unrelated axes
SHAPE_SEED = 28  # of the unrelated shapes
DOF = 5.0  # of the Student modes
# The marginal exp(−a⁴ + 6a² + a/2) of a well, by quadrature: beyond four it is below e^-150 of its peak.
WELL_GRID = np.linspace(-4.0, 4.0, 80_001)


def far_pair(dim: int = 50, *, shape: Shape = "round") -> Problem:
    """Half of the mass about −1 in all coordinates, half about +1, the second mode with twice the variance.

    The variances are √(dim / 100) / 2 and √(dim / 100). Round modes are normal; with ``shape="correlated"``
    neighbouring coordinates of both are correlated, by 0.5; ``"unrelated"`` modes have axes and widths of
    their own; ``"student"`` ones are Student's t with 5 degrees of freedom. In fifty dimensions jumps need
    the covariance of each mode to a percent or so; a map between the modes does not. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    one_of("shape", shape, SHAPES)
    centres, roots = _places(dim), _roots(dim, shape)
    dof = DOF if shape == "student" else math.inf
    spread = dof / (dof - 2.0) if dof < math.inf else 1.0
    weights = np.full(2, 0.5)
    within = spread * (roots @ np.swapaxes(roots, 1, 2)).mean(axis=0)
    mean, covariance = mixture_moments(weights, centres, within)
    return Problem(
        name=f"far pair, {dim}-d" + ("" if shape == "round" else f", {shape}"),
        dim=dim,
        log_density=mixture_density(_component(dim, shape), tuple(weights.tolist())),
        start=partial(normal_start, np.zeros(dim), 1.0),
        mean=mean,
        covariance=covariance,
        log_normaliser=0.0,
        modes=centres,
        mode_weights=weights,
        sampler=partial(_draws, centres, roots, dof),
    )


def many_well(pairs: int = 16) -> Problem:
    """Pairs of coordinates (a, b) with log density −a⁴ + 6a² + a/2 − b²/2 each, so that modes are countless.

    Each a has a hump at about −1.7 and a heavier one at about +1.8, with 0.844307 of the mass: sixteen pairs
    have 65,536 modes. No list of them is ever complete, but every coordinate has two humps. After Noé et
    al. (2019, Science 365, eaaw1147) and Midgley et al. (2023, ICLR). All is exact, the list of modes left
    out.
    """
    pairs = whole_number("pairs", pairs, least=1)
    density, log_mass = _well()
    mean = float(np.trapezoid(density * WELL_GRID, WELL_GRID))
    variance = float(np.trapezoid(density * (WELL_GRID - mean) ** 2, WELL_GRID))
    return Problem(
        name=f"many well, {2 * pairs}-d",
        dim=2 * pairs,
        log_density=_wells,
        start=partial(normal_start, np.zeros(2 * pairs), 1.0),
        mean=np.tile([mean, 0.0], pairs),
        covariance=np.diag(np.tile([variance, 1.0], pairs)),
        log_normaliser=pairs * (log_mass + 0.5 * math.log(2.0 * math.pi)),
        sampler=partial(_well_draws, pairs),
    )


def _places(dim: int) -> FloatArray:
    return np.array([np.full(dim, -1.0), np.full(dim, 1.0)])


def _roots(dim: int, shape: Shape) -> FloatArray:
    """Roots of the scale matrices of both modes, (mode, dim, dim)."""
    widths = np.sqrt(VARIANCES * math.sqrt(dim / USUAL_DIM))[:, None, None]
    if shape == "correlated":
        apart = np.abs(np.subtract.outer(np.arange(dim), np.arange(dim)))
        return np.asarray(widths * np.linalg.cholesky(CORRELATION**apart), dtype=np.float64)
    if shape == "unrelated":
        generator = np.random.default_rng(SHAPE_SEED)
        axes = np.linalg.qr(generator.standard_normal((2, dim, dim)))[0]
        scales = SPREAD * generator.standard_normal((2, dim))
        scales -= scales.mean(axis=1, keepdims=True)
        return np.asarray(widths * axes * np.exp(scales)[:, None, :], dtype=np.float64)
    return np.asarray(widths * np.eye(dim), dtype=np.float64)


@functools.lru_cache
def _component(dim: int, shape: Shape) -> Component:
    centres, roots = _places(dim), _roots(dim, shape)
    inverses = np.ascontiguousarray(np.linalg.inv(roots))
    round_ones = shape in ("round", "student")
    precisions = np.array([inverse[0, 0] ** 2 for inverse in inverses])
    log_heights = -np.linalg.slogdet(roots)[1] + _log_constant(dim, shape)
    dof = DOF if shape == "student" else 0.0

    @numba.njit
    def component(x: FloatArray, k: int) -> float:
        square = 0.0
        for i in range(dim):
            z = 0.0
            if round_ones:
                z = x[i] - centres[k, i]
            else:
                for j in range(dim):
                    z += inverses[k, i, j] * (x[j] - centres[k, j])
            square += z * z
        if round_ones:
            square *= precisions[k]
        fall = 0.5 * (dof + dim) * math.log1p(square / dof) if dof > 0.0 else 0.5 * square
        return float(log_heights[k] - fall)

    return component


def _log_constant(dim: int, shape: Shape) -> float:
    """Log density of a standard mode at its centre."""
    if shape != "student":
        return -0.5 * dim * math.log(2.0 * math.pi)
    return math.lgamma(0.5 * (DOF + dim)) - math.lgamma(0.5 * DOF) - 0.5 * dim * math.log(DOF * math.pi)


def _draws(
    centres: FloatArray, roots: FloatArray, dof: float, generator: np.random.Generator, n: int
) -> FloatArray:
    chosen = generator.integers(0, 2, n)
    z = generator.standard_normal((n, centres.shape[1]))
    if dof < math.inf:
        z *= np.sqrt(dof / generator.chisquare(dof, size=(n, 1)))
    steps = np.where((chosen == 0)[:, None], z @ roots[0].T, z @ roots[1].T)
    draws: FloatArray = centres[chosen] + steps
    return draws


@numba.njit
def _wells(x: FloatArray) -> float:
    total = 0.0
    for i in range(0, x.shape[0], 2):
        a, b = x[i], x[i + 1]
        total += -(a**4) + 6.0 * a**2 + 0.5 * a - 0.5 * b**2
    return total


@functools.cache
def _well() -> tuple[FloatArray, float]:
    """The normalised marginal of a on the grid, and the log of its mass."""
    log_density: Any = -(WELL_GRID**4) + 6.0 * WELL_GRID**2 + 0.5 * WELL_GRID
    peak = float(log_density.max())
    density = np.exp(log_density - peak)
    mass = float(np.trapezoid(density, WELL_GRID))
    return density / mass, peak + math.log(mass)


def _well_draws(pairs: int, generator: np.random.Generator, n: int) -> FloatArray:
    density, _ = _well()
    cumulative = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    draws = generator.standard_normal((n, 2 * pairs))
    draws[:, ::2] = np.interp(generator.random((n, pairs)), cumulative / cumulative[-1], WELL_GRID)
    return draws
