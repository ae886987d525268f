"""What the ensemble samplers share: how many temperatures and walkers, and how many steps a budget allows."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from peers.contract import FloatArray
from peers.density import Density
from peers.tasks import Task

BURN_SHARE = 0.25
# (temperatures, walkers at each): walkers at least 2 dim + 2; temperatures so that neighbours exchange
TEMPERED = {
    "twenty_peaks": (5, 20),
    "twenty_cylinders": (4, 24),
    "bridge": (7, 24),
    "two_modes": (10, 42),
}


def n_steps(task: Task, n_temperatures: int, n_walkers: int) -> int:
    """Steps that the budget allows, the start being evaluated too."""
    return task.budget // (n_temperatures * n_walkers) - 1


def keep_going(steps: Iterable[Any], density: Density, most: int) -> int:
    """Take steps until one that costs ``most`` evaluations might exceed the budget; how many were taken."""
    taken = 0
    for _ in steps:
        taken += 1
        if density.count + most > density.task.budget:
            break
    return taken


def after_burn_in(chain: FloatArray) -> FloatArray:
    """From (step, walker, dim) to draws, the first steps left out."""
    kept: FloatArray = chain[int(BURN_SHARE * len(chain)) :]
    return np.ascontiguousarray(kept.reshape(-1, kept.shape[-1]))


def describe(n_temperatures: int, n_walkers: int) -> str:
    """The settings in words."""
    levels = f"{n_temperatures} temperatures, " if n_temperatures > 1 else ""
    return f"{levels}{n_walkers} walkers, the first {BURN_SHARE:.0%} of the steps left out"
