"""emcee: the affine-invariant ensemble without tempering, the yardstick for those with it."""

from peers.contract import BALL, Outcome, Peer, Sampler
from peers.density import Density
from peers.ensembles import after_burn_in, describe, n_steps
from peers.tasks import Task

PEER = Peer(
    title="emcee",
    kind="ensemble, not tempered",
    start=BALL,
    packages=("emcee>=3.1.6",),
    notes="Vectorised calls (`vectorize=True`); its usual move, the stretch.",
)
N_WALKERS = {"twenty_peaks": 50, "twenty_cylinders": 50, "bridge": 50, "two_modes": 100}


def prepare(task: Task, density: Density) -> Sampler:
    """Steps so that the budget is used up."""
    import emcee
    import numpy as np

    walkers = N_WALKERS[task.key]
    steps = n_steps(task, 1, walkers)

    def run(seed: int) -> Outcome:
        sampler = emcee.EnsembleSampler(walkers, task.dim, density.rows, vectorize=True)
        sampler.run_mcmc(task.ball(np.random.default_rng(seed), (walkers,)), steps)
        return Outcome(draws=after_burn_in(sampler.get_chain()), settings=describe(1, walkers))

    return run
