"""Round trips of replicas, against a count by hand and by a naive twin."""

from dataclasses import replace

import numpy as np

import temperance as tp
from harness import PLAIN
from temperance.results import measure


def naive_trips(replica: np.ndarray) -> int:
    """Iteration by iteration: a replica is home once at the base, and abroad once at the top since."""
    place = dict.fromkeys(range(replica.shape[1]), "nowhere")
    trips = 0
    for row in replica:
        trips += place[row[0]] == "abroad"
        place[row[0]] = "home"
        if place[row[-1]] != "nowhere":
            place[row[-1]] = "abroad"
    return trips


def count_round_trips(chain) -> int:
    return tp.diagnostics.round_trips(measure.replicas(chain))


def some_chain(seed: int):
    target = tp.zoo.gaussian(2).log_density
    options = {"levels": 3, "draws": 2_000, "tune": 500, "chains": 1, "seed": seed, "settings": PLAIN}
    return tp.sample(target, initial=np.zeros(2), progress=False, **options).chains[0]


def with_replicas(chain, rows):
    replica = np.array(rows, dtype=np.int16)
    n_levels = np.full(len(replica), replica.shape[-1])
    sampling = chain.sampling._replace(
        replica=replica,
        draws=chain.sampling.draws[: len(rows)],
        n_levels=n_levels.astype(np.int16),
        n_moved=n_levels.astype(np.int16),
    )
    return replace(chain, sampling=sampling)


def test_trips_by_hand(seed) -> None:
    chain = some_chain(seed)
    there_and_back = [[0, 1, 2], [1, 0, 2], [1, 2, 0], [1, 0, 2], [0, 1, 2]]
    assert count_round_trips(with_replicas(chain, there_and_back)) == 1
    assert count_round_trips(with_replicas(chain, there_and_back[:4])) == 0
    assert count_round_trips(with_replicas(chain, [[0, 1, 2]] * 5)) == 0
    only_from_the_top = [[0, 1, 2], [0, 2, 1], [2, 0, 1]]
    assert count_round_trips(with_replicas(chain, only_from_the_top)) == 0


def test_trips_equal_the_naive_count(seed) -> None:
    chain = some_chain(seed)
    found = count_round_trips(chain)
    assert found == naive_trips(chain.sampling.replica)
    assert found > 10


def test_no_trips_without_levels_or_draws(seed) -> None:
    chain = some_chain(seed)
    assert count_round_trips(replace(chain, beta=chain.beta[:1])) == 0
    assert count_round_trips(with_replicas(chain, np.empty((0, 3)))) == 0
