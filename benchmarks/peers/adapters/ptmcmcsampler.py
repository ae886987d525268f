"""PTMCMCSampler: adaptive Metropolis and differential evolution, tempered."""

import contextlib
import tempfile
from typing import Any

from peers.contract import ONE_POINT, Outcome, Peer, Sampler
from peers.density import Density
from peers.in_process_mpi import Communicator, World
from peers.ladders import BURN_SHARE, MORE_STEPS, SpentError, after_burn_in, describe, until_spent
from peers.tasks import Task

PEER = Peer(
    title="PTMCMCSampler",
    kind="tempering",
    start=ONE_POINT,
    packages=("PTMCMCSampler>=2.1", "greenlet>=3.0"),
    shims="It needs MPI for more than one level. Its ranks run here as greenlets of one process behind a "
    "communicator of ours (`in_process_mpi.py`), which costs less than MPI would on one core.",
    notes="One call for each point. The box is the prior; geometric ladder; first covariance from the widths "
    "of a mode; swaps every 10 steps, covariance every 500, differential evolution from a quarter of "
    "the run on.",
)
# (levels, hottest temperature)
LADDERS = {
    "twenty_peaks": (5, 500.0),
    "twenty_cylinders": (8, 200.0),
    "bridge": (5, 50.0),
    "two_modes": (16, 500.0),
}
SWAP_EVERY, COVARIANCE_EVERY = 10, 500


def prepare(task: Task, density: Density) -> Sampler:
    """A run that ends when the budget is used up."""
    import PTMCMCSampler.PTMCMCSampler  # noqa: F401 - untimed here

    levels, hottest = LADDERS[task.key]

    def run(seed: int) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            cold, steps = _cold_chain(task, density, seed, folder)
        return Outcome(draws=after_burn_in(cold[:steps]), settings=describe(levels, hottest))

    return run


def _cold_chain(task: Task, density: Density, seed: int, folder: str) -> tuple[Any, int]:
    """What the first rank recorded until the budget was used up, and how many steps that were."""
    from PTMCMCSampler.PTMCMCSampler import PTSampler

    levels, _ = LADDERS[task.key]
    log_density, ranks = until_spent(density), []

    def rank(comm: Communicator) -> None:
        import numpy as np

        sampler = PTSampler(
            task.dim, log_density, density.log_box, np.diag(task.width**2), comm=comm, outDir=folder,
            verbose=False, seed=seed,
        )  # fmt: skip
        ranks.append((sampler, comm))
        sampler.sample(task.start.copy(), **_options(task))

    with contextlib.suppress(SpentError):
        World(levels).run(rank)
    sampler, comm = next((sampler, comm) for sampler, comm in ranks if comm.rank == 0)
    # One barrier stands before the first step, and one before the step that was not finished.
    return sampler._chain, comm.barriers - 2


def _options(task: Task) -> dict[str, Any]:
    levels, hottest = LADDERS[task.key]
    steps = task.budget // levels
    return {
        "Niter": MORE_STEPS * steps,
        "Tmax": hottest,
        "Tskip": SWAP_EVERY,
        "thin": 1,
        "covUpdate": COVARIANCE_EVERY,
        "burn": int(BURN_SHARE * steps),
        "isave": MORE_STEPS * steps + 1,  # nothing is written on the way
    }
