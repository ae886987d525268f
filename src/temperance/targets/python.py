"""Targets written in plain Python: a function of one vector, or of the rows of an array."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from temperance.checks import checked_value
from temperance.core.state import LEVEL, RAISED, STATUS, STOP, FloatArray, Info
from temperance.errors import InvalidTypeError, TemperanceError
from temperance.origin import function_name
from temperance.targets.batches import Batches
from temperance.targets.callback import python_evaluate
from temperance.targets.contract import TEMPERED, UNTEMPERED, Bound, Buffers
from temperance.targets.functions import NO_DATA, Functions, takes_data


class _FromPython:
    """What both kinds share: names, and the functions as functions of x alone."""

    runs_in_parallel = False

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.name = functions.name
        self.has_prior = functions.prior is not None
        self._tempered = with_data(functions.tempered, functions.data)
        self._prior = None if functions.prior is None else with_data(functions.prior, functions.data)
        self._prior_name = function_name(functions.prior)

    def __reduce__(self) -> tuple[type, tuple[Functions]]:
        return type(self), (self._functions,)


class PythonTarget(_FromPython):
    """A plain Python log density, called once for each level."""

    rows_stand_alone = True

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the functions to one chain's buffers."""
        tempered, prior, taken = self._tempered, self._prior, self._taken(buffers.info.gradient)
        # Item access through a memoryview costs a third of that through an array.
        log_density: Any = memoryview(buffers.info.log_density.data)
        log_prior: Any = memoryview(buffers.info.log_prior.data)
        control: Any = memoryview(buffers.control.data)

        def evaluate(points: FloatArray) -> None:
            level = 0
            try:
                for level, point in enumerate(points):
                    if control[STOP]:
                        return
                    if prior is not None:
                        log_prior[level] = taken(prior(point.copy()), level, UNTEMPERED)
                        if log_prior[level] == -math.inf:
                            log_density[level] = -math.inf
                            continue
                    value = tempered(point)
                    log_density[level] = value if isinstance(value, float) else taken(value, level, TEMPERED)
            except BaseException:
                control[LEVEL] = level
                raise

        return bound_to_python(buffers, evaluate)

    def _taken(self, gradient: FloatArray) -> Callable[[Any, int, int], float]:
        """From what a function returned to its value; a gradient that comes with it goes where it belongs."""
        names = (self.name, self._prior_name)

        def take(returned: Any, k: int, part: int) -> float:
            if not isinstance(returned, tuple) or len(returned) != 2:
                return checked_value(returned, names[part])
            value, slope = returned
            if len(gradient):
                gradient[k, part] = checked_gradient(slope, gradient.shape[2:], names[part])
            return checked_value(value, names[part])

        return take


class BatchedTarget(_FromPython):
    """A vectorised log density, called once for the rows of all levels."""

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the functions to one chain's buffers."""
        info = buffers.info
        batches = Batches(self._fill, info)

        def evaluate(points: FloatArray) -> None:
            if batches.expects and batches.answer(points):
                return
            try:
                self._fill(points, info)
            except TemperanceError:
                raise
            except Exception:
                self._locate(buffers, len(points))
                raise

        bound = bound_to_python(buffers, evaluate)
        bound.batches = None if len(info.gradient) else batches
        return bound

    def _fill(self, points: FloatArray, info: Info) -> None:
        """Evaluate all rows, and put the answers in place."""
        if self._prior is not None:
            self._evaluate_both(self._prior, points, info)
            return
        n_points, values = len(points), self._tempered(points)
        if isinstance(values, tuple):
            values = self._rows(values, slice(n_points), n_points, TEMPERED, info)
        info.log_density[:n_points] = checked_rows(values, n_points, self.name)

    def _locate(self, buffers: Buffers, n_points: int) -> None:
        """Try rows one by one after all of them raised, so that the error names the level."""
        for level in range(n_points):
            buffers.control[LEVEL] = level
            self._tempered(buffers.info.proposal[level : level + 1].copy())
        buffers.control[LEVEL] = 0

    def _evaluate_both(self, log_prior: Callable[..., Any], points: FloatArray, info: Info) -> None:
        """The prior of all rows, and the likelihood where it does not vanish."""
        n_points = len(points)
        prior = self._rows(log_prior(points.copy()), slice(n_points), n_points, UNTEMPERED, info)
        info.log_prior[:n_points] = prior
        info.log_density[:n_points] = -math.inf
        inside = np.flatnonzero(prior != -math.inf)
        if len(inside):
            returned = self._tempered(points[inside])
            info.log_density[inside] = self._rows(returned, inside, len(inside), TEMPERED, info)

    def _rows(self, returned: Any, rows: Any, n_rows: int, part: int, info: Info) -> npt.NDArray[Any]:
        """The values that a function returned for some rows; gradients that came along are put in place."""
        name = self.name if part == TEMPERED else self._prior_name
        if isinstance(returned, tuple) and len(returned) == 2:
            returned, slopes = returned
            if len(info.gradient):
                shape = (n_rows, info.gradient.shape[2])
                info.gradient[rows, part] = checked_gradient(slopes, shape, name)
        return checked_rows(returned, n_rows, name)


def checked_gradient(slopes: Any, shape: tuple[int, ...], name: str) -> npt.NDArray[Any]:
    """The gradient that a function returned beside its value."""
    array = np.asarray(slopes)
    if array.shape != shape or array.dtype.kind not in "fiu":
        raise InvalidTypeError(
            f"{name} returns a value and a gradient, which must be real numbers of shape {shape}; "
            f"got {array.dtype} of shape {array.shape}"
        )
    return array


def with_data(function: Callable[..., Any], data: Any) -> Callable[..., Any]:
    """The function as one of x alone, which cannot change the caller's arrays."""
    if data is NO_DATA or not takes_data(function):
        return function
    shown = read_only(data)
    return lambda x: function(x, shown)


def read_only(data: Any) -> Any:
    """Arrays, also those in tuples, as views that cannot be written to; any other object as it is."""
    if isinstance(data, np.ndarray):
        view = data.view()
        view.flags.writeable = False
        return view
    if isinstance(data, tuple):
        items = [read_only(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else tuple(items)
    return data


def checked_rows(values: Any, n_rows: int, name: str) -> npt.NDArray[Any]:
    """What a vectorised density returned, one real number for each row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InvalidTypeError(
            f"{name} is vectorised and must return one value for each row, "
            f"an array of shape ({n_rows},); got shape {array.shape}"
        )
    if array.dtype.kind not in "fiu":
        raise InvalidTypeError(f"{name} must return real numbers, got an array of {array.dtype}")
    return array


def bound_to_python(buffers: Buffers, evaluate: Callable[[FloatArray], None]) -> Bound:
    """Call ``evaluate`` with a private copy of the points; its errors are kept, never lost."""
    failures: list[BaseException] = []
    proposal, control = buffers.info.proposal, buffers.control
    n_asked: Any = memoryview(buffers.info.n_asked.data)

    def call() -> None:
        try:
            evaluate(proposal[: n_asked[0]].copy())
        except BaseException as error:  # noqa: BLE001  raised again by the run
            failures.append(error)
            control[STATUS] = RAISED

    return Bound(python_evaluate(), id(call), keep_alive=call, failures=failures)
