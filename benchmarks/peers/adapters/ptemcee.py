"""ptemcee: tempered ensembles with Vousden's ladder."""

from typing import Any

from peers.contract import BALL, Outcome, Peer, Sampler
from peers.density import Density
from peers.ensembles import TEMPERED, after_burn_in, describe, keep_going
from peers.tasks import Task

PEER = Peer(
    title="ptemcee",
    kind="tempered ensemble",
    start=BALL,
    packages=("ptemcee>=1.0.0",),
    shims="`np.float`, which NumPy removed, is put back before the import.",
    notes="One call for each point, the only way it has. The box is the prior, hottest temperature infinite, "
    "ladder adapting.",
)
MORE_STEPS = 3  # room for the steps that proposals outside the box save


def prepare(task: Task, density: Density) -> Sampler:
    """Steps until the budget is used up; proposals outside the box cost no evaluation."""
    import numpy as np

    np.float = float  # noqa: NPY001 - the shim
    import ptemcee

    levels, walkers = TEMPERED[task.key]
    room = MORE_STEPS * task.budget // (levels * walkers)

    def run(seed: int) -> Outcome:
        start = task.ball(np.random.default_rng(seed), (levels, walkers))
        sampler: Any = ptemcee.Sampler(
            walkers, task.dim, density, density.log_box, ntemps=levels, Tmax=np.inf,
            random=np.random.RandomState(seed),
        )  # fmt: skip
        steps = keep_going(sampler.sample(start, iterations=room, adapt=True), density, levels * walkers)
        chain = sampler.chain[0, :, :steps].swapaxes(0, 1)
        return Outcome(draws=after_burn_in(chain), settings=describe(levels, walkers))

    return run
