"""Moves: how a level goes from one point to another, one file each.

`Move` is the contract. A run has one walk, which its levels make when nothing else has its turn, and moves
beside it; which of them comes when is the schedule (`core/schedule.py`).
"""

from typing import Any, NamedTuple

from temperance.core import state as core
from temperance.core.accept import metropolis, settle_at
from temperance.core.compile import compiled as kernel
from temperance.core.move import Move, register
from temperance.core.schema import assembled, of, of_level
from temperance.core.state import DIRECTION, JUMP, LEAP, NOTHING, SINGLE, STEP, WALK, FloatArray, IntArray
from temperance.errors import InvalidInputError
from temperance.moves.check import check_move
from temperance.moves.coordinate import COORDINATE
from temperance.moves.corresponding import CORRESPONDING
from temperance.moves.covariance import COVARIANCE
from temperance.moves.humps import BETWEEN_HUMPS
from temperance.moves.independence import INDEPENDENCE
from temperance.moves.robust import ROBUST
from temperance.moves.slicing import SLICE

__all__ = [
    "DIRECTION",
    "JUMP",
    "LEAP",
    "NOTHING",
    "SINGLE",
    "STEP",
    "WALK",
    "FloatArray",
    "IntArray",
    "Move",
    "kernel",
    "metropolis",
    "of",
    "of_level",
    "settle_at",
]

WALKS = {walk.name: walk for walk in (ROBUST, COVARIANCE, SLICE)}
BESIDE = (COORDINATE, INDEPENDENCE, CORRESPONDING, BETWEEN_HUMPS)


class Records(NamedTuple):
    """What a set of moves works on, and whether code for it can be kept on disk."""

    state: Any
    info: Any
    keep: bool


_known: dict[tuple[Move, ...], Records] = {}


def moves_with(walk: str | Move) -> tuple[Move, ...]:
    """All moves of a run with this walk, in use or not; the walk is the first."""
    return (walk if isinstance(walk, Move) else WALKS[walk], *BESIDE)


def require_walk(walk: Any) -> None:
    """The name of a walk, or a move of a user's own; or an error that says so."""
    if isinstance(walk, Move):
        if walk not in WALKS.values():
            check_move(walk, tuple(move.name for move in (*WALKS.values(), *BESIDE)))
        return
    if not isinstance(walk, str) or walk not in WALKS:
        words = ", ".join(repr(name) for name in WALKS)
        raise InvalidInputError(f"walk must be one of {words} or a temperance.moves.Move, got {walk!r}")


def records_of(moves: tuple[Move, ...]) -> Records:
    """The types of state and info with all that these moves declare."""
    if moves not in _known:
        name = moves[0].name.capitalize()
        state = assembled(f"{name}State", __name__, core.State, *(move.rows for move in moves))
        info = assembled(f"{name}Info", __name__, core.Info, *(move.room for move in moves))
        register(state, moves)
        _known[moves] = Records(state, info, keep=moves[0] in WALKS.values())
    return _known[moves]


# Compiled code on disk finds the types that it works on by their names in this module.
for _walk in WALKS:
    for _record in records_of(moves_with(_walk))[:2]:
        globals()[_record.__name__] = _record
