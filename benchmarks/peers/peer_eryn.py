"""Eryn: affine-invariant ensembles at several temperatures with an adapted ladder, after ptemcee.

Its own ladder, for a quarter of the swaps to be accepted up to temperature 100, adapted all the time at its
default rate; its default stretch move, vectorised; 16 walkers or four for each coordinate. The box is the
prior: points outside cost nothing, so that steps are made until the next one could exceed the budget. The
first half is burn-in. Starts are clipped to the box. Version 1.2.6 asks for ``np.in1d``, which NumPy 2.4
removed: it is put back here. Its swaps draw from the global generator, which the worker seeds.
"""

import numpy as np

np.in1d = getattr(np, "in1d", np.isin)  # before the import of a package that still asks for it

from eryn.ensemble import EnsembleSampler  # noqa: E402
from eryn.moves.tempering import make_ladder  # noqa: E402
from eryn.prior import ProbDistContainer, uniform_dist  # noqa: E402
from tasks import Outcome, Task  # noqa: E402

REQUIREMENTS = ("eryn==1.2.6",)
HOTTEST = 100.0
FEWEST_WALKERS = 16
WALKERS_PER_DIM = 4


def run(task: Task, seed: int) -> Outcome:
    """As many steps as the budget allows."""
    n_walkers = max(FEWEST_WALKERS, WALKERS_PER_DIM * task.dim)
    betas = make_ladder(task.dim, Tmax=HOTTEST)
    n = len(betas) * n_walkers
    prior = ProbDistContainer({i: uniform_dist(*task.box) for i in range(task.dim)})
    sampler = EnsembleSampler(
        n_walkers, task.dim, task.log_density_rows, prior, tempering_kwargs={"betas": betas}, vectorize=True
    )
    starts = np.clip(task.starts(np.random.default_rng(seed), n), *task.box)
    starts = starts.reshape(len(betas), n_walkers, 1, task.dim)
    draws = []
    for state in sampler.sample(starts, iterations=None, store=False):
        draws.append(state.branches_coords["model_0"][0, :, 0].copy())
        if task.n_evaluations + n > task.budget:
            break
    return Outcome(np.concatenate(draws[len(draws) // 2 :]))
