"""R-hat: do the chains agree? Rank-normalised and split, Vehtari et al. 2021."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics.chains import as_chains, normal_scores, say_something, split


def r_hat(draws: Any) -> float:
    """Rank-normalised split R-hat of ``(chain, draw)``: the larger of bulk and folded."""
    chains = as_chains(draws)
    if not say_something(chains):
        return float("nan")
    halves = split(chains)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(normal_scores(halves)), _plain_r_hat(normal_scores(folded)))


def _plain_r_hat(draws: FloatArray) -> float:
    n_draws = draws.shape[1]
    between = n_draws * np.var(draws.mean(axis=1), ddof=1)
    within = np.mean(np.var(draws, axis=1, ddof=1))
    if within == 0.0:
        return float("inf") if between > 0.0 else 1.0
    return float(np.sqrt((between / within + n_draws - 1.0) / n_draws))
