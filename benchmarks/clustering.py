"""Would a library fit the modes better? scikit-learn on the states that we learn from.

Run with ``make bench-clustering``: prints a table. One chain with the default settings tunes from one point;
all fits of `library_fits` get the base level's states of the last two thirds, without what scouts brought
back, and the level's shape. Exact independent draws of the target judge the mixtures of t that come out.
"""

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import temperance as tp
from library_fits import FITS, States
from peers.ours import TUNE_SHARE
from peers.tasks import TASKS
from temperance import zoo
from temperance.core.state import JUMP_DOF, FloatArray, Mixture
from temperance.modes import fit
from temperance.modes.policy import LEARNING
from temperance.modes.student import log_densities
from temperance.modes.worth import LARGEST_LOG_RATIO, efficiency
from temperance.runs.fitting import distinct_states
from timing import heading

FIRST_SEED, RUNS = 2_001, 10
EXACT_SEED, EXACT_DRAWS = 1, 10_000
COVERED = 0.1  # of a mode's density, at the median of its exact draws, that the mixture must have there
MOST_FEW = 20  # components that a library may use where there are few modes
MEASURES = {  # and digits
    "efficiency": 3, "untrimmed": 3, "in visited modes": 3, "acceptance": 3, "modes missed": 1,
    "components": 1, "CPU seconds": 3,
}  # fmt: skip


class Case:
    """A problem with a budget and a start, and its exact draws."""

    def __init__(self, problem: zoo.Problem, budget: int, start: FloatArray | None = None) -> None:
        first = problem.modes[int(np.argmin(problem.mode_weights))] if start is None else start
        self.sample = partial(tp.sample, problem, initial=first, draws=0, chains=1, progress=False)
        self.tune = int(TUNE_SHARE * budget / self.sample(tune=1, seed=0).n_levels_at_start)
        self.problem, self.exact = problem, problem.draw(EXACT_DRAWS, EXACT_SEED)
        self.log_exact, self.mode = self.log_density(self.exact), problem.nearest_mode(self.exact)

    def log_density(self, points: FloatArray) -> FloatArray:
        """Normalised, at each point."""
        return np.array([self.problem.log_density(point) for point in points]) - self.problem.log_normaliser

    def states(self, seed: int) -> States:
        """What the learner sees when the tuning ends."""
        chain, first = (
            self.sample(tune=self.tune, seed=seed).chains[0],
            int(LEARNING.early_states * self.tune),
        )
        points, log_density = distinct_states(chain.tuning, first, self.tune)
        worth = min(1.0, (self.tune - first) * LEARNING.worth_a_state / points.size)
        shape, most = chain.covariance[0], min(LEARNING.max_modes, max(MOST_FEW, 2 * len(self.problem.modes)))
        every = np.ones(len(points))
        return States(
            fit.Sample(points, log_density, every, every > 0.0, worth), shape,
            np.linalg.solve(np.linalg.cholesky(shape), points.T).T, (points.mean(axis=0), np.cov(points.T)),
            most, fit.prior_weight(self.problem.dim),
        )  # fmt: skip

    def judge(self, fitted: Mixture, states: States, rng: np.random.Generator) -> list[float]:
        """All measures but the time."""
        ratio = self.log_exact - log_densities(self.exact, fitted)
        drawn = draw(fitted, len(ratio), rng)
        drawn_ratio = self.log_density(drawn) - log_densities(drawn, fitted)
        visited = (self.problem.occupancy(states.sample.point) > 0.0)[self.mode]
        kept = np.clip(ratio - np.median(ratio), -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
        return [
            efficiency(fitted, self.exact, self.log_exact),
            1.0 / (np.exp(kept).mean() * np.exp(-kept).mean()),
            efficiency(fitted, self.exact[visited], self.log_exact[visited]),
            np.exp(np.minimum(0.0, drawn_ratio - ratio)).mean(),
            sum(np.median(ratio[self.mode == k]) > -np.log(COVERED) for k in np.unique(self.mode)),
            len(fitted.centre) - 1,
        ]


def draw(fitted: Mixture, n: int, rng: np.random.Generator) -> FloatArray:
    """Independent draws of a mixture."""
    chosen = np.searchsorted(fitted.cumulative[:-1], rng.random(n), side="right")
    stretch = np.sqrt(JUMP_DOF / rng.chisquare(JUMP_DOF, size=(n, 1)))
    normals = stretch * rng.standard_normal((n, fitted.centre.shape[1]))
    return fitted.centre[chosen] + np.einsum("nij,nj->ni", fitted.root[chosen], normals)


def of_task(name: str) -> Case:
    """As all peers start it."""
    return Case(TASKS[name].problem, TASKS[name].budget, TASKS[name].start)


CASES: dict[str, Callable[[], Case]] = {
    "twenty peaks, 2-d": lambda: of_task("twenty_peaks-37500"),
    "twenty cylinders, 8-d": lambda: of_task("twenty_cylinders-150000"),
    "two modes, 20-d": lambda: of_task("two_modes-100000"),
    "two bananas, 2-d": lambda: Case(zoo.two_bananas(), 50_000),
    "Student modes, 2-d": lambda: Case(zoo.student_modes(), 50_000),
    "300 modes, 3-d": lambda: Case(zoo.many_modes(), 100_000),
}


def main(names: list[str]) -> None:
    """Print the rows of these problems as they come."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("# Other ways to find modes\n")
    print(f"{heading()}, scikit-learn {sklearn.__version__}; runs {RUNS}, seeds from {FIRST_SEED}\n")
    print("\n".join([f"| problem | fit | {' | '.join(MEASURES)} |", "|---" * (len(MEASURES) + 2) + "|"]))
    for name in names:
        print_rows(name, CASES[name]())


def print_rows(name: str, case: Case) -> None:
    """One for what all fits were given, and one for each fit."""
    given = {seed: case.states(seed) for seed in range(FIRST_SEED, FIRST_SEED + RUNS)}
    empty = np.mean([np.sum(case.problem.occupancy(one.sample.point) == 0.0) for one in given.values()])
    n, sd = np.mean([(len(one.whitened), one.shape.max() ** 0.5) for one in given.values()], axis=0)
    about = f"*{n:.0f} states, {empty:.1f} modes without, shape's sd {sd:.2g}*"
    print(f"| {name} | {about} |{' |' * len(MEASURES)}")
    for label, make in FITS.items():
        make(given[FIRST_SEED])  # compiles
        rows = []
        for seed, states in given.items():
            began = time.process_time()
            fitted = make(states)
            seconds = time.process_time() - began
            rows.append([*case.judge(fitted, states, np.random.default_rng(seed)), seconds])
        means, errors = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(RUNS)
        cells = [f"{m:.{d}f} ± {e:.{d}f}" for m, e, d in zip(means, errors, MEASURES.values(), strict=True)]
        print(f"| {name} | {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):  # CPU seconds of several threads would add up
        main(sys.argv[1:] or list(CASES))
