"""What an iteration costs beside the log density, against the goals that the project set itself."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import temperance as tp
from timing import (
    ROBUST,
    SEED,
    SETTINGS,
    adapting,
    bare,
    best_of,
    cpu_seconds,
    evaluated_points,
    frozen,
    normals,
    wall_seconds,
)

TURNS = 120
SLOW_TURNS = 12  # for what takes a second a turn
FIRST_DRAW = (
    "import temperance as tp; "
    "tp.sample(lambda x: -x @ x, initial=[0.0], draws=10, chains=1, progress=False)"  # tuned by default
)


@dataclass(frozen=True)
class Compiled:
    """A compiled density and its goal: a multiple of the bare density, or of it and the normals."""

    name: str
    problem: tp.zoo.Problem
    levels: int
    n: int
    limit: float
    with_normals: bool = True


@dataclass(frozen=True)
class Row:
    """One line of the table, in the words that people read."""

    name: str
    parts: str
    measured: str
    goal: str
    reached: bool


CASES = (
    Compiled("twenty peaks, d = 2, L = 5", tp.zoo.twenty_peaks(), 5, 2_000, 1.6, with_normals=False),
    Compiled("bridge, d = 11, L = 9", tp.zoo.bridge(), 9, 1_000, 3.0),
    Compiled("Gaussian, d = 50, L = 10", tp.zoo.gaussian(50), 10, 400, 7.0),
    Compiled("Gaussian, d = 200, L = 20", tp.zoo.gaussian(200), 20, 60, 14.0),
)


def rows() -> Iterator[Row]:
    """Measure every goal."""
    for case in CASES:
        yield compiled_row(case)
    yield beside("NumPy density over rows, d = 2, L = 5", rows_density, n=2_000, vectorized=True)
    yield beside("plain Python density, d = 2, L = 5", plain_density, n=2_000, vectorized=False)
    yield from start_up()
    yield two_chains()


def compiled_row(case: Compiled) -> Row:
    """Adapting and frozen, beside the bare density and the normals, all in turn."""
    problem = case.problem
    options = {"data": problem.data}
    run = (problem.log_density, problem.start, case.levels)
    points = evaluated_points(*run, min(case.n, 500), problem.data)
    seconds = best_of(
        [
            bare(problem.log_density, points, case.levels * case.n, problem.data),
            normals(case.levels, problem.dim, case.n),
            adapting(*run, case.n, **options),
            frozen(*run, case.n, **options),
            adapting(*run, case.n, **options, settings=ROBUST),
        ],
        turns=TURNS,
    )
    density, drawing, learns, rests, robust = [1e9 * value / case.n for value in seconds]
    ratio = learns / (density + drawing if case.with_normals else density)
    unit = "(bare + normals)" if case.with_normals else "bare"
    parts = (
        f"bare {density:,.0f}, normals {drawing:,.0f}, adapting {learns:,.0f}, frozen {rests:,.0f}, "
        f"robust {robust:,.0f} ns"
    )
    return Row(case.name, parts, f"{ratio:.2f} × {unit}", f"≤ {case.limit:g} ×", ratio <= case.limit)


def beside(name: str, log_density: Any, *, n: int, vectorized: bool) -> Row:
    """What an iteration adds to the calls of a density that needs the interpreter."""
    points = np.random.default_rng(SEED).standard_normal((5, 2))

    def calls() -> None:
        for _ in range(n):
            if vectorized:
                log_density(points)
            else:
                for point in points:
                    log_density(point)

    run = adapting(log_density, np.zeros(2), 5, n, vectorized=vectorized)
    only_calls, whole = best_of([lambda: cpu_seconds(calls), run], turns=TURNS)
    added = 1e6 * (whole - only_calls) / n
    parts = f"calls {1e6 * only_calls / n:.2f}, in all {1e6 * whole / n:.2f} µs"
    return Row(name, parts, f"{added:.2f} µs beside the calls", "≤ 3 µs", added <= 3.0)


def rows_density(x: Any) -> Any:
    """A cheap density over rows."""
    return -0.5 * (x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1])


def plain_density(x: Any) -> float:
    """A cheap density of one point."""
    return float(-0.5 * (x[0] * x[0] + x[1] * x[1]))


def start_up() -> Iterator[Row]:
    """From the start of a process to its first draws, with a cache that is warm, and without one."""
    (warm,) = best_of([lambda: wall_seconds(lambda: new_process(FIRST_DRAW))], turns=SLOW_TURNS)
    yield Row("new process to first draws, warm cache", "", f"{warm:.2f} s", "≤ 1.2 s", warm <= 1.2)
    with tempfile.TemporaryDirectory() as empty:
        cold = wall_seconds(lambda: new_process(FIRST_DRAW, NUMBA_CACHE_DIR=empty))
    yield Row("the same without a cache", "compiles once", f"{cold:.1f} s", "≤ 20 s", cold <= 20.0)


def new_process(code: str, **environment: str) -> None:
    """Run a line of Python in a process of its own."""
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, **environment}, stderr=subprocess.DEVNULL
    )


def two_chains() -> Row:
    """Two chains on two cores against the same two on one."""
    peaks = tp.zoo.twenty_peaks()

    def sample(cores: int) -> Any:
        return tp.sample(peaks, levels=5, tune=150_000, draws=0, chains=2,
                         cores=cores, seed=SEED, progress=False, settings=SETTINGS)  # fmt: skip

    def seconds(cores: int) -> float:
        return wall_seconds(lambda: sample(cores))

    one, two = best_of([lambda: seconds(1), lambda: seconds(2)], turns=SLOW_TURNS)
    parts = f"{one:.2f} s on one core, {two:.2f} s on two"
    return Row("two chains on two cores", parts, f"{one / two:.2f} × as fast", "≥ 1.8 ×", one / two >= 1.8)
