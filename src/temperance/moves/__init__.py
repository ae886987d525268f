"""Moves: how a level goes from one point to another, one file each.

`Move` is the contract. A run has one walk, which its levels make when nothing else has its turn, and moves
beside it; which of them comes when is the schedule (`core/schedule.py`).
"""

from typing import Any

from temperance.core import state as core
from temperance.core.move import Move, register
from temperance.core.schema import assembled
from temperance.moves.coordinate import COORDINATE
from temperance.moves.covariance import COVARIANCE
from temperance.moves.independence import INDEPENDENCE
from temperance.moves.robust import ROBUST

__all__ = ["BESIDE", "WALKS", "Move", "moves_with", "records_of"]

WALKS = {walk.name: walk for walk in (ROBUST, COVARIANCE)}
BESIDE = (COORDINATE, INDEPENDENCE)

_RECORDS: dict[tuple[Move, ...], tuple[Any, Any]] = {}


def moves_with(walk: str | Move) -> tuple[Move, ...]:
    """All moves of a run with this walk, in use or not; the walk is the first."""
    return (walk if isinstance(walk, Move) else WALKS[walk], *BESIDE)


def records_of(moves: tuple[Move, ...]) -> tuple[Any, Any]:
    """The types of state and info that these moves work on."""
    if moves not in _RECORDS:
        name = moves[0].name.capitalize()
        state = assembled(f"{name}State", __name__, core.State, *(move.rows for move in moves))
        info = assembled(f"{name}Info", __name__, core.Info, *(move.room for move in moves))
        register(state, moves)
        _RECORDS[moves] = state, info
    return _RECORDS[moves]


def __getattr__(name: str) -> Any:
    """The records of the walks above, by the names that compiled code on disk knows them by."""
    for state, info in (records_of(moves_with(walk)) for walk in WALKS):
        for record in (state, info):
            if record.__name__ == name:
                return record
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
