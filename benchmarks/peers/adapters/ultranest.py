"""UltraNest: reactive nested sampling."""

from typing import Any

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="UltraNest",
    kind="nested sampling",
    start=BOX,
    packages=("ultranest>=4.4",),
    notes="Reactive, vectorised calls, stopped by the budget. In more than two dimensions with a slice "
    "step sampler, as its documentation advises there.",
)
# (live points at least, slice steps or 0 for its own region sampling)
PLANS = {
    "twenty_peaks": (1600, 0),
    "twenty_peaks-375000": (16_000, 0),
    "twenty_cylinders": (200, 16),
    "bridge": (40, 6),
    "two_modes": (50, 20),
}
LOOSE = 5.0  # wanted accuracy of the evidence, so that it does not raise the number of live points
MARGIN = 0.97  # of the budget: it looks at the count between batches


def prepare(task: Task, density: Density) -> Sampler:
    """A new sampler for each run, kept in memory."""
    import logging

    import numpy as np
    import ultranest
    import ultranest.stepsampler as steps

    logging.getLogger("ultranest").setLevel(logging.ERROR)
    n_live, n_slices = PLANS.get(task.name, PLANS[task.key])

    def run(seed: int) -> Outcome:
        np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
        sampler: Any = ultranest.ReactiveNestedSampler(
            [f"x{k}" for k in range(task.dim)], density.rows, density.from_unit, vectorized=True
        )
        if n_slices:
            sampler.stepsampler = steps.SliceSampler(
                nsteps=n_slices, generate_direction=steps.generate_mixture_random_direction
            )
        result = sampler.run(
            max_ncalls=int(MARGIN * task.budget),
            min_num_live_points=n_live,
            dlogz=LOOSE,
            show_status=False,
            viz_callback=False,
        )
        found = result["weighted_samples"]
        walk = f", {n_slices} slice steps" if n_slices else ""
        return Outcome(
            draws=found["points"], weights=found["weights"], settings=f"{n_live} live points at least{walk}"
        )

    return run
