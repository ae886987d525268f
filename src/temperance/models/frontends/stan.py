"""Models of Stan, as ``bridgestan.StanModel`` has them: compiled already, called by address from the loop.

Stan does not tell its prior from its likelihood, so the density is tempered as a whole, Jacobians with it.
Where Stan gives an error, its language means that the point is refused; such points are counted.
"""

import ctypes
import functools
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, StartError
from temperance.models.contract import ModelSpec
from temperance.models.frontends.starts import start_from
from temperance.parameters import Parameters
from temperance.targets import Target, gather, make_target

ASKED = ("param_unc_num", "param_constrain", "param_names", "log_density", "stanlib", "model")
SAMPLED = "{}_unconstrained"  # what coordinates are called
WIDTH, TRIES = 2.0, 100  # of Stan's own starts: evenly between -2 and 2, and how often it tries

Places = dict[str, npt.NDArray[np.intp]]  # of the values of each variable among all numbers


def is_stan(given: Any) -> bool:
    """Whether this can do what a ``bridgestan.StanModel`` can."""
    return all(hasattr(given, name) for name in ASKED)


def spec(model: Any) -> ModelSpec:
    """The specification of a model of Stan."""
    one = StanDensity(model)
    return ModelSpec(
        target=one.target(),
        dim=one.coordinates.size,
        start=one.start,
        names=one.coordinates,
        constrain=one.constrain,
        value_names=one.values,
        points=one.points,
        unconstrain=lambda given: start_from(given, one.values, one.replaced),
        refuses_bad=True,
    )


class StanDensity:
    """A model of Stan as functions of its unconstrained parameters."""

    def __init__(self, model: Any) -> None:
        self._model = model
        labels = list(model.param_unc_names())
        if not labels:
            raise InvalidInputError(
                f"the model of Stan, {model.name()}, has no parameters, so there is nothing to sample"
            )
        self.coordinates = Parameters(shapes={SAMPLED.format(label): () for label in labels})
        self._parameters = places(model.param_names())
        self.values = Parameters(shapes={name: place.shape for name, place in self._parameters.items()})
        self._all = places(model.param_names(include_tp=True, include_gq=True))

    def target(self) -> Target:
        """The density; data of Stan are in the model, whose address is all that the loop is told."""
        library, model = self._model.stanlib, self._model
        density = _density(
            str(model.name()), _address(library.bs_log_density), _address(library.bs_free_error_msg)
        )
        address = np.array([model.model], dtype=np.int64)
        target: Any = make_target(gather(density, data=(address,)), vectorized=False)
        target.model = model  # must not be gone before the loop is
        target.runs_in_parallel = "STAN_THREADS=TRUE" in str(model.model_info()).upper()
        return target  # type: ignore[no-any-return]

    def start(self, generator: np.random.Generator) -> FloatArray:
        """As Stan starts: evenly about zero, where the density has a value."""
        failure: Exception | None = None
        for _ in range(TRIES):
            point = generator.uniform(-WIDTH, WIDTH, size=self.coordinates.size)
            try:
                if math.isfinite(self._model.log_density(point, propto=False, jacobian=True)):
                    return point
            except Exception as error:  # noqa: BLE001  of whatever kind: told when no other point is better
                failure = error
        why = "" if failure is None else f"; the last error of Stan was: {failure}"
        raise StartError(
            f"{self._model.name()} has a log density at none of {TRIES} starts{why}"
        ) from failure

    def replaced(self, known: Mapping[str, FloatArray], generator: Any) -> FloatArray:
        """A point with these values; those that are not known are those of a start."""
        numbers = np.zeros(self.values.size)
        if generator is not None:
            numbers = np.asarray(self._model.param_constrain(self.start(generator)))
        for name, value in known.items():
            numbers[self._parameters[name]] = value
        return np.asarray(self._model.param_unconstrain(numbers), dtype=np.float64)

    def constrain(self, rows: FloatArray) -> dict[str, FloatArray]:
        """Parameters, transformed parameters and generated quantities, with shapes as in Stan."""
        model, wanted = self._model, {"include_tp": True, "include_gq": True}
        # Generated quantities may be random: other draws, other numbers; the same draws, the same ones.
        wanted |= {"rng": model.new_rng(zlib.crc32(rows.tobytes()))}
        numbers = [np.array(model.param_constrain(row, **wanted)) for row in rows]
        table = np.reshape(numbers, (len(rows), sum(place.size for place in self._all.values())))
        return {name: table[:, place] for name, place in self._all.items()}

    def points(self, rows: FloatArray) -> FloatArray:
        """Parameters as rows of numbers."""
        numbers = [np.array(self._model.param_constrain(row)) for row in rows]
        order = np.concatenate([place.ravel() for place in self._parameters.values()])
        return np.reshape(numbers, (len(rows), self.values.size))[:, order]


def places(labels: Any) -> Places:
    """From ``theta.2.1`` and the like, in the order of Stan, to where the values of each name are."""
    found: dict[str, dict[tuple[int, ...], int]] = {}
    for number, label in enumerate(labels):
        name, *index = label.split(".")
        if not all(part.isdigit() for part in index):  # as in z.real
            name, index = label, []
        found.setdefault(name, {})[tuple(int(part) - 1 for part in index)] = number
    return {name: _table(of) for name, of in found.items()}


def _table(numbers: Mapping[tuple[int, ...], int]) -> npt.NDArray[np.intp]:
    shape = tuple(max(index) + 1 for index in zip(*numbers, strict=True))
    table = np.zeros(shape, dtype=np.intp)
    for index, number in numbers.items():
        table[index] = number
    return table


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@functools.lru_cache(maxsize=16)
def _density(name: str, address: int, address_of_free: int) -> Any:
    """The density of a library, whatever data its models have: compiled once."""
    anything = ctypes.c_void_p
    log_density = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_int, anything, anything, anything
    )(address)
    free = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t)(address_of_free)

    def density(x: Any, data: Any) -> float:
        value, error = np.zeros(1), np.zeros(1, np.int64)
        # All constants (propto=False), since the other way costs Stan a gradient; with Jacobians.
        if log_density(data[0][0], 0, 1, x.ctypes, value.ctypes, error.ctypes) != 0:
            if error[0] != 0:
                free(error[0])
            return math.nan
        return float(value[0])

    density.__name__ = name
    return numba.njit(density)
