"""How often positions travel from the base level to the hottest and back."""

import numpy as np

from temperance.core.state import LevelArray
from temperance.runs.record import ChainRecord


def count_round_trips(chain: ChainRecord) -> int:
    """Round trips of all replicas of a chain, from the base to its last level and back, in its draws."""
    n_levels = len(chain.beta)
    if n_levels < 2 or chain.n_draws == 0:
        return 0
    base, top = chain.sampling.replica[:, 0], chain.sampling.replica[:, n_levels - 1]
    return sum(_trips_of(replica, base, top) for replica in np.unique(base))


def _trips_of(replica: int, base: LevelArray, top: LevelArray) -> int:
    """Changes between the two ends, two a trip, from the first visit to the base on."""
    at_base, at_top = base == replica, top == replica
    ends = at_top[at_base | at_top]
    since_base = ends[np.argmin(ends) :]
    return int(np.count_nonzero(np.diff(since_base)) // 2)
