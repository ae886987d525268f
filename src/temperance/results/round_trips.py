"""How often positions travel from the base level to the hottest and back."""

import numpy as np

from temperance.core.compile import compiled_around
from temperance.core.state import LevelArray
from temperance.runs.record import ChainRecord


def count_round_trips(chain: ChainRecord) -> int:
    """Round trips of all replicas of a chain, from the base to its last level and back, in its draws."""
    n_levels = len(chain.beta)
    if n_levels < 2 or chain.n_draws == 0:
        return 0
    return int(_count(np.ascontiguousarray(chain.sampling.replica), n_levels))


@compiled_around
def _count(replica: LevelArray, n_levels: int) -> int:
    """A replica is at home once it has been at the base, and abroad once it has been at the top since."""
    nowhere, home, abroad = 0, 1, 2
    place = np.zeros(replica.shape[1], dtype=np.int64)
    trips = 0
    for row in range(replica.shape[0]):
        base, top = replica[row, 0], replica[row, n_levels - 1]
        if place[base] == abroad:
            trips += 1
        place[base] = home
        if place[top] != nowhere:
            place[top] = abroad
    return trips
