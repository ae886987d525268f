"""ptemcee: affine-invariant ensembles at several temperatures with an adapted ladder (Vousden et al. 2016).

The package spaces the ladder itself, for a quarter of the swaps to be accepted up to temperature 100, and
adapts it all the time at its default rate; 16 walkers or four for each coordinate. The box is the prior:
points outside cost nothing, so that steps are made until the next one could exceed the budget. The first
half is burn-in. Starts are clipped to the box. Version 1.0.0 asks for ``np.float``, which NumPy 1.24 removed:
it is put back here. One call for each point: the package has no vectorised ones.
"""

import numpy as np

np.float = float  # before the import of a package that still asks for it

import ptemcee  # noqa: E402
from tasks import Outcome, Task  # noqa: E402

REQUIREMENTS = ("ptemcee==1.0.0",)
HOTTEST = 100.0
FEWEST_WALKERS = 16
WALKERS_PER_DIM = 4


def run(task: Task, seed: int) -> Outcome:
    """As many steps as the budget allows."""
    low, high = task.box

    def log_prior(x: np.ndarray) -> float:
        return 0.0 if x.min() >= low and x.max() <= high else -np.inf

    n_walkers = max(FEWEST_WALKERS, WALKERS_PER_DIM * task.dim)
    random = np.random.RandomState(seed)  # noqa: NPY002  the only kind it takes
    sampler = ptemcee.Sampler(n_walkers, task.dim, task.log_density, log_prior, Tmax=HOTTEST, random=random)
    n = sampler.ntemps * n_walkers
    starts = np.clip(task.starts(np.random.default_rng(seed), n), low, high)
    starts = starts.reshape(sampler.ntemps, n_walkers, task.dim)
    draws = []
    for points, _, _ in sampler.sample(starts, iterations=task.budget, adapt=True, storechain=False):
        draws.append(points[0].copy())
        if task.n_evaluations + n > task.budget:
            break
    return Outcome(np.concatenate(draws[len(draws) // 2 :]))
