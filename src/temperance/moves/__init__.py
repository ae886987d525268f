"""Moves: how a level goes from one point to another, one file each.

`Move` is the contract. A run has one walk, which its levels make when nothing else has its turn, and moves
beside it; which of them comes when is the schedule (`core/schedule.py`).
"""

from typing import Any, NamedTuple

from temperance.core import state as core
from temperance.core.move import Move, register
from temperance.core.schema import assembled
from temperance.moves.coordinate import COORDINATE
from temperance.moves.covariance import COVARIANCE
from temperance.moves.independence import INDEPENDENCE
from temperance.moves.robust import ROBUST
from temperance.moves.slice import SLICE

__all__ = ["BESIDE", "WALKS", "Move", "Records", "moves_with", "records_of"]

WALKS = {walk.name: walk for walk in (ROBUST, COVARIANCE, SLICE)}
BESIDE = (COORDINATE, INDEPENDENCE)


class Records(NamedTuple):
    """What a set of moves works on, and whether code for it can be kept on disk."""

    state: Any
    info: Any
    keep: bool


_known: dict[tuple[Move, ...], Records] = {}


def moves_with(walk: str | Move) -> tuple[Move, ...]:
    """All moves of a run with this walk, in use or not; the walk is the first."""
    return (walk if isinstance(walk, Move) else WALKS[walk], *BESIDE)


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
