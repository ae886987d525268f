"""The priors of a model as a table of numbers, and the compiled function that reads it.

A row of whole numbers is a block: which kind, law, map and cut, where its coordinates, its values and its
constants begin, and how many values it has. Constants are one long row.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.state import FloatArray, IntArray
from temperance.priors.kernels.laws import HALF_LOG_TWO_PI, HALF_NORMAL, LOGISTIC, NORMAL, log_law
from temperance.priors.kernels.maps import AFFINE, AS_IT_IS, EXP, LOGIT, cut, mapped, power_of

CODES = 1  # to be raised when a number of a kind, law, map or cut gets another meaning: tables are stored
SCALARS, ORDERED, SIMPLEX, ANGLES, JOINT_NORMAL = range(5)
PER_SCALAR = 8  # constants: three of the law, two of the map, two of the cut, one to add
Codes = tuple[int, int, int]  # law, map, cut
Rows = tuple[FloatArray, FloatArray, FloatArray]  # points, values, log prior: of each point a row
BLOCK_FIELDS = ("kind", "law", "map", "cut", "first_coordinate", "first_value", "first_constant", "size")
KIND, LAW, MAP, CUT, COORDINATE, VALUE, CONSTANT, SIZE = range(len(BLOCK_FIELDS))

_ROWS = types.float64[:, ::1]
PASS_SIGNATURE = types.void(
    types.int64[:, ::1], types.float64[::1], _ROWS, types.intp, _ROWS, types.float64[::1]
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Consecutive coordinates with one kind of law, and the values that they make."""

    kind: int
    size: int  # values
    n_coordinates: int
    constants: FloatArray = field(repr=False)
    law: int = 0
    map: int = AFFINE
    cut: int = AS_IT_IS


class Table(NamedTuple):
    """Blocks as arrays."""

    blocks: IntArray  # (block, field)
    constants: FloatArray


def table_of(blocks: Sequence[Block]) -> Table:
    """One after the other."""
    rows, coordinate, value, constant = [], 0, 0, 0
    for block in blocks:
        rows.append([block.kind, block.law, block.map, block.cut, coordinate, value, constant, block.size])
        coordinate += block.n_coordinates
        value += block.size
        constant += len(block.constants)
    constants = np.concatenate([block.constants for block in blocks])
    return Table(np.array(rows, dtype=np.int64), np.ascontiguousarray(constants, dtype=np.float64))


@compiled
def scalar(codes: Codes, constants: FloatArray, at: int, t: float) -> tuple[float, float]:
    """The value of one coordinate, whose constants begin at ``at``, and its log prior."""
    law, code, cutting = codes
    total = constants[at + 7]
    if cutting != AS_IT_IS:
        t, log_slope = cut(cutting, t, constants[at + 5], constants[at + 6])
        total += log_slope
    power = power_of(code, t)
    value = mapped(code, t, power, constants[at + 3], constants[at + 4])
    return value, total + log_law(law, t, power, constants, at)


@compiled
def alike(codes: Codes, block: IntArray, constants: FloatArray, n_points: int, rows: Rows) -> None:
    """Coordinates of one law and map. Where these are known when it is compiled, nothing else is left."""
    points, values, log_prior = rows
    at, start, first = block[CONSTANT], block[COORDINATE], block[VALUE]
    for i in range(block[SIZE]):
        for k in range(n_points):
            value, one = scalar(codes, constants, at, points[k, start + i])
            values[k, first + i] = value
            log_prior[k] += one
        at += PER_SCALAR


@compiled
def scalars(block: IntArray, constants: FloatArray, n_points: int, rows: Rows) -> None:
    """Coordinates that know nothing of each other; the usual kinds have code of their own."""
    law, code, cutting = block[LAW], block[MAP], block[CUT]
    if cutting != AS_IT_IS:
        alike((law, code, cutting), block, constants, n_points, rows)
    elif law == NORMAL and code == AFFINE:
        alike((NORMAL, AFFINE, AS_IT_IS), block, constants, n_points, rows)
    elif law == LOGISTIC and code == LOGIT:
        alike((LOGISTIC, LOGIT, AS_IT_IS), block, constants, n_points, rows)
    elif law == HALF_NORMAL:
        alike((HALF_NORMAL, EXP, AS_IT_IS), block, constants, n_points, rows)
    else:
        alike((law, code, AS_IT_IS), block, constants, n_points, rows)


