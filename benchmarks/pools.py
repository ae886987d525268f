"""What workers cost and what they gain, as ratios within one run: the table of docs/parallel/pools.md.

A density burns a given time on a processor. Runs with and without workers take turns; the best of a few
counts.
"""

import argparse
import functools
import importlib.util
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import temperance as tp
from pool_simulation import LearnedChain, Machine, TuningChain, rate

SEED, WORKERS, LEVELS, TURNS = 1, 2, 4, 2
LONGER = 5  # times, for densities of 10 ms: few iterations would be scouts only
BY_DEFAULT = 5_000  # iterations of tuning, and draws
QUESTIONS = 2_000
FEW = 200  # iterations in all, to see what a question costs
WITHOUT_JUMPS = tp.Settings(jumps=tp.Jumps(enabled=False))
# For a container, whose user is root, and for more processes than cores.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
MILLISECONDS = (0.1, 0.3, 1.0, 10.0)


class Density:
    """A Gaussian that takes its time: on a processor, or, if it ``waits``, elsewhere."""

    waits = False

    def __init__(self, milliseconds: float, *, waits: bool | None = None) -> None:
        self.seconds = milliseconds / 1000.0
        self.waits = Density.waits if waits is None else waits

    def __call__(self, x: Any) -> float:
        """The log density, when the time is over."""
        end = time.perf_counter() + self.seconds
        if self.waits:
            time.sleep(self.seconds)
        while time.perf_counter() < end:
            pass
        return -0.5 * float(x @ x)


def evaluations(result: Any) -> int:
    """How often the density was asked."""
    return sum(
        int(trace.evaluations.sum()) for chain in result.chains for trace in (chain.tuning, chain.sampling)
    )


