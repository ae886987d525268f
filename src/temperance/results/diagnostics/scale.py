"""The paper's test of unimodality: the scale of a walk against that of a walk on a Gaussian, Eq. (11)."""

import math
from typing import Any

import numpy as np

from temperance.core.state import FloatArray

ASYMPTOTIC_SCALE = 2.38  # Roberts, Gelman & Gilks 1997: the best scale is 2.38/√d


def unimodal_scale(dim: int) -> float:
    """The scale at and above which a level counts as unimodal: 2.38/√d."""
    return ASYMPTOTIC_SCALE / math.sqrt(dim)


def unimodality(log_scale: Any, dim: int) -> FloatArray:
    """e^θ of each level over 2.38/√d: one and above says unimodal, below says several modes."""
    ratios: FloatArray = np.exp(np.asarray(log_scale, dtype=np.float64)) / unimodal_scale(dim)
    return ratios
