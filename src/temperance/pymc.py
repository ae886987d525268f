"""For users of PyMC: a sampler in the shape of ``pm.sample(sampler=...)``, which PyMC is to have.

``tp.sample(model)`` takes a model of PyMC, too; what is here has PyMC's names for its arguments, and
returns what ``pm.sample`` returns.
"""

from collections.abc import Mapping
from typing import Any, Literal, Never

from temperance.errors import InvalidTypeError
from temperance.extras import needed
from temperance.keywords import PYMC_SAMPLE, require_known
from temperance.results.datatree import for_arviz
from temperance.results.result import Result
from temperance.results.show import as_verdict
from temperance.runs.progress import log
from temperance.sampling import sample
from temperance.settings import Settings
from temperance.swaps import Strategy

__all__ = ["Sampler", "sampler"]

WHY = "temperance.pymc needs"


class Sampler:
    """Parallel tempering as it was set up by `sampler`, for any model."""

    def __init__(self, **configuration: Any) -> None:
        self._configuration = configuration

    def sample(
        self,
        draws: int = 5_000,
        *,
        tune: int | None = None,
        chains: int = 4,
        cores: int | None = None,
        random_seed: Any = None,
        progressbar: Any = True,
        initvals: Any = None,
        var_names: Any = None,
        model: Any = None,
        **_unknown: Never,
    ) -> Any:
        """Draw from a model; the arguments are those of ``pm.sample``, with our defaults.

        ``model`` may be left out within a ``with pm.Model()``. ``initvals`` is a dict of values as the model
        has them. Returned is what ArviZ takes, with the data of the model; attributes have the verdict, the
        weights of the modes and the evidence, ``sample_stats`` the mode of each draw. The verdict is told as
        well: through the logger ``temperance`` or to the standard error; without a progress bar only where
        it is that the draws must not be relied on.
        """
        require_known(Sampler.sample, _unknown, PYMC_SAMPLE)
        pymc = needed(WHY, "pymc")[0]
        model = pymc.modelcontext(model)
        if initvals is not None and not isinstance(initvals, Mapping):
            raise InvalidTypeError(
                f"initvals must be a dict of values for all chains, got {type(initvals).__name__}; "
                "temperance.sample(model, initial=...) takes a function of a generator, too"
            )
        result = sample(
            model,
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            seed=random_seed,
            progress=bool(progressbar),
            initial=initvals,
            **self._configuration,
        )
        _tell_verdict(result, shows=bool(progressbar))
        return with_data_of(model, result, var_names)

    __call__ = sample

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._configuration.items())
        return f"temperance.pymc.sampler({said})"


def sampler(
    *,
    levels: int | None = None,
    temperatures: Any = None,
    inverse_temperatures: Any = None,
    swaps: Strategy | None = None,
    adapt: Literal["tuning", "always"] | None = None,
    settings: Settings | None = None,
    thin: int = 1,
    store: Any = None,
    overwrite: bool = False,
) -> Sampler:
    """Parallel tempering for models of PyMC: the algorithm here, the model and its run at the call.

    ``temperance.pymc.sampler(levels=8)(draws=2_000, model=model)``; the arguments are those of
    `temperance.sample`.
    """
    said = dict(locals())
    return Sampler(**{name: value for name, value in said.items() if value is not None})


def with_data_of(model: Any, result: Result, var_names: Any = None) -> Any:
    """A result for ArviZ with the groups of data that PyMC puts there, and the variables that are wanted."""
    backend, xarray = needed(WHY, "pymc.backends.arviz", "xarray")
    tree = result.to_datatree()
    if var_names is not None:
        tree["posterior"] = xarray.DataTree(tree["posterior"].to_dataset()[list(var_names)])
    for group, found in (
        ("observed_data", backend.find_observations(model)),
        ("constant_data", backend.find_constants(model)),
    ):
        if found:
            tree[group] = xarray.DataTree(_dataset(xarray, model, found))
    return for_arviz(tree)


def _tell_verdict(result: Result, *, shows: bool) -> None:
    """What is returned to users of PyMC prints no verdict, and they expect to be told of trouble."""
    if shows or any(warning.serious for warning in result.warnings):
        log(f"temperance: {as_verdict(result)}")


def _dataset(xarray: Any, model: Any, found: Mapping[str, Any]) -> Any:
    """Data with the dims and coords of the model."""
    dims_of = model.named_vars_to_dims
    variables = {
        name: (dims_of.get(name) or [f"{name}_dim_{k}" for k in range(value.ndim)], value)
        for name, value in found.items()
    }
    used = {dim for dims, _ in variables.values() for dim in dims}
    labels = {dim: given for dim, given in model.coords.items() if dim in used and given is not None}
    return xarray.Dataset(variables, coords={dim: list(given) for dim, given in labels.items()})
