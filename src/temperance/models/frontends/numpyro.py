"""Models of NumPyro: the points of all levels in one call of a function that JAX compiles.

The prior is all latent sites with their Jacobians, the likelihood observed sites and factors. A model that
has neither of these is one density, and tempered as a whole.
"""

import copy
import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from temperance.checks import flag
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.extras import needed
from temperance.models.contract import ModelSpec
from temperance.models.frontends.arguments import Arguments
from temperance.models.frontends.starts import start_from
from temperance.origin import function_name
from temperance.parameters import Parameters, parameters_from
from temperance.targets import Target, gather, make_target
from temperance.targets.jax import over_rows, require_x64

WHY = "models of NumPyro need"
SAMPLED = "{}_unconstrained"  # what the coordinates of a site are called
N_CHECKED = 3  # points at which the parts must sum to the whole
TOLERANCE = 1e-6  # of a log density, relative beyond one


class NumPyroModel:
    """A model of NumPyro with its arguments, as functions of one vector; ``temperance.sample`` takes it."""

    def __init__(
        self,
        model: Any,
        model_args: Any = (),
        model_kwargs: Any = None,
        *,
        jit_model_args: bool = False,
        dims: Any = None,
        coords: Any = None,
    ) -> None:
        if not callable(model):
            raise InvalidTypeError(f"model must be a function, got {type(model).__name__}: {model!r}")
        self._numpyro, self._util = needed(WHY, "numpyro", "numpyro.infer.util")
        self._jax = require_x64(function_name(model))
        self._name, self._call = function_name(model), (model, tuple(model_args), dict(model_kwargs or {}))
        self._asked = {
            "jit_model_args": flag("jit_model_args", jit_model_args),
            "dims": dims,
            "coords": coords,
        }
        self._arguments = Arguments(self._jax, self._call, traced=jit_model_args)
        self._sites, self._has_data = self._looked_at()
        self._make_functions()
        first = self._drawn(self._jax.random.PRNGKey(0))
        self._shapes = Parameters(shapes={name: np.shape(first[name]) for name in self._sites})
        self.coordinates = Parameters(
            shapes={SAMPLED.format(name): shape for name, shape in self._shapes.shapes.items()}
        )
        values = self.constrain(self._joined(first)[None])
        shapes = {name: values[name].shape[1:] for name in self._sites}
        self.values = parameters_from(shapes, sum(map(math.prod, shapes.values())), dims, coords)

    def spec(self) -> ModelSpec:
        """All that the sampler asks, with the arguments of now."""
        self._require_sum()
        return ModelSpec(
            target=self._target(),
            dim=self.coordinates.size,
            start=self.start,
            names=self.coordinates,
            constrain=self.constrain,
            value_names=self.values,
            points=self.points,
            unconstrain=lambda given: start_from(given, self.values, self._replaced),
            improper=self._improper,
        )

    def with_args(self, *model_args: Any, **model_kwargs: Any) -> "NumPyroModel":
        """The same model of other arguments.

        With ``jit_model_args`` nothing is compiled anew, if arrays have the shapes of before and all else is
        the same.
        """
        call = self._call[0], model_args, model_kwargs
        arguments = Arguments(self._jax, call, traced=self._asked["jit_model_args"])
        if not arguments.same_but_for_numbers(self._arguments):
            return NumPyroModel(*call, **self._asked)
        other = copy.copy(self)
        other._call, other._arguments = call, arguments
        return other

    # ---- sites

    def _trace(self, key: Any, arrays: Any) -> Any:
        """One run of the model with draws from the prior, or from (-2, 2) where there are none."""
        handlers, infer = needed(WHY, "numpyro.handlers", "numpyro.infer")
        model, arguments, keywords = self._arguments.call(arrays)
        drawn = handlers.substitute(handlers.seed(model, key), substitute_fn=infer.init_to_sample())
        return handlers.trace(drawn).get_trace(*arguments, **keywords)

    def _looked_at(self) -> tuple[list[str], bool]:
        """Names of latent sites, and whether anything is observed."""
        trace = self._trace(self._jax.random.PRNGKey(0), self._arguments.arrays)
        sites = [site for site in trace.values() if site["type"] == "sample"]
        latent = {site["name"]: site["fn"] for site in sites if not site["is_observed"]}
        discrete = [name for name, law in latent.items() if law.support.is_discrete]
        if discrete:
            raise InvalidInputError(
                f"{self._name} has discrete latent sites, {', '.join(discrete)}, and only continuous ones "
                "can be sampled: sum over them, as numpyro.distributions.MixtureSameFamily does"
            )
        if not latent:
            raise InvalidInputError(f"{self._name} has no latent sites, so there is nothing to sample")
        flat = self._numpyro.distributions.ImproperUniform
        self._improper = tuple(name for name, law in latent.items() if isinstance(_base(law), flat))
        return list(latent), len(sites) > len(latent)

    def _transform(self, site: Any) -> Any:
        return self._numpyro.distributions.biject_to(site["fn"].support)

    # ---- the density

    def _make_functions(self) -> None:
        """What JAX compiles, of a point or a key and of arrays; models of other arguments share it."""
        jit = self._jax.jit
        self._parts_of, self._sum_of = jit(self._parts), jit(lambda *given: sum(self._parts(*given)))
        self._drawn_of, self._values_of = jit(self._draw), jit(self._expand)

    def _parts(self, point: Any, arrays: Any) -> Any:
        """The log likelihood and the log prior of a point."""
        call, params = self._arguments.call(arrays), self._shapes.split(point)
        values = self._util.constrain_fn(*call, params)
        by_site, trace = self._util.compute_log_probs(*call, values)
        jacobians = [
            self._transform(trace[name]).log_abs_det_jacobian(params[name], values[name]).sum()
            for name in self._sites
        ]
        prior = sum(by_site[name] for name in self._sites) + sum(jacobians)
        return sum((value for name, value in by_site.items() if name not in params), start=0.0 * prior), prior

    def _over_rows(self, function: Any) -> Callable[[FloatArray], Any]:
        """A function of rows, with the arrays of now."""
        many, arrays = over_rows(function, with_data=True), self._arguments.arrays
        return lambda rows: many(rows, arrays)

    def _target(self) -> Target:
        if not self._has_data:
            whole = self._over_rows(self._sum_of)
            whole.__name__ = self._name
            return make_target(gather(whole), vectorized=True)
        both = _Both(self._over_rows(self._parts_of))
        likelihood: Any = lambda rows: both.likelihood(rows)  # noqa: E731
        likelihood.__name__ = self._name
        return make_target(gather(None, likelihood, both.prior), vectorized=True)

    def _require_sum(self) -> None:
        """Refuse a model whose prior and likelihood are not all of it."""
        generator, rows = np.random.default_rng(0), self._over_rows(self._parts_of)
        for point in [self.start(generator) for _ in range(N_CHECKED)]:
            whole = -float(self._util.potential_energy(*self._call, self._shapes.split(point)))
            parts = [float(part[0]) for part in rows(point[None])]
            if not np.isclose(sum(parts), whole, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                raise InvalidInputError(
                    f"the likelihood and the prior of {self._name}, {parts[0]} and {parts[1]}, do not sum to "
                    f"its log density, {whole}, at the point {point.tolist()}"
                )

    # ---- starts and values

    def _draw(self, key: Any, arrays: Any) -> Any:
        trace = self._trace(key, arrays)
        return {name: self._transform(trace[name]).inv(trace[name]["value"]) for name in self._sites}

    def _drawn(self, key: Any) -> Any:
        """From a key to unconstrained values of all sites."""
        return self._drawn_of(key, self._arguments.arrays)

    def _joined(self, params: Mapping[str, Any]) -> FloatArray:
        return np.concatenate([np.ravel(np.asarray(params[name])) for name in self._sites]).astype(np.float64)

    def start(self, generator: np.random.Generator) -> FloatArray:
        """One start, in coordinates."""
        return self._joined(self._drawn(self._jax.random.PRNGKey(int(generator.integers(2**31)))))

    def _replaced(self, known: Mapping[str, FloatArray], generator: Any) -> FloatArray:
        """A point with these values; those that are not known are drawn."""
        values: dict[str, Any] = dict(known)
        if generator is not None:
            drawn = self.constrain(self.start(generator)[None])
            values = {name: drawn[name][0] for name in self._sites} | values
        return self._joined(self._util.unconstrain_fn(*self._call, values))

    def _expand(self, point: Any, arrays: Any) -> Any:
        call, params = self._arguments.call(arrays), self._shapes.split(point)
        return self._util.constrain_fn(*call, params, return_deterministic=True)

    def constrain(self, rows: FloatArray) -> dict[str, FloatArray]:
        """Latent sites as the model has them, and deterministic ones."""
        if not len(rows):
            return {name: one[:0] for name, one in self.constrain(np.zeros((1, rows.shape[1]))).items()}
        made = self._over_rows(self._values_of)(rows)
        return {name: made[name] for name in (*self._sites, *(made.keys() - set(self._sites)))}

    def points(self, rows: FloatArray) -> FloatArray:
        """Latent sites as rows of numbers."""
        values = self.constrain(rows)
        shapes = self.values.shapes.items()
        return np.concatenate(
            [values[name].reshape(len(rows), math.prod(shape)) for name, shape in shapes], axis=1
        )


class _Both:
    """Both parts from one call: the likelihood is asked right after the prior, for the same points."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._kept: deque[tuple[bytes, FloatArray]] = deque(maxlen=1)

    def prior(self, rows: FloatArray) -> FloatArray:
        """The log prior of rows."""
        likelihood, prior = self._rows(rows)
        self._kept.append((rows.tobytes(), likelihood))
        values: FloatArray = prior
        return values

    def likelihood(self, rows: FloatArray) -> FloatArray:
        """The log likelihood of rows."""
        try:
            of, values = self._kept.pop()  # at once, whatever other threads do
        except IndexError:
            of = b""
        return values if of == rows.tobytes() else self._rows(rows)[0]


def _base(law: Any) -> Any:
    """The law itself, without the shapes around it."""
    while hasattr(law, "base_dist"):
        law = law.base_dist
    return law
