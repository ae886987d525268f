"""dynesty: dynamic nested sampling, a baseline run and then batches placed for the posterior (pfrac 1).

The prior is uniform on the task's box, for the bridge's log variance on (0, 20). Multi-ellipsoid bounds and
the sampler that ``auto`` picks: uniform below ten coordinates, random walks from there on. Bootstrapping the
bounds, the default of the uniform sampler, is off: here it halved the efficiency, and dynesty warns so. The
live points of the baseline are as many as converge within the budget (calls per live point by trial), and
batches of a quarter of them spend the rest. ``maxcall`` does not cover a batch's first live points, up to a
quarter of the budget, so that batches are added one by one and the one that meets the end of the budget is
dropped, though counted. Weighted draws.
"""

import math

import dynesty
import numpy as np
from tasks import Outcome, Task

REQUIREMENTS = ("dynesty",)
CALLS_PER_LIVE_POINT = {"peaks": 50, "cylinders": 1500, "bridge": 2500, "two_modes": 1400}


class _SpentError(Exception):
    """No evaluations are left."""


def _bounds(task: Task) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.full(task.dim, end) for end in task.box)
    if task.name == "bridge":
        low[-1], high[-1] = 0.0, 20.0
    return low, high


def run(task: Task, seed: int) -> Outcome:
    """A baseline, then batches until the budget is spent."""
    low, high = _bounds(task)
    n_live = max(task.budget // CALLS_PER_LIVE_POINT[task.name], 2 * task.dim)
    limit = math.inf

    def log_density(x: np.ndarray) -> float:
        if task.n_evaluations >= limit:
            raise _SpentError
        return task.log_density(x)

    sampler = dynesty.DynamicNestedSampler(
        log_density,
        lambda unit: low + (high - low) * unit,
        task.dim,
        nlive=n_live,
        bootstrap=0,
        rstate=np.random.default_rng(seed),
    )
    sampler.run_nested(maxbatch=0, maxcall=task.budget - n_live, print_progress=False)
    limit, n_batch = task.budget, max(n_live // 4, 2 * task.dim)
    try:
        while task.n_evaluations < task.budget:
            sampler.add_batch(nlive=n_batch, wt_kwargs={"pfrac": 1.0}, print_progress=False)
    except _SpentError:
        pass
    return Outcome(sampler.results.samples, sampler.results.importance_weights())
