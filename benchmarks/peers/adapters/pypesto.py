"""pyPESTO: adaptive Metropolis with Vousden's ladder."""

import contextlib
from typing import Any

from peers.contract import ONE_POINT, Outcome, Peer, Sampler
from peers.density import Density
from peers.ladders import MORE_STEPS, SpentError, after_burn_in, describe, until_spent
from peers.tasks import Task

PEER = Peer(
    title="pyPESTO",
    kind="tempering",
    start=ONE_POINT,
    packages=("pypesto>=0.7",),
    notes="`AdaptiveParallelTemperingSampler` over `AdaptiveMetropolisSampler`, first covariance from the "
    "widths of a mode; one call for each point. The box gives the bounds. All levels start at the one point.",
)
# (levels, hottest temperature)
LADDERS = {
    "twenty_peaks": (5, 500.0),
    "twenty_cylinders": (8, 200.0),
    "bridge": (5, 50.0),
    "two_modes": (8, 200.0),
}


def prepare(task: Task, density: Density) -> Sampler:
    """A run that ends when the budget is used up."""
    import numpy as np
    import pypesto
    from pypesto import sample as samplers

    log_density = until_spent(density)
    objective = pypesto.Objective(fun=lambda x: -log_density(x))
    levels, hottest = LADDERS[task.key]

    def run(seed: int) -> Outcome:
        np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
        problem = pypesto.Problem(objective, lb=task.box[:, 0], ub=task.box[:, 1])
        sampler = _sampler(samplers, np.diag(task.width**2), levels, hottest)
        starts = [task.start.copy() for _ in range(levels)]
        with contextlib.suppress(SpentError):
            samplers.sample(problem, MORE_STEPS * task.budget // levels, sampler, x0=starts)
        return Outcome(draws=after_burn_in(sampler.samplers[0].trace_x), settings=describe(levels, hottest))

    return run


def _sampler(samplers: Any, covariance: Any, levels: int, hottest: float) -> Any:
    return samplers.AdaptiveParallelTemperingSampler(
        samplers.AdaptiveMetropolisSampler({"cov0": covariance}),
        n_chains=levels,
        options={"max_temp": hottest, "show_progress": False},
    )
