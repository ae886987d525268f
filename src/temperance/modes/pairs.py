"""What pairs of corresponding points teach: where the centres of modes are beside each other.

Each leap that was tried is a point z of one mode and the same of another, with both log densities known. Were
the modes alike, the difference would be linear in z, and its slope the error of one centre beside the
other's, whatever their shape is. In d dimensions some d pairs tell it, accepted or not, however far off
it is.
"""

from dataclasses import dataclass

import numpy as np

from temperance.core.state import JUMP_DOF, FloatArray, IntArray, Maps
from temperance.modes.maps import squares_in
from temperance.modes.policy import LEAPING
from temperance.modes.quadratics import ridge
from temperance.modes.student import exponent

SAME_PLACE = 1e-6  # of the dimension: two points correspond when they are as near in their widths, squared


@dataclass(frozen=True)
class Pairs:
    """Points of two modes with one place z in their widths, and how the log density changes between them."""

    place: FloatArray  # (pair, dim)
    origin: IntArray  # (pair,)
    goal: IntArray  # (pair,)
    rise: FloatArray  # (pair,) of the log density, from the one to the other


@dataclass(frozen=True)
class Correction:
    """What is wrong with the maps: where centres are, and how much too narrow modes are."""

    shift: FloatArray  # (mode, dim) in the widths of the mode
    precision: FloatArray  # (mode,) beside what was thought, less one
    left: float  # sd of what is left unexplained of log ratios
    before: float  # the same for maps as they are, but for the heights of modes


def pairs_of(maps: Maps, kind: int, points: FloatArray, proposals: FloatArray, rise: FloatArray) -> Pairs:
    """The leaps between these points that were made with these maps."""
    origin, goal = _belongs(maps, kind, points), _belongs(maps, kind, proposals)
    place = _whitened(maps, kind, points, origin)
    apart = ((place - _whitened(maps, kind, proposals, goal)) ** 2).sum(axis=1)
    made = (apart < SAME_PLACE * points.shape[1]) & (origin != goal) & np.isfinite(rise)
    last = np.flatnonzero(made)[-LEAPING.max_pairs :]
    return Pairs(place[last], origin[last], goal[last], rise[last])


def corrected(pairs: Pairs, n_modes: int) -> Correction | None:
    """What the pairs say, or nothing where they are too few or modes too many."""
    dim = pairs.place.shape[1]
    n_unknown = n_modes * (dim + 2)
    few = len(pairs.rise) < LEAPING.pairs_per_coefficient * n_unknown
    if few or n_unknown > LEAPING.max_coefficients:
        return None
    design = _design(pairs, n_modes)
    square = (pairs.place**2).sum(axis=1)
    weight = 1.0 / (1.0 + np.maximum(square - dim, 0.0) / dim)
    coefficient, residual = np.zeros(design.shape[1]), pairs.rise
    robust = weight
    for _ in range(LEAPING.n_robust):
        coefficient = ridge(design, pairs.rise, robust)
        residual = pairs.rise - design @ coefficient
        usual = float(np.median(np.abs(residual))) + np.finfo(np.float64).eps
        robust = weight / (1.0 + (residual / (LEAPING.outlier * usual)) ** 2)
    left = float(np.sqrt(robust @ residual**2 / robust.sum()))
    blocks = coefficient[1:]
    shift = blocks[2 * n_modes :].reshape(n_modes, dim)
    precision = np.clip(blocks[n_modes : 2 * n_modes], *LEAPING.bounds)
    alike = pairs.rise - design[:, : 1 + n_modes] @ ridge(design[:, : 1 + n_modes], pairs.rise, robust)
    before = float(np.sqrt(robust @ alike**2 / robust.sum()))
    return Correction(shift, precision, left, before)


def explains(correction: Correction) -> bool:
    """Whether pairs know better than states where centres are."""
    return correction.left < max(LEAPING.explained, LEAPING.explained_share * correction.before)


def _design(pairs: Pairs, n_modes: int) -> FloatArray:
    """One; the height of each mode; its precision; and its shift: with their signs at goal and origin."""
    n, dim = pairs.place.shape
    side = np.zeros((n, n_modes))
    side[np.arange(n), pairs.goal] = 1.0
    side[np.arange(n), pairs.origin] = -1.0
    square = (pairs.place**2).sum(axis=1, keepdims=True)
    shifts = (side[:, :, None] * pairs.place[:, None, :]).reshape(n, n_modes * dim)
    parts = [np.ones((n, 1)), LEAPING.constant_sd * side, -0.5 * side * (square - dim), shifts]
    return np.concatenate(parts, axis=1)


def _belongs(maps: Maps, kind: int, points: FloatArray) -> IntArray:
    """The mode with the highest claim on each point."""
    fall = exponent(points.shape[1]) * np.log1p(squares_in(maps, kind, points) / JUMP_DOF)
    mode: IntArray = np.argmax(maps.log_weight - maps.log_volume[kind] - fall, axis=1)
    return mode


def _whitened(maps: Maps, kind: int, points: FloatArray, mode: IntArray) -> FloatArray:
    """Where points lie in their modes."""
    place = np.empty_like(points)
    for k in np.unique(mode):
        rows = mode == k
        place[rows] = (points[rows] - maps.centre[k]) @ maps.whitener[kind, k].T
    return place
