"""emcee: the affine-invariant ensemble, one temperature. Half the steps are burn-in."""

import emcee
import numpy as np
from tasks import Outcome, Task

REQUIREMENTS = ("emcee",)
WALKERS_PER_DIM = 4


def run(task: Task, seed: int) -> Outcome:
    """As many steps as the budget allows."""
    generator = np.random.default_rng(seed)
    n_walkers = max(32, WALKERS_PER_DIM * task.dim)
    sampler = emcee.EnsembleSampler(n_walkers, task.dim, task.log_density_rows, vectorize=True)
    steps = task.budget // n_walkers - 1
    sampler.run_mcmc(task.starts(generator, n_walkers), steps, skip_initial_state_check=True)
    return Outcome(sampler.get_chain(discard=steps // 2, flat=True))
