"""A sinusoid of unknown frequency, seen at a few times: a mode for every frequency that fits."""

import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.posterior import Posterior, reference

FloatArray = npt.NDArray[np.float64]

# Drawn once from frequency 0.237, amplitude 2, level 0.5, noise 0.8.
TIMES = np.array([7.8, 10.3, 17.4, 20.3, 27.6, 28.5, 32.4, 33.9, 35.6])
SEEN = np.array([3.93, -0.99, 0.04, 2.55, 0.02, 1.92, 1.82, 0.73, -0.06])
FREQUENCY, REACH, LOG_NOISE = (0.05, 0.5), 6.0, (math.log(0.3), math.log(3.0))
CUT = 0.18  # between two groups of frequencies


def sinusoid() -> Posterior:
    """A sinusoid with unknown frequency, phase, amplitude, level and noise, seen at nine times.

    Frequency, the coefficients of cosine and sine, the level and the log of the noise are uniform. A dozen
    frequencies explain what was seen, some of them narrowly.
    """
    return Posterior(
        name="sinusoid",
        parameters=("frequency", "cosine", "sine", "offset", "log_noise"),
        box=np.array([FREQUENCY, (-REACH, REACH), (-REACH, REACH), (-REACH, REACH), LOG_NOISE]),
        likelihood=likelihood,
        quantities=quantities,
        **reference("sinusoid"),
    )


@numba.njit
def likelihood(x: FloatArray) -> float:
    """Log likelihood of frequency, cosine, sine, level and log noise, without its constant."""
    total = 0.0
    for i in range(TIMES.shape[0]):
        angle = 2.0 * math.pi * x[0] * TIMES[i]
        off = SEEN[i] - x[1] * math.cos(angle) - x[2] * math.sin(angle) - x[3]
        total += off * off
    return float(-0.5 * total * math.exp(-2.0 * x[4]) - TIMES.shape[0] * x[4])


def quantities(rows: FloatArray) -> FloatArray:
    """Whether the frequency lies above a cut, and the frequency."""
    return np.column_stack([rows[:, 0] > CUT, rows[:, 0]])
