"""nautilus: importance nested sampling with neural networks."""

from typing import Any

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="nautilus",
    kind="nested importance sampling",
    start=BOX,
    packages=("nautilus-sampler>=1.0",),
    notes="Its usual settings, vectorised calls, stopped by the budget; points of the exploration are kept.",
)
N_LIVE = {"twenty_peaks": 2000, "twenty_cylinders": 500, "bridge": 200, "two_modes": 200}
BATCH = 100  # its own; it stops between batches


def prepare(task: Task, density: Density) -> Sampler:
    """A new sampler for each run, kept in memory."""
    import nautilus
    import numpy as np

    n_live = N_LIVE[task.key]

    def run(seed: int) -> Outcome:
        sampler: Any = nautilus.Sampler(
            density.from_unit, density.rows, n_dim=task.dim, n_live=n_live, n_batch=BATCH, vectorized=True,
            pass_dict=False, seed=seed,
        )  # fmt: skip
        sampler.run(n_like_max=task.budget - BATCH, n_eff=np.inf, verbose=False)
        points, log_weights, _ = sampler.posterior()
        return Outcome(
            draws=points,
            weights=np.exp(log_weights - log_weights.max()),
            settings=f"{n_live} live points",
        )

    return run
