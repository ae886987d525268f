"""nautilus: importance nested sampling with neural networks."""

from typing import Any, NamedTuple

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="nautilus",
    kind="nested importance sampling",
    start=BOX,
    packages=("nautilus-sampler>=1.0",),
    notes="Vectorised calls, stopped by the budget; points of the exploration are kept. Its usual four "
    "networks and batches of 100 where the settings below do not say otherwise.",
)


class Plan(NamedTuple):
    """Live points, networks of each bound, and points between two looks at the count."""

    n_live: int
    n_networks: int = 4
    n_batch: int = 100

    def __str__(self) -> str:
        usual = Plan(self.n_live)
        networks = f", networks: {self.n_networks}" if self.n_networks != usual.n_networks else ""
        batches = f", batches of {self.n_batch}" if self.n_batch != usual.n_batch else ""
        return f"{self.n_live} live points{networks}{batches}"


PLANS = {
    "twenty_peaks": Plan(1000, n_networks=2, n_batch=500),
    "twenty_cylinders": Plan(1000, n_networks=1, n_batch=500),
    "bridge": Plan(200),
    "two_modes": Plan(200),
}


def prepare(task: Task, density: Density) -> Sampler:
    """A new sampler for each run, kept in memory."""
    import nautilus
    import numpy as np

    plan = PLANS[task.key]

    def run(seed: int) -> Outcome:
        sampler: Any = nautilus.Sampler(
            density.from_unit, density.rows, n_dim=task.dim, vectorized=True, pass_dict=False, seed=seed,
            **plan._asdict(),
        )  # fmt: skip
        sampler.run(n_like_max=task.budget - plan.n_batch, n_eff=np.inf, verbose=False)
        points, log_weights, _ = sampler.posterior()
        return Outcome(draws=points, weights=np.exp(log_weights - log_weights.max()), settings=str(plan))

    return run
