"""What named places cost, and what a table of priors costs: against the same density written out by hand.

Prints the likelihood alone with named and with plain numbers for places, then an iteration by a model and by
a density with its transforms and priors written out, of six levels and of the base level alone, each with
their ratio: measured in turn within one process, the best of many. Run with ``python benchmarks/offsets.py``
on a machine that does nothing else.
"""

import math
import sys
from typing import Any

import numba
import numpy as np

import temperance as tp
from temperance.runs.chain import ChainRun
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan
from temperance.runs.starts import Starts
from temperance.targets import Target, gather, make_target
from timing import ROBUST, SEED, bare, best_of, cpu_seconds, heading

TURNS, ITERATIONS, LEVELS = 40, 4_000, (6, 1)
LIMIT = 1.05
PARAMETERS = {
    "period": tp.priors.log_uniform(1, 1000),
    "k": tp.priors.uniform(0, 100),
    "e": tp.priors.beta(0.9, 3),
    "offset": tp.priors.normal(0, 10),
    "jitter": tp.priors.half_normal(5),
    "slopes": tp.priors.normal(0, 1, shape=3),
}
at = tp.offsets(PARAMETERS)
LOG_BETA = math.lgamma(0.9) + math.lgamma(3.0) - math.lgamma(3.9)
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


@numba.njit
def named(x, data):
    """The likelihood of a model: named places of a vector of values."""
    times, speeds = data
    variance = 1.0 + x[at.jitter] ** 2
    b = x[at.slopes]
    total = 0.0
    for i in range(times.shape[0]):
        turn = 2 * math.pi * times[i] / x[at.period]
        mean = x[at.offset] + x[at.k] * (math.cos(turn) + x[at.e]) + b[0] * times[i]
        mean += b[1] * math.sin(times[i]) + b[2]
        total -= 0.5 * ((speeds[i] - mean) ** 2 / variance + math.log(variance))
    return total


@numba.njit
def numbered(x, data):
    """The same with the places written as numbers."""
    times, speeds = data
    variance = 1.0 + x[4] ** 2
    b = x[5:8]
    total = 0.0
    for i in range(times.shape[0]):
        turn = 2 * math.pi * times[i] / x[0]
        mean = x[3] + x[1] * (math.cos(turn) + x[2]) + b[0] * times[i]
        mean += b[1] * math.sin(times[i]) + b[2]
        total -= 0.5 * ((speeds[i] - mean) ** 2 / variance + math.log(variance))
    return total


@numba.njit
def by_hand(z, data):
    """The same with the transforms written out."""
    times, speeds = data
    period = math.exp(math.log(1000.0) / (1.0 + math.exp(-z[0])))
    k = 100.0 / (1.0 + math.exp(-z[1]))
    e = 1.0 / (1.0 + math.exp(-z[2]))
    offset = 10.0 * z[3]
    variance = 1.0 + (5.0 * math.exp(z[4])) ** 2
    total = 0.0
    for i in range(times.shape[0]):
        turn = 2 * math.pi * times[i] / period
        mean = offset + k * (math.cos(turn) + e) + z[5] * times[i]
        mean += z[6] * math.sin(times[i]) + z[7]
        total -= 0.5 * ((speeds[i] - mean) ** 2 / variance + math.log(variance))
    return total


@numba.njit
def softplus(t):
    """log(1 + eᵗ)."""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@numba.njit
def prior_by_hand(z):
    """The prior of the coordinates, with the Jacobians."""
    total = 0.5 * math.log(2 / math.pi) + z[4] - 0.5 * math.exp(2 * z[4]) - 4 * HALF_LOG_TWO_PI - LOG_BETA
    for i in range(2):
        total -= abs(z[i]) + 2 * math.log1p(math.exp(-abs(z[i])))
    total -= 0.9 * softplus(-z[2]) + 3.0 * softplus(z[2])
    for i in (3, 5, 6, 7):
        total -= 0.5 * z[i] * z[i]
    return total


def seconds(target: Target, start: Any, levels: int) -> Any:
    """A case of `best_of`: iterations of one chain, without the set-up of a run."""
    betas = first_betas(levels, None, None, dim=8, has_prior=True, swap_acceptance=0.234)
    plan = Plan(target=target, settings=ROBUST, betas=betas, dim=8, draws=ITERATIONS, tune=0)
    starts = Starts(start, np.random.default_rng(SEED))
    return lambda: cpu_seconds(ChainRun(plan, 0, starts, np.random.SeedSequence(SEED)).run)


def main() -> None:
    """Print a line for each number of data."""
    columns = "data | numbers | names | ratio | by hand | model | ratio | alone, by hand | model | ratio"
    print(f"{heading()}\n\n| {columns} |\n{'|---' * 10}|")
    reached = True
    for n in (10, 50, 200):
        generator = np.random.default_rng(SEED)
        times = np.sort(generator.uniform(0, 50, n))
        data = (times, 20 * np.cos(2 * np.pi * times / 7) + generator.normal(size=n))
        model = tp.Model(named, parameters=PARAMETERS, data=data)
        hand = make_target(gather(None, by_hand, prior_by_hand, data), vectorized=False)
        points = model._layout.values(np.array([model.spec().start(generator) for _ in range(500)]))
        alone = [bare(function, points, ITERATIONS, data) for function in (numbered, named)]
        targets = (hand, model.target)
        cases = [seconds(target, model.spec().start, levels) for levels in LEVELS for target in targets]
        best = [1e6 * one / ITERATIONS for one in best_of([*alone, *cases], turns=TURNS)]
        reached &= best[1] / best[0] <= LIMIT and best[3] / best[2] <= LIMIT
        print(f"| {n} | {_cells(*best[:2])} | {_cells(*best[2:4])} | {_cells(*best[4:])} |", flush=True)
    sys.exit(0 if reached else f"names, or a model of six levels, cost more than {LIMIT} times the other")


def _cells(hand: float, ours: float) -> str:
    return f"{hand:.2f} µs | {ours:.2f} µs | {ours / hand:.3f}"


if __name__ == "__main__":
    main()
