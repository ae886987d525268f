"""How the benchmarks measure: CPU seconds, interleaved turns, the best of many."""

import datetime
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numba
import numpy as np

import temperance as tp
from temperance.core.lanes import LANES
from temperance.core.random import compiled_fill, ziggurat
from temperance.core.state import Noise
from temperance.runs.chain import ChainRun
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan
from temperance.runs.starts import Starts
from temperance.targets import gather, make_target
from temperance.zoo import Problem

SEED = 1
SETTINGS = tp.Settings(trimming=tp.Trimming(enabled=False), swaps=tp.swaps.equi_energy())


def best_of(
    cases: Sequence[Callable[[], float]], *, turns: int, summary: Callable[..., Any] = np.min
) -> list[float]:
    """Each case gives seconds: the best of interleaved turns, after one to warm up."""
    seconds = [[case() for case in cases] for _ in range(turns + 1)]
    return [float(value) for value in summary(seconds[1:], axis=0)]


def cpu_seconds(function: Callable[[], Any]) -> float:
    """CPU time of one call in this process, which a busy machine disturbs less than the clock on the wall."""
    began = time.process_time()
    function()
    return time.process_time() - began


def plan_for(problem: Problem, levels: int, *, tune: int = 0, draws: int = 0) -> Plan:
    """One chain that adapts in ``tune`` iterations and is frozen in ``draws``."""
    target = make_target(gather(problem.log_density, None, None, problem.data), vectorized=False)
    betas = first_betas(levels, None, None, dim=problem.dim, has_prior=False)
    return Plan(target=target, settings=SETTINGS, betas=betas, dim=problem.dim, draws=draws, tune=tune,
                keep_levels=False)  # fmt: skip


def run_seconds(plan: Plan, start: Any) -> float:
    """CPU time of all iterations of one chain, without its set-up."""
    starts = Starts(start, np.random.default_rng(SEED))
    run = ChainRun(plan, 0, starts, np.random.SeedSequence(SEED))
    return cpu_seconds(run.run)


def frozen(plan: Plan) -> Plan:
    """The same number of iterations without adaptation."""
    return replace(plan, tune=0, draws=plan.tune)


def bare_seconds(problem: Problem, points: Any, n: int) -> float:
    """CPU time of the density at ``n`` points, one after the other, in a compiled loop."""
    if problem.data is None:
        return cpu_seconds(lambda: _call_bare(problem.log_density, points, n))
    return cpu_seconds(lambda: _call_bare_with_data(problem.log_density, points, n, problem.data))


def filler(levels: int, iterations: int, dim: int) -> Callable[[], None]:
    """The fastest filler in the project, for as many normals as one chain takes from a block."""
    streams = np.array([np.random.SFC64(k).state["state"]["state"] for k in range(1 + 2 * levels)])
    normals = np.empty((-(-levels // LANES), iterations, dim, LANES))
    noise = Noise(normals, np.empty((levels, 0)), np.empty((0, 0)))
    fill = compiled_fill()
    return lambda: fill(streams, levels, ziggurat(), noise)


def heading() -> str:
    """Date, versions and seed."""
    return (
        f"{datetime.date.today()} · temperance {tp.__version__} · numba {numba.__version__} · "
        f"NumPy {np.__version__} · Python {platform.python_version()} · seed {SEED}"
    )


@numba.njit
def _call_bare(log_density: Any, points: Any, n: int) -> float:
    total = 0.0
    for k in range(n):
        total += log_density(points[k % points.shape[0]])
    return total


@numba.njit
def _call_bare_with_data(log_density: Any, points: Any, n: int, data: Any) -> float:
    total = 0.0
    for k in range(n):
        total += log_density(points[k % points.shape[0]], data)
    return total
