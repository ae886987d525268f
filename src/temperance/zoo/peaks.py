"""Twenty narrow peaks in the plane, the paper's first example (Liang & Wong 2001)."""

import math

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

PEAK_WEIGHT = 0.05
PEAK_SD = 0.1

MEANS = np.array(
    [
        (2.18, 5.76), (8.67, 9.59), (4.24, 8.48), (8.41, 1.68), (3.93, 8.82),
        (3.25, 3.47), (1.70, 0.50), (4.59, 5.60), (6.91, 5.81), (6.87, 5.40),
        (5.41, 2.65), (2.70, 7.88), (4.98, 3.70), (1.14, 2.39), (8.33, 9.50),
        (4.93, 1.50), (1.83, 0.09), (2.26, 0.31), (5.54, 6.86), (1.69, 8.11),
    ]
)  # fmt: skip

FIRST_MOMENTS = MEANS.mean(axis=0)
SECOND_MOMENTS = (MEANS**2).mean(axis=0) + PEAK_SD**2
_MEANS = MEANS.copy()
_LOG_WEIGHT = math.log(PEAK_WEIGHT / (2.0 * math.pi * PEAK_SD**2))
_HALF_PRECISION = 0.5 / PEAK_SD**2


@numba.njit
def log_density(x: FloatArray) -> float:
    """Log density of the mixture, the nearest peak factored out."""
    nearest = math.inf
    for k in range(_MEANS.shape[0]):
        nearest = min(nearest, (x[0] - _MEANS[k, 0]) ** 2 + (x[1] - _MEANS[k, 1]) ** 2)
    total = 0.0
    for k in range(_MEANS.shape[0]):
        distance = (x[0] - _MEANS[k, 0]) ** 2 + (x[1] - _MEANS[k, 1]) ** 2
        total += math.exp(-_HALF_PRECISION * (distance - nearest))
    return _LOG_WEIGHT - _HALF_PRECISION * nearest + math.log(total)


def start(generator: np.random.Generator) -> FloatArray:
    """A uniform point of the square that holds the peaks."""
    return generator.uniform(0.0, 10.0, size=2)


def nearest_peak(points: FloatArray) -> npt.NDArray[np.intp]:
    """Index of the peak nearest to each row."""
    distances = ((points[:, None, :] - MEANS) ** 2).sum(axis=2)
    nearest: npt.NDArray[np.intp] = distances.argmin(axis=1)
    return nearest
