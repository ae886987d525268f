"""reddemcee: affine-invariant ensembles at several temperatures with a ladder of its own adaptation.

A geometric ladder up to temperature 100, with as many levels as its table gives for a quarter of the swaps
to be accepted, and its default adaptation to equal swap rates (SAR); swaps after every step; 16 walkers or four for each
coordinate. The box is the prior: points outside cost nothing, so that sweeps are made until the next one
could exceed the budget. The first half is burn-in. Starts are clipped to the box. No shims. One call for
each point: its ``vectorize`` does not work.
"""

import math

import numpy as np
from reddemcee import PTSampler
from reddemcee.utils import temp_table
from tasks import Outcome, Task

REQUIREMENTS = ("reddemcee==1.0",)
HOTTEST = 100.0
FEWEST_WALKERS = 16
WALKERS_PER_DIM = 4
MOST_OUTSIDE = 0.75  # of all points: the room for the chain is reserved beforehand


def run(task: Task, seed: int) -> Outcome:
    """As many sweeps as the budget allows."""
    low, high = task.box

    def log_prior(x: np.ndarray) -> float:
        return 0.0 if x.min() >= low and x.max() <= high else -np.inf

    n_walkers = max(FEWEST_WALKERS, WALKERS_PER_DIM * task.dim)
    n_levels = math.ceil(math.log(HOTTEST) / math.log(temp_table[task.dim - 1])) + 1
    sampler = PTSampler(n_walkers, task.dim, task.log_density, log_prior, betas=np.geomspace(1.0, 1.0 / HOTTEST, n_levels))
    n = n_levels * n_walkers
    starts = np.clip(task.starts(np.random.default_rng(seed), n), low, high)
    starts = starts.reshape(n_levels, n_walkers, task.dim)
    for _ in sampler.sample(starts, nsweeps=int(task.budget / n / (1.0 - MOST_OUTSIDE))):
        if task.n_evaluations + n > task.budget:
            break
    return Outcome(sampler.get_chain(discard=sampler.iteration // 2, flat=True)[0])
