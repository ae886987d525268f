"""From what a user hands to ``sample()`` to a `ModelSpec`."""

from collections.abc import Callable
from typing import Any

from temperance.checks import flag, whole_number, within
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.models.contract import Meaning, ModelSpec, Specified
from temperance.models.frontends import frontend
from temperance.models.model import Model
from temperance.parameters import Parameters, parameters_from
from temperance.targets import Target, gather, make_target
from temperance.targets.foreign import is_foreign

PARTS = ("log_density", "log_likelihood", "log_prior")
DENSITIES = (*PARTS, "target")
KINDS = (
    "a log density (a function of one vector; also one of jax.jit, of ctypes, a numba.cfunc, a "
    "scipy.LowLevelCallable), a temperance.Model, a pymc.Model, a temperance.numpyro.model, a "
    "bridgestan.StanModel, or an object with dim and log_density, or with dim, log_likelihood and log_prior, "
    "such as a temperance.zoo problem"
)


def model_spec(
    model: Any,
    *,
    log_likelihood: Any = None,
    log_prior: Any = None,
    data: Any = None,
    vectorized: bool = False,
) -> ModelSpec:
    """A model from an object that is one, or from functions."""
    read = _reader(model)
    if read is not None:
        said = {"log_likelihood": log_likelihood, "log_prior": log_prior, "data": data}
        _refuse_more([name for name, value in said.items() if value is not None])
        _refuse_more(["vectorized"] if flag("vectorized", vectorized) else [])
        with within("model"):
            return read(model)
    if model is not None and not callable(model) and not is_foreign(model):
        raise InvalidTypeError(f"model must be {KINDS}; got {type(model).__name__}: {model!r}")
    functions = gather(model, log_likelihood, log_prior, data)
    return ModelSpec(target=make_target(functions, vectorized=flag("vectorized", vectorized)))


def model_meaning(model: Any) -> Meaning:
    """What draws mean to a model; its density is left alone where that can be."""
    reader = _reader(model)
    if reader is None:
        raise InvalidTypeError(
            f"model must be a temperance.Model, an object with dim and log_density, or a model of a library "
            f"that is known; got {type(model).__name__}: {model!r}"
        )
    with within("model"):
        if isinstance(model, Model):
            return model.meaning()
        return _meaning_of(model) if reader is _spec_of else reader(model)


def _reader(model: Any) -> Callable[[Any], ModelSpec] | None:
    """What makes a specification of a model; None of a function, or of what is none."""
    if isinstance(model, Specified):
        return _said_itself
    return frontend(model) or (_spec_of if _is_model(model) else None)


def _said_itself(model: Specified) -> ModelSpec:
    spec = model.spec()
    if not isinstance(spec, ModelSpec):
        raise InvalidTypeError(f"spec() must return a ModelSpec, got {type(spec).__name__}: {spec!r}")
    return spec


def _is_model(given: Any) -> bool:
    """A function may have attributes too, but it does not say its dimension."""
    has_density = any(getattr(given, name, None) is not None for name in DENSITIES)
    return has_density and (hasattr(given, "dim") or not callable(given))


def _refuse_more(given: list[str]) -> None:
    if given:
        raise InvalidInputError(
            f"{' and '.join(given)} cannot be given together with a model, which has its own; "
            "give the functions one by one instead"
        )


def _spec_of(model: Any) -> ModelSpec:
    meaning = _meaning_of(model)
    return ModelSpec(target=_target_of(model), start=getattr(model, "start", None), **vars(meaning))


def _meaning_of(model: Any) -> Meaning:
    dim = whole_number("dim", getattr(model, "dim", None), least=1)
    constrain = getattr(model, "constrain", None)
    if constrain is not None and not callable(constrain):
        raise InvalidTypeError(f"constrain must be a function of rows, got {type(constrain).__name__}")
    return Meaning(dim=dim, names=_names_of(model, dim), constrain=constrain)


def _target_of(model: Any) -> Target:
    parts = {name: getattr(model, name, None) for name in (*PARTS, "data")}
    vectorized = flag("vectorized", getattr(model, "vectorized", False))
    target = getattr(model, "target", None)
    if target is None:
        return make_target(gather(**parts), vectorized=vectorized)
    _refuse_beside_target([name for name, value in parts.items() if value is not None])
    if not isinstance(target, Target):
        raise InvalidTypeError(f"target must be a temperance.targets.Target, got {type(target).__name__}")
    return target


def _refuse_beside_target(given: list[str]) -> None:
    if given:
        said = " and ".join(given)
        raise InvalidInputError(f"{said} cannot be given together with target, which has its own")


def _names_of(model: Any, dim: int) -> Parameters | None:
    names, dims, coords = (getattr(model, name, None) for name in ("names", "dims", "coords"))
    if names is None:
        lonely = "dims" if dims is not None else "coords" if coords is not None else None
        if lonely is not None:
            raise InvalidInputError(f"{lonely} cannot be given without names")
        return None
    with within("names"):
        return parameters_from(names, dim, dims, coords)
