"""What an iteration costs beside the log density: ratios, interleaved in one run, best of several.

Run with ``make bench``. The sampler adapts throughout and swaps by equi-energy, one chain.
"""

import datetime
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import temperance as tp

REPEATS = 7
SEED = 1
SETTINGS = tp.Settings(trimming=tp.Trimming(enabled=False), swaps=tp.swaps.equi_energy())


def main() -> None:
    """Measure and print every case."""
    print(f"{datetime.date.today()} · temperance {tp.__version__} · numba {numba.__version__} · "
          f"numpy {np.__version__} · Python {platform.python_version()} · seed {SEED}")  # fmt: skip
    print(f"best of {REPEATS}, interleaved; microseconds an iteration\n")
    twenty_peaks()
    bridge_posterior()
    plain_python()
    start_up()


def twenty_peaks(levels: int = 5, n: int = 200_000) -> None:
    """Compiled density, five levels in the plane."""
    peaks = tp.zoo.twenty_peaks()
    points = np.random.default_rng(SEED).uniform(0.0, 10.0, (levels * n, 2))
    bare, full = best_of(
        lambda: call_bare(peaks.log_density, points),
        lambda: run(peaks.log_density, n, initial=peaks.start, levels=levels),
    )
    report("twenty peaks, L = 5", n, bare, full, full / bare, "at most 2.5 × bare")


def bridge_posterior(levels: int = 9, n: int = 100_000) -> None:
    """Compiled density with data, nine levels in eleven dimensions."""
    bridge, rng = tp.zoo.bridge(), np.random.default_rng(SEED)
    points = bridge.start(rng) + 0.1 * rng.standard_normal((levels * n, bridge.dim))
    numbers = np.random.Generator(np.random.SFC64(SEED))
    bare, normals, full = best_of(
        lambda: call_bare_with_data(bridge.log_density, points, bridge.data),
        lambda: numbers.standard_normal(levels * n * bridge.dim),
        lambda: run(bridge.log_density, n, initial=bridge.start, levels=levels, data=bridge.data),
    )
    ratio = full / (bare + normals)
    report("bridge, d = 11, L = 9", n, bare + normals, full, ratio, "at most 8 × (bare + normals)")


def plain_python(levels: int = 5, n: int = 40_000) -> None:
    """A density in plain Python: what is added to its calls."""
    points = np.zeros((levels, 2))

    def calls() -> None:
        for _ in range(n):
            for point in points:
                plain_density(point)

    bare, full = best_of(calls, lambda: run(plain_density, n, initial=np.zeros(2), levels=levels))
    report(
        "plain Python, d = 2, L = 5", n, bare, full, 1e6 * (full - bare) / n, "at most 6 µs beside the calls"
    )


def start_up() -> None:
    """A new process with a warm cache: all of it, and beside the import of numba and numpy."""
    run_options = "initial=[0.0], draws=10, tune=10, progress=False"
    sample = f"import temperance as tp; tp.sample(lambda x: -x @ x, {run_options})"
    bare, full = best_of(lambda: new_process("import numba, numpy"), lambda: new_process(sample))
    print(f"start of a second process: {full:.2f} s, {full - bare:.2f} s beside importing numba and numpy "
          "(at most 2 s)")  # fmt: skip


def new_process(code: str) -> None:
    """Run a line of Python in a process of its own."""
    subprocess.run([sys.executable, "-c", code], check=True)


def plain_density(x: Any) -> float:
    """A cheap density, so that what surrounds it shows."""
    return -0.5 * (x[0] * x[0] + x[1] * x[1])


def run(log_density: Any, n: int, **options: Any) -> None:
    """Sample with adaptation on throughout."""
    tp.sample(log_density, tune=n, draws=0, chains=1, seed=SEED, progress=False, settings=SETTINGS, **options)


def best_of(*cases: Callable[[], Any]) -> list[float]:
    """Seconds of each case, the best of several interleaved turns after one to warm up."""
    best = [float("inf")] * len(cases)
    for turn in range(REPEATS + 1):
        for k, case in enumerate(cases):
            began = time.perf_counter()
            case()
            if turn > 0:
                best[k] = min(best[k], time.perf_counter() - began)
    return best


def report(name: str, n: int, bare: float, full: float, figure: float, goal: str) -> None:
    """Print one line."""
    print(f"{name:28} reference {1e6 * bare / n:7.3f}   sampler {1e6 * full / n:7.3f}   "
          f"figure {figure:5.2f}   ({goal})")  # fmt: skip


@numba.njit
def call_bare(log_density: Any, points: Any) -> float:
    """The density at many points, and nothing else."""
    total = 0.0
    for k in range(points.shape[0]):
        total += log_density(points[k])
    return total


@numba.njit
def call_bare_with_data(log_density: Any, points: Any, data: Any) -> float:
    """The density with its data at many points, and nothing else."""
    total = 0.0
    for k in range(points.shape[0]):
        total += log_density(points[k], data)
    return total


if __name__ == "__main__":
    main()
