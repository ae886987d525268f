"""Components of Student's t: what a mode looks like to a jump."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import JUMP_DOF, FloatArray, IntArray


@dataclass(frozen=True)
class Components:
    """Modes as components, with `JUMP_DOF` degrees of freedom.

    ``log_peak`` is the log density of the target at each centre, as the states around it tell.
    """

    centre: FloatArray  # (component, dim)
    covariance: FloatArray  # (component, dim, dim) the scale matrix
    log_peak: FloatArray  # (component,)
    count: IntArray  # (component,) states that it was fitted to

    def __len__(self) -> int:
        return len(self.centre)

    def chosen(self, rows: npt.NDArray[np.bool_]) -> "Components":
        """Some of these."""
        return Components(self.centre[rows], self.covariance[rows], self.log_peak[rows], self.count[rows])

    def joined(self, others: "Components") -> "Components":
        """These and others."""
        return Components(
            np.concatenate([self.centre, others.centre]),
            np.concatenate([self.covariance, others.covariance]),
            np.concatenate([self.log_peak, others.log_peak]),
            np.concatenate([self.count, others.count]),
        )


def no_components(dim: int) -> Components:
    """None yet."""
    return Components(np.empty((0, dim)), np.empty((0, dim, dim)), np.empty(0), np.empty(0, dtype=np.int64))


def squares(points: FloatArray, centre: FloatArray, covariance: FloatArray) -> FloatArray:
    """Squared Mahalanobis distance of each row."""
    root = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(root, (points - centre).T)
    distances: FloatArray = (whitened**2).sum(axis=0)
    return distances


def log_fall(square: FloatArray, dim: int) -> FloatArray:
    """How far below its peak the log density of a component is at these squared distances."""
    return 0.5 * (JUMP_DOF + dim) * np.log1p(square / JUMP_DOF)


def log_constant(dim: int) -> float:
    """Log density of a standard component at its centre."""
    return (
        math.lgamma(0.5 * (JUMP_DOF + dim))
        - math.lgamma(0.5 * JUMP_DOF)
        - 0.5 * dim * math.log(JUMP_DOF * math.pi)
    )
