"""Targets written in plain Python: a function of one vector, or of the rows of an array."""

from collections.abc import Callable
from typing import Any

import numpy as np

from temperance.core.state import LEVEL, RAISED, STATUS, STOP, FloatArray
from temperance.errors import InvalidTypeError
from temperance.targets.callback import python_evaluate
from temperance.targets.contract import Bound, Buffers
from temperance.targets.functions import NO_DATA, Functions, checked_value, function_name, takes_data

Values = tuple[FloatArray, FloatArray]


class PythonTarget:
    """A plain Python log density, called once for each level."""

    runs_in_parallel = False

    def __init__(self, functions: Functions) -> None:
        self.name = functions.name
        self.has_prior = functions.prior is not None
        self._tempered = with_data(functions.tempered, functions.data)
        self._prior = None if functions.prior is None else with_data(functions.prior, functions.data)
        self._prior_name = function_name(functions.prior)

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the functions to one chain's buffers."""
        return bound_to_python(buffers, lambda points: self._evaluate(points, buffers))

    def _evaluate(self, points: FloatArray, buffers: Buffers) -> None:
        control, info = buffers.control, buffers.info
        for level, point in enumerate(points):
            if control[STOP]:
                return
            control[LEVEL] = level
            if self._prior is not None:
                prior = checked_value(self._prior(point.copy()), self._prior_name)
                info.log_prior[level] = prior
                if prior == -np.inf:
                    info.log_density[level] = -np.inf
                    continue
            info.log_density[level] = checked_value(self._tempered(point), self.name)


class BatchedTarget:
    """A vectorised log density, called once for the rows of all levels."""

    runs_in_parallel = False

    def __init__(self, functions: Functions) -> None:
        self.name = functions.name
        self.has_prior = functions.prior is not None
        self._tempered = with_data(functions.tempered, functions.data)
        self._prior = None if functions.prior is None else with_data(functions.prior, functions.data)
        self._prior_name = function_name(functions.prior)

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the functions to one chain's buffers."""
        return bound_to_python(buffers, lambda points: self._evaluate(points, buffers))

    def _evaluate(self, points: FloatArray, buffers: Buffers) -> None:
        info, n_levels = buffers.info, len(points)
        if self._prior is None:
            info.log_density[:n_levels] = checked_rows(self._tempered(points), n_levels, self.name)
            return
        prior = checked_rows(self._prior(points.copy()), n_levels, self._prior_name)
        info.log_prior[:n_levels] = prior
        info.log_density[:n_levels] = -np.inf
        inside = np.flatnonzero(prior != -np.inf)
        if len(inside):
            info.log_density[inside] = checked_rows(self._tempered(points[inside]), len(inside), self.name)


def with_data(function: Callable[..., Any], data: Any) -> Callable[..., Any]:
    """The function as one of x alone."""
    if data is NO_DATA or not takes_data(function):
        return function
    return lambda x: function(x, data)


def checked_rows(values: Any, n_rows: int, name: str) -> FloatArray:
    """What a vectorised density returned, as one float for each row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InvalidTypeError(
            f"{name} is vectorised and must return one value for each row, "
            f"an array of shape ({n_rows},); got shape {array.shape}"
        )
    if array.dtype.kind not in "fiu":
        raise InvalidTypeError(f"{name} must return real numbers, got an array of {array.dtype}")
    return array.astype(np.float64)


def bound_to_python(buffers: Buffers, evaluate: Callable[[FloatArray], None]) -> Bound:
    """Call ``evaluate`` with a private copy of the points; its errors are kept, never lost."""
    failures: list[BaseException] = []
    proposal, n_levels, control = buffers.info.proposal, buffers.n_levels, buffers.control

    def call() -> None:
        try:
            evaluate(proposal[: n_levels[0]].copy())
        except BaseException as error:  # noqa: BLE001  raised again by the run
            failures.append(error)
            control[STATUS] = RAISED

    return Bound(python_evaluate(), id(call), keep_alive=call, failures=failures)
