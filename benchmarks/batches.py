"""What a look ahead saves a vectorised density, and one of JAX: the table of docs/parallel/batches.md.

The same runs with it and without, whose draws are compared; processor time, the best of a few turns.
"""

import argparse
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib import metadata
from typing import Any

import numpy as np

import temperance as tp
from temperance.runs import chain

SEED, TURNS = 1, 2
TUNE, DRAWS = 2_000, 10_000
MICROSECONDS = ((0.0, 0.0), (20.0, 0.1), (1_000.0, 10.0), (20.0, 20.0))  # of a call, and of a row in it


def two_modes(x: Any) -> Any:
    """Two normals six apart in each coordinate, of rows."""
    return np.logaddexp(-0.5 * np.sum((x - 3.0) ** 2, axis=1), -0.5 * np.sum((x + 3.0) ** 2, axis=1))


class Rows:
    """A function of rows that takes its time, and counts calls and rows."""

    def __init__(self, call: float, row: float) -> None:
        self.seconds = call * 1e-6, row * 1e-6
        self.calls = self.rows = 0

    def __call__(self, x: Any) -> Any:
        """The log densities, when the time is over."""
        self.calls, self.rows = self.calls + 1, self.rows + len(x)
        end = time.thread_time() + self.seconds[0] + self.seconds[1] * len(x)
        values = two_modes(x)
        while time.thread_time() < end:
            pass
        return values


def of_jax(steps: int) -> Callable[[Any], Any]:
    """The same for JAX, after a loop of so many steps that adds nothing, as solvers have one."""
    import jax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def density(x: Any) -> Any:
        zero = jax.lax.fori_loop(0, steps, lambda _, c: 0.5 * c, x[0]) * 0.0
        return zero + jnp.logaddexp(-0.5 * jnp.sum((x - 3.0) ** 2), -0.5 * jnp.sum((x + 3.0) ** 2))

    return jax.jit(density)  # type: ignore[no-any-return]


def run(density: Any, *, vectorized: bool) -> tuple[float, float, Any]:
    """Processor seconds of the tuning alone and of all; the result."""
    options = {"initial": np.zeros(2), "chains": 1, "seed": SEED, "progress": False, "preflight": False}
    began = time.process_time()
    tp.sample(density, tune=TUNE, draws=0, vectorized=vectorized, **options)
    tuned = time.process_time()
    made = tp.sample(density, tune=TUNE, draws=DRAWS, vectorized=vectorized, **options)
    return tuned - began, time.process_time() - tuned, made


def best(density: Any, *, ahead: bool, vectorized: bool) -> tuple[float, float, Any]:
    """The best of a few turns, with a look ahead or without."""
    look = chain.can_look_ahead
    if not ahead:
        chain.can_look_ahead = lambda *_: False
    try:
        turns = [run(density, vectorized=vectorized) for _ in range(TURNS)]
    finally:
        chain.can_look_ahead = look
    return min(one[0] for one in turns), min(one[1] for one in turns), turns[0][2]


def line(name: str, make: Callable[[], Any], *, vectorized: bool) -> None:
    """One row of the table."""
    cells, results = [], []
    for ahead in (False, True):
        density = make()
        tuning, seconds, made = best(density, ahead=ahead, vectorized=vectorized)
        results.append(made)
        calls = f"{density.calls / TURNS:,.0f}" if isinstance(density, Rows) else ""
        cells.append((calls, seconds, max(seconds - tuning, 1e-9)))
    same = all(
        np.array_equal(getattr(one.sampling, field), getattr(two.sampling, field), equal_nan=True)
        for one, two in zip(results[0].chains, results[1].chains, strict=True)
        for field in one.sampling._fields
    )
    if not same:
        raise SystemExit(f"{name}: the draws differ")
    (calls, whole, drawing), (fewer, shorter, faster) = cells
    print(
        f"| {name} | {calls} | {fewer} | {whole:.2f} s | {shorter:.2f} s | {drawing / faster:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    names = [name for name in ("numpy", "numba", "jax") if importlib.util.find_spec(name)]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    print(
        f"# Vectorised densities that look ahead, measured\n\nMade by `python {' '.join(sys.argv)}` on "
        f"{date.today()}: temperance {tp.__version__}, {versions}, Python {platform.python_version()}, seed "
        f"{SEED}; one chain, {TUNE:,} iterations of tuning, {DRAWS:,} draws of two modes in the plane. The "
        "draws with a look ahead and without are compared, and are the same. Processor time, best of "
        f"{TURNS} turns; calls are those of a run and of its tuning made once more alone. Load of the "
        f"machine at the start: {os.getloadavg()[0]:.1f}.\n\n"
        "| density | calls | ahead | a run | ahead | draws: times as fast |\n|---|---|---|---|---|---|"
    )
    for call, row in MICROSECONDS:
        name = f"{call:g} µs a call and {row:g} µs a row" if call else "NumPy, nothing added"
        line(name, lambda call=call, row=row: Rows(call, row), vectorized=True)
    for steps in (0, 200_000) if "jax" in names else ():
        name = f"JAX, a loop of {steps:,} steps" if steps else "JAX, two modes alone"
        line(name, lambda steps=steps: of_jax(steps), vectorized=False)


if __name__ == "__main__":
    main()
