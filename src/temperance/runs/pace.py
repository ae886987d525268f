"""How often a walk should move a single coordinate: as it pays, measured on the steps that were made."""

import numpy as np

from temperance.core.state import Trace

FIRST_EVERY = 2  # until it is known what pays
RAREST_EVERY = 8  # what pays in one mode may not in the next


def coordinate_every(trace: Trace, first: int, end: int, every: int) -> int:
    """One step in how many should move one coordinate, from what the base level did with one in ``every``.

    Both kinds of step cost one evaluation; what one is worth is the square of how far it moves, in units of
    the coordinates' own variances.
    """
    draws = trace.draws[first:end]
    variance = draws.var(axis=0)
    if every == 0 or len(draws) < 2 or not np.all(variance > 0.0):
        return every
    moved = (np.diff(draws, axis=0) ** 2 / variance).sum(axis=1)
    walked = (trace.jump[first + 1 : end] < 0) & (trace.base_swaps[first + 1 : end] == 0)
    single = np.arange(first + 1, end) % every == every - 1
    pays = [moved[walked & kind].mean() if np.any(walked & kind) else 0.0 for kind in (single, ~single)]
    if pays[0] == 0.0:
        return RAREST_EVERY
    return int(np.clip(round(FIRST_EVERY * pays[1] / pays[0]), FIRST_EVERY, RAREST_EVERY))
