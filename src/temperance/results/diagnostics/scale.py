"""Which levels have one mode: the scales that a run left against the one that tells, Eq. (11).

Both are those that trimming used: scales beside the covariance of the states at a level (`ChainRecord`), and
the threshold and the rule in the setup of a result.
"""

from typing import Any

import numpy as np

from temperance.checks import one_of
from temperance.core.state import FloatArray


def unimodality(log_scale: Any, threshold: float) -> FloatArray:
    """The scale of each level over the threshold: one and above says unimodal, below says several modes."""
    ratios: FloatArray = np.exp(np.asarray(log_scale, dtype=np.float64)) / threshold
    return ratios


def first_unimodal(scales: Any, threshold: float, rule: str) -> int:
    """The first of the levels that passes for unimodal by a rule of trimming; their number when none does.

    ``"first"`` asks nothing of hotter levels, ``"all_hotter"`` that all of them pass too. A level pinned at
    β = 0 is not among them.
    """
    passing = np.asarray(scales, dtype=np.float64) >= threshold
    if one_of("rule", rule, ("all_hotter", "first")) == "all_hotter":
        passing = np.logical_and.accumulate(passing[::-1])[::-1]
    return int(np.argmax(passing)) if passing.any() else len(passing)
