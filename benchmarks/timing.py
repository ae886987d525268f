"""How the benchmarks measure: interleaved turns, the best of many, without the set-up of a run."""

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
from temperance.core.random import Streams, compiled_fill, ziggurat
from temperance.core.state import JUMP_UNIFORMS, Noise
from temperance.runs.chain import ChainRun
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan
from temperance.runs.starts import Starts
from temperance.targets import gather, make_target

SEED = 1
SETTINGS = tp.Settings(
    adaptation=tp.Adaptation(walk="covariance", coordinate_every=0),
    trimming=tp.Trimming(enabled=False),
    jumps=tp.Jumps(enabled=False),
    swaps=tp.swaps.equi_energy(),
)
ROBUST = replace(SETTINGS, adaptation=tp.Adaptation())  # the walks that are the default
BLOCK_NORMALS = 2**16  # a block of normals as a chain draws it, small enough for a core's cache

Case = Callable[[], float]


def best_of(cases: Sequence[Case], *, turns: int) -> list[float]:
    """Each case gives seconds: the best of interleaved turns, after one to warm up."""
    seconds = [[case() for case in cases] for _ in range(turns + 1)]
    return [float(value) for value in np.min(seconds[1:], axis=0)]


def cpu_seconds(function: Callable[[], Any]) -> float:
    """CPU time of one call in this process, which a busy machine disturbs less than time on the wall."""
    began = time.process_time()
    function()
    return time.process_time() - began


def wall_seconds(function: Callable[[], Any]) -> float:
    """Time on the wall of one call."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def adapting(log_density: Any, start: Any, levels: int, n: int, **options: Any) -> Case:
    """Seconds of ``n`` iterations of one chain that adapts throughout, by equi-energy swaps."""
    return _iterations(log_density, start, levels, {"tune": n, "draws": 0}, **options)


def frozen(log_density: Any, start: Any, levels: int, n: int, **options: Any) -> Case:
    """The same without adaptation."""
    return _iterations(log_density, start, levels, {"tune": 0, "draws": n}, **options)


def _iterations(
    log_density: Any, start: Any, levels: int, lengths: dict[str, int], *, data: Any = None,
    vectorized: bool = False, settings: tp.Settings = SETTINGS,
) -> Case:  # fmt: skip
    target = make_target(gather(log_density, None, None, data), vectorized=vectorized)
    starts = Starts(start, np.random.default_rng(SEED))
    betas = first_betas(levels, None, None, dim=starts.dim, has_prior=False, swap_acceptance=0.234)
    plan = Plan(target=target, settings=settings, betas=betas, dim=starts.dim, **lengths)

    def case() -> float:
        return cpu_seconds(ChainRun(plan, 0, starts, np.random.SeedSequence(SEED)).run)

    return case


def evaluated_points(log_density: Any, start: Any, levels: int, n: int, data: Any = None) -> Any:
    """Where a run evaluates its density: a Python density sees the points that a compiled one would."""
    points = []

    def recorded(x: Any) -> float:
        points.append(x)
        return float(log_density(x) if data is None else log_density(x, data))

    tp.sample(recorded, initial=start, levels=levels, tune=n, draws=0, chains=1, seed=SEED, progress=False,
              settings=SETTINGS)  # fmt: skip
    return np.array(points)


def bare(log_density: Any, points: Any, n: int, data: Any = None) -> Case:
    """Seconds of the density at ``n`` points, one after the other, in a compiled loop."""
    if data is None:
        return lambda: cpu_seconds(lambda: _call_bare(log_density, points, n))
    return lambda: cpu_seconds(lambda: _call_bare_with_data(log_density, points, n, data))


def normals(levels: int, dim: int, n: int) -> Case:
    """Seconds that the fastest filler in the project takes for the normals of ``n`` iterations."""
    rows = min(n, max(1, BLOCK_NORMALS // (levels * dim)))
    words = np.array([np.random.SFC64(k).state["state"]["state"] for k in range(2 + 2 * levels)])
    own = words[:levels]
    streams = Streams(own, words[levels : 2 * levels], own, words[-2], words[-1])
    room = np.empty((-(-levels // LANES), rows, dim, LANES))
    none = np.empty((levels, 0)), np.empty((levels, 0, 0)), np.empty((0, 0)), np.empty((0, 2, JUMP_UNIFORMS))
    noise = Noise(room, *none)
    fill, blocks = compiled_fill(), max(1, n // rows)

    def case() -> float:
        seconds = cpu_seconds(lambda: [fill(streams, levels, 0, 1, ziggurat(), noise) for _ in range(blocks)])
        return seconds * n / (blocks * rows)

    return case


def versions_in_words() -> str:
    """What a measurement was made with."""
    return (
        f"temperance {tp.__version__}, numba {numba.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}"
    )


def heading() -> str:
    """Date, versions and seed."""
    return f"{datetime.date.today()}, {versions_in_words()}, seed {SEED}"


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
