"""Problems whose modes are easily missed: far apart, a spike within a mode, a plateau between walls."""

import functools
import math
from dataclasses import replace
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, whole_number
from temperance.zoo.gaussians import two_modes
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

WALL = 5.0  # of the box around a spike, in sds of the wide normal
FARTHEST = 1e6
STEEPEST = 1e6


def distant_modes(dim: int = 20, *, distance: float = 100.0) -> Problem:
    """Two normals of sd 1 and equal weight, ``distance`` apart.

    The ladder must be as hot as the distance squared before a level leads from one to the other. Starts lie
    on both sides. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    distance = number_between("distance", distance, 0.0, FARTHEST, closed="both")
    pair = two_modes(dim, separation=0.5 * distance / math.sqrt(dim), sd=1.0, right_weight=0.5)
    return replace(pair, name=f"distant modes, {dim}-d, {distance:g} apart")


def spike(dim: int = 10, *, ratio: float = 10.0, mass: float = 0.9) -> Problem:
    """A normal of sd 1 in a box, and at its centre one of sd 1 / ``ratio`` that has most of the mass.

    From outside nothing leads to the spike, and tempered it is gone at once: a transition of first order.
    The density is zero beyond five sds in any coordinate. Both modes are at the origin, so that the second
    moments, not the places, show the weights. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    ratio = number_between("ratio", ratio, 1.0, STEEPEST, closed="both")
    mass = number_between("mass", mass, 0.0, 1.0)
    log_odds = math.log(mass / (1.0 - mass))
    inside = np.array([math.erf(WALL / math.sqrt(2.0)), math.erf(WALL * ratio / math.sqrt(2.0))])
    log_masses = dim * np.log(inside) + np.array([0.0, log_odds])
    shares = np.exp(log_masses - np.logaddexp(*log_masses))
    fall = WALL * math.sqrt(2.0 / math.pi) * math.exp(-0.5 * WALL**2) / inside[0]  # of a truncated variance
    variance = float(shares @ np.array([1.0 - fall, ratio**-2]))
    return Problem(
        name=f"spike, {dim}-d",
        dim=dim,
        log_density=_spike(dim, ratio, log_odds),
        start=partial(_even, dim, WALL),
        mean=np.zeros(dim),
        covariance=variance * np.eye(dim),
        log_normaliser=0.5 * dim * math.log(2.0 * math.pi) + float(np.logaddexp(*log_masses)),
        modes=np.zeros((1, dim)),
        mode_weights=np.ones(1),
        sampler=partial(_spike_draws, dim, 1.0 / ratio, float(shares[1])),
    )


def flat_box(dim: int = 2) -> Problem:
    """The same density everywhere in the cube from -1 to 1, and none outside.

    There is nothing to find: a plateau that ends at walls looks like no normal. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    return Problem(
        name=f"flat box, {dim}-d",
        dim=dim,
        log_density=_plateau,
        start=partial(_even, dim, 1.0),
        mean=np.zeros(dim),
        covariance=np.eye(dim) / 3.0,
        log_normaliser=dim * math.log(2.0),
        modes=np.zeros((1, dim)),
        mode_weights=np.ones(1),
        sampler=partial(_box_draws, dim),
    )


@functools.lru_cache
def _spike(dim: int, ratio: float, log_odds: float) -> Any:
    log_height = log_odds + dim * math.log(ratio)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        square = 0.0
        for i in range(x.shape[0]):
            if abs(x[i]) > WALL:
                return -math.inf
            square += x[i] ** 2
        wide, narrow = -0.5 * square, log_height - 0.5 * ratio**2 * square
        largest = max(wide, narrow)
        return float(largest + math.log(math.exp(wide - largest) + math.exp(narrow - largest)))

    return log_density


@numba.njit
def _plateau(x: FloatArray) -> float:
    for i in range(x.shape[0]):
        if abs(x[i]) > 1.0:
            return -math.inf
    return 0.0


def _even(dim: int, half: float, generator: np.random.Generator) -> FloatArray:
    return generator.uniform(-half, half, dim)


def _box_draws(dim: int, generator: np.random.Generator, n: int) -> FloatArray:
    return generator.uniform(-1.0, 1.0, (n, dim))


def _spike_draws(dim: int, width: float, share: float, generator: np.random.Generator, n: int) -> FloatArray:
    """Those that leave the box, one in two million coordinates, are drawn again."""
    sds = np.where(generator.random((n, 1)) < share, width, 1.0)
    draws: FloatArray = sds * generator.standard_normal((n, dim))
    while len(outside := np.flatnonzero(np.abs(draws).max(axis=1) > WALL)):
        draws[outside] = sds[outside] * generator.standard_normal((len(outside), dim))
    return draws
