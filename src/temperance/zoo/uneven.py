"""Two modes that are far from alike: one is narrow, or one is rare."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from temperance.checks import number_between, whole_number
from temperance.zoo.gaussians import normal_start, two_modes
from temperance.zoo.mixtures import normal_modes
from temperance.zoo.problem import Problem

WIDE_DISTANCE = 10.0  # between the centres, in sds of the wide mode: neither mode reaches into the other
RARE_DISTANCE = 20.0  # so far apart that a plain walk never crosses
MOST_UNEVEN = 1e9  # beyond it the rounding of places and weights begins to show


def unequal_widths(dim: int = 2, *, ratio: float = 100.0) -> Problem:
    """Two normals of equal weight, one of sd 1, the other of sd 1 / ``ratio``, ten wide sds apart.

    Half of the mass lies where hardly any of the volume is: in the narrow mode the density is higher by
    ``ratio`` to the power ``dim``. Tempered, the narrow mode loses nearly all of its mass to the wide one,
    and a scale or covariance learnt from both fits neither. After Woodard, Schmidler &
    Huber (2009, Electron. J. Probab. 14, 780-804). The density is written without (2π)^(-dim/2). All is
    exact; the first mode is the wide one.
    """
    dim = whole_number("dim", dim, least=1)
    ratio = number_between("ratio", ratio, 1.0, MOST_UNEVEN, closed="both")
    place = 0.5 * WIDE_DISTANCE / math.sqrt(dim)
    return normal_modes(
        f"unequal widths, {dim}-d",
        centres=np.array([np.full(dim, -place), np.full(dim, place)]),
        sds=np.array([1.0, 1.0 / ratio]),
        weights=np.array([0.5, 0.5]),
        start=partial(normal_start, np.zeros(dim), max(place, 1.0)),
    )


def rare_mode(dim: int = 2, *, rarity: float = 1000.0) -> Problem:
    """Two normals of sd 1, twenty sds apart, with weights 1 : ``rarity``.

    These are `two_modes` with a light left one. A run that never sees the light mode looks perfect, and one
    that starts there must leave it, not settle; half of the starts are nearer to it. All is exact; the
    first mode is the rare one.
    """
    dim = whole_number("dim", dim, least=1)
    rarity = number_between("rarity", rarity, 1.0, MOST_UNEVEN, closed="both")
    place = 0.5 * RARE_DISTANCE / math.sqrt(dim)
    pair = two_modes(dim, separation=place, sd=1.0, right_weight=rarity / (1.0 + rarity))
    return replace(pair, name=f"rare mode, {dim}-d")
