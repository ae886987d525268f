"""Our own sampler under the peers' contract: from one point, and with the budget met to the iteration."""

import time
from typing import Any

import numpy as np

import temperance as tp
from peers.contract import Outcome, Sampler
from peers.tasks import Task

TUNE_SHARE = 0.25  # of the budget, as the peers leave out a quarter


def sampler(task: Task, *, n_levels: int, chains: int, described: str, **options: Any) -> Sampler:
    """A run of `temperance.sample` with ``draws`` and ``tune`` from the budget.

    How many iterations a budget allows depends on when levels are dropped. So each run is made twice: once
    with more draws than can be paid, to see where the budget ends, and once, timed, with as many as can.
    The draws of the second are the first ones of the first.
    """
    tune = int(TUNE_SHARE * task.budget / (chains * n_levels))
    arguments = {
        "initial": task.start, "data": task.problem.data, "tune": tune, "chains": chains, "cores": 1,
        "progress": False, **options,
    }  # fmt: skip

    def run(seed: int) -> Outcome:
        trial = tp.sample(task.problem.log_density, draws=task.budget // chains, seed=seed, **arguments)
        draws = affordable_draws(trial, task.budget)
        began = time.process_time()
        result = tp.sample(task.problem.log_density, draws=draws, seed=seed, **arguments)
        return Outcome(
            cpu_seconds=time.process_time() - began,
            draws=result.draws.reshape(-1, task.dim),
            evaluations=int(evaluations(result)[-1]),
            settings=described,
        )

    run(0)  # compiles
    return run


def evaluations(result: tp.Result) -> np.ndarray:
    """Evaluations of all chains up to each iteration, the starting points among them.

    An iteration evaluates the levels that were left after the one before it.
    """
    totals = 0
    for chain in result.chains:
        left = np.concatenate([chain.tuning.n_levels, chain.sampling.n_levels]).astype(np.int64)
        totals = totals + result.n_levels_at_start + np.cumsum(np.append(result.n_levels_at_start, left[:-1]))
    return np.asarray(totals)


def affordable_draws(result: tp.Result, budget: int) -> int:
    """How many iterations after tuning the budget allows."""
    return int(np.searchsorted(evaluations(result), budget, side="right")) - result.n_tune
