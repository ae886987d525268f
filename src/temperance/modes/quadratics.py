"""Weighted least squares of a quadratic, compiled: the sums over points take most of a fit's time."""

import functools
from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.numeric import factorise
from temperance.core.schema import allocate, numba_type, of
from temperance.core.state import FloatArray
from temperance.modes.policy import REGRESSION

TINY = 1e-12  # of the total weight, so that a constant can be solved for


class Normal(NamedTuple):
    """The normal equations of a ridge regression, and room to solve them."""

    gram: Annotated[FloatArray, of("term", "term")]  # Σ w r rᵀ over rows r of terms, lower
    moment: Annotated[FloatArray, of("term")]  # Σ w r times the response
    factor: Annotated[FloatArray, of("term", "term")]  # Cholesky factor of the penalised sums
    coefficient: Annotated[FloatArray, of("term")]
    diagonal: Annotated[FloatArray, of("term")]
    row: Annotated[FloatArray, of("term")]


@compiled
def fill_row(z: FloatArray, row: FloatArray) -> None:
    """1, all z_i, and all products of two of them, or their squares' sum if there is no room; in place."""
    dim = z.shape[0]
    row[0], square, term = 1.0, 0.0, dim + 1
    for i in range(dim):
        row[1 + i] = z[i]
        square += z[i] * z[i]
    if row.shape[0] == dim + 2:
        row[term] = square
        return
    for i in range(dim):
        for k in range(i, dim):
            row[term] = z[i] * z[k]
            term += 1


@compiled
def add_row(normal: Normal, weight: float, response: float) -> None:
    """A point's row, added to the sums in place."""
    for i in range(normal.row.shape[0]):
        along = weight * normal.row[i]
        normal.moment[i] += along * response
        for k in range(i + 1):
            normal.gram[i, k] += along * normal.row[k]


@compiled
def solve_penalised(normal: Normal, first: float, others: float) -> bool:
    """Coefficients with this added to the diagonal of the sums, in place; False where they are singular."""
    factor, found, n = normal.factor, normal.coefficient, normal.row.shape[0]
    for i in range(n):
        normal.diagonal[i] = normal.gram[i, i]
        normal.gram[i, i] += first if i == 0 else others
    is_regular = factorise(normal.gram, factor)
    for i in range(n):
        normal.gram[i, i] = normal.diagonal[i]
    if not is_regular:
        return False
    for i in range(n):
        total = normal.moment[i]
        for k in range(i):
            total -= factor[i, k] * found[k]
        found[i] = total / factor[i, i]
    for back in range(n):
        i = n - 1 - back
        total = found[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * found[k]
        found[i] = total / factor[i, i]
    return True


@compiled
def residual_square(normal: Normal, response: float) -> float:
    """Squared residual of the response at the point whose row was filled in."""
    left = response
    for i in range(normal.row.shape[0]):
        left -= normal.coefficient[i] * normal.row[i]
    return left * left


@functools.cache
def compiled_ridge() -> Callable[..., bool]:
    """The regression, compiled on first use and cached."""
    digest = kernel_digest()
    matrix, vector, number = types.float64[:, ::1], types.float64[::1], types.float64
    signature = types.boolean(matrix, vector, vector, number, number, number, numba_type(Normal))

    @compiled_for(signature)
    def ridge(
        z: FloatArray,
        response: FloatArray,
        weight: FloatArray,
        tiny: float,
        least_ridge: float,
        prior_precision: float,
        normal: Normal,
    ) -> bool:
        """Coefficients but the first have a prior of mean zero; ``normal`` is written.

        The variance of the residuals, against which that prior is weighed, comes from a first fit that
        hardly has one.
        """
        digest  # noqa: B018  part of the cache key
        n_points, n_terms, scale, total = z.shape[0], normal.row.shape[0], 0.0, 0.0
        for k in range(n_points):
            fill_row(z[k], normal.row)
            add_row(normal, weight[k], response[k])
            scale += weight[k]
        penalty = least_ridge * scale
        if not solve_penalised(normal, tiny * scale, penalty + tiny * scale):
            return False
        for k in range(n_points):
            fill_row(z[k], normal.row)
            total += weight[k] * residual_square(normal, response[k])
        variance = total / scale * n_points / max(n_points - n_terms, 1)
        penalty = max(variance * prior_precision, penalty)
        return solve_penalised(normal, tiny * scale, penalty + tiny * scale)

    return ridge


def ridge_coefficients(
    z: FloatArray, response: FloatArray, weight: FloatArray, n_terms: int
) -> FloatArray | None:
    """Coefficients of 1, z_i and so many products, in the order of an upper triangle; None where unfit."""
    normal: Normal = allocate(Normal, {"term": n_terms})
    policy = TINY, REGRESSION.least_ridge, REGRESSION.prior_sd**-2
    return normal.coefficient if compiled_ridge()(z, response, weight, *policy, normal) else None


def ridge(design: FloatArray, response: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted least squares; coefficients but the first have a prior of mean zero.

    The variance of the residuals, against which that prior is weighed, comes from a first fit that hardly
    has one.
    """
    gram = (design.T * weight) @ design
    moment = design.T @ (weight * response)
    shrink = np.ones(len(gram))
    shrink[0] = 0.0
    n, p = design.shape
    scale = float(weight.sum())
    penalty = REGRESSION.least_ridge * scale
    coefficient = np.linalg.solve(gram + np.diag(penalty * shrink + TINY * scale), moment)
    residual = response - design @ coefficient
    variance = float(weight @ residual**2) / scale * n / max(n - p, 1)
    penalty = max(variance / REGRESSION.prior_sd**2, penalty)
    found = np.linalg.solve(gram + np.diag(penalty * shrink + TINY * scale), moment)
    return np.asarray(found, dtype=np.float64)
