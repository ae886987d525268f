"""What pytensor makes of the graph of a PyMC model: functions of one vector and of the data of the model."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numba
import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.extras import TESTED, needed

WHY = "models of PyMC need"


class Graph:
    """Outputs of a model as functions of all its coordinates in one vector, and of its shared variables.

    These are its data and lengths of dimensions; as arguments they can change without a new compilation.
    """

    def __init__(self, model: Any, outputs: Sequence[Any], point: Mapping[str, FloatArray]) -> None:
        self._pymc, pytensorf = needed(WHY, "pymc", "pymc.pytensorf")
        self._replace, traversal, shared = needed(
            WHY, "pytensor.graph.replace", "pytensor.graph.traversal", "pytensor.compile.sharedvalue"
        )
        joined, self._vector = pytensorf.join_nonshared_inputs(
            point=dict(point), outputs=list(outputs), inputs=model.value_vars
        )
        if self._vector.dtype != "float64":
            raise InvalidInputError(
                f"models of PyMC must be in float64, and this one is in {self._vector.dtype}: set "
                "pytensor.config.floatX = 'float64' before it is made"
            )
        leaves = dict.fromkeys(traversal.graph_inputs(joined))
        self._shared = [leaf for leaf in leaves if isinstance(leaf, shared.SharedVariable)]
        self._given = [leaf.type() for leaf in self._shared]
        self.outputs = self._replace.clone_replace(joined, dict(zip(self._shared, self._given, strict=True)))

    @property
    def data(self) -> tuple[Any, ...]:
        """The values that shared variables have now."""
        return tuple(np.asarray(variable.get_value()) for variable in self._shared)

    @cached_property
    def _inputs(self) -> list[Any]:
        return [self._vector, *self._given]

    def compiled(self, name: str, density: Any) -> Any:
        """One of the outputs, a number, as a compiled function of (x, data)."""
        # PyMC's own compile and no other: its checks of parameters then give -inf, where they would raise.
        function = self._pymc.compile(self._inputs, density, mode="NUMBA", on_unused_input="ignore")
        inner = getattr(function.vm, "jit_fn", None)
        if inner is None:
            raise InvalidTypeError(
                f"PyMC {self._pymc.__version__} gives no compiled function; tested are "
                f"{' to '.join(TESTED['pymc'])}"
            )

        def log_density(x: Any, data: Any) -> float:
            for i in range(x.shape[0]):
                if not math.isfinite(x[i]):  # parts of a model disagree about these
                    return -math.inf
            return float(inner(x, *data)[0][()])

        log_density.__name__ = name
        return numba.njit(log_density)

    def interpreted(self, outputs: Any) -> Any:
        """Outputs as a function of (x, *data) that takes little to make, and more to call."""
        return self._pymc.compile(self._inputs, outputs, mode=interpreter(), on_unused_input="ignore")

    def over_rows(self, outputs: Sequence[Any]) -> Any:
        """The same of (rows, *data)."""
        tensor = needed(WHY, "pytensor.tensor")[0]
        rows = tensor.dmatrix("rows")
        many = self._replace.vectorize_graph(list(outputs), {self._vector: rows})
        filled = [  # what does not depend on the point is the same in all rows
            one if one.type.ndim > single.type.ndim else tensor.alloc(one, rows.shape[0], *one.shape)
            for single, one in zip(outputs, many, strict=True)
        ]
        inputs = [rows, *self._given]
        return self._pymc.compile(inputs, filled, mode=interpreter(), on_unused_input="ignore")


def interpreter() -> Any:
    """PyTensor without a compiler, with the rewrites that keep logarithms of small numbers finite."""
    return needed(WHY, "pytensor.compile.mode")[0].get_mode("FAST_COMPILE").including("fast_run")


def forward(model: Any) -> Any:
    """A function from the values of all free variables to coordinates."""
    pymc, replace = needed(WHY, "pymc", "pytensor.graph.replace")
    given = {variable: variable.type() for variable in model.free_RVs}
    transforms = [model.rvs_to_transforms[variable] for variable in given]
    made = [
        place if transform is None else transform.forward(place, *variable.owner.inputs)
        for (variable, place), transform in zip(given.items(), transforms, strict=True)
    ]
    outputs = replace.clone_replace(made, given)
    return pymc.compile(list(given.values()), outputs, mode=interpreter(), on_unused_input="ignore")
