"""A sum of two exponentials with unknown rates, amplitudes and noise: two bent modes, each other's mirror."""

import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.posterior import Posterior, reference

FloatArray = npt.NDArray[np.float64]

SPACING = 0.25
# Drawn once from rates 0.35 and 1.1, amplitudes 1 and 0.9, noise 0.04.
SEEN = np.array([
    1.578, 1.369, 1.132, 1.042, 0.921, 0.746, 0.633, 0.535, 0.507, 0.436, 0.389, 0.383,
    0.328, 0.308, 0.271, 0.269, 0.282, 0.196, 0.183, 0.114, 0.142, 0.124, 0.118, 0.103,
])  # fmt: skip
TIMES = SPACING * (1.0 + np.arange(len(SEEN)))
LOG_RATE, AMPLITUDE, LOG_NOISE = (math.log(0.05), math.log(10.0)), (0.0, 3.0), (math.log(0.005), 0.0)


def two_exponentials() -> Posterior:
    """Decay with two unknown rates: ``a1 exp(-k1 t) + a2 exp(-k2 t)`` at 24 times, with unknown noise.

    Log rates, amplitudes and the log of the noise are uniform. The two terms may change places, so that each
    order has half of the mass; between them lies a ridge where one amplitude is near zero and its rate is
    anything.
    """
    return Posterior(
        name="two exponentials",
        parameters=("log_rate_1", "log_rate_2", "amplitude_1", "amplitude_2", "log_noise"),
        box=np.array([LOG_RATE, LOG_RATE, AMPLITUDE, AMPLITUDE, LOG_NOISE]),
        likelihood=likelihood,
        quantities=quantities,
        **reference("two_exponentials"),
    )


@numba.njit
def likelihood(x: FloatArray) -> float:
    """Log likelihood of log rates, amplitudes and log noise, without its constant."""
    first, second = math.exp(x[0]), math.exp(x[1])
    total = 0.0
    for i in range(TIMES.shape[0]):
        off = SEEN[i] - x[2] * math.exp(-first * TIMES[i]) - x[3] * math.exp(-second * TIMES[i])
        total += off * off
    return float(-0.5 * total * math.exp(-2.0 * x[4]) - TIMES.shape[0] * x[4])


def quantities(rows: FloatArray) -> FloatArray:
    """Whether the first rate is the faster one, and the logs of the slower and the faster."""
    rates = rows[:, :2]
    first = rates[:, 0] > rates[:, 1]
    return np.column_stack([first, rates.min(axis=1), rates.max(axis=1)])
