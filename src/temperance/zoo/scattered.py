"""Many narrow modes at scattered places."""

import functools
from functools import partial

import numpy as np
import numpy.typing as npt

from temperance.checks import whole_number
from temperance.zoo.mixtures import normal_modes
from temperance.zoo.problem import Problem

FloatArray = npt.NDArray[np.float64]

SIDE = 10.0  # the modes lie in the cube [0, 10]^dim
SEED = 300  # of the places; another one would be another problem
GAP_IN_PITCHES = 0.5  # a place then bars less than its share of the cube: there is always room for the next
GAP_IN_SDS = 10.0


def many_modes(n_modes: int = 300, dim: int = 3) -> Problem:
    """Equal narrow normals at fixed places in the cube [0, 10]^dim.

    More modes than can be listed by a few chains: whoever learns the modes one by one must find them all, and
    whoever forgets those that it cannot store is wrong. The places are uniform draws of
    ``default_rng(300)``, skipping any that is nearer to an earlier one than half the pitch of a
    lattice of as many places; a tenth of that gap is the sd. The same arguments always give the same
    places. The density is written without (2π)^(-dim/2). All is exact.
    """
    n_modes = whole_number("n_modes", n_modes, least=2)
    dim = whole_number("dim", dim, least=1)
    gap = GAP_IN_PITCHES * SIDE / n_modes ** (1.0 / dim)
    return normal_modes(
        f"many modes, {n_modes} in {dim}-d",
        centres=_places(n_modes, dim, gap),
        sds=np.full(n_modes, gap / GAP_IN_SDS),
        weights=np.full(n_modes, 1.0 / n_modes),
        start=partial(_start, dim),
    )


@functools.lru_cache
def _places(n_modes: int, dim: int, gap: float) -> FloatArray:
    """Darts thrown at the cube, of which those too near to an earlier one do not count."""
    generator = np.random.default_rng(SEED)
    places, found = np.empty((n_modes, dim)), 0
    while found < n_modes:
        place = generator.uniform(0.0, SIDE, size=dim)
        if np.all(((places[:found] - place) ** 2).sum(axis=1) >= gap**2):
            places[found] = place
            found += 1
    places.setflags(write=False)
    return places


def _start(dim: int, generator: np.random.Generator) -> FloatArray:
    """A uniform point of the cube."""
    return generator.uniform(0.0, SIDE, size=dim)
