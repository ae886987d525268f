"""What workers cost and what they gain, as ratios within one run: the table of docs/parallel/pools.md.

A density burns a given time on a processor. Runs with and without workers take turns; the best of a few
counts.
"""

import argparse
import importlib.util
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from importlib import metadata
from multiprocessing import get_context
from typing import Any

import numpy as np

import temperance as tp

SEED, WORKERS, LEVELS, TURNS = 1, 2, 4, 3
FEW = 200  # iterations in all, to see what a question costs
WITHOUT_JUMPS = tp.Settings(jumps=tp.Jumps(enabled=False))
MILLISECONDS = (0.02, 0.1, 1.0, 10.0)


class Density:
    """A Gaussian that takes its time."""

    def __init__(self, milliseconds: float) -> None:
        self.seconds = milliseconds / 1000.0

    def __call__(self, x: Any) -> float:
        """The log density, when the time is over."""
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return -0.5 * float(x @ x)


def evaluations(result: Any) -> int:
    """How often the density was asked."""
    return sum(
        int(trace.evaluations.sum()) for chain in result.chains for trace in (chain.tuning, chain.sampling)
    )


def timed(density: Any, chains: int, iterations: int, pool: Any, settings: Any) -> tuple[float, Any]:
    """Seconds of a run, half of it tuning."""
    half = max(1, iterations // 2)
    options = {"initial": np.full(2, 0.5), "levels": LEVELS, "seed": SEED, "progress": False}
    began = time.perf_counter()
    made = tp.sample(density, tune=half, draws=half, chains=chains, pool=pool, settings=settings, **options)
    return time.perf_counter() - began, made


def ratio(milliseconds: float, chains: int, pool: Any, settings: Any, iterations: int) -> tuple[float, float]:
    """How many times as fast a run is with workers, and microseconds an evaluation takes with them."""
    density = Density(milliseconds)
    timed(density, chains, 4, pool, settings)  # workers begin, and learn what they are to do
    alone, shared, made = math.inf, math.inf, None
    for _ in range(TURNS):
        one, first = timed(density, chains, iterations, None, settings)
        two, made = timed(density, chains, iterations, pool, settings)
        if not np.array_equal(first.draws, made.draws):
            raise SystemExit("the draws differ")
        alone, shared = min(alone, one), min(shared, two)
    return alone / shared, 1e6 * shared / evaluations(made)


@contextmanager
def dask() -> Iterator[Any]:
    """A client of a cluster of this machine."""
    from distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def engines() -> dict[str, Callable[[], Any]]:
    """Pools by name, to be opened."""
    spawn = get_context("spawn")
    found: dict[str, Callable[[], Any]] = {
        "our workers": lambda: tp.Pool(WORKERS, share="points"),
        "ThreadPoolExecutor": lambda: ThreadPoolExecutor(WORKERS),
        "multiprocessing.Pool": lambda: spawn.Pool(WORKERS),
        "ProcessPoolExecutor": lambda: ProcessPoolExecutor(WORKERS, mp_context=spawn),
    }
    if importlib.util.find_spec("distributed"):
        found["Dask"] = dask
    return found


def overhead() -> None:
    """Microseconds for a question to each engine, with a density that costs nothing."""
    print("| engine | µs an evaluation, one chain | four chains |\n|---|---|---|")
    for name, opened in engines().items():
        with opened() as pool:
            points = pool if isinstance(pool, tp.Pool) else tp.Pool(pool, share="points")
            costs = [ratio(0.0, chains, points, WITHOUT_JUMPS, FEW // chains)[1] for chains in (1, 4)]
        print(f"| {name} | {costs[0]:.0f} | {costs[1]:.0f} |", flush=True)


def gain(seconds: float) -> None:
    """How many times as fast runs are with two workers."""
    print("\nHow many times as fast a run is with workers:\n")
    print("| a point takes | points, one chain | points, four chains | chains, four chains |")
    print("|---|---|---|---|")
    with tp.Pool(WORKERS) as pool:
        for milliseconds in MILLISECONDS:
            cells = []
            for share, chains in (("points", 1), ("points", 4), ("chains", 4)):
                shared = tp.Pool(WORKERS, share=share)
                shared._open.extend(pool._open)
                n = max(4, int(seconds / (LEVELS * (milliseconds / 1000.0 + 1e-5)) / chains))
                cells.append(ratio(milliseconds, chains, shared, WITHOUT_JUMPS, n)[0])
            print(f"| {milliseconds:g} ms | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each run without workers")
    seconds = parser.parse_args().seconds
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    print(
        f"# Workers, measured\n\nMade by `make bench-pools` on {date.today()}: temperance {tp.__version__}, "
        f"{versions}, Python {platform.python_version()}, seed {SEED}, {WORKERS} workers on a machine of "
        f"{os.cpu_count()} cores; {LEVELS} levels in two dimensions, without jumps, "
        "half of each run tuning. The draws of every pair of runs are compared, and are the same. Best of "
        f"{TURNS} turns.\n\nWhat a question costs, with a density that takes no time:\n"
    )
    overhead()
    gain(seconds)


if __name__ == "__main__":
    main()
