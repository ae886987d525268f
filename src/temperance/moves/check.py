"""Whether a move of a user's own is one, before anything is compiled."""

from typing import Any

from numba.extending import is_jitted

from temperance.checks import flag, whole_number
from temperance.core.move import Move
from temperance.core.numba_internals.functions import is_off
from temperance.core.schema import fields
from temperance.core.state import DIRECTION, JUMP, LEAP, NOTHING, SINGLE, STEP, WALK
from temperance.errors import InvalidInputError, InvalidTypeError

KERNELS = ("begin", "advance", "learn", "score")
FUNCTIONS = ("freeze", "first")


def check_move(move: Move, taken: tuple[str, ...]) -> None:
    """Raise an error that names the parameter of `Move`, what is allowed and what came."""
    if not isinstance(move.name, str) or not move.name.isidentifier():
        raise InvalidInputError(f"name must be one word of letters, digits and _, got {move.name!r}")
    if move.name in taken:
        raise InvalidInputError(
            f"name must not be that of a move of ours ({', '.join(taken)}), got {move.name!r}"
        )
    for name in KERNELS:
        _require_kernel(name, getattr(move, name), optional=name != "advance")
    for name in FUNCTIONS:
        function = getattr(move, name)
        if function is not None and not callable(function):
            raise InvalidTypeError(f"{name} must be a function or None, got {function!r}")
    _one_of("kind", move.kind, {"WALK": WALK, "SINGLE": SINGLE, "JUMP": JUMP, "LEAP": LEAP})
    _one_of("shape", move.shape, {"NOTHING": NOTHING, "STEP": STEP, "DIRECTION": DIRECTION})
    whole_number("max_evaluations", move.max_evaluations, least=1)
    whole_number("n_uniforms", move.n_uniforms, least=0)
    flag("needs_gradient", move.needs_gradient)
    _require_record("rows", move.rows)
    _require_record("room", move.room)


def _require_kernel(name: str, function: Any, *, optional: bool) -> None:
    if (optional and function is None) or is_jitted(function) or (is_off() and callable(function)):
        return
    allowed = "a function decorated with temperance.moves.kernel" + (" or None" if optional else "")
    raise InvalidTypeError(f"{name} must be {allowed}, got {function!r}")


def _one_of(name: str, value: Any, allowed: dict[str, int]) -> None:
    if isinstance(value, bool) or value not in allowed.values():
        words = ", ".join(f"moves.{word}" for word in allowed)
        raise InvalidInputError(f"{name} must be one of {words}, got {value!r}")


def _require_record(name: str, record: Any) -> None:
    if record is None:
        return
    try:
        declared = fields(record)
    except (TypeError, ValueError, IndexError, NameError) as error:
        raise InvalidTypeError(_not_a_record(name, record)) from error
    if not declared or not hasattr(record, "_fields"):
        raise InvalidTypeError(_not_a_record(name, record))


def _not_a_record(name: str, record: Any) -> str:
    return (
        f"{name} must be a NamedTuple whose fields are annotated as in "
        f"Annotated[FloatArray, moves.of_level()], got {record!r}"
    )
