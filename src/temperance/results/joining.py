"""Several runs of one target as one."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.runs.seeds import chain_seeds

if TYPE_CHECKING:
    from temperance.results.result import Result

OF_THE_FIRST = ("versions", "preflight")  # which may differ


def joined_results(results: Sequence["Result"]) -> "Result":
    """All chains of runs that were set up alike, from seeds of which no two are the same."""
    first = results[0]
    for number, other in enumerate(results[1:], start=2):
        for name, wanted in _facts(first).items():
            if _facts(other)[name] != wanted:
                raise InvalidInputError(
                    f"results must be set up alike: {name} is {wanted} in the first and "
                    f"{_facts(other)[name]} in number {number}"
                )
    return replace(
        first,
        chains=tuple(chain for result in results for chain in result.chains),
        seed=_seeds(results),
        complete=all(result.complete for result in results),
        ended_by=next((result.ended_by for result in results if result.ended_by), ""),
    )


def checked_results(results: Any, kind: type) -> Sequence["Result"]:
    """Results in a list, one at least."""
    if not isinstance(results, list | tuple) or not all(isinstance(one, kind) for one in results):
        raise InvalidTypeError(f"results must be a list of results, got {results!r}")
    if not results:
        raise InvalidInputError("results must hold at least one result, got none")
    return results


def _facts(result: "Result") -> dict[str, Any]:
    """What must be the same in all runs."""
    setup = {name: value for name, value in asdict(result.setup).items() if name not in OF_THE_FIRST}
    shapes = None if result.value_names is None else dict(result.value_names.shapes)
    return {
        "the dimension": result.dim,
        "the number of levels": result.n_levels_at_start,
        "tune": result.n_tune,
        "thin": result.chains[0].thin,
        "the swap strategy": result.swap_strategy,
        "the parameters": shapes,
        **setup.pop("settings"),
        **setup,
    }


def _seeds(results: Sequence["Result"]) -> list[np.random.SeedSequence]:
    """The seeds of all chains: those with which one run would have made the same draws."""
    seeds = [seed for result in results for seed in chain_seeds(result.seed, len(result.chains))]
    keys = [(str(seed.entropy), tuple(seed.spawn_key)) for seed in seeds]
    if len(set(keys)) < len(keys):
        raise InvalidInputError("results must be of different seeds: two of them hold the same chain")
    return seeds
