"""Label switching: a posterior that is the same under every renaming of its components."""

import functools
import itertools
import math
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import whole_number
from temperance.errors import InvalidInputError
from temperance.zoo.mixtures import mixture_moments
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]
LogDensity = Any  # a compiled function of one vector

LOG_TWO_PI = math.log(2.0 * math.pi)
NOISE_SD = 1.0
PRIOR_SD = 8.0
# Made up: a group for each component, so far apart that a plain walk keeps its order, and so few values
# that all allocations can be enumerated.
GROUPS = ((-6.7, -6.0, -5.3), (-0.4, 0.5), (5.6, 6.7), (12.1, 12.8))
FEWEST, MOST = 2, len(GROUPS)


def label_switching(components: int = 3) -> Problem:
    """The posterior of the means of a Gaussian mixture with equal weights.

    Each observation is N(x_k, 1) for a component k chosen evenly; the means x_k have independent N(0, 8²)
    priors. Nothing tells the components apart, so that all ``components!`` orders of the means are equally
    likely, and a walk must push two means through each other to get from one order to the next. That is the
    label-switching problem of mixture posteriors (Jasra, Holmes & Stephens 2005, Stat. Sci. 20, 50-67).

    The log density is likelihood times prior with all constants, so that ``log_normaliser`` is the log
    evidence. Given who belongs to which component, all is Gaussian: summing over the allocations gives
    exact moments and draws. The modes are the orders of the centre of the likeliest allocation; the
    maxima of the density are close by. Their weights are equal by symmetry.
    """
    k = whole_number("components", components, least=FEWEST)
    if k > MOST:
        raise InvalidInputError(f"components must be at most {MOST}, got {k}")
    terms = _allocations(k)
    mean, covariance = mixture_moments(terms.weight, terms.mean, np.diag(terms.weight @ terms.variance))
    modes = list(itertools.permutations(np.sort(terms.mean[terms.weight.argmax()])))
    return Problem(
        name=f"label switching, {k} components",
        dim=k,
        log_density=_posterior(k),
        start=partial(_prior_draw, k),
        mean=mean,
        covariance=covariance,
        log_normaliser=terms.log_evidence,
        modes=np.array(modes),
        mode_weights=np.full(len(modes), 1.0 / len(modes)),
        sampler=partial(_sampler, k),
    )


class Allocations(NamedTuple):
    """The posterior as a mixture over all allocations, a row for each."""

    weight: FloatArray
    mean: FloatArray  # (allocation, component)
    variance: FloatArray  # (allocation, component)
    log_evidence: float


@functools.cache
def _allocations(k: int) -> Allocations:
    """Weights and conjugate Gaussians of the k^n ways to allot n observations."""
    values = _observations(k)
    owner = np.indices((k,) * len(values)).reshape(len(values), -1)
    counts = np.stack([(owner == label).sum(axis=0) for label in range(k)], axis=1)
    sums = np.stack([values @ (owner == label) for label in range(k)], axis=1)
    variance = 1.0 / (PRIOR_SD**-2.0 + counts * NOISE_SD**-2.0)
    mean = variance * sums * NOISE_SD**-2.0
    log_weight = (0.5 * np.log(variance / PRIOR_SD**2) + 0.5 * mean**2 / variance).sum(axis=1)
    largest = log_weight.max()
    weight = np.exp(log_weight - largest)
    constant = _log_noise(len(values), k) - 0.5 * float(values @ values) / NOISE_SD**2
    return Allocations(
        weight / weight.sum(), mean, variance, constant + float(largest + math.log(weight.sum()))
    )


@functools.cache
def _posterior(k: int) -> LogDensity:
    values = _observations(k)
    constant = _log_noise(len(values), k) - k * (math.log(PRIOR_SD) + 0.5 * LOG_TWO_PI)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        total = constant
        for label in range(k):
            total -= 0.5 * (x[label] / PRIOR_SD) ** 2
        for i in range(values.shape[0]):
            nearest = math.inf
            for label in range(k):
                nearest = min(nearest, abs(values[i] - x[label]))
            likelihood = 0.0
            for label in range(k):
                likelihood += math.exp(0.5 * (nearest**2 - (values[i] - x[label]) ** 2) / NOISE_SD**2)
            total += math.log(likelihood) - 0.5 * (nearest / NOISE_SD) ** 2
        return total

    return log_density


def _observations(k: int) -> FloatArray:
    return np.array([value for group in GROUPS[:k] for value in group])


def _log_noise(n: int, k: int) -> float:
    """The constants of n normal observations, each from one of k even components."""
    return -n * (math.log(k * NOISE_SD) + 0.5 * LOG_TWO_PI)


def _prior_draw(k: int, generator: np.random.Generator) -> FloatArray:
    return generator.normal(0.0, PRIOR_SD, size=k)


def _sampler(k: int, generator: np.random.Generator, n: int) -> FloatArray:
    terms = _allocations(k)
    chosen = generator.choice(len(terms.weight), size=n, p=terms.weight)
    draws: FloatArray = generator.normal(terms.mean[chosen], np.sqrt(terms.variance[chosen]))
    return draws
