"""How often a walk should move a single coordinate: as it pays, measured on the steps that were made."""

import numpy as np

from temperance.core.state import WALKED, Trace
from temperance.modes.policy import LEARNING


def coordinate_every(trace: Trace, first: int, end: int, every: int) -> int:
    """One step in how many should move one coordinate, from what the base level did with one in ``every``.

    Both kinds of step cost one evaluation; what one is worth is the square of how far it moves, in units of
    the coordinates' own variances.
    """
    often, rarest = LEARNING.first_coordinate_every, LEARNING.rarest_coordinate_every
    draws = trace.draws[first:end]
    variance = draws.var(axis=0)
    if every == 0 or len(draws) < 2 or not np.all(variance > 0.0):
        return every
    moved = (np.diff(draws, axis=0) ** 2 / variance).sum(axis=1)
    walked = (trace.jump[first + 1 : end] == WALKED) & (trace.base_swaps[first + 1 : end] == 0)
    single = np.arange(first + 1, end) % every == every - 1
    pays = [moved[walked & kind].mean() if np.any(walked & kind) else 0.0 for kind in (single, ~single)]
    if pays[0] == 0.0:
        return rarest
    return int(np.clip(round(often * pays[1] / pays[0]), often, rarest))
