"""The beginning of an epidemic: rates, first cases and the share reported can hardly be told apart."""

import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.posterior import Posterior, reference

FloatArray = npt.NDArray[np.float64]

POPULATION = 1000.0
STEPS_A_DAY = 4  # of Runge and Kutta
# New cases of each day, in units of what noise is given in: drawn once for 0.55, 0.25, 3 infected, 0.4
# reported, noise 3.
SEEN = np.array([
    -1.4, -2.0, 7.2, 1.7, 1.3, 5.6, 6.3, 5.4, 0.6, 10.9,
    11.1, 15.2, 11.6, 16.1, 17.6, 22.6, 29.7, 19.1, 20.6, 19.9,
])  # fmt: skip
CONTACT, RECOVERY = (math.log(0.1), math.log(3.0)), (math.log(0.02), math.log(2.0))
LOG_FIRST, REPORTED, LOG_NOISE = (math.log(0.1), math.log(100.0)), (0.05, 1.0), (0.0, math.log(20.0))


def epidemic() -> Posterior:
    """Susceptible, infected, recovered: an epidemic seen for twenty days, before its peak or soon after.

    Log rates of contact and recovery, the log of the first cases, the share that is reported and the log of
    the noise: five parameters, of which the first four make a long bent ridge between walls. One mode.
    """
    return Posterior(
        name="epidemic",
        parameters=("log_contact", "log_recovery", "log_first", "reported", "log_noise"),
        box=np.array([CONTACT, RECOVERY, LOG_FIRST, REPORTED, LOG_NOISE]),
        likelihood=likelihood,
        quantities=quantities,
        **reference("epidemic"),
    )


@numba.njit
def new_cases(contact: float, recovery: float, first: float, cases: FloatArray) -> None:
    """Infections of each day, in place, by the classical fourth-order method."""
    step = 1.0 / STEPS_A_DAY
    susceptible, infected = POPULATION - first, first
    for day in range(cases.shape[0]):
        before = susceptible
        for _ in range(STEPS_A_DAY):
            s1 = -contact * susceptible * infected / POPULATION
            i1 = -s1 - recovery * infected
            s, i = susceptible + 0.5 * step * s1, infected + 0.5 * step * i1
            s2 = -contact * s * i / POPULATION
            i2 = -s2 - recovery * i
            s, i = susceptible + 0.5 * step * s2, infected + 0.5 * step * i2
            s3 = -contact * s * i / POPULATION
            i3 = -s3 - recovery * i
            s, i = susceptible + step * s3, infected + step * i3
            s4 = -contact * s * i / POPULATION
            i4 = -s4 - recovery * i
            susceptible += step * (s1 + 2.0 * (s2 + s3) + s4) / 6.0
            infected += step * (i1 + 2.0 * (i2 + i3) + i4) / 6.0
        cases[day] = before - susceptible


@numba.njit
def likelihood(x: FloatArray) -> float:
    """Log likelihood of log rates, log of first cases, share reported and log noise, but for a constant."""
    cases = np.empty(SEEN.shape[0])
    new_cases(math.exp(x[0]), math.exp(x[1]), math.exp(x[2]), cases)
    total = 0.0
    for day in range(SEEN.shape[0]):
        off = SEEN[day] - x[3] * cases[day]
        total += off * off
    return float(-0.5 * total * math.exp(-2.0 * x[4]) - SEEN.shape[0] * x[4])


def quantities(rows: FloatArray) -> FloatArray:
    """Log rates, and the share that is reported."""
    return np.ascontiguousarray(rows[:, [0, 1, 3]])
