"""What is known of walks, ladders and distances on a Gaussian: the yardsticks of adaptation and warnings."""

import functools
import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ASYMPTOTIC_SCALE = 2.38  # Roberts, Gelman & Gilks 1997: the best scale is 2.38/√d


def asymptotic_scale(dim: int) -> float:
    """The best scale of a random walk on a Gaussian in many dimensions; in few it is somewhat larger."""
    return ASYMPTOTIC_SCALE / math.sqrt(dim)


@functools.cache
def best_acceptance(dim: int) -> float:
    """The acceptance of the random walk on a Gaussian in ``dim`` dimensions that jumps farthest.

    The expected squared jump of a walk of scale s is ``s² E |Z|² 2 Φ(-s |Z| / 2)`` with Z standard normal
    (Gelman, Roberts & Gilks 1996 found 0.44 in one dimension, 0.35 in two, 0.28 in five).
    """
    radii, weights = _chi_quadrature(dim)
    scales = asymptotic_scale(dim) * np.linspace(0.8, 1.2, 81)
    tails = np.array([[math.erfc(scale * radius / math.sqrt(8.0)) for radius in radii] for scale in scales])
    jumps = scales**2 * (tails @ (weights * radii**2))
    return float(tails[np.argmax(jumps)] @ weights)


@functools.cache
def gaussian_scale(acceptance: float, dim: int) -> float:
    """The scale at which a random walk on a Gaussian in ``dim`` dimensions is accepted at this rate.

    The acceptance is ``2 E Φ(-s |Z| / 2)`` with Z standard normal, decreasing in s.
    """
    radii, weights = _chi_quadrature(dim)

    def accepted(scale: float) -> float:
        tails = np.array([math.erfc(scale * radius / math.sqrt(8.0)) for radius in radii])
        return float(weights @ tails)

    low, high = 0.0, 1.0
    while accepted(high) > acceptance:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if accepted(middle) > acceptance else (low, middle)
    return 0.5 * (low + high)


def _chi_quadrature(dim: int, n_points: int = 1000) -> tuple[FloatArray, FloatArray]:
    """Radii and normalised weights for an expectation over the length of a standard normal vector."""
    centre = math.sqrt(max(dim - 1, 0))
    radii = np.linspace(max(0.0, centre - 8.0), centre + 8.0, n_points + 1)
    radii = 0.5 * (radii[1:] + radii[:-1])
    log_weights = (dim - 1) * np.log(radii) - 0.5 * radii**2
    weights = np.exp(log_weights - log_weights.max())
    return radii, weights / weights.sum()


def gaussian_log_ratio(acceptance: float, dim: int) -> float:
    """Log of the ratio of temperatures at which adjacent levels of a Gaussian exchange at this rate.

    Their log densities differ by about √d · log ratio standard deviations, so that the rate is
    ``2 Φ(-√d · log ratio / 2)``: 2.38/√d at 0.234.
    """
    return -2.0 * NormalDist().inv_cdf(0.5 * acceptance) / math.sqrt(dim)


def learnt_acceptance(dim: int, n_states: float) -> float:
    """How many independence proposals are accepted, whose covariance is that of so many independent states.

    Each of the d²/2 terms of the covariance has an error, and they add up in the log of the ratio:
    exp(−d²/2n).
    """
    return math.exp(-(dim**2) / (2.0 * n_states)) if n_states > 0.0 else 0.0


def student_tail(square: float, dim: int, dof: float) -> float:
    """The chance that a multivariate Student's t of unit covariance is at this squared distance or farther.

    With x = 1 / (1 + square / (dof − 2)) it is the regularised incomplete beta function I_x(dof/2, d/2), by
    its series of positive terms. Near the centre, where that would take long, it is taken as certain.
    """
    a, b = 0.5 * dof, 0.5 * dim
    x = 1.0 / (1.0 + square / (dof - 2.0))
    if x > 0.999:
        return 1.0
    term = total = 1.0
    for n in range(10_000):
        term *= (a + b + n) * x / (a + 1.0 + n)
        total += term
        if term < 1e-12 * total:
            break
    log_front = a * math.log(x) + b * math.log1p(-x) - math.log(a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return min(1.0, math.exp(log_front - log_beta) * total)


def chi_square_quantile(probability: float, dim: int) -> float:
    """Of the squared length of a standard normal vector, by Wilson & Hilferty's approximation."""
    part = 2.0 / (9.0 * dim)
    return float(dim * (1.0 - part + NormalDist().inv_cdf(probability) * math.sqrt(part)) ** 3)
