"""The schedule of a phase: which moves come when, from what the user chose and from what was learnt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from temperance.core.move import Move
from temperance.core.state import (
    AT_BASE,
    AT_HOTTEST,
    EVERYWHERE,
    HUMPS,
    OWN,
    POOLED,
    FloatArray,
    Mixture,
    Schedule,
)
from temperance.moves.coordinate import COORDINATE
from temperance.moves.corresponding import CORRESPONDING
from temperance.moves.humps import BETWEEN_HUMPS
from temperance.moves.independence import INDEPENDENCE
from temperance.moves.slicing import ALONG_COORDINATE, SLICE
from temperance.runs.plan import Plan
from temperance.runs.state import RunState

ALWAYS = 1.0


@dataclass(frozen=True)
class Entry:
    """A line of the schedule."""

    move: Move
    variant: int = 0
    place: int = EVERYWHERE
    every: int = 1
    chance: float = ALWAYS


def schedule_of(plan: Plan, now: RunState) -> Schedule:
    """What a chain does from now on, until more is learnt."""
    return make_schedule(
        plan,
        jumps=now.learner.mixture,
        refresh=now.refresh,
        leaps=now.learner.leaps.chance,
        coordinate_every=now.coordinate_every,
        rest_every=now.learner.rest_every,
    )


def make_schedule(
    plan: Plan,
    *,
    jumps: Mixture,
    refresh: Mixture,
    leaps: FloatArray,
    coordinate_every: int,
    rest_every: int,
) -> Schedule:
    """Jumps and leaps first, by chance; then single coordinates, in their turn; and else walks."""
    entries = [
        Entry(INDEPENDENCE, place=place, chance=float(mixture.chance[0]))
        for place, mixture in ((AT_BASE, jumps), (AT_HOTTEST, refresh))
        if plan.settings.jumps.enabled and len(mixture.centre) and mixture.chance[0] > 0.0
    ]
    if plan.settings.jumps.enabled:
        entries += leaping(float(jumps.chance[0]), leaps)
    if coordinate_every > 0:
        entries.append(single(plan.walk, coordinate_every))
    return as_arrays([*entries, Entry(plan.walk)], plan.moves, rest_every)


def leaping(before: float, chances: FloatArray) -> list[Entry]:
    """Leaps of each kind, by the uniform that says whether to jump: each has the part above the last."""
    entries = []
    for kind, move in ((POOLED, CORRESPONDING), (OWN, CORRESPONDING), (HUMPS, BETWEEN_HUMPS)):
        if chances[kind] > 0.0:
            before += float(chances[kind])
            entries.append(Entry(move, variant=kind, place=AT_BASE, chance=before))
    return entries


def single(walk: Move, every: int) -> Entry:
    """Moves of one coordinate: the walk's own, if it has such a form."""
    if walk is SLICE:
        return Entry(SLICE, variant=ALONG_COORDINATE, every=every)
    return Entry(COORDINATE, every=every)


def as_arrays(entries: Sequence[Entry], moves: Sequence[Move], rest_every: int) -> Schedule:
    """The schedule as the loop takes it."""
    numbers = [moves.index(entry.move) for entry in entries]
    return Schedule(
        move=np.array(numbers),
        variant=np.array([entry.variant for entry in entries]),
        place=np.array([entry.place for entry in entries]),
        every=np.array([entry.every for entry in entries]),
        chance=np.array([entry.chance for entry in entries]),
        rest_every=np.array([rest_every]),
        in_use=np.array([int(number in numbers) for number in range(len(moves))]),
        kind=np.array([move.kind for move in moves]),
        shape=np.array([move.shape for move in moves]),
        max_evaluations=np.array([move.max_evaluations for move in moves]),
    )
