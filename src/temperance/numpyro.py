"""For users of NumPyro: a model with its arguments, which ``temperance.sample`` takes."""

from collections.abc import Mapping
from typing import Any

from temperance.extras import tested
from temperance.models.frontends.numpyro import NumPyroModel

__all__ = ["model"]


def model(
    function: Any,
    model_args: tuple[Any, ...] = (),
    model_kwargs: Mapping[str, Any] | None = None,
    *,
    jit_model_args: bool = False,
    dims: Any = None,
    coords: Any = None,
) -> NumPyroModel:
    """A model of NumPyro, for `temperance.sample`.

    Parameters
    ----------
    function
        The model, as ``numpyro.infer.MCMC`` takes it.
    model_args, model_kwargs
        What it is called with, data among them.
    jit_model_args
        As in NumPyro: arrays are arguments of what JAX compiles instead of constants in it, so that
        ``model.with_args(other)`` compiles nothing if their shapes are the same. The model must not ask
        for their numbers in Python then, as in ``int(groups.max())``.
    dims, coords
        As in ArviZ: names of the dimensions of sites, and labels along a dimension.
    """
    with tested("numpyro"):
        return NumPyroModel(
            function, model_args, model_kwargs, jit_model_args=jit_model_args, dims=dims, coords=coords
        )
