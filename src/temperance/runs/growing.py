"""Levels that are put in and taken out between segments: rows of the state, whatever fields it has."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.schema import LEVEL, REPLICA, Field, fields
from temperance.core.state import State
from temperance.core.unimodal import NEXT
from temperance.runs.heat import Change, Sight, note_reach, step_ratio
from temperance.runs.levels import set_betas
from temperance.runs.plan import Plan
from temperance.runs.seeds import MOVES, NORMALS, UNIFORMS, stream
from temperance.runs.state import RunState

Rows = np.ndarray[Any, Any]


def changed(state: State, change: Change, ratio: float, first_born: int, seed: np.random.SeedSequence) -> int:
    """Make a change of the ladder, in place; ``ratio`` is that of new temperatures above. How many were born.

    The hot end comes first, so that places below stay what they are.
    """
    for place in sorted(change.out, reverse=True):
        take_out(state, place)
        state.bound_hits[:] = 0  # those of before count no longer, as when levels are trimmed
    born = first_born
    for _ in range(change.above):
        place = int(state.n_levels[0])
        put_in(state, place, ratio / float(state.beta[place - 1]), born, seed)
        born += 1
    for edge in sorted(change.between, reverse=True):
        put_in(state, edge + 1, temperature_between(state, edge, ratio), born, seed)
        born += 1
    return born - first_born


def temperature_between(state: State, edge: int, ratio: float) -> float:
    """The geometric mean of two; below the prior, as far above the colder as that is above its own."""
    colder, hotter = float(state.beta[edge]), float(state.beta[edge + 1])
    if hotter > 0.0:
        return 1.0 / math.sqrt(colder * hotter)
    return (float(state.beta[edge - 1]) / colder if edge else ratio) / colder


def put_in(state: State, place: int, temperature: float, born: int, seed: np.random.SeedSequence) -> None:
    """A level at ``place``, a copy of the colder one beside it at this temperature; in place.

    Position and log density are the colder one's, the shape is made wider, and random numbers are its own.
    What only a level itself can know begins anew.
    """
    n_levels, hotter = int(state.n_levels[0]), _width(state, place)
    factor = temperature * float(state.beta[place - 1]) if hotter is None else math.sqrt(hotter)
    _shift(state, slice(place, n_levels), slice(place + 1, n_levels + 1))
    _shift(state, slice(place - 1, place), slice(place, place + 1))
    state.n_levels[0] += 1
    for name, (_, field) in _fields(state).items():
        if field.belongs_to == LEVEL and not field.inherited:
            getattr(state, name)[place] = field.fill
    state.spread[place, NEXT] = 0.0
    state.put_in[place] = state.iteration[0]
    widen(state, place, factor)
    state.replica[place] = state.born[place] = born
    state.normal_stream[place] = stream(seed, NORMALS, born)
    state.uniform_stream[place] = stream(seed, UNIFORMS, born)
    state.move_stream[place] = stream(seed, MOVES, born)
    state.beta[place] = 1.0 / temperature
    tie_gaps(state)


def take_out(state: State, place: int) -> None:
    """No level at ``place`` any more: the hotter ones move down; in place."""
    n_levels = int(state.n_levels[0])
    _shift(state, slice(place + 1, n_levels), slice(place, n_levels - 1))
    state.n_levels[0] -= 1
    tie_gaps(state)


def tie_gaps(state: State) -> None:
    """Log gaps from the temperatures; there is none above the last that is finite. In place."""
    live = state.beta[: state.n_levels[0]]
    free = live[live > 0.0]
    state.log_gap[: len(live)] = 0.0
    state.log_gap[: len(free) - 1] = np.log(np.diff(1.0 / free))
    set_betas(state, len(free))


def widen(state: State, level: int, factor: float) -> None:
    """All variances of a level times this factor, in place."""
    bundle, lane = divmod(level, LANES)
    state.cov_diag[bundle, :, lane] *= factor
    state.deviation[bundle, :, lane] *= math.sqrt(factor)
    own: Any = state
    own.coordinate_log_scale[level] += 0.5 * math.log(factor)


def _width(state: State, place: int) -> float | None:
    """How much wider the level at ``place`` is than the one below; None where there is none."""
    if place >= state.n_levels[0]:
        return None
    diagonals = [state.cov_diag[level // LANES, :, level % LANES] for level in (place - 1, place)]
    return float(np.exp(np.mean(np.log(diagonals[1]) - np.log(diagonals[0]))))


def _fields(state: State) -> dict[str, tuple[Any, Field]]:
    record: Any = type(state)
    return fields(record)


def _shift(state: State, source: slice, target: slice) -> None:
    """All of some levels is put over others, in place."""
    for name, (_, field) in _fields(state).items():
        if field.belongs_to in (REPLICA, LEVEL):
            _LAYOUTS[field.axes[0]](getattr(state, name), source, target)


def _shift_rows(array: Rows, source: slice, target: slice) -> None:
    array[target] = array[source].copy()


def _shift_lanes(array: Rows, source: slice, target: slice) -> None:
    """Level l is lane l mod LANES of bundle l div LANES."""
    levels = np.arange(array.shape[0] * LANES)
    here, there = levels[source], levels[target]
    array[there // LANES, ..., there % LANES] = array[here // LANES, ..., here % LANES]


_LAYOUTS: dict[Any, Callable[[Rows, slice, slice], None]] = {"level": _shift_rows, "bundle": _shift_lanes}


def take_change(
    plan: Plan, now: RunState, sight: Sight, change: Change, seed: np.random.SeedSequence
) -> None:
    """What was seen of the ladder of a chain is noted, and the change that it asks for is made; in place."""
    note_reach(now.core)
    now.n_born += changed(now.core, change, math.exp(step_ratio(plan)), now.n_born, seed)
    now.most_levels = max(now.most_levels, int(now.core.n_levels[0]))
    now.ladder += tuple(_told(change, now.n_done))
    off = tuple(_off(sight, now.n_done))
    now.ran_off = (*now.ran_off, *off) if off else ()  # what came back had an end to go to


def _told(change: Change, n_done: int) -> list[str]:
    """What was done, in words."""
    when = f"after {n_done:,} iterations"
    done = [(len(change.between) + change.above, "put in"), (len(change.out), "taken out")]
    return [f"{when} {n} level{'s' * (n > 1)} {what}, as {change.why}" for n, what in done if n]


def _off(sight: Sight, n_done: int) -> list[str]:
    """Which levels had no end to go to, in words: the coldest of them says it all."""
    return [
        f"after {n_done:,} iterations level {level + 1} (temperature {sight.temperature[level]:.3g}) was "
        "ever farther out"
        for level in sight.off[:1]
    ]
