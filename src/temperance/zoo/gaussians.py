"""Gaussians and mixtures of two, in any number of dimensions, as compiled densities."""

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
LogDensity = Any  # a compiled function of one vector


def standard_normal() -> LogDensity:
    """N(0, I), in the dimension of its argument."""

    @numba.njit
    def log_density(x: FloatArray) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * x[i]
        return -0.5 * total

    return log_density


def normal(mean: float, sd: float) -> LogDensity:
    """Independent N(mean, sd²) coordinates, normalised."""

    @numba.njit
    def log_density(x: FloatArray) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            total -= 0.5 * ((x[i] - mean) / sd) ** 2 + math.log(sd) + 0.5 * math.log(2.0 * math.pi)
        return total

    return log_density


def two_modes(*, separation: float = 3.0, sd: float = 0.5, right_weight: float = 2.0 / 3.0) -> LogDensity:
    """A mixture of N(-separation, sd² I) and N(+separation, sd² I)."""
    log_left, log_right = math.log(1.0 - right_weight), math.log(right_weight)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        left, right = log_left, log_right
        for i in range(x.shape[0]):
            left -= 0.5 * ((x[i] + separation) / sd) ** 2
            right -= 0.5 * ((x[i] - separation) / sd) ** 2
        largest = max(left, right)
        return largest + math.log(math.exp(left - largest) + math.exp(right - largest))

    return log_density
