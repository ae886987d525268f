"""From a user's seed to one independent stream for each chain."""

from typing import Any

import numpy as np

from temperance.core.state import WordArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.plain import exactly, record

# What random numbers are for. Streams are told apart by it and by a number, so that a new one disturbs none.
STARTS, SWAPS, JUMPS, NORMALS, UNIFORMS, SCOUTS, MOVES, SEARCH, ROUNDS = range(9)
SEQUENCE = ("entropy", "spawn_key", "pool_size")  # what makes a SeedSequence
ENTROPY_WORDS = 4  # 128 bits, what SeedSequence pools


def recorded_seed(seed: Any) -> Any:
    """A seed that repeats the run when it is given again: a number, a SeedSequence, or a list of them."""
    if isinstance(seed, list | tuple):
        return [recorded_seed(one) for one in seed]
    sequence = seed_sequence(seed)
    return sequence if sequence.spawn_key or not isinstance(sequence.entropy, int) else sequence.entropy


def seed_to_plain(seed: Any) -> Any:
    """A recorded seed as values that JSON knows."""
    if isinstance(seed, list):
        return [seed_to_plain(one) for one in seed]
    if isinstance(seed, np.random.SeedSequence):
        return {
            "entropy": _words(seed.entropy),
            "spawn_key": _words(seed.spawn_key),
            "pool_size": int(seed.pool_size),
        }
    return seed


def seed_from_plain(plain: Any, name: str = "seed") -> Any:
    """The recorded seed that `seed_to_plain` described."""
    if isinstance(plain, list):
        return [seed_from_plain(one, f"{name}[{place}]") for place, one in enumerate(plain)]
    if not isinstance(plain, dict):
        return exactly(int, plain, name)
    given = record(name, plain, SEQUENCE)
    try:
        return np.random.SeedSequence(**{key: _words(value) for key, value in given.items()})
    except (TypeError, ValueError) as error:  # None, too, which would be another seed each time
        raise InvalidInputError(f"{name} must be a SeedSequence, got {plain}: {error}") from error


def _words(numbers: Any) -> Any:
    """Whole numbers, also in nested lists: all that NumPy can make 32-bit words of."""
    if isinstance(numbers, int | np.integer | str):
        return numbers if isinstance(numbers, str) else int(numbers)
    return [_words(one) for one in numbers]


def chain_seeds(seed: Any, chains: int) -> list[np.random.SeedSequence]:
    """One seed sequence for each chain, the same whatever the number of workers."""
    if isinstance(seed, list | tuple):
        if len(seed) != chains:
            raise InvalidInputError(
                f"seed must hold one seed for each chain: {chains} chains, {len(seed)} seeds"
            )
        return [seed_sequence(one) for one in seed]
    return seed_sequence(seed).spawn(chains)


def seed_sequence(seed: Any) -> np.random.SeedSequence:
    """A fresh seed sequence from a whole number, None, a SeedSequence or a Generator."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
    if isinstance(seed, np.random.Generator):
        words = seed.integers(0, 2**32, size=ENTROPY_WORDS, dtype=np.uint32)
        return np.random.SeedSequence(int.from_bytes(words.tobytes(), "little"))
    if seed is None:
        return np.random.SeedSequence()
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise InvalidTypeError(
            "seed must be a whole number, None, a numpy SeedSequence or Generator, or a list with one "
            f"seed for each chain; got {type(seed).__name__}: {seed!r}"
        )
    if seed < 0:
        raise InvalidInputError(f"seed must not be negative, got {seed}")
    return np.random.SeedSequence(int(seed))


def keyed(seed: np.random.SeedSequence, purpose: int, number: int = 0) -> np.random.SeedSequence:
    """The seed of one stream of a chain: of a level by its number at birth, of a scout by its own."""
    key = (*seed.spawn_key, purpose, number)
    return np.random.SeedSequence(seed.entropy, spawn_key=key, pool_size=seed.pool_size)


def stream(seed: np.random.SeedSequence, purpose: int, number: int = 0) -> WordArray:
    """The same as the state of a generator."""
    state: WordArray = np.random.SFC64(keyed(seed, purpose, number)).state["state"]["state"]
    return state