@compiled
def ordered(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> float:
    """Rising values of one law: the first coordinate, then the logarithms of the steps."""
    codes = block[LAW], block[MAP], block[CUT]
    at, start, first = block[CONSTANT], block[COORDINATE], block[VALUE]
    t, total = point[start], math.lgamma(block[SIZE] + 1.0)
    for i in range(block[SIZE]):
        if i > 0:
            t += math.exp(point[start + i])
            total += point[start + i]
        value[first + i], one = scalar(codes, constants, at, t)
        total += one
    return total


@compiled
def simplex(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> float:
    """Dirichlet's law; the constants are its powers, their sum, and a number to add.

    The coordinates are those of the log shares along an orthonormal basis of the vectors that sum to zero, so
    that exchanging two shares turns the coordinates and stretches nothing.
    """
    at, start, first, size = block[CONSTANT], block[COORDINATE], block[VALUE], block[SIZE]
    highest, total, weighted, rest = -math.inf, 0.0, 0.0, 0.0
    for i in range(size - 1, -1, -1):
        step = point[start + i - 1] / math.sqrt(i * (i + 1.0)) if i > 0 else 0.0
        value[first + i] = rest - i * step
        rest += step
        weighted += constants[at + i] * value[first + i]
        highest = max(highest, value[first + i])
    for i in range(size):
        value[first + i] = math.exp(value[first + i] - highest)
        total += value[first + i]
    for i in range(size):
        value[first + i] /= total
    whole: float = weighted - constants[at + size] * (highest + math.log(total)) + constants[at + size + 1]
    return whole


@compiled
def angles(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> float:
    """Points of the plane in all directions alike: from the first bound on, up to a whole turn.

    The constants are a power, a rate and a number to add; the first bound, and how long a turn is.
    """
    at, total, turn = block[CONSTANT], 0.0, 2.0 * math.pi
    for i in range(block[SIZE]):
        x, y = point[block[COORDINATE] + 2 * i], point[block[COORDINATE] + 2 * i + 1]
        share = math.atan2(y, x) / turn
        share = share + 1.0 if share < 0.0 else share
        share = 0.0 if share >= 1.0 else share
        value[block[VALUE] + i] = constants[at + 3] + constants[at + 4] * share
        square = x * x + y * y
        if square == 0.0:
            total = -math.inf
        else:
            total += constants[at] * math.log(square) - constants[at + 1] * square + constants[at + 2]
    return total


@compiled
def joint_normal(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> float:
    """Mean plus factor times coordinates; the constants are the mean and the rows of the factor."""
    at, start, size = block[CONSTANT], block[COORDINATE], block[SIZE]
    total = 0.0
    for i in range(size):
        made, row = constants[at + i], at + size + i * size
        for k in range(i + 1):
            made += constants[row + k] * point[start + k]
        value[block[VALUE] + i] = made
        total -= 0.5 * point[start + i] ** 2 + HALF_LOG_TWO_PI
    return total


@compiled
def hanging_together(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> float:
    """The values of one block and one point, in place, and their log prior."""
    if block[KIND] == ANGLES:
        return angles(block, constants, point, value)
    if block[KIND] == SIMPLEX:
        return simplex(block, constants, point, value)
    if block[KIND] == ORDERED:
        return ordered(block, constants, point, value)
    return joint_normal(block, constants, point, value)


@functools.cache
def compiled_pass() -> Callable[[IntArray, FloatArray, FloatArray, int, FloatArray, FloatArray], None]:
    """Values and log prior of points by a table, in place.

    One pass gives both, since they take the same exponentials, and for all points, since what to do is looked
    up once for each block.
    """
    digest = kernel_digest()

    @compiled_for(PASS_SIGNATURE)
    def values_and_log_prior(
        blocks: IntArray,
        constants: FloatArray,
        points: FloatArray,
        n_points: int,
        values: FloatArray,
        log_prior: FloatArray,
    ) -> None:
        digest  # noqa: B018  part of the cache key
        for k in range(n_points):
            log_prior[k] = 0.0
        for b in range(blocks.shape[0]):
            if blocks[b, KIND] == SCALARS:
                scalars(blocks[b], constants, n_points, (points, values, log_prior))
            else:
                for k in range(n_points):
                    log_prior[k] += hanging_together(blocks[b], constants, points[k], values[k])

    return values_and_log_prior


def by_rows(table: Table, rows: FloatArray, n_values: int) -> tuple[FloatArray, FloatArray]:
    """The values of many points, (n, value), and their log prior."""
    n = len(rows)
    values, log_prior = np.empty((n, n_values)), np.empty(n)
    compiled_pass()(*table, np.ascontiguousarray(rows), n, values, log_prior)
    return values, log_prior
