"""Data from three normals, of which nothing is known: six modes that differ by names, and others between."""

import itertools
import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.posterior import Posterior

FloatArray = npt.NDArray[np.float64]

N_NORMALS = 3
# Drawn once from normals at -3, 0 and 2.2 of widths 0.6, 0.8 and 0.7.
SEEN = np.array([
    -3.83, -3.79, -3.77, -3.58, -3.36, -2.99, -2.95, -2.77, -2.54, -2.31, -2.01, -1.88, -1.26, -0.78,
    -0.48, -0.39, -0.29, 0.02, 0.14, 0.21, 0.3, 0.31, 0.51, 0.55, 0.89, 1.12, 1.38, 1.56, 1.7, 1.92,
    2.16, 2.26, 2.47, 2.55, 2.58, 2.58, 2.59, 2.87, 2.89, 3.07,
])  # fmt: skip
CENTRE, LOG_SD = (-6.0, 6.0), (math.log(0.2), math.log(4.0))
LEAST_SHARE = 1e-300  # whose logarithm is a number
ORDERS = list(itertools.permutations(range(N_NORMALS)))


def three_normals() -> Posterior:
    """A mixture of three normals with unknown centres, widths and shares: eight parameters, forty data.

    Centres and log widths are uniform, and so are shares on their simplex: ``first`` and ``second`` are where
    two sticks are broken. The normals may change places, so that each order of the centres has a sixth of
    the mass; normals that take no data, or share them, join the modes.
    """
    names = ("centre_1", "centre_2", "centre_3", "log_sd_1", "log_sd_2", "log_sd_3", "first", "second")
    orders = {"order_" + "".join(str(k + 1) for k in order): 1.0 / len(ORDERS) for order in ORDERS}
    return Posterior(
        name="three normals",
        parameters=names,
        box=np.array([CENTRE] * N_NORMALS + [LOG_SD] * N_NORMALS + [(0.0, 1.0)] * 2),
        likelihood=likelihood,
        quantities=quantities,
        expected=orders,
        deviations={name: math.sqrt(share * (1.0 - share)) for name, share in orders.items()},
        errors=dict.fromkeys(orders, 0.0),
    )


@numba.njit
def likelihood(x: FloatArray) -> float:
    """Log likelihood of three centres, three log widths and two breaks, without its constant."""
    left = math.sqrt(1.0 - x[6])  # a share that is uniform on the simplex leaves the root of a uniform
    share = (1.0 - left, left * x[7], left * (1.0 - x[7]))
    total = 0.0
    for i in range(SEEN.shape[0]):
        largest, density = -math.inf, 0.0
        for k in range(N_NORMALS):
            off = (SEEN[i] - x[k]) * math.exp(-x[N_NORMALS + k])
            term = math.log(max(share[k], LEAST_SHARE)) - 0.5 * off * off - x[N_NORMALS + k]
            density = density * math.exp(min(0.0, largest - term)) + math.exp(min(0.0, term - largest))
            largest = max(largest, term)
        total += largest + math.log(density)
    return total


def quantities(rows: FloatArray) -> FloatArray:
    """For each order of the centres, whether it is the one."""
    order = np.argsort(rows[:, :N_NORMALS], axis=1)
    return np.column_stack([np.all(order == one, axis=1) for one in ORDERS]).astype(np.float64)