def timed(
    density: Any, chains: int, iterations: int, pool: Any, settings: Any, cores: int | None = None
) -> tuple[float, Any]:
    """Seconds of a run, half of it tuning."""
    half = max(1, iterations // 2)
    options = {"initial": np.full(2, 0.5), "levels": LEVELS, "seed": SEED, "progress": False}
    began = time.perf_counter()
    options |= {"chains": chains, "pool": pool, "cores": cores, "settings": settings}
    made = tp.sample(density, tune=half, draws=half, **options)
    return time.perf_counter() - began, made


def ratio(
    milliseconds: float, chains: int, pool: Any, settings: Any, iterations: int, turns: int
) -> tuple[float, float]:
    """How many times as fast a run is with workers, and microseconds an evaluation takes with them."""
    density = Density(milliseconds)
    timed(density, chains, 4, pool, settings)  # workers begin, and learn what they are to do
    alone, shared, made = math.inf, math.inf, None
    for _ in range(turns):
        one, first = timed(density, chains, iterations, None, settings, cores=1)
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
        overhead_of(name, opened)
    launcher = shutil.which("mpiexec")
    if launcher and importlib.util.find_spec("mpi4py"):
        command = [
            launcher,
            "-n",
            str(WORKERS + 1),
            sys.executable,
            "-m",
            "mpi4py.futures",
            __file__,
            "--mpi",
        ]
        subprocess.run(command, env={**os.environ, **OPEN_MPI}, check=False)


def overhead_of(name: str, opened: Callable[[], Any]) -> None:
    """A line of that table."""
    with opened() as pool:
        points = pool if isinstance(pool, tp.Pool) else tp.Pool(pool, share="points")
        costs = [ratio(0.0, chains, points, WITHOUT_JUMPS, FEW // chains, TURNS)[1] for chains in (1, 4)]
    print(f"| {name} | {costs[0]:.0f} | {costs[1]:.0f} |", flush=True)


def overhead_of_mpi() -> None:
    """The same in a world of MPI."""
    from mpi4py.futures import MPIPoolExecutor

    overhead_of("mpi4py.futures", MPIPoolExecutor)


def constants() -> dict[str, float]:
    """Seconds that a question of one point costs the parent, and seconds on the way."""
    options = {"initial": np.full(2, 0.5), "levels": 1, "chains": 1, "seed": SEED, "progress": False}
    with tp.Pool(1, share="points") as pool:
        run = functools.partial(tp.sample, Density(0.0), pool=pool, settings=WITHOUT_JUMPS, **options)
        run(tune=0, draws=4)
        began, busy = time.perf_counter(), time.process_time()
        run(tune=0, draws=QUESTIONS)
        parent = (time.process_time() - busy) / QUESTIONS
        return {"parent": parent, "latency": (time.perf_counter() - began) / QUESTIONS - parent}


WAITING = (
    ", as others used it: densities wait instead of computing, so this shows what asking costs and not what "
    "two cores give"
)
CELLS = (("points", 1, True), ("points", 4, True), ("chains", 4, True), ("points", 1, False))


def gain(seconds: float) -> dict[tuple[float, str, int, bool], float]:
    """How many times as fast runs are with two workers."""
    print("\nHow many times as fast a run is with workers, tuning and draws together:\n")
    heads = ("a point takes", "points, one chain", "points, four chains", "chains, four chains")
    print(f"| {' | '.join(heads)} | points, one chain, no jumps |")
    print("|---|---|---|---|---|")
    found = {}
    with tp.Pool(WORKERS) as pool:
        for milliseconds in MILLISECONDS:
            for share, chains, jumps in CELLS:
                shared = tp.Pool(WORKERS, share=share)
                shared._open.extend(pool._open)
                wanted = seconds * (LONGER if milliseconds > 5 else 1)
                n = max(40, int(wanted / (LEVELS * (milliseconds / 1000.0 + 1e-5)) / chains))
                settings, turns = None if jumps else WITHOUT_JUMPS, 1 if milliseconds > 5 else TURNS
                found[milliseconds, share, chains, jumps] = ratio(
                    milliseconds, chains, shared, settings, n, turns
                )[0]
            cells = [found[milliseconds, *cell] for cell in CELLS]
            print(f"| {milliseconds:g} ms | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)
    return found


def as_by_default(found: dict[tuple[float, str, int, bool], float]) -> None:
    """One chain that tunes and draws as long as by default: what scouts take counts for little then."""
    print(f"\nOne chain, {BY_DEFAULT:,} iterations of tuning and as many draws:\n")
    with tp.Pool(WORKERS, share="points") as pool:
        for milliseconds in (1.0, 10.0):
            gained, _ = ratio(milliseconds, 1, pool, None, 2 * BY_DEFAULT, 1)
            found[milliseconds, "as by default", 1, True] = gained
            print(f"- {milliseconds:g} ms: {gained:.2f} times as fast", flush=True)


def break_even(found: dict[tuple[float, str, int, bool], float]) -> None:
    """From how many milliseconds on sharing out the points of one chain gains, between those measured."""
    gains = np.maximum.accumulate([found[each, "points", 1, True] for each in MILLISECONDS])
    places = np.interp(1.0, gains, np.log(MILLISECONDS))
    print(f"\nSharing out the points of one chain gains from about {math.exp(places):.2f} ms on.")


def simulated(constants: dict[str, float]) -> None:
    """What the simulation says of one chain, beside which the measured one can be held."""
    print(
        "\nThe tuning of one chain as simulated, by the number of its levels: without jumps, as before modes "
        "are known, and with them:\n"
    )
    print("| a point takes | 2 levels | 3 levels | 4 levels | with jumps: 2 | 3 | 4 |")
    print("|---|---|---|---|---|---|---|")
    for milliseconds in MILLISECONDS:
        machine = Machine(WORKERS, milliseconds / 1000.0, constants["parent"], constants["latency"])
        kinds = (TuningChain, LearnedChain)
        cells = [WORKERS * rate(machine, kind, 1, levels) for kind in kinds for levels in (2, 3, 4)]
        print(f"| {milliseconds:g} ms | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)


def goals(found: dict[tuple[float, str, int, bool], float]) -> None:
    """What was to be reached, and whether it was."""
    print("\nThe goals: 1.6 times as fast at 1 ms and 1.8 times from 10 ms on.\n")
    for milliseconds, goal in ((1.0, 1.6), (10.0, 1.8)):
        for chains in (4, 1):
            best = max(
                value for key, value in found.items() if key[0] == milliseconds and key[2:] == (chains, True)
            )
            said = "reached" if best >= goal else "missed"
            print(f"- {milliseconds:g} ms, {chains} chain{'s' * (chains > 1)}: {best:.2f}, {said}")


def ours(milliseconds: float, seconds: float, chains: int, pool: Any) -> float:
    """Evaluations a second."""
    n = max(40, int(seconds / (LEVELS * (milliseconds / 1000.0 + 1e-4)) / chains))
    spent, made = timed(Density(milliseconds), chains, n, pool, WITHOUT_JUMPS)
    return evaluations(made) / spent


def of_emcee(milliseconds: float, seconds: float, pool: Any) -> float:
    """Evaluations a second of emcee, with as many walkers as it has by default in examples."""
    import emcee

    walkers = 32
    sampler = emcee.EnsembleSampler(walkers, 2, Density(milliseconds), pool=pool)
    start = np.random.default_rng(SEED).standard_normal((walkers, 2))
    steps = max(4, int(seconds / (walkers * (milliseconds / 1000.0 + 1e-4))))
    began = time.perf_counter()
    sampler.run_mcmc(start, steps)
    return walkers * (steps + 1) / (time.perf_counter() - began)


def _unit_to_box(u: Any) -> Any:
    return 20.0 * u - 10.0


def of_dynesty(milliseconds: float, seconds: float, pool: Any) -> float:
    """Evaluations a second of dynesty, with a queue as long as there are workers."""
    import dynesty

    calls = max(200, int(seconds / (milliseconds / 1000.0 + 1e-4)))
    sampler = dynesty.NestedSampler(
        Density(milliseconds), _unit_to_box, 2, nlive=50, pool=pool, queue_size=WORKERS,
        rstate=np.random.default_rng(SEED),
    )  # fmt: skip
    began = time.perf_counter()
    sampler.run_nested(maxcall=calls, dlogz=1e-9, print_progress=False)
    return float(np.sum(sampler.results.ncall)) / (time.perf_counter() - began)


def beside_others(seconds: float) -> None:
    """Evaluations a second with the pools of others."""
    print("\nEvaluations a second with two workers, beside others with `multiprocessing.Pool`:\n")
    others = {
        name: use
        for name, use in (("emcee", of_emcee), ("dynesty", of_dynesty))
        if importlib.util.find_spec(name)
    }
    missing = {"emcee", "dynesty"} - set(others)
    if missing:
        print(
            f"(Without {', '.join(sorted(missing))}: `python -m pip install {' '.join(sorted(missing))}`.)\n"
        )
    names = " | ".join(f"{name} {metadata.version(name)}" for name in others)
    print(f"| a point takes | ours, one chain | ours, four chains | {names} |")
    print("|---|---|---|" + "---|" * len(others))
    with tp.Pool(WORKERS, share="points") as pool, get_context("spawn").Pool(WORKERS) as processes:
        timed(Density(0.0), 1, 4, pool, WITHOUT_JUMPS)
        processes.map(abs, range(8))
        for milliseconds in MILLISECONDS:
            rates = [ours(milliseconds, seconds, chains, pool) for chains in (1, 4)]
            rates += [use(milliseconds, seconds, processes) for use in others.values()]
            print(f"| {milliseconds:g} ms | {' | '.join(f'{rate:,.0f}' for rate in rates)} |", flush=True)


def many(workers: int, constants: dict[str, float]) -> None:
    """More workers than cores, for a density that waits, beside what the simulation says of them."""
    print(f"\n{workers} workers, 8 levels, a density of 10 ms that only waits, tuning without jumps:\n")
    print("| chains | share of the workers' time in use | simulated |\n|---|---|---|")
    options = {"initial": np.full(2, 0.5), "levels": 8, "seed": SEED, "progress": False}
    with tp.Pool(workers, share="points") as pool:
        run = functools.partial(tp.sample, Density(10.0, waits=True), pool=pool, settings=WITHOUT_JUMPS)
        run(chains=4, tune=20, draws=0, **options)
        for chains in (1, 4):
            began = time.perf_counter()
            made = run(chains=chains, tune=160 // chains, draws=0, **options)
            share = 0.01 * evaluations(made) / (time.perf_counter() - began) / workers
            machine = Machine(workers, 0.01, constants["parent"], constants["latency"])
            print(f"| {chains} | {share:.0%} | {rate(machine, TuningChain, chains, 8):.0%} |", flush=True)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run without workers")
    parser.add_argument("--waits", action="store_true", help="densities wait, for a machine that is busy")
    parser.add_argument("--constants", help="a file for what a question costs")
    parser.add_argument("--mpi", action="store_true", help="only what a question costs in a world of MPI")
    given = parser.parse_args()
    if given.mpi:
        overhead_of_mpi()
        return
    Density.waits = given.waits
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    print(
        f"# Workers, measured\n\nMade by `python {' '.join(sys.argv)}` on {date.today()}: "
        f"temperance {tp.__version__}, "
        f"{versions}, Python {platform.python_version()}, seed {SEED}, {WORKERS} workers on a machine of "
        f"{os.cpu_count()} cores; {LEVELS} levels in two dimensions, "
        "half of each run tuning. The draws of every pair of runs are compared, and are the same. Best of "
        f"{TURNS} turns, of one where a point takes 10 ms. Load of the machine at the start: "
        f"{os.getloadavg()[0]:.1f}{WAITING if given.waits else ''}.\n\n"
        "What an evaluation costs, with a density that takes no time:\n"
    )
    overhead()
    measured = constants()
    if given.constants:
        Path(given.constants).write_text(json.dumps(measured) + "\n")
    print(
        f"\nA question of one point to a worker of ours costs the parent {1e6 * measured['parent']:.0f} µs, "
        f"and {1e6 * measured['latency']:.0f} µs on the way."
    )
    many(10, measured)
    found = gain(given.seconds)
    break_even(found)
    simulated(measured)
    as_by_default(found)
    goals(found)
    beside_others(given.seconds)


if __name__ == "__main__":
    main()
