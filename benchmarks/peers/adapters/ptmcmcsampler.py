"""PTMCMCSampler: adaptive Metropolis and differential evolution, tempered."""

import tempfile
from typing import Any

from peers.contract import ONE_POINT, Outcome, Peer, Sampler
from peers.density import Density
from peers.in_process_mpi import Communicator, World
from peers.tasks import Task

PEER = Peer(
    title="PTMCMCSampler",
    kind="tempering",
    start=ONE_POINT,
    packages=("PTMCMCSampler>=2.1", "greenlet>=3.0"),
    shims="It needs MPI for more than one level. Its ranks run here as greenlets of one process behind a "
    "communicator of ours (`in_process_mpi.py`), which costs less than MPI would on one core.",
    notes="One call for each point. The box is the prior; geometric ladder; first covariance from the widths of a "
    "mode; swaps every 10 steps, covariance every 500, differential evolution from a quarter of the run on.",
)
# (levels, hottest temperature)
LADDERS = {
    "twenty_peaks": (5, 500.0),
    "twenty_cylinders": (8, 500.0),
    "bridge": (9, 50.0),
    "two_modes": (16, 500.0),
}
BURN_SHARE, SWAP_EVERY, COVARIANCE_EVERY = 0.25, 10, 500
MORE_STEPS = 3  # room for the steps that proposals outside the box save


class SpentError(Exception):
    """The budget is used up."""


def prepare(task: Task, density: Density) -> Sampler:
    """A run that ends when the budget is used up."""
    from PTMCMCSampler.PTMCMCSampler import PTSampler

    levels, hottest = LADDERS[task.key]
    steps = task.budget // levels

    def log_density(x: Any) -> float:
        if density.count >= task.budget:
            raise SpentError
        return density(x)

    def run(seed: int) -> Outcome:
        cold: list[Any] = []

        def rank(comm: Communicator) -> None:
            import numpy as np

            sampler = PTSampler(
                task.dim, log_density, density.log_box, np.diag(task.width**2), comm=comm, outDir=folder,
                verbose=False, seed=seed,
            )  # fmt: skip
            if comm.rank == 0:
                cold.extend((sampler, comm))
            sampler.sample(
                task.start.copy(), MORE_STEPS * steps, Tmax=hottest, Tskip=SWAP_EVERY, thin=1,
                covUpdate=COVARIANCE_EVERY, burn=int(BURN_SHARE * steps), isave=MORE_STEPS * steps + 1,
            )  # fmt: skip

        with tempfile.TemporaryDirectory() as folder:
            try:
                World(levels).run(rank)
            except SpentError:
                pass
        sampler, comm = cold
        taken = comm.barriers - 2  # one before the first step, one before the step that was not finished
        settings = f"{levels} levels up to T = {hottest:g}, the first {BURN_SHARE:.0%} of the steps left out"
        return Outcome(draws=sampler._chain[int(BURN_SHARE * taken) : taken].copy(), settings=settings)

    return run
