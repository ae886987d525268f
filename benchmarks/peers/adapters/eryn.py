"""Eryn: tempered ensembles with Vousden's ladder, vectorised."""

from typing import Any

from peers.contract import BALL, Outcome, Peer, Sampler
from peers.density import Density
from peers.ensembles import TEMPERED, after_burn_in, describe, keep_going
from peers.tasks import Task

PEER = Peer(
    title="Eryn",
    kind="tempered ensemble",
    start=BALL,
    packages=("eryn>=1.2.6",),
    shims="`np.in1d` and `np.trapz`, which NumPy removed, are put back before the import.",
    notes="Vectorised calls. The box is the prior, hottest temperature infinite, ladder adapting.",
)
MORE_STEPS = 3  # room for the steps that proposals outside the box save
BRANCH = "model_0"


def prepare(task: Task, density: Density) -> Sampler:
    """Steps until the budget is used up; proposals outside the box cost no evaluation."""
    import numpy as np

    np.in1d, np.trapz = np.isin, np.trapezoid  # noqa: NPY201 - the shim
    from eryn.ensemble import EnsembleSampler
    from eryn.prior import ProbDistContainer, uniform_dist
    from eryn.state import State

    levels, walkers = TEMPERED[task.key]
    room = MORE_STEPS * task.budget // (levels * walkers)

    def run(seed: int) -> Outcome:
        priors = ProbDistContainer({k: uniform_dist(low, high) for k, (low, high) in enumerate(task.box)})
        sampler: Any = EnsembleSampler(
            walkers, task.dim, density.rows, {BRANCH: priors}, vectorize=True,
            tempering_kwargs={"ntemps": levels, "Tmax": np.inf},
        )  # fmt: skip
        start = State({BRANCH: task.ball(np.random.default_rng(seed), (levels, walkers, 1))})
        steps = keep_going(sampler.sample(start, iterations=room), density, levels * walkers)
        chain = sampler.get_chain()[BRANCH][:steps, 0, :, 0]
        return Outcome(draws=after_burn_in(chain), settings=describe(levels, walkers))

    return run
