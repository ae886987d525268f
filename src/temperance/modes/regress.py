"""Centre and covariance from log densities: within a mode they are known without noise, wherever asked for.

A Gaussian's log density is a quadratic, so a regression of the log density on one gives centre and covariance
from any points of the mode, whatever led there: states, proposals that were refused, what scouts brought. The
moments of a few hundred correlated states are far noisier.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.modes.policy import REGRESSION
from temperance.modes.quadratics import ridge_coefficients
from temperance.modes.student import whitened
from temperance.theory import chi_square_quantile

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Known:
    """Points whose log density is known, and which of them the chain was at, not just asked about."""

    point: FloatArray  # (point, dim)
    log_density: FloatArray  # (point,)
    own: BoolArray  # (point,)

    def chosen(self, rows: BoolArray) -> "Known":
        """Some of these."""
        return Known(self.point[rows], self.log_density[rows], self.own[rows])

    def judges(self) -> "Known":
        """Those by which a fit is judged: where the chain was, or if that is next to nothing the highest."""
        dim = self.point.shape[1]
        if np.count_nonzero(self.own) >= REGRESSION.min_judges * (dim + 1):
            return self.chosen(self.own)
        high = self.log_density >= np.max(self.log_density, initial=-np.inf) - fall_within(dim, 0.99)
        return self.chosen(high)


def quadratic_fit(
    centre: FloatArray, covariance: FloatArray, known: Known
) -> tuple[FloatArray, FloatArray] | None:
    """Centre and covariance of the quadratic that log densities near a component follow; None where unfit.

    In whitened coordinates z the log density plus |z|²/2 is regressed on 1, z_i and z_i z_j. All but the
    first coefficient are drawn to zero, the component as it was, the more so the worse a quadratic fits.
    """
    dim = len(centre)
    z, square, root = whitened(known.point, centre, covariance)
    near = square < REGRESSION.reach * chi_square_quantile(0.99, dim)
    if np.count_nonzero(near) < few_coefficients(dim):
        return None
    near &= known.log_density > known.log_density[near].max() - fall_within(dim, 0.999) - REGRESSION.depth
    if np.count_nonzero(near) < few_coefficients(dim):
        return None
    z, square = z[near], square[near]
    weight = 1.0 / (1.0 + np.maximum(square - dim, 0.0) / dim)
    parts = _linear_and_quadratic(z, known.log_density[near] + 0.5 * square, weight)
    if parts is None:
        return None
    linear, quadratic = parts
    hessian = np.eye(dim) - (quadratic + quadratic.T)
    if np.linalg.eigvalsh(hessian)[0] < REGRESSION.min_curvature:
        return None
    inverse = np.linalg.inv(hessian)
    shift = inverse @ linear
    if shift @ shift > REGRESSION.max_shift * dim:
        return None
    spread = root @ inverse @ root.T
    return centre + root @ shift, 0.5 * (spread + spread.T)


def _linear_and_quadratic(
    z: FloatArray, response: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The parts of a response; from points too few for all products its shape stays, its size is found."""
    n_points, dim = z.shape
    is_whole = n_points >= n_coefficients(dim)
    n_terms = n_coefficients(dim) if is_whole else few_coefficients(dim)
    coefficient = ridge_coefficients(z, response, weight, n_terms)
    if coefficient is None:
        return None
    if not is_whole:
        return coefficient[1 : dim + 1], coefficient[-1] * np.eye(dim)
    quadratic = np.zeros((dim, dim))
    quadratic[_upper(dim)] = coefficient[dim + 1 :]
    return coefficient[1 : dim + 1], quadratic


@functools.cache
def _upper(dim: int) -> tuple[IntArray, IntArray]:
    return np.triu_indices(dim)


def n_coefficients(dim: int) -> int:
    """Of a quadratic in so many variables."""
    return (dim + 1) * (dim + 2) // 2


def few_coefficients(dim: int) -> int:
    """Of one whose shape is given."""
    return dim + 2


def fall_within(dim: int, share: float) -> float:
    """How far below its peak the log density of a Gaussian is, at most, at that share of its states."""
    return 0.5 * chi_square_quantile(share, dim)
