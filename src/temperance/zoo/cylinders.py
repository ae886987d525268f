"""Twenty cylinders in eight dimensions, the paper's second example: the twenty peaks, times six more.

The text says six independent uniforms; the published tables come out with six standard normals.
"""

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo import peaks

FloatArray = npt.NDArray[np.float64]

DIM = 8
SIDE = 10.0  # the uniforms live on [0, 10]


@numba.njit
def log_density(x: FloatArray) -> float:
    """The peaks times six standard normals, up to a constant: what reproduces the tables."""
    total = peaks.log_density(x)
    for i in range(2, DIM):
        total -= 0.5 * x[i] * x[i]
    return float(total)


@numba.njit
def log_density_uniform(x: FloatArray) -> float:
    """The peaks times six uniforms on [0, 10], up to a constant: what the paper's text says."""
    for i in range(2, DIM):
        if x[i] < 0.0 or x[i] > SIDE:
            return -np.inf
    return float(peaks.log_density(x))


def start(generator: np.random.Generator) -> FloatArray:
    """A uniform point of the square, and standard normals."""
    return np.concatenate([peaks.start(generator), generator.standard_normal(DIM - 2)])


def start_uniform(generator: np.random.Generator) -> FloatArray:
    """A uniform point of the cube."""
    return generator.uniform(0.0, SIDE, size=DIM)
