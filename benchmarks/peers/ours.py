"""Our own sampler under the peers' contract: from one point, and with the budget met to the iteration."""

import time
from functools import partial
from typing import Any

import numpy as np

import temperance as tp
from peers.contract import Outcome, Sampler
from peers.tasks import Task

TUNE_SHARE = 0.25  # of the budget, as the peers leave out a quarter


def sampler(task: Task, **options: Any) -> Sampler:
    """A run of `temperance.sample` with these options, and ``draws`` and ``tune`` from the budget.

    How many draws a budget allows depends on the levels that tuning leaves. So the tuning is made twice: once
    to see what is left, and once, timed, with the draws that follow. Levels must not be dropped after tuning.
    """
    sample = partial(
        tp.sample, task.problem.log_density, initial=task.start, data=task.problem.data, cores=1,
        progress=False, **options,
    )  # fmt: skip
    probe = sample(draws=0, tune=1, seed=0)  # shows defaults, and compiles
    chains, n_levels = len(probe.chains), probe.n_levels_at_start
    sample = partial(sample, tune=int(TUNE_SHARE * task.budget / (chains * n_levels)))

    def run(seed: int) -> Outcome:
        draws = affordable_draws(sample(draws=0, seed=seed), task.budget)
        began = time.process_time()
        result = sample(draws=draws, seed=seed)
        return Outcome(
            cpu_seconds=time.process_time() - began,
            draws=result.draws.reshape(-1, task.dim),
            evaluations=evaluations(result),
            settings=f"{chains} chain{'s' if chains > 1 else ''}, {n_levels} levels",
        )

    return run


def evaluations(result: tp.Result) -> int:
    """Evaluations of all chains, the starting points among them.

    An iteration evaluates the levels that the one before it left.
    """
    total, first = 0, result.n_levels_at_start
    for chain in result.chains:
        left = np.concatenate([chain.tuning.n_levels, chain.sampling.n_levels]).astype(np.int64)
        total += 2 * first + int(left[:-1].sum())
    return total


def affordable_draws(tuned: tp.Result, budget: int) -> int:
    """How many draws the budget allows after tuning, with the levels that it left."""
    return int((budget - evaluations(tuned)) // sum(tuned.n_levels))
