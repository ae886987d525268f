"""From hump to hump of one coordinate: independence Metropolis–Hastings proposals for one coordinate alone.

Where coordinates have several humps each, modes are as many as there are combinations, and no list of them is
ever complete. A coordinate by itself has few: it is drawn from normals at its humps, the others stay.
"""

import math
from typing import Any

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.move import Move
from temperance.core.state import AT_BASE, LEAP, Humps

WHICH, HUMP = 1, 2  # places of the uniforms; the first says whether to leap


@compiled
def choose_hump(uniform: float, which: int, humps: Humps) -> int:
    """A hump of a coordinate, by its share."""
    chosen, left = 0, uniform
    for hump in range(humps.share.shape[1]):
        if left >= 0.0 and humps.share[which, hump] > 0.0:
            chosen = hump
        left -= humps.share[which, hump]
    return chosen


@compiled
def log_hump_density(which: int, value: float, humps: Humps) -> float:
    """Log density of the proposal for one coordinate, but for a constant."""
    largest, total = -math.inf, 0.0
    for hump in range(humps.share.shape[1]):
        if humps.share[which, hump] > 0.0:
            sd = humps.sd[which, hump]
            z = (value - humps.centre[which, hump]) / sd
            term = math.log(humps.share[which, hump] / sd) - 0.5 * z * z
            if term > largest:
                total = total * math.exp(largest - term) + 1.0
                largest = term
            elif term > -math.inf:
                total += math.exp(term - largest)
    return largest + math.log(total) if total > 0.0 else -math.inf


@compiled
def begin(chain: Any, row: int, level: int) -> None:
    """One coordinate goes to one of its humps, in place."""
    info, humps, uniforms = chain.info, chain.humps, chain.noise.jump_uniforms
    n_which = humps.coordinate.shape[0]
    which = min(int(uniforms[row, AT_BASE, WHICH] * n_which), n_which - 1)
    hump = choose_hump(uniforms[row, AT_BASE, HUMP], which, humps)
    point, proposal, coordinate = chain.state.position[level], info.proposal[level], humps.coordinate[which]
    for i in range(point.shape[0]):
        proposal[i] = point[i]
    step = humps.sd[which, hump] * chain.noise.normals[level // LANES, row, 0, level % LANES]
    proposal[coordinate] = humps.centre[which, hump] + step
    info.which[level] = coordinate
    ratio = log_hump_density(which, point[coordinate], humps)
    ratio -= log_hump_density(which, proposal[coordinate], humps)
    info.log_proposal_ratio[level] = -math.inf if math.isnan(ratio) else ratio


BETWEEN_HUMPS = Move(name="humps", begin=begin, advance=metropolis, kind=LEAP)
