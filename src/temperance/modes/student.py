"""The mixture of Student's t that jumps are drawn from, in NumPy; its compiled twin is in `core.mixture`."""

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numba import types

from temperance.core.compile import compiled_for, kernel_digest
from temperance.core.numeric import factorise
from temperance.core.state import JUMP_DOF, FloatArray, IntArray, Mixture

BATCH = 2_000_000  # whitened coordinates that a batch takes


def exponent(dim: int) -> float:
    """To which 1 + square / ν is raised in the density of a component."""
    return 0.5 * (JUMP_DOF + dim)


def log_constant(dim: int) -> float:
    """Log density of a standard component at its centre."""
    return (
        math.lgamma(0.5 * (JUMP_DOF + dim))
        - math.lgamma(0.5 * JUMP_DOF)
        - 0.5 * dim * math.log(JUMP_DOF * math.pi)
    )


def log_fall(square: FloatArray, dim: int) -> FloatArray:
    """How far below its peak the log density of a component is at these squared distances."""
    return exponent(dim) * np.log1p(square / JUMP_DOF)


def influence(square: FloatArray, dim: int) -> FloatArray:
    """What a state at these squared distances weighs in the fit of a component: far out it matters less."""
    return (JUMP_DOF + dim) / (JUMP_DOF + square)


def squares(points: FloatArray, centre: FloatArray, covariance: FloatArray) -> FloatArray:
    """Squared Mahalanobis distance of each row from one centre."""
    return whitened(points, centre, covariance)[1]


def whitened(
    points: FloatArray, centre: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each row seen from a centre in the widths of a covariance; its squared length; and the lower factor."""
    z, square, root = np.empty(points.shape), np.empty(len(points)), np.empty(covariance.shape)
    is_positive = compiled_whitening()(
        np.ascontiguousarray(points), np.ascontiguousarray(centre), np.ascontiguousarray(covariance),
        root, z, square,
    )  # fmt: skip
    if not is_positive:
        raise np.linalg.LinAlgError("a covariance that is not positive definite")
    return z, square, root


@functools.cache
def compiled_whitening() -> Callable[..., bool]:
    """The solving for all rows, compiled on first use and cached."""
    digest = kernel_digest()
    matrix, vector = types.float64[:, ::1], types.float64[::1]

    @compiled_for(types.boolean(matrix, vector, matrix, matrix, matrix, vector))
    def whiten(
        points: FloatArray,
        centre: FloatArray,
        covariance: FloatArray,
        root: FloatArray,
        z: FloatArray,
        square: FloatArray,
    ) -> bool:
        """Forward substitution, row by row; the last three are written."""
        digest  # noqa: B018  part of the cache key
        if not factorise(covariance, root):
            return False
        for row in range(points.shape[0]):
            square[row] = 0.0
            for i in range(centre.shape[0]):
                left = points[row, i] - centre[i]
                for k in range(i):
                    left -= root[i, k] * z[row, k]
                z[row, i] = left / root[i, i]
                square[row] += z[row, i] * z[row, i]
        return True

    return whiten


def from_parts(weights: FloatArray, centres: FloatArray, covariances: FloatArray) -> Mixture:
    """A mixture with these weights, centres and scale matrices, and no chance yet."""
    root: FloatArray = np.linalg.cholesky(covariances).astype(np.float64)
    half_log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    mixture = Mixture(
        chance=np.zeros(1),
        cumulative=np.cumsum(weights),
        centre=np.ascontiguousarray(centres),
        root=root,
        whitener=np.linalg.inv(root).astype(np.float64),
        log_height=np.log(weights) - half_log_det + log_constant(centres.shape[1]),
    )
    if not len(weights) or not all(np.all(np.isfinite(part)) for part in mixture):
        raise ArithmeticError("a mixture needs components, and all of them finite")
    return mixture


def whitened_squares(points: FloatArray, mixture: Mixture) -> FloatArray:
    """Squared distance of each point from each centre in its component's own widths, (point, component)."""
    offset = points - mixture.centre[:, None]  # (component, point, dim)
    whitened = np.matmul(offset, np.swapaxes(mixture.whitener, 1, 2))
    return np.ascontiguousarray(np.einsum("kni,kni->nk", whitened, whitened))


def batches_of_squares(points: FloatArray, mixture: Mixture) -> Iterator[FloatArray]:
    """The same for any number of points, batch by batch."""
    step = max(1, BATCH // max(1, mixture.centre.size))
    for start in range(0, len(points), step):
        yield whitened_squares(points[start : start + step], mixture)


def nearest_squares(points: FloatArray, mixture: Mixture) -> FloatArray:
    """Squared distance of each point from the nearest centre, in the widths there."""
    nearest = [square.min(axis=1) for square in batches_of_squares(points, mixture)]
    return np.concatenate(nearest) if nearest else np.empty(0)


def log_terms(square: FloatArray, mixture: Mixture) -> FloatArray:
    """Log of the weighted density of each component at these squared distances, (point, component)."""
    terms: FloatArray = mixture.log_height - log_fall(square, mixture.centre.shape[1])
    return terms


def log_densities(points: FloatArray, mixture: Mixture) -> FloatArray:
    """Log density of the mixture at each point."""
    terms = log_terms(whitened_squares(points, mixture), mixture)
    largest = terms.max(axis=1)
    total: FloatArray = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
    return total


def most_likely(points: FloatArray, mixture: Mixture) -> IntArray:
    """The component with the highest density at each of the points (point, dim)."""
    # log w − c log(1 + s/ν) is largest where (ν + s) w^(−1/c) is smallest: no logarithm for each point.
    height = mixture.log_height - mixture.log_height.max()
    factor = np.exp(-height / exponent(points.shape[1]))
    labels = [
        np.argmin((JUMP_DOF + square) * factor, axis=1) for square in batches_of_squares(points, mixture)
    ]
    return np.concatenate(labels) if labels else np.empty(0, dtype=np.int64)
