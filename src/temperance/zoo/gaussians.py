"""Gaussians and mixtures of two, in any number of dimensions."""

import functools
import math
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import number_between, numeric_array, whole_number
from temperance.errors import InvalidInputError
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]
LogDensity = Any  # a compiled function of one vector

START_SPREAD = 2.0  # standard deviations of the target


def gaussian(dim: int = 2, *, mean: npt.ArrayLike = 0.0, sd: npt.ArrayLike = 1.0) -> Problem:
    """Independent normal coordinates, with one mean and sd for all or one for each.

    The easiest target there is, unless the sds differ by orders of magnitude. The density is written without
    its constant; with one mean and sd it is a function of vectors of any length. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    means, sds = _numbers("mean", mean, dim), _numbers("sd", sd, dim)
    if np.any(sds <= 0.0):
        raise InvalidInputError(f"sd must be positive, got {sds.tolist()}")
    centre, width = np.broadcast_to(means, dim), np.broadcast_to(sds, dim)
    return Problem(
        name=f"gaussian, {dim}-d",
        dim=dim,
        log_density=_normal(tuple(means.tolist()), tuple(sds.tolist())),
        start=partial(normal_start, centre, START_SPREAD * width),
        mean=centre,
        covariance=np.diag(width**2),
        log_normaliser=float(np.log(width).sum()) + 0.5 * dim * math.log(2.0 * math.pi),
        modes=centre[None],
        mode_weights=np.ones(1),
        sampler=partial(_normal_draws, centre, width),
    )


def two_modes(
    dim: int = 20, *, separation: float = 3.0, sd: float = 0.5, right_weight: float = 2.0 / 3.0
) -> Problem:
    """A mixture of N(-separation, sd² I) and N(+separation, sd² I).

    The modes drift apart as √dim while their weights stay unequal, so that the share of time spent in each
    shows whether a sampler weighs them rightly. The density is written without the Gaussians' constant,
    as a function of vectors of any length. All is exact.
    """
    dim = whole_number("dim", dim, least=1)
    separation = number_between("separation", separation, 0.0, math.inf, closed="left")
    sd = number_between("sd", sd, 0.0, math.inf)
    right = number_between("right_weight", right_weight, 0.0, 1.0)
    between = 4.0 * right * (1.0 - right) * separation**2
    return Problem(
        name=f"two modes, {dim}-d",
        dim=dim,
        log_density=_pair(separation, sd, right),
        start=partial(normal_start, np.zeros(dim), max(separation, sd)),
        mean=np.full(dim, (2.0 * right - 1.0) * separation),
        covariance=np.full((dim, dim), between) + sd**2 * np.eye(dim),
        log_normaliser=0.5 * dim * math.log(2.0 * math.pi * sd**2),
        modes=np.array([np.full(dim, -separation), np.full(dim, separation)]),
        mode_weights=np.array([1.0 - right, right]),
        sampler=partial(_pair_draws, dim, separation, sd, right),
    )


@functools.lru_cache
def _normal(means: tuple[float, ...], sds: tuple[float, ...]) -> LogDensity:
    """The same function for the same numbers, so that it is compiled once."""
    mean, sd = np.array(means), np.array(sds)
    mean_step, sd_step = int(len(means) > 1), int(len(sds) > 1)  # 0: one number serves all coordinates

    @numba.njit
    def log_density(x: FloatArray) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            total += ((x[i] - mean[i * mean_step]) / sd[i * sd_step]) ** 2
        return -0.5 * total

    return log_density


@functools.lru_cache
def _pair(separation: float, sd: float, right_weight: float) -> LogDensity:
    log_left, log_right = math.log(1.0 - right_weight), math.log(right_weight)

    @numba.njit
    def log_density(x: FloatArray) -> float:
        left, right = log_left, log_right
        for i in range(x.shape[0]):
            left -= 0.5 * ((x[i] + separation) / sd) ** 2
            right -= 0.5 * ((x[i] - separation) / sd) ** 2
        largest = max(left, right)
        return largest + math.log(math.exp(left - largest) + math.exp(right - largest))

    return log_density


def normal_start(mean: FloatArray, sd: FloatArray | float, generator: np.random.Generator) -> FloatArray:
    """Independent normal coordinates, with one sd for all or one for each."""
    return generator.normal(mean, sd)


def _normal_draws(mean: FloatArray, sd: FloatArray, generator: np.random.Generator, n: int) -> FloatArray:
    return mean + sd * generator.standard_normal((n, len(mean)))


def _pair_draws(
    dim: int, separation: float, sd: float, right_weight: float, generator: np.random.Generator, n: int
) -> FloatArray:
    centres = np.where(generator.random((n, 1)) < right_weight, separation, -separation)
    draws: FloatArray = centres + sd * generator.standard_normal((n, dim))
    return draws


def _numbers(name: str, value: Any, dim: int) -> FloatArray:
    """One number, or one for each coordinate."""
    numbers = np.atleast_1d(numeric_array(name, value, "fiu", "a number or one for each coordinate"))
    if numbers.shape not in ((1,), (dim,)) or not np.all(np.isfinite(numbers)):
        raise InvalidInputError(f"{name} must be one finite number or {dim} of them, got {value!r}")
    return numbers.astype(np.float64)
