"""Components of Student's t: what a mode looks like to a jump."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray


@dataclass(frozen=True)
class Components:
    """Modes as components, with the degrees of freedom of a jump.

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
