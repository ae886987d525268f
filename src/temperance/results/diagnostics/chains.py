"""Draws of one quantity, (chain, draw): checked, split, and turned into normal scores."""

import functools
from statistics import NormalDist
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError

MIN_DRAWS = 4  # below this a split chain says nothing


def as_chains(draws: Any) -> FloatArray:
    """An array (chain, draw) of floats; a single row counts as one chain."""
    array: FloatArray = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    if array.ndim != 2:
        raise InvalidInputError(f"draws must be (chain, draw), of one quantity; got shape {array.shape}")
    return array


def say_something(draws: FloatArray) -> bool:
    """Whether there are enough draws, all finite, and not all the same."""
    return bool(draws.shape[1] >= MIN_DRAWS and np.all(np.isfinite(draws)) and np.ptp(draws) > 0.0)


def split(draws: FloatArray) -> FloatArray:
    """Each chain as two: its first and its last half."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def normal_scores(draws: FloatArray) -> FloatArray:
    """Normal quantiles of average ranks, as Blom has them."""
    flat = draws.ravel()
    order = np.argsort(flat)
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(flat))
    scores = np.empty(len(flat))
    scores[order] = np.repeat(_scores_of_ranks(len(flat))[starts + ends + 1], ends - starts)
    return scores.reshape(draws.shape)


@functools.lru_cache(maxsize=4)
def _scores_of_ranks(size: int) -> FloatArray:
    """The score of rank k/2 at place k; kept, since every parameter of a run needs the same."""
    quantile = NormalDist().inv_cdf
    lower = (quantile((twice / 2.0 - 0.375) / (size + 0.25)) for twice in range(2, size + 1))
    scores = np.full(2 * size + 1, np.nan)
    scores[2 : size + 1] = np.fromiter(lower, dtype=np.float64, count=size - 1)
    scores[size + 1] = 0.0
    scores[size + 2 :] = -scores[size:1:-1]
    return scores
