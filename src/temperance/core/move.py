"""What a move is, and how the loop comes to the moves of a run.

A move takes a level from where it is to somewhere else, and leaves the law of the level as it is. It
proposes a point, sees its log density, and decides or asks for another. The loop knows nothing else about it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from temperance.core.compile import compiled
from temperance.core.schema import statement_by_statement
from temperance.core.specialised import specialised
from temperance.core.state import NOTHING, WALK, FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Move:
    """One kind of move: what it needs, and its kernels.

    Attributes:
        name: What people read.
        advance: ``(chain, row, level, k)``. The point that was asked for stands in row ``k`` of
            ``info.proposal``, its log density beside it. Either decides, by way of `metropolis` or of
            `settle_at`, and returns False; or writes another point into the same row and returns True.
        begin: ``(chain, row, level)``. Writes the first point into ``info.proposal[level]``, and the log
            ratio log q(x | y) − log q(y | x) into ``info.log_proposal_ratio[level]`` if it is not zero. None
            if the step from the shape is the proposal.
        learn: ``(chain, row, gain, own)``, once an iteration and only while adapting; ``own`` is the number
            of the move in ``info.move``. None if there is nothing to learn.
        freeze: A plain function of the state, called once when the tuning ends.
        score: ``(state, level)``. The scale of the level as `unimodal` defines it, the same in all
            coordinates, or NaN while it is not known. None if this move cannot tell; trimming then abstains.
        kind: Whether the proposal moves all coordinates (`WALK`), one (`SINGLE`), comes from nowhere
            (`JUMP`), or goes from one mode to another (`LEAP`).
        shape: What it wants of the shape of a level: `STEP`, `DIRECTION` or `NOTHING`. It stands in
            ``info.proposal[level]`` when ``begin`` is called.
        max_evaluations: The most points that one level may ask for in an iteration.
        n_uniforms: How many uniforms of ``noise.move_uniforms[level, row]`` it uses; beside these it may use
            the level's normals and its one uniform, which decides.
        needs_gradient: Whether it reads ``info.gradient``.
        rows: What it remembers: a named tuple whose annotations declare fields of the state.
        room: What it needs within an iteration: likewise, of the info.
        first: A plain function of the state and of the variances that levels start with, called once.
    """

    name: str
    advance: Callable[..., Any]
    begin: Callable[..., Any] | None = None
    learn: Callable[..., Any] | None = None
    freeze: Callable[[Any], None] | None = None
    score: Callable[..., Any] | None = None
    kind: int = WALK
    shape: int = NOTHING
    max_evaluations: int = 1
    n_uniforms: int = 0
    needs_gradient: bool = False
    rows: type | None = None
    room: type | None = None
    first: Callable[[Any, FloatArray], None] | None = None


_MOVES: dict[type, tuple[Move, ...]] = {}


def register(state: type, moves: tuple[Move, ...]) -> None:
    """Say which moves work on states of this type."""
    _MOVES[state] = moves


def _begins(state: type) -> Any:
    """begin(chain, row, level) of the move that a level makes."""
    own = [(number, move.begin) for number, move in _numbered(state) if move.begin is not None]
    lines = [f"if record.info.move[b] == {number}: {{}}(record, a, b)" for number, _ in own]
    return statement_by_statement(lines, [begin for _, begin in own])


def _advances(state: type) -> Any:
    """advance(chain, row, level, k) of the move that asked; moves that decide in one way share a line."""
    numbers: dict[Any, list[int]] = {}
    for number, move in _numbered(state):
        numbers.setdefault(move.advance, []).append(number)
    made = "record.info.move[record.info.asker[b]]"
    lines = [
        f"if {' or '.join(f'{made} == {number}' for number in same)}: "
        "return {}(record, a, record.info.asker[b], b)"
        for same in numbers.values()
    ]
    return statement_by_statement(lines, list(numbers), last="return False")


def _learns(state: type) -> Any:
    """learn(chain, row, gain, own) of all moves in use."""
    own = [(number, move.learn) for number, move in _numbered(state) if move.learn is not None]
    lines = [f"{{}}(record, a, b, {number})" for number, _ in own]
    return statement_by_statement(lines, [_if_in_use(learn) for _, learn in own])


def _if_in_use(learn: Any) -> Any:
    @compiled
    def learn_if_in_use(chain: Any, row: int, gain: float, own: int) -> None:
        if chain.schedule.in_use[own] != 0:
            learn(chain, row, gain, own)

    return learn_if_in_use


def _scores(state: type) -> Any:
    """score(state, level) of one move."""
    own = [(number, move.score) for number, move in _numbered(state) if move.score is not None]
    lines = [f"if a == {number}: return {{}}(record, b)" for number, _ in own]
    return statement_by_statement(lines, [score for _, score in own], last="return float('nan')")


def _numbered(state: type) -> list[tuple[int, Move]]:
    return list(enumerate(_MOVES[state]))


@specialised(_begins)
def begin_level(chain: Any, row: int, level: int) -> None:
    """The first point of whatever move a level makes, in place."""


@specialised(_advances)
def advance_level(chain: Any, row: int, k: int) -> Any:
    """What the move of a level makes of the answer in row ``k``; whether it asks again. In place."""


@specialised(_learns)
def learn_moves(chain: Any, row: int, gain: float) -> None:
    """What the moves in use learn from this iteration, in place."""


@specialised(_scores)
def score_level(state: Any, move: int, level: int) -> Any:
    """The scale of a level as a move sees it, see `unimodal`."""
