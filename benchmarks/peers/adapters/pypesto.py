"""pyPESTO: adaptive Metropolis with Vousden's ladder."""

from typing import Any

from peers.contract import ONE_POINT, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="pyPESTO",
    kind="tempering",
    start=ONE_POINT,
    packages=("pypesto>=0.7",),
    notes="`AdaptiveParallelTemperingSampler` over `AdaptiveMetropolisSampler`, first covariance from the widths "
    "of a mode; one call for each point. The box gives the bounds. All levels start at the one point.",
)
# (levels, hottest temperature)
LADDERS = {
    "twenty_peaks": (5, 500.0),
    "twenty_cylinders": (8, 500.0),
    "bridge": (9, 50.0),
    "two_modes": (16, 500.0),
}
BURN_SHARE = 0.25
MORE_STEPS = 3  # room for the steps that proposals outside the box save


class SpentError(Exception):
    """The budget is used up."""


def prepare(task: Task, density: Density) -> Sampler:
    """A run that ends when the budget is used up."""
    import numpy as np
    import pypesto
    from pypesto import sample as samplers

    levels, hottest = LADDERS[task.key]

    def minus_log_density(x: Any) -> float:
        if density.count >= task.budget:
            raise SpentError
        return -density(x)

    def run(seed: int) -> Outcome:
        np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
        problem = pypesto.Problem(pypesto.Objective(fun=minus_log_density), lb=task.box[:, 0], ub=task.box[:, 1])
        inner = samplers.AdaptiveMetropolisSampler({"cov0": np.diag(task.width**2)})
        sampler = samplers.AdaptiveParallelTemperingSampler(
            inner, n_chains=levels, options={"max_temp": hottest, "show_progress": False}
        )
        try:
            samplers.sample(
                problem, MORE_STEPS * task.budget // levels, sampler, x0=[task.start.copy() for _ in range(levels)]
            )
        except SpentError:
            pass
        cold = np.array(sampler.samplers[0].trace_x)
        settings = f"{levels} levels up to T = {hottest:g}, the first {BURN_SHARE:.0%} of the steps left out"
        return Outcome(draws=cold[int(BURN_SHARE * len(cold)) :], settings=settings)

    return run
