"""The first ladder of inverse temperatures, from whatever the user gave."""

import math
from typing import Any

import numpy as np

from temperance.checks import numeric_array, whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.theory import gaussian_log_ratio

MAX_BUILT_TEMPERATURE = 1e6
# The default number of levels takes a Gaussian to this temperature; fewer miss far modes in 20 dimensions.
REACHED_TEMPERATURE = 150.0


def first_betas(
    levels: Any,
    temperatures: Any,
    inverse_temperatures: Any,
    *,
    dim: int,
    has_prior: bool,
    swap_acceptance: float,
) -> FloatArray:
    """Inverse temperatures from a number of levels, from temperatures, or as they are."""
    given = [value for value in (levels, temperatures, inverse_temperatures) if value is not None]
    if len(given) > 1:
        raise InvalidInputError("give only one of levels, temperatures and inverse_temperatures")
    if inverse_temperatures is not None:
        betas = _vector("inverse_temperatures", inverse_temperatures)
        check_betas("inverse_temperatures", betas, betas, has_prior)
        return betas
    if temperatures is not None:
        values = _vector("temperatures", temperatures)
        with np.errstate(divide="ignore"):
            betas = 1.0 / values
        check_betas("temperatures", betas, values, has_prior)
        return betas
    log_ratio = gaussian_log_ratio(swap_acceptance, dim)
    default = 1 + math.ceil(math.log(REACHED_TEMPERATURE) / log_ratio)
    n_levels = whole_number("levels", default if levels is None else levels, least=1)
    return _built(n_levels, log_ratio, has_prior)


def _built(n_levels: int, log_ratio: float, has_prior: bool) -> FloatArray:
    """A geometric ladder, right for a Gaussian; where there is a prior, it is the last level."""
    steps = max(n_levels - 1, 1)
    ratio = math.exp(min(log_ratio, math.log(MAX_BUILT_TEMPERATURE) / steps))
    betas = ratio ** -np.arange(n_levels, dtype=float)
    if has_prior and n_levels > 1:
        betas[-1] = 0.0
    return betas


def _vector(name: str, values: Any) -> FloatArray:
    array = numeric_array(name, values, "fiu", "a list of numbers").astype(np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise InvalidInputError(f"{name} must be a list of numbers, got an array of shape {array.shape}")
    return array


def check_betas(name: str, betas: FloatArray, given: FloatArray, has_prior: bool) -> None:
    """Refuse what is no ladder, by the name and in the terms in which it was given."""
    order = "increase from 1" if name == "temperatures" else "decrease from 1"
    if len(betas) == 0 or not np.all(np.isfinite(betas)) or np.any(betas < 0.0) or betas[0] != 1.0:
        raise InvalidInputError(f"{name} must {order}, all positive; got {given.tolist()}")
    if np.any(np.diff(betas) >= 0.0):
        raise InvalidInputError(f"{name} must {order} strictly; got {given.tolist()}")
    with np.errstate(over="ignore"):
        hottest = 1.0 / betas[betas > 0.0][-1]
    if np.isinf(hottest):
        raise InvalidInputError(f"{name} must not exceed what a number can hold; got {given.tolist()}")
    if betas[-1] == 0.0 and not has_prior:
        raise InvalidInputError(
            f"{name} may reach beta = 0 only when the target has a log_prior; got {given.tolist()}"
        )
