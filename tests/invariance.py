"""T3: exact draws from every level, a few steps of the frozen kernel, and the law must still be exact.

Works with the compiler on or off; with it off, kernels can be replaced by broken ones.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from scipy import stats

import temperance as tp
from harness import PLAIN, HandTarget, advance, make_noise, make_plan, make_run
from temperance.core.state import Noise
from temperance.modes.mixture import from_parts

BETAS = {"power": (1.0, 0.5, 0.25, 0.1), "spread": (1.0, 0.8, 0.15, 0.05), "prior": (1.0, 0.4, 0.1, 0.0)}
# A few long walks show what is wrong with walks; many short ones do not hide what is wrong with swaps.
N_STEPS = {"long": 5, "short": 30}
LOG_SCALES = {"long": (-0.3, 0.2, 0.7, 1.0), "short": (-4.0, -4.0, -4.0, -4.0)}
_GRID = np.linspace(-30.0, 30.0, 200_001)


@numba.njit
def two_bumps(x):
    left = math.log(0.7) - 0.5 * ((x[0] + 1.2) / 0.5) ** 2 - math.log(0.5)
    right = math.log(0.3) - 0.5 * ((x[0] - 1.5) / 0.35) ** 2 - math.log(0.35)
    largest = max(left, right)
    return largest + math.log(math.exp(left - largest) + math.exp(right - largest))


@numba.njit
def wide_prior(x):
    return -0.5 * ((x[0] - 1.0) / 1.5) ** 2


@dataclass(frozen=True)
class Law:
    """The exact law of each level, on a fine grid."""

    cdf: np.ndarray  # (level, grid)

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return np.array([np.interp(rng.random(n), cdf, _GRID) for cdf in self.cdf])

    def pit(self, points: np.ndarray) -> np.ndarray:
        return np.array([np.interp(x, _GRID, cdf) for x, cdf in zip(points, self.cdf, strict=True)])


def exact_law(mode: str) -> Law:
    tempered = np.array([two_bumps(np.array([x])) for x in _GRID])
    prior = -0.5 * ((_GRID - 1.0) / 1.5) ** 2 if mode == "prior" else np.zeros_like(_GRID)
    rows = []
    for beta in BETAS[mode]:
        log_density = beta * tempered + prior
        density = np.exp(log_density - log_density.max())
        area = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        rows.append(area / area[-1])
    return Law(np.array(rows))


# What the base level and the hottest jump from: two components on one mode and one on the other, with weights
# that are not the target's, so that whatever is left out of the ratio shows.
MODES = (
    np.array([0.15, 0.15, 0.7]),
    np.array([[-1.3], [-1.1], [1.6]]),
    np.array([[[0.4]], [[0.4]], [[0.3]]]),
)
OWN = (np.ones(1), np.array([[0.4]]), np.array([[[6.0]]]))
JUMPS = {"none": (0.0, 0.0), "jumps": (0.5, 0.0), "refresh": (0.0, 0.5), "both": (0.4, 0.6)}


def frozen_run(mode: str, strategy: Any, walks: str, *, walk: str = "covariance", jumps: str = "none") -> Any:
    target = HandTarget(two_bumps, wide_prior if mode == "prior" else None)
    adaptation = replace(PLAIN.adaptation, walk=walk)
    settings = replace(PLAIN, adaptation=adaptation, jumps=tp.Jumps(enabled=jumps != "none"))
    plan = make_plan(target, BETAS[mode], 1, strategy=strategy, draws=N_STEPS[walks], settings=settings)
    run = make_run(plan)
    run.state.log_scale[:] = LOG_SCALES[walks]
    if jumps != "none":
        run._learner.mixture, run._refresh = from_parts(*MODES), from_parts(*OWN)
        run._learner.mixture.chance[0], run._refresh.chance[0] = JUMPS[jumps]
    return run


def p_values(run: Any, law: Law, n: int, rng: np.random.Generator, rest_every: int = 1) -> np.ndarray:
    """One-sample KS of each level, and the correlation of neighbouring levels."""
    n_levels = len(run.state.beta)
    points = law.draw(rng, n)
    after = np.empty_like(points)
    for k in range(n):
        after[:, k] = _stepped(
            run, points[:, k], make_noise(rng, run.plan.draws, n_levels, 1, run.plan.n_swaps), rest_every
        )
    pit = law.pit(after)
    scores = stats.norm.ppf(np.clip(pit, 1e-12, 1 - 1e-12))
    uniform = [stats.kstest(row, "uniform").pvalue for row in pit]
    correlation = [np.corrcoef(scores[k], scores[k + 1])[0, 1] for k in range(n_levels - 1)]
    return np.array(uniform + [2 * stats.norm.sf(abs(math.sqrt(n) * r)) for r in correlation])


def _stepped(run: Any, points: np.ndarray, noise: Noise, rest_every: int) -> np.ndarray:
    state = run.state
    state.position[:, 0] = points
    prior = run.plan.target.prior
    for level in range(len(points)):
        state.log_density[level] = two_bumps(state.position[level])
        state.log_prior[level] = 0.0 if prior is None else prior(state.position[level])
    advance(run, noise, adapting=False, rest_every=rest_every)
    return state.position[:, 0].copy()
