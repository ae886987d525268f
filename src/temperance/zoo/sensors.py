"""Where four sensors are, from a few distances: mirror images, and rings between them."""

import math

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo.posterior import Posterior, reference

FloatArray = npt.NDArray[np.float64]

ANCHORS = np.array([[0.2, 0.5], [0.8, 0.5]])  # on a line, so that all may be mirrored in it
NOISE = 0.03  # of a distance
# From sensor to anchor, and from sensor to the next one: drawn once for sensors at (0.35, 0.75), (0.6, 0.85),
# (0.75, 0.6) and (0.5, 0.3).
TO_ANCHORS = ((0, 0, 0.277), (0, 1, 0.528), (1, 1, 0.444), (2, 0, 0.565), (3, 1, 0.375))
TO_NEXT = (0.237, 0.264, 0.387)
SENSORS = np.array([sensor for sensor, _, _ in TO_ANCHORS])
FROM = np.array([ANCHORS[anchor] for _, anchor, _ in TO_ANCHORS])
DISTANCES, STEPS = np.array([distance for _, _, distance in TO_ANCHORS]), np.array(TO_NEXT)


def localisation() -> Posterior:
    """Four sensors in the unit square, eight coordinates, from eight noisy distances.

    The two anchors lie on a line, and the mirror image of every solution in it is another. Each sensor has
    been heard by the next one, and so there are further images with weights of their own.
    """
    return Posterior(
        name="localisation",
        parameters=tuple(f"{axis}_{sensor}" for sensor in range(1, 5) for axis in "xy"),
        box=np.tile([0.0, 1.0], (2 * (len(STEPS) + 1), 1)),
        likelihood=likelihood,
        quantities=quantities,
        **reference("localisation"),
    )


@numba.njit
def likelihood(x: FloatArray) -> float:
    """Log likelihood of x and y of each sensor, without its constant."""
    total = 0.0
    for k in range(SENSORS.shape[0]):
        i = 2 * SENSORS[k]
        off = math.hypot(x[i] - FROM[k, 0], x[i + 1] - FROM[k, 1]) - DISTANCES[k]
        total += off * off
    for k in range(STEPS.shape[0]):
        i = 2 * k
        off = math.hypot(x[i] - x[i + 2], x[i + 1] - x[i + 3]) - STEPS[k]
        total += off * off
    return float(-0.5 * total / (NOISE * NOISE))


def quantities(rows: FloatArray) -> FloatArray:
    """Whether the first sensor is above the line, whether the others are on its side, and two places."""
    above = rows[:, 1::2] > ANCHORS[0, 1]
    same = above[:, 1:] == above[:, :1]
    return np.column_stack([above[:, 0], same, rows[:, 4], rows[:, 6]])
