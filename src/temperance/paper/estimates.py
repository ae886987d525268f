"""What is estimated over independent runs, and how far it lies from a printed figure.

A printed figure is an estimate too. Its error is taken to be ours, rescaled to the number of runs behind
it, and the rounding of its last digit comes on top.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from temperance.errors import InvalidInputError
from temperance.extras import needed

FloatArray = npt.NDArray[np.float64]
Runs = Mapping[str, FloatArray]  # one value a run, quantity by quantity

N_RESAMPLES = 2_000
RESAMPLING_SEED = 0
SMALLEST = 1e-300  # p values below would give an infinite z


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure of ours: its standard error over ``n_runs`` runs, and the count behind a percentage."""

    value: float
    error: float
    n_runs: int
    count: int | None = None


Estimator = Callable[[Sequence[Runs]], Estimate]


def mean(quantity: str) -> Estimator:
    """The mean over runs."""

    def estimate(cells: Sequence[Runs]) -> Estimate:
        (values,) = _columns(cells, quantity)
        error = values.std(ddof=1) / math.sqrt(len(values))
        return Estimate(value=float(values.mean()), error=float(error), n_runs=len(values))

    return estimate


def spread(quantity: str) -> Estimator:
    """The standard deviation over runs."""

    def estimate(cells: Sequence[Runs]) -> Estimate:
        (values,) = _columns(cells, quantity)
        resampled = _resample(values, _generator()).std(axis=1, ddof=1)
        return _estimate(values.std(ddof=1), resampled, len(values))

    return estimate


def rmse(quantity: str, exact: float) -> Estimator:
    """The root mean square error over runs against an exact value."""

    def estimate(cells: Sequence[Runs]) -> Estimate:
        (values,) = _columns(cells, quantity)
        squares = (values - exact) ** 2
        resampled = np.sqrt(_resample(squares, _generator()).mean(axis=1))
        return _estimate(math.sqrt(squares.mean()), resampled, len(values))

    return estimate


def rmse_ratio(quantity: str, exact: float) -> Estimator:
    """The root mean square error in a first cell, divided by that in a second."""

    def estimate(cells: Sequence[Runs]) -> Estimate:
        above, below = ((values - exact) ** 2 for values in _columns(cells, quantity))
        generator = _generator()
        means = [_resample(squares, generator).mean(axis=1) for squares in (above, below)]
        resampled = np.sqrt(means[0] / means[1])
        return _estimate(math.sqrt(above.mean() / below.mean()), resampled, min(len(above), len(below)))

    return estimate


def percentage(quantity: str, wanted: float) -> Estimator:
    """The percentage of runs in which a quantity has one value."""

    def estimate(cells: Sequence[Runs]) -> Estimate:
        (values,) = _columns(cells, quantity)
        n, count = len(values), int(np.sum(values == wanted))
        share = count / n
        error = 100.0 * math.sqrt(share * (1.0 - share) / n)
        return Estimate(value=100.0 * share, error=error, n_runs=n, count=count)

    return estimate


def z_score(ours: Estimate, printed: str, n_published: int) -> float:
    """How many standard errors of the difference ours lies above the printed figure.

    For a percentage the p value of Fisher's exact test is turned into the z that has it.
    """
    if ours.count is not None:
        return _proportion_z(ours, printed, n_published)
    rounding = last_digit(printed) ** 2 / 12.0  # variance of a uniform on the width of the last digit
    variance = ours.error**2 * (1.0 + ours.n_runs / n_published) + rounding
    return (ours.value - float(printed)) / math.sqrt(variance)


def last_digit(printed: str) -> float:
    """The unit of the last digit printed: 0.01 for 0.36, 1 for 16."""
    return float(10.0 ** -len(printed.partition(".")[2]))


def printed_count(printed: str, n_published: int) -> int:
    """The count behind a printed percentage; it must be a count that prints so."""
    count = round(float(printed) / 100.0 * n_published)
    half = 0.5 * last_digit(printed) * (1.0 + 1e-9)
    if abs(100.0 * count / n_published - float(printed)) > half or not 0 <= count <= n_published:
        raise InvalidInputError(f"{printed} % is no percentage of {n_published} runs")
    return count


def _proportion_z(ours: Estimate, printed: str, n_published: int) -> float:
    stats = scipy_stats()
    theirs = printed_count(printed, n_published)
    count = int(ours.count or 0)
    table = [[count, ours.n_runs - count], [theirs, n_published - theirs]]
    sign = np.sign(count / ours.n_runs - theirs / n_published)
    p_value = max(stats.fisher_exact(table).pvalue, SMALLEST)
    return float(sign * stats.norm.isf(p_value / 2.0))


def _columns(cells: Sequence[Runs], quantity: str) -> list[FloatArray]:
    return [cell[quantity] for cell in cells]


def _estimate(value: float, resampled: FloatArray, n_runs: int) -> Estimate:
    return Estimate(value=float(value), error=float(resampled.std(ddof=1)), n_runs=n_runs)


def _generator() -> np.random.Generator:
    return np.random.default_rng(RESAMPLING_SEED)


def _resample(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Bootstrap samples, one a row."""
    chosen = generator.integers(0, len(values), size=(N_RESAMPLES, len(values)))
    samples: FloatArray = values[chosen]
    return samples


def scipy_stats() -> Any:
    """SciPy's statistics, or what to install."""
    return needed("the exact test needs", "scipy.stats")[0]
