"""Twenty narrow peaks in the plane, the paper's first example (Liang & Wong 2001)."""

import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

PEAK_SD = 0.1
SIDE = 10.0  # the peaks lie in the square [0, 10]²
CENTRES = np.array(
    [
        (2.18, 5.76), (8.67, 9.59), (4.24, 8.48), (8.41, 1.68), (3.93, 8.82),
        (3.25, 3.47), (1.70, 0.50), (4.59, 5.60), (6.91, 5.81), (6.87, 5.40),
        (5.41, 2.65), (2.70, 7.88), (4.98, 3.70), (1.14, 2.39), (8.33, 9.50),
        (4.93, 1.50), (1.83, 0.09), (2.26, 0.31), (5.54, 6.86), (1.69, 8.11),
    ]
)  # fmt: skip

_LOG_WEIGHT = math.log(1.0 / len(CENTRES) / (2.0 * math.pi * PEAK_SD**2))
_HALF_PRECISION = 0.5 / PEAK_SD**2


def twenty_peaks() -> Problem:
    """Twenty equal Gaussian peaks of sd 0.1 in the plane.

    The first example of the paper, after Liang & Wong (2001, JASA 96, 653-666). A walk that fits a peak
    cannot leave it: most neighbours are ten and more standard deviations away. All is exact; the density
    is normalised. The modes are the centres of the peaks.
    """
    return Problem(
        name="twenty peaks",
        dim=2,
        log_density=log_density,
        start=start,
        mean=CENTRES.mean(axis=0),
        covariance=np.cov(CENTRES.T, bias=True) + PEAK_SD**2 * np.eye(2),
        log_normaliser=0.0,
        modes=CENTRES,
        mode_weights=np.full(len(CENTRES), 1.0 / len(CENTRES)),
        sampler=sampler,
    )


@numba.njit
def log_density(x: FloatArray) -> float:
    """Log density of the mixture, the nearest peak factored out."""
    nearest = math.inf
    for k in range(CENTRES.shape[0]):
        nearest = min(nearest, (x[0] - CENTRES[k, 0]) ** 2 + (x[1] - CENTRES[k, 1]) ** 2)
    total = 0.0
    for k in range(CENTRES.shape[0]):
        distance = (x[0] - CENTRES[k, 0]) ** 2 + (x[1] - CENTRES[k, 1]) ** 2
        total += math.exp(-_HALF_PRECISION * (distance - nearest))
    return _LOG_WEIGHT - _HALF_PRECISION * nearest + math.log(total)


def start(generator: np.random.Generator) -> FloatArray:
    """A uniform point of the square that holds the peaks."""
    return generator.uniform(0.0, SIDE, size=2)


def sampler(generator: np.random.Generator, n: int) -> FloatArray:
    """Exact draws: a peak, and a normal about its centre."""
    centres: FloatArray = CENTRES[generator.integers(len(CENTRES), size=n)]
    return centres + PEAK_SD * generator.standard_normal((n, 2))
