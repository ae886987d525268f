"""Twenty cylinders in eight dimensions, the paper's second example: the twenty peaks, times six more."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import one_of
from temperance.zoo import peaks
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

DIM = 8
N_EXTRA = DIM - 2


def twenty_cylinders(extra: str = "normal") -> Problem:
    """The twenty peaks times six more independent coordinates.

    ``extra="normal"`` makes them standard normals, which reproduces the tables of the paper;
    ``extra="uniform"`` uniforms on [0, 10], which is what its text says. The peaks are as far apart as in the
    plane, but now a walk must carry six indifferent coordinates along; the uniforms have hard walls besides.
    All is exact. The modes are the centres of the cylinders, and six means.
    """
    law = _EXTRAS[one_of("extra", extra, tuple(_EXTRAS))]
    plane = peaks.twenty_peaks()
    covariance = law.variance * np.eye(DIM)
    covariance[:2, :2] = plane.covariance
    return Problem(
        name=f"twenty cylinders ({extra})",
        dim=DIM,
        log_density=law.log_density,
        start=partial(_start, law.sampler),
        mean=np.append(peaks.CENTRES.mean(axis=0), np.full(N_EXTRA, law.mean)),
        covariance=covariance,
        log_normaliser=law.log_normaliser,
        modes=np.hstack([peaks.CENTRES, np.full((len(peaks.CENTRES), N_EXTRA), law.mean)]),
        mode_weights=plane.mode_weights,
        sampler=partial(_sampler, law.sampler),
    )


@numba.njit
def log_density_normal(x: FloatArray) -> float:
    """The peaks times six standard normals, up to a constant."""
    total = peaks.log_density(x)
    for i in range(2, DIM):
        total -= 0.5 * x[i] * x[i]
    return float(total)


@numba.njit
def log_density_uniform(x: FloatArray) -> float:
    """The peaks times six uniforms, up to a constant."""
    for i in range(2, DIM):
        if x[i] < 0.0 or x[i] > peaks.SIDE:
            return -np.inf
    return float(peaks.log_density(x))


class _Law(NamedTuple):
    """One coordinate of the extra ones, and the density with six of them."""

    log_density: Any
    log_normaliser: float
    mean: float
    variance: float
    sampler: Callable[[np.random.Generator, int], FloatArray]


def _normals(generator: np.random.Generator, n: int) -> FloatArray:
    return generator.standard_normal((n, N_EXTRA))


def _uniforms(generator: np.random.Generator, n: int) -> FloatArray:
    return generator.uniform(0.0, peaks.SIDE, (n, N_EXTRA))


_EXTRAS = {
    "normal": _Law(log_density_normal, 0.5 * N_EXTRA * math.log(2.0 * math.pi), 0.0, 1.0, _normals),
    "uniform": _Law(
        log_density_uniform, N_EXTRA * math.log(peaks.SIDE), 0.5 * peaks.SIDE, peaks.SIDE**2 / 12.0, _uniforms
    ),
}


def _start(extra: Any, generator: np.random.Generator) -> FloatArray:
    return np.concatenate([peaks.start(generator), extra(generator, 1)[0]])


def _sampler(extra: Any, generator: np.random.Generator, n: int) -> FloatArray:
    return np.hstack([peaks.sampler(generator, n), extra(generator, n)])
