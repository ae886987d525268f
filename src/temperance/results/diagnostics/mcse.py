"""Monte Carlo standard error: how far an estimate from these draws may be off."""

import math
from typing import Any

import numpy as np

from temperance.results.diagnostics.chains import as_chains
from temperance.results.diagnostics.ess import ess_mean


def mcse_mean(draws: Any) -> float:
    """Standard error of the mean of ``(chain, draw)``."""
    chains = as_chains(draws)
    size = ess_mean(chains)
    return float("nan") if math.isnan(size) else float(np.std(chains, ddof=1) / math.sqrt(size))


def mcse_sd(draws: Any) -> float:
    """Standard error of the standard deviation of ``(chain, draw)``, by the delta method."""
    chains = as_chains(draws)
    squares = (chains - chains.mean()) ** 2 if chains.size else chains
    size = ess_mean(squares)
    if math.isnan(size):
        return float("nan")
    return float(np.sqrt(np.var(squares) / size / squares.mean() / 4.0))
