"""Log densities of every kind, told apart without flags where possible."""

from typing import Any

from numba.extending import is_jitted

from temperance.errors import InvalidInputError
from temperance.targets.compiled import CompiledTarget
from temperance.targets.contract import Bound, Buffers, Target
from temperance.targets.functions import Functions, gather
from temperance.targets.python import BatchedTarget, PythonTarget, read_only
from temperance.targets.room import RoomyTarget

__all__ = ["Bound", "Buffers", "Functions", "RoomyTarget", "Target", "gather", "make_target", "read_only"]


def make_target(functions: Functions, *, vectorized: bool) -> Target:
    """The target for these functions: compiled, batched, or plain Python."""
    parts: list[Any] = [f for f in (functions.tempered, functions.prior) if f is not None]
    jitted = [is_jitted(part) for part in parts]
    if vectorized:
        return BatchedTarget(functions)
    if all(jitted):
        return CompiledTarget(functions)
    if any(jitted):
        raise InvalidInputError(
            f"{functions.parameter} and log_prior must both be compiled with @numba.njit, or neither; "
            f"got {', '.join('compiled' if one else 'plain Python' for one in jitted)}"
        )
    return PythonTarget(functions)
