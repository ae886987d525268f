"""The paper's test of unimodality: the scale of a walk against that of a walk on a Gaussian, Eq. (11)."""

import math
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.theory import ASYMPTOTIC_SCALE


def unimodal_scale(dim: int) -> float:
    """The scale at and above which the paper takes a level for unimodal: 2.38/√d."""
    return ASYMPTOTIC_SCALE / math.sqrt(dim)


def unimodality(log_scale: Any, threshold: float) -> FloatArray:
    """e^θ of each level over the threshold: one and above says unimodal, below says several modes.

    The paper's threshold is ``unimodal_scale(dim)``; the one that trimming used is in the setup of a result.
    """
    ratios: FloatArray = np.exp(np.asarray(log_scale, dtype=np.float64)) / threshold
    return ratios
