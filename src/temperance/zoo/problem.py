"""What a problem of the zoo is: a target, and what is known about it exactly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.checks import numeric_array, whole_number
from temperance.errors import InvalidInputError

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

KNOWABLE = ("mean", "covariance", "log_normaliser", "modes", "mode_weights", "sampler")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Problem:
    """A log density to sample, where to start, and the exact answers as far as there are any.

    It is a model: sample it with ``sample(problem)``.

    Attributes:
        name: What people read.
        dim: Number of coordinates.
        log_density: A compiled function of ``x``, or of ``(x, data)`` when there are data.
        start: From a generator to an overdispersed starting point.
        data: What ``log_density`` wants beside the point.
        names: Names and shapes of the coordinates.
        dims: Names of the dimensions of what is named.
        coords: Labels along a dimension.
        constrain: From rows of draws to values by name, in the terms of the problem.
        mean: Exact mean, ``(dim,)``.
        covariance: Exact covariance, ``(dim, dim)``.
        log_normaliser: Log of the integral of ``exp(log_density)``.
        modes: Centres of the modes, ``(n_modes, dim)``.
        mode_weights: Mass of each mode, ``(n_modes,)``.
        sampler: From a generator and a number to as many independent draws; `draw` takes a seed instead.
    """

    name: str
    dim: int
    log_density: Any
    start: Callable[[np.random.Generator], FloatArray]
    data: Any = None
    names: Mapping[str, tuple[int, ...]] | None = None
    dims: Mapping[str, str] | None = None
    coords: Mapping[str, Sequence[str]] | None = None
    constrain: Callable[[FloatArray], dict[str, FloatArray]] | None = None
    mean: FloatArray | None = None
    covariance: FloatArray | None = None
    log_normaliser: float | None = None
    modes: FloatArray | None = None
    mode_weights: FloatArray | None = None
    sampler: Callable[[np.random.Generator, int], FloatArray] | None = None

    def __post_init__(self) -> None:
        dim = whole_number("dim", self.dim, least=1)
        n_modes = 0 if self.modes is None else len(self.modes)
        shapes = (("mean", (dim,)), ("covariance", (dim, dim)), ("modes", (n_modes, dim)))
        for field, shape in (*shapes, ("mode_weights", (n_modes,))):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, _constant(field, getattr(self, field), shape))

    @property
    def second_moments(self) -> FloatArray:
        """E x_i² of each coordinate, exact."""
        moments: FloatArray = self._known("mean") ** 2 + np.diag(self._known("covariance"))
        return moments

    def draw(self, n: int, seed: int) -> FloatArray:
        """``n`` exact independent draws, ``(n, dim)``."""
        draws: FloatArray = self._known("sampler")(
            np.random.default_rng(whole_number("seed", seed, least=0)), whole_number("n", n, least=1)
        )
        return draws

    def nearest_mode(self, points: FloatArray) -> IndexArray:
        """Index of the nearest centre for each row of ``points``."""
        modes, rows = self._known("modes"), self._rows(points)
        nearest: IndexArray = np.zeros(len(rows), dtype=np.intp)
        _find_nearest(rows, modes, nearest)
        return nearest

    def occupancy(self, points: FloatArray) -> FloatArray:
        """Share of the rows of ``points`` that are nearest to each mode."""
        nearest = self.nearest_mode(points)
        if not len(nearest):
            raise InvalidInputError("points must have at least one row, got none")
        return np.bincount(nearest, minlength=len(self._known("modes"))) / len(nearest)

    def _known(self, field: str) -> Any:
        value = getattr(self, field)
        if value is None:
            raise InvalidInputError(f"{self.name} has no exact {field}; known exactly: {_known_of(self)}")
        return value

    def _rows(self, points: Any) -> FloatArray:
        rows = numeric_array("points", points, "fiu", "an array of numbers")
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            raise InvalidInputError(
                f"points must have shape (n, {self.dim}), got {rows.shape}; "
                f"for the draws of several chains write draws.reshape(-1, {self.dim})"
            )
        if not np.all(np.isfinite(rows)):
            raise InvalidInputError("points must be finite, got NaN or inf")
        return np.ascontiguousarray(rows, dtype=np.float64)

    def __repr__(self) -> str:
        modes = "" if self.modes is None else f", number of modes {len(self.modes)}"
        return f"<Problem {self.name!r}: dim {self.dim}{modes}; known exactly: {_known_of(self)}>"


@numba.njit(nogil=True)
def _find_nearest(points: FloatArray, centres: FloatArray, nearest: IndexArray) -> None:
    """Index of the centre nearest to each point, in place: no array of (point, centre, coordinate)."""
    for row in range(points.shape[0]):
        smallest = np.inf
        for k in range(centres.shape[0]):
            distance = 0.0
            for i in range(centres.shape[1]):
                distance += (points[row, i] - centres[k, i]) ** 2
            if distance < smallest:
                smallest = distance
                nearest[row] = k


def _known_of(problem: Problem) -> str:
    return ", ".join(field for field in KNOWABLE if getattr(problem, field) is not None) or "nothing"


def _constant(field: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    array: FloatArray = np.array(numeric_array(field, value, "fiu", "an array of numbers"), dtype=np.float64)
    if array.shape != shape:
        raise InvalidInputError(f"{field} must have shape {shape}, got {array.shape}")
    array.setflags(write=False)
    return array
