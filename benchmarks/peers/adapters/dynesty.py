"""dynesty: dynamic nested sampling."""

from typing import Any

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="dynesty",
    kind="nested sampling",
    start=BOX,
    packages=("dynesty>=3.0",),
    notes="Dynamic, all weight on the posterior, stopped by the budget; one call for each point. Its own "
    "choice of bounds and of sampling within them.",
)
N_LIVE = {"twenty_peaks": 500, "twenty_cylinders": 200, "bridge": 40, "two_modes": 50}
# Shares of the budget at which to stop: it looks at the count between batches of proposals.
MARGIN, LONG_MARGIN = 0.98, 0.95


def prepare(task: Task, density: Density) -> Sampler:
    """As many live points as leave the budget room for more than one batch, where it has any."""
    import dynesty
    import numpy as np

    n_live = N_LIVE[task.key]
    margin = LONG_MARGIN if task.name == "twenty_peaks-375000" else MARGIN

    def run(seed: int) -> Outcome:
        sampler: Any = dynesty.DynamicNestedSampler(
            density, density.from_unit, task.dim, nlive=n_live, rstate=np.random.default_rng(seed)
        )
        sampler.run_nested(
            maxcall=int(margin * task.budget), wt_kwargs={"pfrac": 1.0}, use_stop=False, print_progress=False
        )
        results = sampler.results
        return Outcome(
            draws=results.samples,
            weights=results.importance_weights(),
            settings=f"{n_live} live points at first",
        )

    return run
