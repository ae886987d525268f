"""What the tempering peers with one walker a level share: ladders, when to stop, what to leave out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from peers.contract import FloatArray
from peers.density import Density

BURN_SHARE = 0.25
MORE_STEPS = 3  # room for the steps that proposals outside the box save


class SpentError(Exception):
    """The budget is used up: the way to end a run that knows its number of steps only."""


def until_spent(density: Density) -> Callable[[Any], float]:
    """The log density of one point, as long as the budget lasts."""

    def log_density(x: Any) -> float:
        if density.count >= density.task.budget:
            raise SpentError
        return density(x)

    return log_density


def after_burn_in(chain: Any) -> FloatArray:
    """The draws of the cold level without the first steps."""
    draws: FloatArray = np.array(chain[int(BURN_SHARE * len(chain)) :])
    return draws


def describe(n_levels: int, hottest: float) -> str:
    """The settings in words."""
    return f"{n_levels} levels up to T = {hottest:g}, the first {BURN_SHARE:.0%} of the steps left out"
