"""reddemcee: tempered ensembles with a choice of ladder adaptations."""

from typing import Any

from peers.contract import BALL, Outcome, Peer, Sampler
from peers.density import Density
from peers.ensembles import TEMPERED, after_burn_in, describe, keep_going
from peers.tasks import Task

PEER = Peer(
    title="reddemcee",
    kind="tempered ensemble",
    start=BALL,
    packages=("reddemcee>=1.0",),
    notes="One call for each point: its vectorised way cannot be called (it hands over a `zip`). The box is "
    "the prior; its own first ladder, adapting to equal swap rates; two steps a sweep as in its README.",
)
STEPS_A_SWEEP = 2
# its own ladder has no infinite temperature, and four levels in eight dimensions end too cold
PLANS = {**TEMPERED, "twenty_cylinders": (7, 24)}
MORE_SWEEPS = 3  # room for the sweeps that proposals outside the box save


def prepare(task: Task, density: Density) -> Sampler:
    """Sweeps until the budget is used up; proposals outside the box cost no evaluation."""
    import numpy as np
    import reddemcee

    levels, walkers = PLANS[task.key]
    cost = levels * walkers * STEPS_A_SWEEP
    room = MORE_SWEEPS * task.budget // cost

    def run(seed: int) -> Outcome:
        start = task.ball(np.random.default_rng(seed), (levels, walkers))
        sampler: Any = reddemcee.PTSampler(walkers, task.dim, density, density.log_box, ntemps=levels)
        sampler._random.seed(seed)  # its constructor takes none
        sweeps = keep_going(sampler.sample(start, nsweeps=room, nsteps=STEPS_A_SWEEP), density, cost)
        chain = sampler.backend[0].chain[: sweeps * STEPS_A_SWEEP]
        return Outcome(draws=after_burn_in(chain), settings=describe(levels, walkers))

    return run
