"""The shape of the largest mode, by the draws in it."""

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS


def condition(case: Case) -> float:
    """Condition number of the correlations; NaN where too few draws differ to tell."""
    draws = _in_largest(case)
    if draws is None:
        return float("nan")
    with np.errstate(all="ignore"):
        correlations = np.corrcoef(draws.T)
    return float(np.linalg.cond(correlations)) if np.all(np.isfinite(correlations)) else float("nan")


def narrowing(case: Case) -> float:
    """The largest correlation of a coordinate with the log of how far another is from its mean; or NaN."""
    draws = _in_largest(case)
    if draws is None:
        return float("nan")
    tiny = np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        widths = np.log(np.maximum(np.abs(draws - draws.mean(axis=0)), tiny))
        dim = draws.shape[1]
        between = np.corrcoef(draws.T, widths.T)[:dim, dim:]
    off_diagonal = np.abs(between[~np.eye(dim, dtype=np.bool_)])
    return float(off_diagonal.max()) if np.all(np.isfinite(off_diagonal)) else float("nan")


def _in_largest(case: Case) -> FloatArray | None:
    """Draws in the largest mode, in two dimensions or more; None where too few of them differ."""
    result = case.result
    draws = result.draws.reshape(-1, result.dim)
    label = result.modes.label.ravel()
    own: FloatArray = draws[label == 0] if len(label) == len(draws) else draws
    enough = LIMITS.values_per_dim * result.dim
    return own if result.dim > 1 and len(np.unique(own[:, 0])) > enough else None
