"""Bayesian bridge regression, the paper's third example.

The parameters are the coefficients b and t, the log of the noise variance s. The prior is
exp(-λ Σ|b_j|^q) on the coefficients and s^-a on the variance; sampling t instead of s adds its Jacobian.
"""

import math
from functools import partial
from importlib import resources
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between
from temperance.errors import InvalidInputError
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]


class BridgeData(NamedTuple):
    """The sums of squares and products that the likelihood needs, and the prior's two numbers."""

    gram: FloatArray  # XᵀX
    projection: FloatArray  # Xᵀy
    constants: FloatArray  # number of data, yᵀy, λ, q, a


def bridge(*, power: float = 0.5, penalty: float = 3.0, variance_power: float = 2.0) -> Problem:
    """Bayesian bridge regression on the diabetes data of Efron et al. (2004).

    Ten coefficients and the log of the noise variance; the third example of the paper. A power below one
    makes the prior spike at zero, so that the posterior has a mode for many a subset of coefficients at
    zero, with narrow ridges between. ``variance_power`` is 2 in the paper's text; 1 is the scale-invariant
    prior. No exact answers are known. The start is always least squares. For a
    regression of your own give ``bridge().log_density`` the ``data`` of `bridge_data`.
    """
    design, response = diabetes()
    data = bridge_data(design, response, penalty=penalty, power=power, variance_power=variance_power)
    return Problem(
        name=f"bridge regression (variance prior s^-{variance_power:g})",
        dim=design.shape[1] + 1,
        log_density=log_density,
        start=partial(_least_squares, data),
        data=data,
        names={"coefficient": (design.shape[1],), "log_variance": ()},
        dims={"coefficient": "covariate"},
        coords={"covariate": covariates()},
        constrain=_with_variance,
    )


def bridge_data(
    design: FloatArray,
    response: FloatArray,
    *,
    penalty: float = 3.0,
    power: float = 0.5,
    variance_power: float = 2.0,
) -> BridgeData:
    """Summaries of a regression without intercept: centre the columns and the response first."""
    if np.ndim(design) != 2 or np.shape(response) != (len(design),):
        raise InvalidInputError(
            "design and response must have shapes (n, k) and (n,), "
            f"got {np.shape(design)} and {np.shape(response)}"
        )
    penalty = number_between("penalty", penalty, 0.0, math.inf, closed="left")
    power = number_between("power", power, 0.0, math.inf)
    variance_power = number_between("variance_power", variance_power, -math.inf, math.inf)
    constants = np.array([len(response), float(response @ response), penalty, power, variance_power])
    return BridgeData(design.T @ design, design.T @ response, constants)


def diabetes() -> tuple[FloatArray, FloatArray]:
    """Design with centred columns of unit length, (442, 10), and the centred response; see data/README.md."""
    table = np.loadtxt(_lines(), delimiter=",", skiprows=1)
    table -= table.mean(axis=0)
    design, response = table[:, :-1], table[:, -1]
    return design / np.linalg.norm(design, axis=0), response


def covariates() -> list[str]:
    """What the columns of the design are called."""
    return _lines()[0].split(",")[:-1]


def _lines() -> list[str]:
    file = resources.files("temperance.zoo") / "data" / "diabetes.csv"
    return file.read_text(encoding="utf-8").splitlines()


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
    return float(likelihood - constants[2] * penalty - (constants[4] - 1.0) * log_variance)


def _with_variance(rows: FloatArray) -> dict[str, FloatArray]:
    """The variance instead of its log."""
    return {"coefficient": rows[:, :-1], "variance": np.exp(rows[:, -1])}


def _least_squares(data: BridgeData, _generator: np.random.Generator) -> FloatArray:
    """Coefficients of least squares and the log of their mean squared residual."""
    coefficients = np.linalg.solve(data.gram, data.projection)
    squares = data.constants[1] - coefficients @ data.projection
    return np.append(coefficients, math.log(squares / data.constants[0]))
