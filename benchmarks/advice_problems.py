"""Problems that raise each serious warning, with what a user would know about them and the answer.

Most are wrong on purpose: asked for too little, started badly, written down with a slip. ``reworks`` is what
only a user can do: the density as it should have been, or the same target in a better form.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import temperance as tp
from temperance import zoo

Array = NDArray[np.float64]
NO_JUMPS = tp.Settings(jumps=tp.Jumps(enabled=False))
ALONE = tp.Settings(jumps=tp.Jumps(share=False))
REJECTING = tp.Settings(bad_density="reject")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A call of ``sample``, what of it a user can mend by hand, and means of functions that are known."""

    name: str
    options: Mapping[str, Any]
    means: Array  # of what `quantities` returns, coordinate by coordinate
    sds: Array
    quantities: Callable[[Array], Array] = field(default=lambda x: x)
    reworks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@numba.njit
def bell(x: Array) -> float:
    """A normal density in any dimension."""
    return -0.5 * np.sum(x * x)


@numba.njit
def bell_with_constant(x: Array) -> float:
    """The same with a constant that costs its digits."""
    return 1e17 - 0.5 * np.sum(x * x)


@numba.njit
def bell_in_slab(x: Array) -> float:
    """A second coordinate that may not move."""
    return -0.5 * x[0] ** 2 if abs(x[1]) < 1e-300 else -math.inf


@numba.njit
def bell_by_root(x: Array) -> float:
    """A root of what is negative but in a tiny ball."""
    rest = 1e-28 - np.sum(x * x)
    return -0.5 * np.sum(x * x) if rest >= 0.0 else math.nan


@numba.njit
def narrow(x: Array) -> float:
    """Widths of a millionth."""
    return -0.5e12 * np.sum(x * x)


@numba.njit
def noisy(x: Array) -> float:
    """A normal density with noise that is not the point's."""
    return -0.5 * np.sum(x * x) + 3.0 * np.random.standard_normal()  # noqa: NPY002  what is wrong with it


@numba.njit
def upside_down(x: Array) -> float:
    """A wrong sign, which a user who saw an overflow has cut off."""
    return 0.5 * min(np.sum(x * x), 1e12)


@numba.njit
def without_second(x: Array) -> float:
    """A density that does not use a coordinate."""
    return -0.5 * x[0] ** 2 + 0.0 * x[1]


@numba.njit
def with_bounds(x: Array) -> float:
    """The same with the bounds that were forgotten."""
    return -0.5 * x[0] ** 2 if abs(x[1]) < 10.0 else -math.inf


@numba.njit
def two_bells(x: Array) -> float:
    """A third at -6 and two thirds at 6, in all coordinates."""
    left, right = math.log(1.0 / 3.0), math.log(2.0 / 3.0)
    for value in x:
        left -= 0.5 * (value + 6.0) ** 2
        right -= 0.5 * (value - 6.0) ** 2
    return max(left, right) + math.log1p(math.exp(-abs(left - right)))


@numba.njit
def spike_in_a_bell(x: Array) -> float:
    """A bell in a box, and in it a spike of a tenth of its width with nine tenths of the mass."""
    squares = 0.0
    for value in x:
        if abs(value) >= 5.0:
            return -math.inf
        squares += value * value
    broad, spike = -0.5 * squares, math.log(9.0) + len(x) * math.log(10.0) - 50.0 * squares
    return max(broad, spike) + math.log1p(math.exp(-abs(broad - spike)))


@numba.njit
def tied(x: Array) -> float:
    """Normal, each coordinate the one before and a thousandth of its own."""
    total = -0.5 * x[0] ** 2
    for k in range(1, len(x)):
        total -= 0.5e6 * (x[k] - x[k - 1]) ** 2
    return total


@numba.njit
def untied(x: Array) -> float:
    """The same in steps of width one."""
    return -0.5 * np.sum(x * x)


@numba.njit
def heavy(x: Array) -> float:
    """Student's t with four degrees of freedom in five dimensions, twice, a third and two thirds."""
    left = right = 0.0
    for value in x:
        left += (value + 30.0) ** 2
        right += (value - 30.0) ** 2
    a = -0.5 * (4.0 + len(x)) * math.log1p(left / 4.0) - math.log(2.0)
    b = -0.5 * (4.0 + len(x)) * math.log1p(right / 4.0)
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@numba.njit
def needles(x: Array) -> float:
    """The likelihood of two narrow modes, a third and two thirds."""
    left, right = math.log(1.0 / 3.0), math.log(2.0 / 3.0)
    for value in x:
        left -= 0.5e4 * (value + 3.0) ** 2
        right -= 0.5e4 * (value - 3.0) ** 2
    return max(left, right) + math.log1p(math.exp(-abs(left - right)))


