"""Where chains start, and whether they can."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from temperance.checks import numeric_array
from temperance.core.move import Move
from temperance.core.state import RAISED, STATUS, FloatArray
from temperance.errors import DensityError, InvalidInputError, InvalidTypeError, StartError, TemperanceError
from temperance.runs.failures import told_with_cure
from temperance.targets import Bound, Buffers

MAX_TRIES = 100
BAD_START_CURE = "; with Settings(bad_density='reject') another start is tried instead"

StartFunction = Callable[[np.random.Generator], Any]


class Starts:
    """One point, one for each level, one for each chain and level, or a function of a generator.

    ``dim`` is how many coordinates they must have, if that is known; ``name`` is what errors call them.
    """

    def __init__(
        self, initial: Any, probe: np.random.Generator, *, dim: int | None = None, name: str = "initial"
    ) -> None:
        self.name = name
        self._function: StartFunction | None = initial if callable(initial) else None
        self._points = None if callable(initial) else _numbers(name, initial)
        first = self._one(probe) if self._points is None else self._points
        if first.ndim == 0 or first.shape[-1] == 0:
            raise InvalidInputError(f"{name} must have at least one dimension, got shape {first.shape}")
        self.dim = int(first.shape[-1])
        if dim is not None and self.dim != dim:
            raise InvalidInputError(f"{name} must have the model's {dim} coordinates, got {self.dim}")
        self._first = first

    @property
    def can_search(self) -> bool:
        """Whether another start can be asked for."""
        return self._function is not None

    @property
    def example(self) -> FloatArray:
        """One start, of a run that they fit."""
        point: FloatArray = self._first.reshape(-1, self.dim)[0]
        return point

    def check(self, chains: int, n_levels: int) -> None:
        """The points must fit the run, or the error says which shapes would."""
        allowed = [(self.dim,), (n_levels, self.dim), (chains, n_levels, self.dim)]
        if self._points is not None and self._points.shape not in allowed:
            shapes = ", ".join(str(shape) for shape in allowed)
            raise InvalidInputError(
                f"{self.name} must have one of the shapes {shapes} (dim; level, dim; chain, level, dim), "
                f"got {self._points.shape}"
            )

    def points(self, chain: int, n_levels: int, generator: np.random.Generator) -> FloatArray:
        """The first points of one chain, (level, dim)."""
        if self._points is None:
            return np.array([self._one(generator) for _ in range(n_levels)])
        points = self._points[chain] if self._points.ndim == 3 else self._points
        return np.array(np.broadcast_to(points, (n_levels, self.dim)))

    def another(self, generator: np.random.Generator) -> FloatArray:
        """One more point, when a function was given."""
        return self._one(generator)

    def _one(self, generator: np.random.Generator) -> FloatArray:
        if self._function is None:
            raise InvalidTypeError(f"{self.name} is not a function")
        point = np.atleast_1d(_numbers(f"{self.name}(generator)", self._function(generator)))
        expected = getattr(self, "dim", point.shape[0])
        if point.ndim != 1 or point.shape[0] != expected:
            raise InvalidInputError(f"{self.name}(generator) must return one point, got shape {point.shape}")
        return point


def settle(
    starts: Starts,
    chain: int,
    generator: np.random.Generator,
    bound: Bound,
    buffers: Buffers,
    *,
    rejects_bad: bool = False,
) -> None:
    """Put starts with finite log density into the proposal buffer, searching when that is possible.

    With ``rejects_bad``, a NaN or +inf is searched past like a density of zero.
    """
    proposal, n_levels = buffers.info.proposal, buffers.n_asked
    proposal[:n_levels] = starts.points(chain, n_levels, generator)
    outside = _outside(starts, chain, bound, buffers, passes=rejects_bad and starts.can_search)
    for _ in range(MAX_TRIES if starts.can_search else 0):
        if not len(outside):
            return
        for level in outside:
            proposal[level] = starts.another(generator)
        outside = _outside(starts, chain, bound, buffers, passes=rejects_bad and starts.can_search)
    if len(outside):
        raise StartError(_outside_message(starts, chain, int(outside[0]), bound, buffers))


def require_gradient(move: Move, name: str, buffers: Buffers) -> None:
    """A move that follows the gradient needs a density that gives one, at the points just evaluated."""
    if move.needs_gradient and np.any(np.isnan(buffers.info.gradient[: buffers.n_asked])):
        raise InvalidInputError(
            f"the move {move.name} needs gradients, and {name} returned none; return (value, gradient), from "
            "the prior too if there is one"
        )


def _outside(
    starts: Starts, chain: int, bound: Bound, buffers: Buffers, *, passes: bool
) -> npt.NDArray[np.intp]:
    """Levels whose start has density zero; a NaN or +inf is an error at once, or ``passes`` for zero."""
    info = buffers.info
    try:
        bound.fill(buffers)
    except Exception as error:
        raise _raised(chain, bound, buffers, error) from error
    if buffers.control[STATUS] == RAISED:
        failure = bound.failures[0]
        if isinstance(failure, TemperanceError) or not isinstance(failure, Exception):
            raise failure
        raise _raised(chain, bound, buffers, failure) from failure
    live = slice(0, buffers.n_asked)
    values = info.log_density[live] + info.log_prior[live]
    bad = np.isnan(values) | (values == np.inf)
    for level in () if passes else np.flatnonzero(bad):
        cure = BAD_START_CURE if starts.can_search else ""
        raise StartError(
            f"{starts.name}: the log density at the start of chain {chain + 1}, level {level + 1} is "
            f"{values[level]}, it must be finite; the point is {bound.show(info.proposal[level])}{cure}"
        )
    return np.flatnonzero(bad | (values == -np.inf))


def _raised(chain: int, bound: Bound, buffers: Buffers, cause: Exception) -> DensityError:
    level = int(buffers.control[2])
    return DensityError(
        f"the log density raised an error at the start of chain {chain + 1}, level {level + 1}, "
        f"at the point {bound.show(buffers.info.proposal[level])}{told_with_cure(cause)}{_wants_rows(cause)}"
    )


def _wants_rows(cause: Exception) -> str:
    """A hint, where a function of rows was given a single point, or the other way round."""
    if not isinstance(cause, IndexError | np.exceptions.AxisError):
        return ""
    return "; vectorized=True is for a function of the rows of an (n, dim) array, and for no other"


def _outside_message(starts: Starts, chain: int, level: int, bound: Bound, buffers: Buffers) -> str:
    info = buffers.info
    where = f"chain {chain + 1}, level {level + 1}, at the point {bound.show(info.proposal[level])}"
    value = info.log_density[level] + info.log_prior[level]
    if starts.can_search:
        tried = f"no start inside the support was found in {MAX_TRIES} tries"
        last = f"the last was {where}, where the log density is {value}"
        return f"{starts.name}: {tried}; {last}; give initial=, or priors that fit it closer"
    return (
        f"{starts.name}: the start lies outside the support (log density -inf) in {where}; give another "
        "point, or a function of a numpy Generator that is tried until it hits the support"
    )


def _numbers(name: str, values: Any) -> FloatArray:
    array = numeric_array(name, values, "fiu", "numbers or a function of a generator")
    if not np.all(np.isfinite(array)):
        raise InvalidInputError(f"{name} must be finite, got {array.tolist()}")
    return array.astype(np.float64)
