"""Modes: which one each draw belongs to, given their centres or found by looking for gaps."""

from typing import Any

import numpy as np

from temperance.core.state import IntArray
from temperance.errors import InvalidInputError
from temperance.modes.gaps import nearest_centre, separate_groups


def nearest_mode(draws: Any, modes: Any) -> IntArray:
    """Index of the nearest of the ``modes`` (mode, dim) for each of the ``draws`` (..., dim)."""
    points = np.asarray(draws, dtype=np.float64)
    centres = np.atleast_2d(np.asarray(modes, dtype=np.float64))
    if centres.ndim != 2 or len(centres) == 0 or centres.shape[1] != points.shape[-1]:
        raise InvalidInputError(
            f"modes must have shape (mode, {points.shape[-1]}) with a row at least, got {centres.shape}"
        )
    return nearest_centre(points.reshape(-1, points.shape[-1]), centres).reshape(points.shape[:-1])


def find_modes(draws: Any) -> IntArray:
    """The mode of each draw of ``(chain, draw, dim)``, numbered from the heaviest on.

    Groups of draws count as modes when the gap between them is wide against the spacing within them. Modes
    that touch count as one. No draw is left out.
    """
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 3:
        raise InvalidInputError(f"draws must be (chain, draw, dim), got shape {chains.shape}")
    return separate_groups(chains)
