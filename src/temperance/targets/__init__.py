"""Log densities of every kind, told apart without flags where possible."""

from dataclasses import replace
from typing import Any

from numba.extending import is_jitted

from temperance.errors import InvalidInputError
from temperance.origin import function_name
from temperance.targets.compiled import CompiledTarget
from temperance.targets.contract import Bound, Buffers, Target
from temperance.targets.functions import Functions, gather, takes_data
from temperance.targets.jax import is_jax, over_rows, require_x64
from temperance.targets.python import BatchedTarget, PythonTarget, read_only
from temperance.targets.room import RoomyTarget

__all__ = ["Bound", "Buffers", "Functions", "RoomyTarget", "Target", "gather", "make_target", "read_only"]


def make_target(functions: Functions, *, vectorized: bool) -> Target:
    """The target for these functions: compiled, batched, or plain Python."""
    parts: list[Any] = [f for f in (functions.tempered, functions.prior) if f is not None]
    if vectorized:
        _require_digits(parts)
        return BatchedTarget(functions)
    of_jax, jitted = [is_jax(part) for part in parts], [is_jitted(part) for part in parts]
    if all(of_jax):
        return BatchedTarget(_over_rows(functions))
    if all(jitted):
        return CompiledTarget(functions)
    if any(jitted):
        raise InvalidInputError(
            f"{functions.parameter} and log_prior must both be compiled with @numba.njit, or neither; "
            f"got {', '.join('compiled' if one else 'plain Python' for one in jitted)}"
        )
    if any(of_jax):
        raise InvalidInputError(
            f"{functions.parameter} and log_prior must both be functions of JAX, made by jax.jit, or none; "
            f"got {', '.join('JAX' if one else 'plain Python' for one in of_jax)}"
        )
    return PythonTarget(functions)


def _require_digits(parts: list[Any]) -> None:
    for part in parts:
        if is_jax(part):
            require_x64(function_name(part))


def _over_rows(functions: Functions) -> Functions:
    """Functions of JAX of one point as functions of rows."""
    tempered, prior = functions.tempered, functions.prior
    return replace(
        functions,
        tempered=over_rows(tempered, with_data=takes_data(tempered)),
        prior=None if prior is None else over_rows(prior, with_data=takes_data(prior)),
    )
