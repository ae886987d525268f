"""How much of each chain lies in each mode, and whether the chains agree."""

from typing import Any

import numpy as np

from temperance.core.state import FloatArray, IntArray
from temperance.errors import InvalidInputError


def occupancy(labels: Any, n_modes: int | None = None) -> FloatArray:
    """Share of each chain in each mode, (chain, mode), from the mode of each draw (chain, draw)."""
    modes: IntArray = np.atleast_2d(np.asarray(labels, dtype=np.int64))
    if modes.ndim != 2 or modes.shape[1] == 0:
        raise InvalidInputError(
            f"labels must be (chain, draw) with at least one draw, got shape {modes.shape}"
        )
    width = int(modes.max()) + 1 if n_modes is None else n_modes
    return np.array([np.bincount(chain, minlength=width) / modes.shape[1] for chain in modes])


def disagreement(shares: Any) -> float:
    """The largest distance in total variation between the occupancy (chain, mode) of two chains.

    Zero when all chains give every mode the same weight, one when two chains have no mode in common.
    """
    rows = np.atleast_2d(np.asarray(shares, dtype=np.float64))
    return max(float(np.abs(rows - row).sum(axis=1).max()) / 2.0 for row in rows)