@numba.njit
def box(x: Array) -> float:
    """A flat prior."""
    return 0.0 if np.max(np.abs(x)) < 10.0 else -math.inf


@numba.njit
def needles_in_a_box(x: Array) -> float:
    """Both in one."""
    return needles(x) if np.max(np.abs(x)) < 10.0 else -math.inf


@numba.njit
def at_walls(x: Array) -> float:
    """Mass at one corner of a box, within a hundredth of its walls."""
    total = 0.0
    for value in x:
        if not 0.0 < value < 1.0:
            return -math.inf
        total -= 100.0 * value
    return total


@numba.njit
def at_walls_as_logs(x: Array) -> float:
    """The same of logarithms, with their Jacobian."""
    total = 0.0
    for value in x:
        if value >= 0.0:
            return -math.inf
        total += value - 100.0 * math.exp(value)
    return total


def _exponential(x: Array) -> Array:
    return np.where(x < 0.0, np.exp(np.minimum(x, 0.0)), x)


def _squares(x: Array) -> Array:
    return (x**2).mean(axis=-1, keepdims=True)


def _untied(x: Array) -> Array:
    return x[..., :1]


def _normal(dim: int) -> dict[str, Any]:
    return {"means": np.zeros(dim), "sds": np.ones(dim)}


def _bells(dim: int, **options: Any) -> dict[str, Any]:
    starts = np.where(np.arange(4)[:, None, None] % 2, 6.0, -6.0) * np.ones((4, options["levels"], dim))
    return {
        "options": {"model": two_bells, "initial": starts, **options},
        "means": np.full(dim, 2.0),
        "sds": np.full(dim, math.sqrt(33.0)),
    }


def _of_zoo(problem: zoo.Problem, **options: Any) -> dict[str, Any]:
    variances = np.diag(np.asarray(problem.covariance))
    return {
        "options": {"model": problem, **options},
        "means": np.asarray(problem.mean),
        "sds": np.sqrt(variances),
    }


