"""How far the log density of a point is above what the known modes explain there."""

import math

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.components import Components
from temperance.modes.policy import FITTING
from temperance.modes.student import log_fall, whitened_squares


def surprises(
    points: FloatArray, log_density: FloatArray, components: Components, mixture: Mixture
) -> FloatArray:
    """Log density less the largest that any one component predicts there; the broad one predicts nothing."""
    falls = log_fall(whitened_squares(points, mixture)[:, :-1], points.shape[1])
    explained: FloatArray = (components.log_peak - falls).max(axis=1)
    return np.asarray(log_density - explained, dtype=np.float64)


def margin(dim: int) -> float:
    """What a log density may exceed the prediction by in a mode that is known."""
    return math.sqrt(2.0 * dim) + FITTING.absorb_excess
