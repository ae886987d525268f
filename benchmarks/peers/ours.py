"""Our own sampler under the peers' contract: from one point, and with the budget met to the iteration."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import temperance as tp
from peers.contract import Outcome, Sampler
from peers.tasks import Task

TUNE_SHARE = 0.45  # of the budget: what is learnt then pays later


def sampler(task: Task, *, tune_share: float = TUNE_SHARE, weighted: bool = False, **options: Any) -> Sampler:
    """A run of `temperance.sample` with these options, and ``draws`` and ``tune`` from the budget.

    How many draws a budget allows depends on the levels that tuning leaves. So the tuning is a run of its
    own, in a folder, and the draws go on from it: they are those of one call. Levels must not be dropped
    after tuning.
    """
    sample = partial(bare_call(task), **options)
    probe = sample(draws=0, tune=1, seed=0)  # shows defaults, and compiles
    chains, n_levels = len(probe.chains), probe.n_levels_at_start
    sample = partial(sample, tune=int(tune_share * task.budget / (chains * n_levels)), draws=0)

    def run(seed: int) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            return timed(partial(_with_draws, task, sample, seed, Path(folder) / "run"), weighted=weighted)

    return run


def _with_draws(task: Task, sample: Callable[..., tp.Result], seed: int, folder: Path) -> tp.Result:
    """A run tuned in this folder, and then as many draws as the budget allows."""
    draws = affordable_draws(sample(seed=seed, store=folder), task.budget)
    return tp.resume(folder, task.problem, draws=draws, cores=1, progress=False)


def as_it_comes(task: Task) -> Sampler:
    """A run of `temperance.sample` in which nothing is set, however many evaluations that takes."""
    sample = bare_call(task)
    sample(draws=0, tune=1)  # compiles
    return lambda seed: timed(partial(sample, seed=seed))


def bare_call(task: Task) -> Callable[..., tp.Result]:
    """`temperance.sample` of a task, with nothing set that changes its draws."""
    problem = task.problem
    return partial(tp.sample, problem, initial=task.start, cores=1, progress=False)


def timed(sample: Callable[[], tp.Result], *, weighted: bool = False) -> Outcome:
    """What a run came to: its draws, and its weighted sample where that is asked for."""
    began = time.process_time()
    result = sample()
    chains, n_levels = len(result.chains), result.n_levels_at_start
    outcome = Outcome(
        cpu_seconds=time.process_time() - began,
        draws=result.draws.reshape(-1, result.draws.shape[-1]),
        evaluations=evaluations(result),
        settings=f"{chains} chain{'s' if chains > 1 else ''}, {n_levels} levels",
    )
    if not weighted:
        return outcome
    found = result.weighted
    elapsed = time.process_time() - began
    by_weights = replace(outcome, cpu_seconds=elapsed, draws=found.points, weights=found.weights)
    return replace(outcome, weighted=by_weights)


def evaluations(result: tp.Result) -> int:
    """Evaluations: before the run, and of all chains the starts, every level that moved, the scouts."""
    before: int = getattr(result.setup, "n_preflight", 0)  # sources of before there was any have none
    return before + sum(
        result.n_levels_at_start
        + int(chain.tuning.evaluations.sum(dtype=np.int64))
        + int(chain.sampling.evaluations.sum(dtype=np.int64))
        for chain in result.chains
    )


def affordable_draws(tuned: tp.Result, budget: int) -> int:
    """How many draws the budget allows after tuning, with the levels that it left and as they rest."""
    left = budget - evaluations(tuned)
    low, high = 0, max(left, 0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if draw_cost(tuned, middle) <= left else (low, middle - 1)
    return low


def draw_cost(tuned: tp.Result, draws: int) -> int:
    """Evaluations that so many draws of each chain take."""
    total = 0
    for chain, n_levels in zip(tuned.chains, tuned.n_levels, strict=True):
        rest = 1 if chain.modes is None else chain.modes.rest_every
        awake = (tuned.n_tune + draws - 1) // rest - (tuned.n_tune - 1) // rest
        total += draws + awake * (n_levels - 1)
    return total