def problems() -> list[Problem]:
    """All of them."""
    spike_square = 0.9 * 0.01 + 0.1 * 1.0
    needle = {"means": np.full(4, 1.0), "sds": np.full(4, math.sqrt(8.0))}
    return [
        Problem(
            name="no draws asked for",
            options={"model": bell, "initial": np.zeros(2), "draws": 0},
            **_normal(2),
        ),
        Problem(
            name="a huge constant",
            options={"model": bell_with_constant, "initial": np.zeros(2)},
            reworks={"constants": {"model": bell}},
            **_normal(2),
        ),
        Problem(
            name="a start a billion sd away",
            options={"model": bell, "initial": np.full(2, 1e9), "tune": 20, "draws": 300, "levels": 2},
            reworks={"elsewhere": {"initial": np.full(2, 10.0)}},
            **_normal(2),
        ),
        Problem(
            name="a coordinate without width",
            options={"model": bell_in_slab, "initial": np.zeros(2)},
            reworks={"density": {"model": bell, "initial": np.zeros(1)}},
            quantities=lambda x: x[..., :1],
            means=np.zeros(1),
            sds=np.ones(1),
        ),
        Problem(
            name="NaN nearly everywhere",
            options={
                "model": bell_by_root,
                "initial": np.zeros(2),
                "settings": REJECTING,
                "levels": 2,
                "tune": 100,
                "draws": 300,
            },
            reworks={"density": {"model": bell}},
            **_normal(2),
        ),
        Problem(
            name="noise in the density",
            options={"model": noisy, "initial": np.zeros(2)},
            reworks={"density": {"model": bell}},
            **_normal(2),
        ),
        Problem(
            name="a wrong sign",
            options={"model": upside_down, "initial": np.zeros(2)},
            reworks={"proper": {"model": bell}},
            **_normal(2),
        ),
        Problem(
            name="a coordinate that is not used",
            options={"model": without_second, "initial": np.zeros(2)},
            reworks={"proper": {"model": with_bounds}},
            means=np.zeros(2),
            sds=np.array([1.0, 10.0 / math.sqrt(3.0)]),
        ),
        Problem(
            name="widths of a millionth, hardly tuned",
            options={"model": narrow, "initial": np.zeros(5), "tune": 20, "draws": 500},
            means=np.zeros(5),
            sds=np.full(5, 1e-6),
        ),
        Problem(name="two modes, one level", **_bells(2, levels=1, draws=2_000, settings=NO_JUMPS)),
        Problem(name="two modes in 8-d, two levels", **_bells(8, levels=2, draws=2_000, settings=NO_JUMPS)),
        Problem(
            name="two modes in 5-d, no sharing, little tuning",
            **_bells(5, levels=4, draws=1_000, tune=500, settings=ALONE),
        ),
        Problem(name="twenty peaks, one level", **_of_zoo(zoo.twenty_peaks(), levels=1, settings=NO_JUMPS)),
        Problem(name="twenty peaks, hardly tuned", **_of_zoo(zoo.twenty_peaks(), tune=200, draws=500)),
        Problem(
            name="a ladder of two far levels",
            options={
                "model": bell,
                "initial": np.zeros(20),
                "temperatures": [1.0, 1e6],
                "tune": 100,
                "draws": 3_000,
                "settings": NO_JUMPS,
            },
            **_normal(20),
        ),
        Problem(
            name="a long ladder, few draws",
            options={
                "model": bell,
                "initial": np.zeros(5),
                "levels": 16,
                "draws": 150,
                "tune": 1_000,
                "settings": tp.Settings(jumps=tp.Jumps(enabled=False), trimming=tp.Trimming(enabled=False)),
            },
            **_normal(5),
        ),
        Problem(
            name="a spike in a bell",
            options={
                "model": spike_in_a_bell,
                "initial": np.zeros(20),
                "draws": 1_000,
                "tune": 1_500,
                "chains": 16,
                "settings": tp.Settings(
                    jumps=tp.Jumps(share=False), adaptation=tp.Adaptation(ladder_gain=tp.Gain())
                ),
            },
            quantities=_squares,
            means=np.array([spike_square]),
            sds=np.array([0.3]),
        ),
        Problem(name="many modes, few draws", **_of_zoo(zoo.many_modes(), tune=1_000, draws=500)),
        Problem(name="two rings, little tuning", **_of_zoo(zoo.rings(), tune=100, draws=200)),
        Problem(
            name="three draws", options={"model": bell, "initial": np.zeros(2), "draws": 3}, **_normal(2)
        ),
        Problem(
            name="a far start, hardly tuned",
            options={"model": bell, "initial": np.full(10, 1e3), "tune": 100, "draws": 1_000},
            **_normal(10),
        ),
        Problem(name="a funnel, few draws", **_of_zoo(zoo.funnel(), draws=200)),
        Problem(name="a banana, few draws", **_of_zoo(zoo.banana(), draws=30)),
        Problem(
            name="ten tied coordinates",
            options={"model": tied, "initial": np.zeros(10), "tune": 500, "draws": 2_000},
            quantities=_untied,
            means=np.zeros(1),
            sds=np.ones(1),
            reworks={"parametrisation": {"model": untied}},
        ),
        Problem(
            name="heavy tails, a long ladder",
            options={
                "model": heavy,
                "levels": 12,
                "tune": 2_000,
                "settings": NO_JUMPS,
                "initial": np.where(np.arange(4)[:, None, None] % 2, 30.0, -30.0) * np.ones((4, 12, 5)),
            },
            means=np.full(5, 10.0),
            sds=np.full(5, math.sqrt(802.0)),
        ),
        Problem(
            name="needles in a box",
            options={
                "model": needles_in_a_box,
                "settings": NO_JUMPS,
                "initial": np.where(np.arange(4)[:, None, None] % 2, 3.0, -3.0) * np.ones((4, 5, 4)),
                "levels": 5,
            },
            reworks={"apart": {"model": None, "log_likelihood": needles, "log_prior": box}},
            **needle,
        ),
        Problem(
            name="mass at walls",
            options={"model": at_walls, "initial": np.full(8, 0.01), "tune": 200, "draws": 500},
            reworks={"parametrisation": {"model": at_walls_as_logs, "initial": np.full(8, -5.0)}},
            quantities=_exponential,
            means=np.full(8, 0.01),
            sds=np.full(8, 0.01),
        ),
        Problem(name="label switching, few draws", **_of_zoo(zoo.label_switching(), draws=50, tune=300)),
        Problem(
            name="a 50-d Gaussian, hardly tuned",
            options={"model": bell, "initial": np.zeros(50), "tune": 300, "draws": 500},
            **_normal(50),
        ),
    ]
