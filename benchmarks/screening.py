"""What looking at every evaluated point costs: loops of the tuning with and without, in turns.

Run with ``make bench-screening`` on a machine that does nothing else; it writes docs/jumps/screening.md. Both
kinds of run learn modes and send scouts; in the second no point is looked at. Only the compiled loop is
timed, for each evaluation that it makes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numba
import numpy as np

import temperance as tp
from temperance.core.state import Settings
from temperance.runs.chain import ChainRun
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan
from temperance.runs.starts import Starts
from temperance.targets import gather, make_target
from timing import SEED, heading

TURNS = 9
FIXED = tp.Settings(trimming=tp.Trimming(enabled=False), growth=tp.Growth(enabled=False))  # equal work


@dataclass(frozen=True)
class Case:
    """Round modes in a ring of dimensions, and how long the density takes beside them."""

    name: str
    dim: int
    n_modes: int
    levels: int
    n: int


CASES = (
    Case("one mode, 10-d", 10, 1, 6, 6_000),
    Case("two modes, 5-d", 5, 2, 6, 6_000),
    Case("twenty modes, 2-d", 2, 20, 4, 8_000),
    Case("twenty modes, 10-d", 10, 20, 6, 6_000),
)
SLOW = 2.0  # microseconds


class Timed(ChainRun):
    """A chain that adds up the seconds in its loop."""

    watching = True
    seconds = 0.0

    def _settings(self, *, adapting: bool) -> Settings:
        settings = super()._settings(adapting=adapting)
        return settings._replace(watching=settings.watching and self.watching)

    def _guarded(self, call: Callable[[], int]) -> None:
        began = time.thread_time()
        super()._guarded(call)
        self.seconds += time.thread_time() - began


def density_of(case: Case, n_idle: int) -> Any:
    """The highest of some round modes at random places, with so many turns of an idle loop."""
    centres = np.random.default_rng(SEED).uniform(-10.0, 10.0, (case.n_modes, case.dim))

    @numba.njit
    def log_density(x: Any) -> float:
        best = np.inf
        for k in range(centres.shape[0]):
            square = 0.0
            for i in range(x.shape[0]):
                square += (x[i] - centres[k, i]) ** 2
            best = min(best, square)
        idle = 0.0
        for _ in range(n_idle):
            idle = np.sqrt(idle + 1.0)
        return -0.5 * best + 0.0 * idle

    return log_density


def microseconds(log_density: Any, dim: int) -> float:
    """Of a call, in a compiled loop, the best of some."""
    points = np.random.default_rng(SEED).normal(size=(1_000, dim))
    return min(_calls(log_density, points) for _ in range(6)) * 1e6 / (20 * len(points))


def _calls(log_density: Any, points: Any) -> float:
    began = time.thread_time()
    _call_all(log_density, points, 20)
    return time.thread_time() - began


@numba.njit
def _call_all(log_density: Any, points: Any, turns: int) -> float:
    total = 0.0
    for _ in range(turns):
        for k in range(points.shape[0]):
            total += log_density(points[k])
    return total


def loop_time(case: Case, plan: Plan, *, watching: bool) -> float:
    """Seconds in the loop for each evaluation there, of one tuning."""
    run = Timed(
        plan, 0, Starts(np.zeros(case.dim), np.random.default_rng(SEED)), np.random.SeedSequence(SEED)
    )
    run.watching = watching
    run.run()
    return run.seconds / float(plan.tune * plan.n_levels)


def row(case: Case, slow: float) -> str:
    """A line of the table."""
    n_idle = 0
    log_density = density_of(case, n_idle)
    if slow:
        each = (microseconds(density_of(case, 1_000), case.dim) - microseconds(log_density, case.dim)) / 1_000
        log_density = density_of(case, max(0, round((slow - microseconds(log_density, case.dim)) / each)))
    target = make_target(gather(log_density, None, None, None), vectorized=False)
    betas = first_betas(case.levels, None, None, dim=case.dim, has_prior=False, swap_acceptance=0.234)
    plan = Plan(target=target, settings=FIXED, betas=betas, dim=case.dim, tune=case.n, draws=0)
    seconds = [
        [loop_time(case, plan, watching=watching) for watching in (True, False)] for _ in range(TURNS + 1)
    ]
    looking, idle = np.min(seconds[1:], axis=0)
    each = f"{microseconds(log_density, case.dim):.2f} | {1e6 * idle:.3f} | {1e6 * looking:.3f}"
    return f"| {case.name} | {each} | {looking / idle - 1.0:+.1%} |"


@click.command()
def main() -> None:
    """All cases, with a quick density and a slow one."""
    click.echo(f"What looking at every point costs: {heading()}, the best of {TURNS} turns.\n")
    click.echo("| target | a call, µs | loop for each evaluation, µs | with looking, µs | looking costs |")
    click.echo("|---|---|---|---|---|")
    for slow in (0.0, SLOW):
        for case in CASES:
            click.echo(row(case, slow))


if __name__ == "__main__":
    main()
