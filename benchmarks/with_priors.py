"""Models with priors whose posteriors are known: means, weights of modes and the log evidence.

Two modes that weigh the same by symmetry, two of different weights, and aliases of a period. Answers are sums
over fine grids in one or two dimensions, all else being integrated exactly.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

import temperance as tp

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A model, functions from rows of its values to columns, and the posterior means of these."""

    model: tp.Model
    means_of: Callable[[Array], Array]
    mean: Array
    modes_of: Callable[[Array], Array]
    mode_weights: Array
    log_normaliser: float


# ---- waiting times of two kinds, the example of the README

WAITS = np.array([1.8, 2.0, 1.9, 2.1, 4.4, 4.6, 4.5, 4.3, 4.7, 2.2, 1.7, 4.5])


@numba.njit
def _of_waits(x: Array, waits: Array) -> float:
    """Parameters are two means, the standard deviation and the share of the first kind."""
    total = 0.0
    for wait in waits:
        short = -0.5 * ((wait - x[0]) / x[2]) ** 2 + math.log(x[3])
        long = -0.5 * ((wait - x[1]) / x[2]) ** 2 + math.log1p(-x[3])
        total += max(short, long) + math.log1p(math.exp(-abs(short - long))) - math.log(x[2])
    return total


def waiting_times() -> Posed:
    """Both labellings weigh the same. What is left is a sum over who is of which kind, for each width."""
    sd, step = np.linspace(0.02, 2.0, 100, retstep=True)
    log_means, fine = np.linspace(-3.0, 4.0, 1_001, retstep=True)
    means, prior = np.exp(log_means), stats.norm(1.0, 1.0).pdf(log_means) * fine
    kinds = np.array(list(itertools.product((False, True), repeat=len(WAITS))))
    count = kinds.sum(axis=1)
    by_share = special.beta(count + 1.0, len(WAITS) - count + 1.0)
    terms = np.empty(len(sd))
    for k, one in enumerate(sd):
        alone = _integrals(kinds @ np.stack([np.ones(12), WAITS, WAITS**2], axis=1), one, means, prior)
        terms[k] = (by_share * alone * alone[::-1]).sum()  # the last is the complement of the first
    terms *= stats.gamma(2.0, scale=0.25).pdf(sd) * sd ** -len(WAITS) * step
    return Posed(
        model=tp.Model(
            _of_waits,
            parameters={
                "mean": tp.priors.log_normal(1, 1, shape=2),
                "sd": tp.priors.gamma(2, 4),
                "share": tp.priors.uniform(0, 1),
            },
            data=WAITS,
        ),
        means_of=lambda rows: rows[:, 2:],
        mean=np.array([(terms * sd).sum() / terms.sum(), 0.5]),
        modes_of=lambda rows: np.column_stack([rows[:, 0] < rows[:, 1], rows[:, 0] >= rows[:, 1]]),
        mode_weights=np.array([0.5, 0.5]),
        log_normaliser=math.log(terms.sum()),
    )


def _integrals(moments: Array, sd: float, means: Array, prior: Array) -> Array:
    """Of the likelihood of each group of waits, by its number, sum and sum of squares, over its mean."""
    distinct, place = np.unique(np.round(moments, 9), axis=0, return_inverse=True)
    number, total, square = distinct.T[:, :, None]
    values = np.exp(-0.5 * (square - 2.0 * means * total + number * means**2) / sd**2) @ prior
    return values[place.ravel()]  # type: ignore[no-any-return]


# ---- a place of which only the size is seen, in two modes of different weights

FOLDED = np.array([0.9, 1.4, 1.6])


@numba.njit
def _of_size(x: Array, data: Array) -> float:
    """Parameters are the place and the standard deviation."""
    total = -len(data) * math.log(x[1])
    for y in data:
        total -= 0.5 * ((y - abs(x[0])) / x[1]) ** 2
    return total


