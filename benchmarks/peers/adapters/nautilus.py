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
    notes="Vectorised calls, stopped by the budget. Its usual four networks, batches of 100 and draws of the "
    "exploration kept, where the settings below do not say otherwise.",
)


class Plan(NamedTuple):
    """Live points, networks of a bound, points between two looks at the count, and which draws are kept."""

    n_live: int
    n_networks: int = 4
    n_batch: int = 100
    discard_exploration: bool = False

    def __str__(self) -> str:
        usual = Plan(self.n_live)
        networks = f", networks: {self.n_networks}" if self.n_networks != usual.n_networks else ""
        batches = f", batches of {self.n_batch}" if self.n_batch != usual.n_batch else ""
        exploration = ", exploration discarded" if self.discard_exploration else ""
        return f"{self.n_live} live points{networks}{batches}{exploration}"


PLANS = {
    "twenty_peaks": Plan(1000, n_networks=2, n_batch=500),
    "twenty_peaks-375000": Plan(1000, n_networks=2, n_batch=500, discard_exploration=True),
    "twenty_cylinders": Plan(1000, n_networks=1, n_batch=500),
    "bridge": Plan(200),
    "two_modes": Plan(200),
}


def prepare(task: Task, density: Density) -> Sampler:
    """A new sampler for each run, kept in memory."""
    import nautilus
    import numpy as np

    plan = PLANS.get(task.name, PLANS[task.key])

    def run(seed: int) -> Outcome:
        sampler: Any = nautilus.Sampler(
            density.from_unit, density.rows, n_dim=task.dim, vectorized=True, pass_dict=False, seed=seed,
            n_live=plan.n_live, n_networks=plan.n_networks, n_batch=plan.n_batch,
        )  # fmt: skip
        sampler.run(n_like_max=task.budget - plan.n_batch, n_eff=np.inf, verbose=False)
        sampler.discard_exploration = plan.discard_exploration
        points, log_weights, _ = sampler.posterior()
        return Outcome(draws=points, weights=np.exp(log_weights - log_weights.max()), settings=str(plan))

    return run
