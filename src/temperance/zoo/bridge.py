"""Bayesian bridge regression, the paper's third example.

The parameters are the coefficients b and t, the log of the noise variance s. The prior is
exp(-λ Σ|b_j|^q) on the coefficients and 1/s² on the variance; sampling t instead of s adds its Jacobian.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class BridgeData(NamedTuple):
    """The sums of squares and products that the likelihood needs, and the prior's two numbers."""

    gram: FloatArray  # XᵀX
    projection: FloatArray  # Xᵀy
    constants: FloatArray  # number of data, yᵀy, λ, q


def bridge_data(
    design: FloatArray, response: FloatArray, *, penalty: float = 3.0, power: float = 0.5
) -> BridgeData:
    """Summaries of a regression, for ``data=`` beside `log_density`."""
    constants = np.array([len(response), float(response @ response), penalty, power])
    return BridgeData(design.T @ design, design.T @ response, constants)


@numba.njit
def log_density(x: FloatArray, data: tuple[FloatArray, FloatArray, FloatArray]) -> float:
    """Log posterior at ``x``: coefficients, then the log variance."""
    gram, projection, constants = data
    n_coefficients = projection.shape[0]
    residual = constants[1]
    penalty = 0.0
    for i in range(n_coefficients):
        row = 0.0
        for k in range(n_coefficients):
            row += gram[i, k] * x[k]
        residual += x[i] * (row - 2.0 * projection[i])
        penalty += abs(x[i]) ** constants[3]
    log_variance = x[n_coefficients]
    likelihood = -0.5 * constants[0] * log_variance - 0.5 * residual * math.exp(-log_variance)
    return float(likelihood - constants[2] * penalty - log_variance)