def folded() -> Posed:
    """By a grid."""
    place, step = np.linspace(-10.0, 10.0, 4_001, retstep=True)
    sd, wide = np.linspace(0.002, 6.0, 3_000, retstep=True)
    square = ((FOLDED - np.abs(place)[:, None]) ** 2).sum(axis=1)
    prior = stats.norm(0.5, 2.0).pdf(place)[:, None] * stats.halfnorm(scale=1.0).pdf(sd)
    density = prior * np.exp(-0.5 * square[:, None] / sd**2) * sd**-3.0 * step * wide
    whole, left = density.sum(), density[place < 0.0].sum() / density.sum()
    return Posed(
        model=tp.Model(
            _of_size,
            parameters={"place": tp.priors.normal(0.5, 2.0), "sd": tp.priors.half_normal(1.0)},
            data=FOLDED,
        ),
        means_of=lambda rows: rows,
        mean=np.array([(density.sum(axis=1) * place).sum(), (density.sum(axis=0) * sd).sum()]) / whole,
        modes_of=lambda rows: np.column_stack([rows[:, 0] < 0.0, rows[:, 0] >= 0.0]),
        mode_weights=np.array([left, 1.0 - left]),
        log_normaliser=float(np.log(whole)),
    )


# ---- aliases of the period of a circular orbit, the example of docs/howto/radial_velocity.md

NOISE, PERIODS, PRIOR_VARIANCES = 1.5, (1.05, 100.0), np.array([25.0, 25.0, 100.0])


@numba.njit
def _of_orbit(x: Array, data: Array) -> float:
    """Parameters are the period, the coefficients of cosine and sine, and the offset."""
    total = 0.0
    for k in range(data.shape[1]):
        angle = 2.0 * math.pi * data[0, k] / x[0]
        off = data[1, k] - x[3] - x[1] * math.cos(angle) - x[2] * math.sin(angle)
        total -= 0.5 * (off / NOISE) ** 2
    return total


def aliases() -> Posed:
    """Given the period all else is linear; what is left is a sum over frequencies."""
    generator = np.random.default_rng(4)
    days = np.sort(generator.choice(200, 25, replace=False)) + 0.03 * generator.normal(size=25)
    velocities = 2.0 + 4.0 * np.cos(2 * np.pi * days / 4.2308 - 1.0) + generator.normal(0.0, NOISE, 25)
    frequency, step = np.linspace(1 / PERIODS[1], 1 / PERIODS[0], 100_001, retstep=True)
    log_density = np.empty(len(frequency))
    for k, one in enumerate(frequency):
        angle = 2.0 * np.pi * days * one
        terms = np.stack([np.cos(angle), np.sin(angle), np.ones(25)], axis=1)
        covariance = NOISE**2 * np.eye(25) + (terms * PRIOR_VARIANCES) @ terms.T
        residual = np.linalg.solve(covariance, velocities)
        log_density[k] = -0.5 * (velocities @ residual + np.linalg.slogdet(covariance)[1])
    # The likelihood has no constant; the prior of the log of the period is uniform.
    log_density += 0.5 * len(days) * math.log(NOISE**2)
    density = np.exp(log_density) / frequency * step / math.log(PERIODS[1] / PERIODS[0])
    cut = 2.0
    fast = density[frequency > 1.0 / cut].sum() / density.sum()
    return Posed(
        model=tp.Model(
            _of_orbit,
            parameters={
                "period": tp.priors.log_uniform(*PERIODS),
                "cosine": tp.priors.normal(0, 5),
                "sine": tp.priors.normal(0, 5),
                "offset": tp.priors.normal(0, 10),
            },
            data=np.stack([days, velocities]),
        ),
        means_of=lambda rows: 1.0 / rows[:, :1],
        mean=np.array([(density * frequency).sum() / density.sum()]),
        modes_of=lambda rows: np.column_stack([rows[:, 0] < cut, rows[:, 0] >= cut]),
        mode_weights=np.array([fast, 1.0 - fast]),
        log_normaliser=float(np.log(density.sum())),
    )
