"""A model in the user's own terms: named parameters with priors, and a likelihood of them."""

from functools import cached_property
from typing import Any, Never

from numba.extending import is_jitted

from temperance.checks import flag
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.keywords import MODEL, require_known
from temperance.models.bounds import bounded
from temperance.models.contract import Meaning, ModelSpec
from temperance.models.derived import Derived
from temperance.models.layout import Layout
from temperance.models.likelihood import compiled_prior, compiled_target, python_target
from temperance.models.shown import Shown
from temperance.models.transform import transform_to_plain
from temperance.models.unused import require_all_used
from temperance.origin import function_name
from temperance.parameters import Parameters
from temperance.targets import Target, gather
from temperance.targets.foreign import compiled_from
from temperance.targets.functions import takes_data
from temperance.targets.jax import is_jax, over_rows


class Model:
    """Named parameters with priors, and a log likelihood of them; or a log density within bounds.

    Parameters
    ----------
    log_likelihood
        The log likelihood (with ``parameters``), or the whole log density (with ``bounds``, ``periodic``
        or ``names``), of a dict of named parameters in their own units; of ``(parameters, data)`` with
        ``data``. A function compiled with ``@numba.njit`` gets one vector of all values, whose places
        `temperance.offsets` names.
    parameters
        From names to priors, see `temperance.priors`. Only the likelihood is tempered, the prior is the
        hottest level, and chains start from it unless ``initial`` says otherwise.
    data
        What the functions want beside the parameters, as in `temperance.sample`.
    derived
        From a dict of parameters (and ``data``, with two arguments) to a dict of further quantities, which
        are computed for the draws that are kept, and exported with them.
    vector, vectorized
        The function takes one vector of all values instead of a dict; many points at once, as rows.
    dims, coords
        As in ArviZ: names of a parameter's dimensions, and labels along a dimension.
    bounds, periodic, names
        For a density without priors. ``bounds`` has a pair for each parameter, None for none; ``periodic``
        lists those that go in circles from the one bound to the other, 0 to 2π by default; ``names`` lists
        parameters, or has their shapes. Without names the function takes a vector.
    """

    reference: str | None = None  # the MODULE:NAME by which a shell found it

    def __init__(
        self,
        log_likelihood: Any,
        *,
        parameters: Any = None,
        data: Any = None,
        derived: Any = None,
        vector: bool = False,
        vectorized: bool = False,
        dims: Any = None,
        coords: Any = None,
        bounds: Any = None,
        periodic: Any = None,
        names: Any = None,
        **_unknown: Never,
    ) -> None:
        require_known(Model.__init__, _unknown, MODEL)
        log_likelihood = compiled_from(log_likelihood)
        if not callable(log_likelihood):
            raise InvalidTypeError(f"log_likelihood must be a function, got {type(log_likelihood).__name__}")
        if is_jax(log_likelihood) and not flag("vectorized", vectorized):
            with_data = takes_data(log_likelihood)
            log_likelihood, vectorized = over_rows(log_likelihood, with_data=with_data), True
        self._function = log_likelihood
        boxed = [
            label
            for label, given in (("bounds", bounds), ("periodic", periodic), ("names", names))
            if given is not None
        ]
        if parameters is not None and boxed:
            raise InvalidInputError(f"{boxed[0]} cannot be given together with parameters, which have priors")
        if parameters is None and not boxed:
            raise InvalidInputError(
                "parameters must be given, with their priors; or bounds, periodic or names"
            )
        priors = bounded(bounds, periodic, names) if parameters is None else parameters
        self._layout = Layout(priors, dims, coords)
        self._data = data
        self._unnamed = parameters is None and names is None and not isinstance(bounds, dict)
        self._vector = flag("vector", vector) or is_jitted(log_likelihood) or self._unnamed
        self._vectorized = flag("vectorized", vectorized)
        self._derived = None if derived is None else Derived(derived, self._layout)

    @property
    def parameters(self) -> Parameters:
        """Names, shapes, dims and coords."""
        return self._layout.names

    def with_data(self, data: Any) -> "Model":
        """The same model of other data."""
        other = object.__new__(Model)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name != "target"})
        other._data = data
        return other

    @cached_property
    def target(self) -> Target:
        """The density of coordinates, with the prior apart."""
        target = Shown(self._made(), self._layout)
        require_all_used(self._layout, self._function, self._data, vector=self._vector, rows=self._vectorized)
        return target

    def spec(self) -> ModelSpec:
        """All that the sampler asks."""
        layout = self._layout
        return ModelSpec(
            target=self.target,
            start=None if layout.undrawable else layout.draw,
            unconstrain=layout.start,
            improper=layout.improper,
            **vars(self.meaning()),
        )

    def meaning(self) -> Meaning:
        """What draws mean, without the likelihood."""
        layout = self._layout
        return Meaning(
            dim=layout.dim,
            names=layout.coordinates,
            constrain=self._values,
            value_names=layout.names,
            points=layout.values,
            transform=transform_to_plain(layout.names, layout.table),
            priors={name: prior.text for name, prior in layout.priors.items()},
        )

    def _made(self) -> Target:
        if not is_jitted(self._function):
            return python_target(
                self._layout, self._function, self._data, vector=self._vector, vectorized=self._vectorized
            )
        if self._vectorized:
            raise InvalidInputError("vectorized is for plain Python; a compiled function takes one point")
        functions = gather(self._function, data=self._data)
        try:
            return compiled_target(self._layout, functions, self._prior)
        except InvalidTypeError as error:
            raise InvalidTypeError(f"{error}\n{self._hint()}") from error

    @cached_property
    def _prior(self) -> Any:
        return compiled_prior(self._layout)

    def _hint(self) -> str:
        return (
            "A compiled function gets all parameters as one vector, and no dict: "
            f"{function_name(self._function)}(x) with the values of "
            f"{', '.join(list(self.parameters.shapes)[:10])} one after the other. "
            "at = temperance.offsets(parameters) names their places: x[at.name]"
        )

    def _values(self, rows: Any) -> dict[str, Any]:
        values = self._layout.values(rows)
        named = self.parameters.split(values)
        return named if self._derived is None else {**named, **self._derived(values, self._data)}

    def __repr__(self) -> str:
        lines = [f"  {name}: {prior.text}" for name, prior in self._layout.priors.items()]
        return "\n".join([f"<Model {function_name(self._function)}", *lines]) + ">"
