"""For users of NumPyro: a model with its arguments, which ``temperance.sample`` takes."""

from collections.abc import Mapping
from typing import Any

from temperance.models.frontends.numpyro import NumPyroModel

__all__ = ["model"]


def model(
    function: Any,
    model_args: tuple[Any, ...] = (),
    model_kwargs: Mapping[str, Any] | None = None,
    *,
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
    dims, coords
        As in ArviZ: names of the dimensions of sites, and labels along a dimension.
    """
    return NumPyroModel(function, model_args, model_kwargs, dims=dims, coords=coords)
