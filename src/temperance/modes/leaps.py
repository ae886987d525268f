"""Leaps of the base level from mode to mode: what they are made with, how they fare, how often to leap."""

from dataclasses import dataclass, replace

import numpy as np

from temperance.core.state import HUMPS, N_KINDS, OWN, POOLED, FloatArray, Humps, Maps
from temperance.modes.policy import JUMPING, LEAPING


@dataclass(frozen=True)
class Leaps:
    """The chance of each kind of leap, how many were accepted of late, and what they are made with."""

    chance: FloatArray  # (kind,)
    acceptance: FloatArray  # (kind,)
    maps: Maps
    humps: Humps
    novelty: float  # share of the states that lie in no mode of the maps, one where there are none
    damping: float  # of the next correction by pairs
    error: float  # of the maps, as pairs said last; infinite if they have not

    @property
    def best(self) -> float:
        """The acceptance of the best kind that is made at all."""
        return float(np.max(self.acceptance * (self.chance > 0.0)))

    @property
    def shown(self) -> float:
        """The same, and zero as long as no kind is accepted more often than was taken for granted."""
        return self.best if self.best > LEAPING.prior_acceptance else 0.0


def no_maps(dim: int) -> Maps:
    """No modes yet."""
    square = np.empty((2, 0, dim, dim))
    return Maps(np.empty(0), np.empty((0, dim)), square, square.copy(), np.empty((2, 0)))


def no_humps() -> Humps:
    """No coordinate with several."""
    none = np.empty((0, 1))
    return Humps(np.empty(0, dtype=np.int64), none, none.copy(), none.copy())


def no_leaps(dim: int) -> Leaps:
    """Nothing yet."""
    before = np.full(N_KINDS, LEAPING.prior_acceptance)
    return Leaps(np.zeros(N_KINDS), before, no_maps(dim), no_humps(), 1.0, LEAPING.damping[1], np.inf)


def possible(leaps: Leaps) -> tuple[int, ...]:
    """The kinds for which there is something to leap between."""
    maps = (POOLED, OWN) if len(leaps.maps.centre) > 1 else ()
    return (*maps, HUMPS) if len(leaps.humps.coordinate) else maps


def on_trial(leaps: Leaps, jumps: float, *, early: bool) -> Leaps:
    """While tuning: all kinds are tried where jumps are poor, and what is good is made more often.

    Maps with the pooled shape go on early in the tuning even where they fail, for what they teach.
    """
    chance = np.zeros(N_KINDS)
    if jumps < LEAPING.poor_jumps:
        for kind in possible(leaps):
            failed = leaps.acceptance[kind] < LEAPING.idle and not (early and kind == POOLED)
            chance[kind] = LEAPING.idle_chance if failed else LEAPING.trial_chance
        for kind in _better(leaps, jumps):
            chance[kind] = LEAPING.tuning_chance * _share(leaps, jumps)[kind] + LEAPING.trial_chance
    return replace(leaps, chance=chance)


def for_good(leaps: Leaps, jumps: float, dim: int) -> Leaps:
    """For the draws: the better kind of map and leaps between humps, by their acceptance, or none."""
    chance = np.zeros(N_KINDS)
    if jumps < LEAPING.poor_jumps:
        even = JUMPING.half_chance / dim
        best = leaps.acceptance[list(_better(leaps, jumps))].max(initial=0.0)
        chance = LEAPING.max_chance * best**2 / (best**2 + even**2) * _share(leaps, jumps)
    return replace(leaps, chance=chance)


def jump_chance_beside(chance: float, leaps: Leaps) -> float:
    """The chance of a jump where there are leaps: a share stays for weighted estimates, and not much more."""
    if not np.any(leaps.chance > LEAPING.trial_chance):
        return min(chance, 1.0 - float(leaps.chance.sum()))
    return float(np.clip(chance, LEAPING.jumps_share, LEAPING.most_jumps))


def _better(leaps: Leaps, jumps: float) -> tuple[int, ...]:
    """Kinds that are accepted clearly more often than jumps; of the two kinds of maps the better one."""
    kinds = [kind for kind in possible(leaps) if leaps.acceptance[kind] > LEAPING.better * jumps]
    maps = sorted((kind for kind in kinds if kind != HUMPS), key=lambda kind: -leaps.acceptance[kind])
    return (*maps[:1], *(kind for kind in kinds if kind == HUMPS))


def _share(leaps: Leaps, jumps: float) -> FloatArray:
    """Of all leaps, by the changes of mode that each kind makes for an evaluation."""
    share = np.zeros(N_KINDS)
    for kind in _better(leaps, jumps):
        share[kind] = leaps.acceptance[kind]
    total = share.sum()
    return share / total if total > 0.0 else share
