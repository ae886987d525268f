"""Compiled functions of values that are made of points, in room that each chain has for itself."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from temperance.core.compile import compiled_around_for
from temperance.core.state import EVALUATE_SIGNATURE, LEVEL, STOP, FloatArray, IntArray
from temperance.targets.compiled import point_function
from temperance.targets.contract import TEMPERED, Bound, Buffers
from temperance.targets.data import DataTable
from temperance.targets.functions import NO_DATA, Functions


class RoomyTarget:
    """A user's likelihood of values, and a prior of ours that makes these values of points.

    ``prior`` is a compiled function of ``(points, n_points, log_prior, values, *tables)`` that fills in log
    priors and values. Chains may run at once: each has room of its own for values, and all share the rest.
    """

    has_prior, runs_in_parallel, rows_stand_alone = True, True, True

    def __init__(self, functions: Functions, prior: Any, n_values: int, tables: tuple[Any, ...]) -> None:
        self._made_of = functions, prior, n_values, tables
        self.name = functions.name
        given = functions.data is not NO_DATA
        self._n_values = n_values
        self._shared = DataTable(functions.data if given else (), ours=(np.empty((1, n_values)), *tables))
        loader = self._shared.loader() if given else None
        self._evaluate = _evaluation(functions.tempered, prior, self._shared.loader_of_ours(), loader)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), self._made_of

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the functions to one chain's buffers, and to room of its own."""
        values, table = np.empty((len(buffers.info.proposal), self._n_values)), self._shared.table.copy()
        table[:2] = values.ctypes.data, len(values)
        return Bound(self._evaluate, int(table.ctypes.data), keep_alive=(self._shared, table, values))


@functools.lru_cache(maxsize=64)
def _evaluation(function: Any, prior: Any, ours: Any, loader: Any) -> Callable[..., None]:
    """The prior of all points at once, then the likelihood of each; where the prior vanishes, none."""
    likelihood = point_function(function, loader, gradients=False)  # of the values, not of the points

    @compiled_around_for(EVALUATE_SIGNATURE)
    def evaluate(
        context: int,
        proposal: FloatArray,
        n_points: int,
        log_density: FloatArray,
        log_prior: FloatArray,
        gradient: FloatArray,
        scratch: FloatArray,  # noqa: ARG001  the values are a private copy already
        control: IntArray,
    ) -> None:
        arrays = ours(context)
        prior(proposal, n_points, log_prior, *arrays)
        for k in range(n_points):
            if control[STOP] != 0:
                return
            control[LEVEL] = k
            if log_prior[k] == -math.inf:
                log_density[k] = -math.inf
            else:
                log_density[k] = likelihood(arrays[0][k], context, gradient, k, TEMPERED)

    return evaluate
