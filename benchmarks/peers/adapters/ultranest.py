"""UltraNest: reactive nested sampling."""

from typing import Any, NamedTuple

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="UltraNest",
    kind="nested sampling",
    start=BOX,
    packages=("ultranest>=4.4",),
    notes="Reactive, vectorised calls; ends by itself, or by the budget. In more than two dimensions with a "
    "slice step sampler, as its documentation advises there. The long budget of the peaks goes to "
    "independent runs, weighted by their evidences: one with ten times the live points takes over thirty "
    "times as long.",
)


class Plan(NamedTuple):
    """Live points at least, slice steps or 0 for its own region sampling, and independent runs."""

    n_live: int
    n_slices: int = 0
    n_runs: int = 1

    def __str__(self) -> str:
        walk = f", {self.n_slices} slice steps" if self.n_slices else ""
        runs = f", {self.n_runs} runs" if self.n_runs > 1 else ""
        return f"{self.n_live} live points at least{walk}{runs}"


PLANS = {
    "twenty_peaks": Plan(1600),
    "twenty_peaks-375000": Plan(1600, n_runs=10),
    "twenty_cylinders": Plan(400, n_slices=6),
    "bridge": Plan(40, n_slices=6),
    "two_modes": Plan(100, n_slices=8),
}
LOOSE = 5.0  # wanted accuracy of the evidence, so that it does not raise the number of live points
MARGIN = 0.97  # of the budget: it looks at the count between batches


def prepare(task: Task, density: Density) -> Sampler:
    """New samplers for each repetition, kept in memory."""
    import logging

    import numpy as np
    import ultranest
    import ultranest.stepsampler as steps

    logging.getLogger("ultranest").setLevel(logging.ERROR)
    plan = PLANS.get(task.name, PLANS[task.key])

    def one_run() -> Any:
        sampler: Any = ultranest.ReactiveNestedSampler(
            [f"x{k}" for k in range(task.dim)], density.rows, density.from_unit, vectorized=True
        )
        if plan.n_slices:
            sampler.stepsampler = steps.SliceSampler(
                nsteps=plan.n_slices, generate_direction=steps.generate_mixture_random_direction
            )
        return sampler.run(
            max_ncalls=int(MARGIN * task.budget / plan.n_runs),
            min_num_live_points=plan.n_live,
            dlogz=LOOSE,
            show_status=False,
            viz_callback=False,
        )

    def run(seed: int) -> Outcome:
        np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
        results = [one_run() for _ in range(plan.n_runs)]
        top = max(result["logz"] for result in results)
        found = [(result["weighted_samples"], np.exp(result["logz"] - top)) for result in results]
        return Outcome(
            draws=np.concatenate([samples["points"] for samples, _ in found]),
            weights=np.concatenate([share * samples["weights"] for samples, share in found]),
            settings=str(plan),
        )

    return run
