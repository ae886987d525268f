"""Posteriors of the kind that users have: likelihoods between walls, bent and degenerate."""

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from temperance.errors import InvalidInputError

FloatArray = npt.NDArray[np.float64]
REFERENCES = "posteriors.json"  # beside the other data; tools/posterior_references.py makes it


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Posterior:
    """A likelihood of parameters that are uniform in a box, and what is known of the posterior.

    It is a model: sample it with ``sample(posterior)``, in the log odds of each parameter's place in the box.
    Samplers that need a cube take ``likelihood`` and ``box``.

    Attributes:
        name: What people read.
        parameters: Their names; all are single numbers.
        box: Bounds of each, ``(dim, 2)``.
        likelihood: A compiled log likelihood of the parameters as one vector.
        quantities: From rows of parameters to the numbers whose means are asked for, ``(row, quantity)``.
        expected: Their posterior means by name, in the order of the columns.
        deviations: Their standard deviations under the posterior, by name.
        errors: Standard errors of those means where they are no exact numbers, by name.
    """

    name: str
    parameters: tuple[str, ...]
    box: FloatArray
    likelihood: Any
    quantities: Callable[[FloatArray], FloatArray]
    expected: dict[str, float]
    deviations: dict[str, float]
    errors: dict[str, float]

    @property
    def dim(self) -> int:
        """How many parameters there are."""
        return len(self.box)

    @functools.cached_property
    def log_likelihood(self) -> Any:
        """The log likelihood as a compiled function of coordinates without bounds."""
        return _without_bounds(self.likelihood, tuple(self.box[:, 0]), tuple(self.box[:, 1]))

    @property
    def log_prior(self) -> Any:
        """The log density of those coordinates under the prior."""
        return _log_logistic

    def start(self, generator: np.random.Generator) -> FloatArray:
        """A draw of the prior, in coordinates without bounds."""
        return generator.logistic(size=self.dim)

    def values(self, rows: FloatArray) -> FloatArray:
        """From rows of coordinates without bounds to rows of parameters."""
        place = 0.5 * (1.0 + np.tanh(0.5 * np.asarray(rows)))
        values: FloatArray = self.box[:, 0] + (self.box[:, 1] - self.box[:, 0]) * place
        return values

    def constrain(self, rows: FloatArray) -> dict[str, FloatArray]:
        """Parameters by name."""
        return dict(zip(self.parameters, self.values(rows).T, strict=True))

    def __repr__(self) -> str:
        return f"<Posterior {self.name!r}: dim {self.dim}; known: {', '.join(self.expected)}>"


def reference(key: str) -> dict[str, dict[str, float]]:
    """What is expected of a posterior, by quadrature: arguments of `Posterior`."""
    file = resources.files("temperance.zoo") / "data" / REFERENCES
    known = json.loads(file.read_text(encoding="utf-8"))
    if key not in known:
        raise InvalidInputError(f"key must be one of {', '.join(known)}, got {key!r}")
    parts = {"expected": "mean", "deviations": "deviation", "errors": "error"}
    return {name: known[key][part] for name, part in parts.items()}


@functools.lru_cache
def _without_bounds(likelihood: Any, lower: tuple[float, ...], upper: tuple[float, ...]) -> Any:
    low, width = np.array(lower), np.array(upper) - np.array(lower)

    @numba.njit
    def log_likelihood(x: FloatArray) -> float:
        values = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            values[i] = low[i] + width[i] / (1.0 + math.exp(-x[i]))
        return float(likelihood(values))

    return log_likelihood


@numba.njit
def _log_logistic(x: FloatArray) -> float:
    """Log density of independent standard logistic variables."""
    total = 0.0
    for i in range(x.shape[0]):
        total -= abs(x[i]) + 2.0 * math.log1p(math.exp(-abs(x[i])))
    return total
