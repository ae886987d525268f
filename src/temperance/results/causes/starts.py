"""Other starts, made of what a run has seen: points for each chain and level, as `sample` takes them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def highest_draws(result: "Result") -> dict[str, Any]:
    """Of each chain the draw with the highest log density."""
    return _as_change(result, [_highest(chain) for chain in result.chains])


def last_draws(result: "Result") -> dict[str, Any]:
    """Of each chain the last draw."""
    return _as_change(result, [_last(chain) for chain in result.chains])


def at_the_peak(result: "Result", number: int, row: int) -> dict[str, Any]:
    """Every other chain where one chain was while tuning, the others where they ended."""
    peak = result.chains[number].tuning.draws[row]
    return _as_change(result, [_last(chain) if k % 2 else peak for k, chain in enumerate(result.chains)])


def _highest(chain: ChainRecord) -> FloatArray:
    values = chain.sampling.log_density[:, 0] + chain.sampling.log_prior
    point: FloatArray = chain.sampling.draws[int(np.argmax(values))]
    return point


def _last(chain: ChainRecord) -> FloatArray:
    point: FloatArray = chain.sampling.draws[-1] if chain.n_draws else chain.tuning.draws[-1]
    return point


def _as_change(result: "Result", points: list[FloatArray]) -> dict[str, Any]:
    """Nothing where a model takes starts in its own terms."""
    if result.value_names is not None:
        return {}
    return {"initial": np.repeat(np.array(points)[:, None], result.n_levels_at_start, axis=1)}
