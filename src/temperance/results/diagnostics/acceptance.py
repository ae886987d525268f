"""How often levels would exchange positions, pair by pair."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError


def pair_acceptance(log_density: Any, beta: Any) -> FloatArray:
    """Mean probability with which each pair of levels would exchange positions, (level, level).

    That is Eq. (7), averaged over the recorded log densities (draw, level), whichever pairs the run tried;
    ``beta`` is (level,) or (draw, level). One on the diagonal, NaN for levels that were dropped.
    """
    values = np.asarray(log_density, dtype=np.float64)
    if values.ndim != 2 or not len(values):
        raise InvalidInputError(
            f"log_density must be (draw, level) with at least one draw, got shape {values.shape}"
        )
    betas = np.broadcast_to(np.asarray(beta, dtype=np.float64), values.shape)
    n_levels = values.shape[1]
    accepted = np.eye(n_levels)
    for i in range(n_levels):
        for j in range(i + 1, n_levels):
            log_ratio = (betas[:, j] - betas[:, i]) * (values[:, i] - values[:, j])
            accepted[i, j] = accepted[j, i] = mean_of_known(np.exp(np.minimum(log_ratio, 0.0)))
    return accepted


def mean_of_known(values: FloatArray) -> float:
    """The mean of what is not NaN; NaN when nothing is left."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
