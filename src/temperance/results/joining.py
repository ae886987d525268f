"""Several runs of one target as one."""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.errors import IncompleteWarning, InvalidInputError, InvalidTypeError
from temperance.results.drawn import largest_block
from temperance.runs.seeds import chain_seeds
from temperance.text import counted

if TYPE_CHECKING:
    from temperance.results.result import Result

CALLER = 4  # frames from a warning to the user's line
OPEN = "left open, and longer in one"  # how long the tuning was to be
OF_THE_FIRST = ("versions", "n_preflight", "n_starts", "preflight")  # which may differ


def joined_results(results: Sequence["Result"]) -> "Result":
    """All chains of runs that were set up alike, from seeds of which no two are the same."""
    first = results[0]
    for number, other in enumerate(results[1:], start=2):
        mine, others = _facts(first, other), _facts(other, first)
        for name, wanted in mine.items():
            if others[name] != wanted:
                raise InvalidInputError(
                    f"results must be set up alike: {name} is {wanted} in the first and {others[name]} in "
                    f"number {number}"
                )
    seeds = _seeds(results)
    _warn_of_what_is_left_out(results)
    return replace(
        first,
        chains=tuple(chain for result in results for chain in result.chains),
        n_tune=min(result.n_tune for result in results),
        setup=replace(
            first.setup,
            draws=min(result.setup.draws for result in results),
            n_preflight=max(result.setup.n_preflight for result in results),
            n_starts=max(result.setup.n_starts for result in results),
        ),
        seed=seeds,
        complete=all(result.complete for result in results),
        ended_by=next((result.ended_by for result in results if result.ended_by), ""),
        folder="",
    )


def checked_results(results: Any, kind: type) -> Sequence["Result"]:
    """Results in a list, one at least."""
    if not isinstance(results, list | tuple) or not all(isinstance(one, kind) for one in results):
        raise InvalidTypeError(f"results must be a list of results, got {results!r}")
    if not results:
        raise InvalidInputError("results must hold at least one result, got none")
    return results


def _facts(result: "Result", other: "Result") -> dict[str, Any]:
    """What must be the same in all runs; how many draws there are may differ, and a tuning left open."""
    free = {*OF_THE_FIRST, "draws"}
    setup = {name: value for name, value in asdict(result.setup).items() if name not in free}
    shapes = None if result.value_names is None else dict(result.value_names.shapes)
    lengthened = any(chain.lengthened for one in (result, other) for chain in one.chains)
    return {
        "the dimension": result.dim,
        "the number of levels": result.n_levels_at_start,
        "tune": OPEN if lengthened else result.n_tune,
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


def _warn_of_what_is_left_out(results: Sequence["Result"]) -> None:
    """``draws`` is rectangular, so that it cannot hold all of runs of different lengths."""
    lengths = [chain.n_draws for result in results for chain in result.chains]
    n_chains, n_common = largest_block(lengths)
    if n_chains * n_common == sum(lengths):
        return
    short = [
        f"number {number} ({min(n_draws)} draws)"
        for number, result in enumerate(results, start=1)
        if min(n_draws := [chain.n_draws for chain in result.chains]) < n_common
    ]
    left_out = f"; chains with fewer are left out, of results {', '.join(short)}" if short else ""
    warnings.warn(
        f"draws holds {n_chains * n_common:,} of {counted(sum(lengths), 'draw')}, as it is rectangular: "
        f"{counted(n_chains, 'chain')} of {len(lengths)}, cut to {n_common:,} each{left_out}",
        IncompleteWarning,
        stacklevel=CALLER,
    )
