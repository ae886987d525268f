"""What was searched: the second question about a run, beside whether its draws agree with themselves."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from temperance.results.warnings.policy import THRESHOLDS
from temperance.text import counted

if TYPE_CHECKING:
    from temperance.results.result import Result

MORE = (
    "starts far apart (initial= one for each chain, or a function of a generator) would show more, or say "
    "unimodal=True if there is one mode"
)

PLACES = {
    "": "scattered points",
    "bounds": "points within bounds",
    "draw": "points of a function",
    "points": "given points",
    "prior": "draws of the prior",
}


@dataclass(frozen=True, kw_only=True)
class Searched:
    """How many modes hold draws, from how many different starts (0 if unknown), by what means.

    One mode from one start is unsearched (``enough`` is False), unless the user has said that there is one.
    """

    modes: int
    starts: int
    temperature: float  # the hottest
    scouts: int
    found_late: int  # modes that one chain alone had found when half of the tuning was over
    climbs: int = 0  # from scattered points
    source: str = ""  # of these points: "bounds", "draw", "points" or "prior"
    lost: int = 0  # of scouts and climbs, those that met an error
    unimodal: bool  # as the user said

    @property
    def enough(self) -> bool:
        """Whether there was a search that might have shown more than one mode, or need be none."""
        return self.unimodal or self.modes != 1 or self.starts != 1 or self.climbs > 0

    @property
    def _further(self) -> str:
        climbs = f", {counted(self.climbs, 'climb')} from {PLACES[self.source]}" if self.climbs else ""
        return f"{climbs}, {self.lost} of these ended by an error" if self.lost else climbs

    def __str__(self) -> str:
        modes = counted(self.modes, "mode")
        starts = f" from {counted(self.starts, 'start')}" if self.starts else ""
        reach = (
            f"up to temperature {self.temperature:.3g}"
            if math.isfinite(self.temperature)
            else "up to the prior"
        )
        found = f"{modes}{starts}, {reach}, {counted(self.scouts, 'scout')}{self._further}{self._luck}"
        if self.enough:
            return f"searched: {found}{', said to be the only one' if self.unimodal else ''}"
        return f"unsearched: {found}; {MORE}"

    @property
    def _luck(self) -> str:
        """What was found by one chain alone, and late: others as hard to find may have been found by none."""
        if not self.found_late:
            return ""
        return (
            f"; {counted(self.found_late, 'mode')} of some weight had been found by one chain alone when the "
            "others were told, in the second half of the tuning: a mode as hard to find may have been found "
            "by none, which longer tuning or more chains would show"
        )


def searched_of(result: "Result") -> Searched:
    """What a run looked for, and found."""
    learnt = [chain.modes for chain in result.chains if chain.modes is not None]
    return Searched(
        modes=len(result.modes),
        starts=result.setup.n_starts,
        temperature=float(max(ladder[-1] for ladder in result.temperatures)),
        scouts=sum(modes.n_scouts for modes in learnt),
        found_late=_found_late(result),
        climbs=sum(modes.n_climbs for modes in learnt),
        source=result.setup.search,
        lost=sum(modes.n_scouts_lost for modes in learnt),
        unimodal=result.setup.unimodal,
    )


def _found_late(result: "Result") -> int:
    """Modes of some weight that one of several chains had found by itself, after so long a time.

    Were a mode found by chance, by one chain in four within the tuning, all four would miss another like it
    with a chance of (3/4)^4, about a third; found by two of them, of one in sixteen.
    """
    modes = result.modes
    if not len(modes) or len(modes.share) < 2:
        return 0
    late = modes.told_at >= THRESHOLDS.late_find * result.n_tune  # NaN is not
    heavy = modes.draw_weight >= THRESHOLDS.missed_share
    return int(np.count_nonzero(late & heavy & (modes.found.sum(axis=0) == 1)))
