"""The priors of a model as a table of numbers, and the two compiled functions that read it.

A row of whole numbers is a block: which kind, law, map and cut, where its coordinates, its values and its
constants begin, and how many values it has. Constants are one long row.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.state import FloatArray, IntArray
from temperance.priors.kernels.laws import HALF_LOG_TWO_PI, log_law
from temperance.priors.kernels.maps import AFFINE, AS_IT_IS, cut, cut_log_slope, mapped

SCALARS, ORDERED, SIMPLEX, ANGLES, JOINT_NORMAL = range(5)
PER_SCALAR = 8  # constants: three of the law, two of the map, two of the cut, one to add
BLOCK_FIELDS = ("kind", "law", "map", "cut", "first_coordinate", "first_value", "first_constant", "size")
KIND, LAW, MAP, CUT, COORDINATE, VALUE, CONSTANT, SIZE = range(len(BLOCK_FIELDS))

_PARTS = (types.int64[:, ::1], types.float64[::1], types.float64[::1])
LOG_PRIOR_SIGNATURE = types.float64(*_PARTS)
VALUES_SIGNATURE = types.void(*_PARTS, types.float64[::1])


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
def scalar_log_prior(law: int, cutting: int, t: float, constants: FloatArray, at: int) -> float:
    """The log density of one coordinate whose constants begin at ``at``; only those in use are looked at."""
    if cutting == AS_IT_IS:
        plain: float = log_law(law, t, constants, at) + constants[at + 7]
        return plain
    low, high = constants[at + 5], constants[at + 6]
    inner = log_law(law, cut(cutting, t, low, high), constants, at)
    whole: float = inner + cut_log_slope(cutting, t, low, high) + constants[at + 7]
    return whole


@compiled
def scalar_value(code: int, cutting: int, t: float, constants: FloatArray, at: int) -> float:
    """The value of one coordinate."""
    if cutting != AS_IT_IS:
        t = cut(cutting, t, constants[at + 5], constants[at + 6])
    return mapped(code, t, constants[at + 3], constants[at + 4])


@compiled
def scalars_log_prior(block: IntArray, constants: FloatArray, point: FloatArray) -> float:
    """The sum over coordinates that know nothing of each other."""
    total, at, start, law, cutting = 0.0, block[CONSTANT], block[COORDINATE], block[LAW], block[CUT]
    for i in range(block[SIZE]):
        total += scalar_log_prior(law, cutting, point[start + i], constants, at)
        at += PER_SCALAR
    return total


@compiled
def scalars_values(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
    """The values of such coordinates, in place."""
    at, start, first, code, cutting = block[CONSTANT], block[COORDINATE], block[VALUE], block[MAP], block[CUT]
    for i in range(block[SIZE]):
        value[first + i] = scalar_value(code, cutting, point[start + i], constants, at)
        at += PER_SCALAR


@compiled
def ordered_log_prior(block: IntArray, constants: FloatArray, point: FloatArray) -> float:
    """Rising values of one law: the first coordinate, then the logarithms of the steps."""
    at, start = block[CONSTANT], block[COORDINATE]
    t = point[start]
    total = scalar_log_prior(block[LAW], block[CUT], t, constants, at) + math.lgamma(block[SIZE] + 1.0)
    for i in range(1, block[SIZE]):
        t += math.exp(point[start + i])
        total += scalar_log_prior(block[LAW], block[CUT], t, constants, at) + point[start + i]
    return total


@compiled
def ordered_values(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
    """The values, in place."""
    at, start = block[CONSTANT], block[COORDINATE]
    t = point[start]
    value[block[VALUE]] = scalar_value(block[MAP], block[CUT], t, constants, at)
    for i in range(1, block[SIZE]):
        t += math.exp(point[start + i])
        value[block[VALUE] + i] = scalar_value(block[MAP], block[CUT], t, constants, at)


@compiled
def simplex_log_prior(block: IntArray, constants: FloatArray, point: FloatArray) -> float:
    """Dirichlet's law; the constants are its powers, their sum, and a number to add.

    The coordinates are those of the log shares along an orthonormal basis of the vectors that sum to zero, so
    that exchanging two shares turns the coordinates and stretches nothing.
    """
    at, start, size = block[CONSTANT], block[COORDINATE], block[SIZE]
    highest, total, weighted, rest = -math.inf, 0.0, 0.0, 0.0
    for i in range(size - 1, -1, -1):
        step = point[start + i - 1] / math.sqrt(i * (i + 1.0)) if i > 0 else 0.0
        share = rest - i * step
        rest += step
        weighted += constants[at + i] * share
        if share > highest:
            total, highest = total * math.exp(highest - share) + 1.0, share
        else:
            total += math.exp(share - highest)
    whole: float = weighted - constants[at + size] * (highest + math.log(total)) + constants[at + size + 1]
    return whole


@compiled
def simplex_values(block: IntArray, point: FloatArray, value: FloatArray) -> None:
    """The shares, in place."""
    start, first, size = block[COORDINATE], block[VALUE], block[SIZE]
    highest, total, rest = -math.inf, 0.0, 0.0
    for i in range(size - 1, -1, -1):
        step = point[start + i - 1] / math.sqrt(i * (i + 1.0)) if i > 0 else 0.0
        value[first + i] = rest - i * step
        rest += step
        highest = max(highest, value[first + i])
    for i in range(size):
        value[first + i] = math.exp(value[first + i] - highest)
        total += value[first + i]
    for i in range(size):
        value[first + i] /= total


@compiled
def angles_log_prior(block: IntArray, constants: FloatArray, point: FloatArray) -> float:
    """Points of the plane in all directions alike; the constants are a power, a rate and a number to add."""
    at, total = block[CONSTANT], 0.0
    for i in range(block[SIZE]):
        x, y = point[block[COORDINATE] + 2 * i], point[block[COORDINATE] + 2 * i + 1]
        square = x * x + y * y
        if square == 0.0:
            return -math.inf
        total += constants[at] * math.log(square) - constants[at + 1] * square + constants[at + 2]
    return total


@compiled
def angles_values(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
    """The directions, in place: from the first bound on, up to a whole turn."""
    at, turn = block[CONSTANT], 2.0 * math.pi
    for i in range(block[SIZE]):
        x, y = point[block[COORDINATE] + 2 * i], point[block[COORDINATE] + 2 * i + 1]
        share = math.atan2(y, x) / turn
        share = share + 1.0 if share < 0.0 else share
        share = 0.0 if share >= 1.0 else share
        value[block[VALUE] + i] = constants[at + 3] + constants[at + 4] * share


@compiled
def joint_normal_values(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
    """Mean plus factor times coordinates, in place; the constants are the mean and the rows of the factor."""
    at, start, size = block[CONSTANT], block[COORDINATE], block[SIZE]
    for i in range(size):
        total = constants[at + i]
        row = at + size + i * size
        for k in range(i + 1):
            total += constants[row + k] * point[start + k]
        value[block[VALUE] + i] = total


@compiled
def block_log_prior(block: IntArray, constants: FloatArray, point: FloatArray) -> float:
    """The log density of one block."""
    if block[KIND] == SCALARS:
        return scalars_log_prior(block, constants, point)
    if block[KIND] == ANGLES:
        return angles_log_prior(block, constants, point)
    if block[KIND] == SIMPLEX:
        return simplex_log_prior(block, constants, point)
    if block[KIND] == ORDERED:
        return ordered_log_prior(block, constants, point)
    total = 0.0  # JOINT_NORMAL
    for i in range(block[SIZE]):
        total -= 0.5 * point[block[COORDINATE] + i] ** 2 + HALF_LOG_TWO_PI
    return total


@compiled
def block_values(block: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
    """The values of one block, in place."""
    if block[KIND] == SCALARS:
        scalars_values(block, constants, point, value)
    elif block[KIND] == ANGLES:
        angles_values(block, constants, point, value)
    elif block[KIND] == SIMPLEX:
        simplex_values(block, point, value)
    elif block[KIND] == ORDERED:
        ordered_values(block, constants, point, value)
    else:
        joint_normal_values(block, constants, point, value)


@functools.cache
def compiled_log_prior() -> Callable[[IntArray, FloatArray, FloatArray], float]:
    """The log density of a point by a table."""
    digest = kernel_digest()

    @compiled_for(LOG_PRIOR_SIGNATURE)
    def log_prior(blocks: IntArray, constants: FloatArray, point: FloatArray) -> float:
        digest  # noqa: B018  part of the cache key
        total = 0.0
        for k in range(blocks.shape[0]):
            total += block_log_prior(blocks[k], constants, point)
        return total

    return log_prior


@functools.cache
def compiled_values() -> Callable[[IntArray, FloatArray, FloatArray, FloatArray], None]:
    """The values of a point by a table, in place."""
    digest = kernel_digest()

    @compiled_for(VALUES_SIGNATURE)
    def values(blocks: IntArray, constants: FloatArray, point: FloatArray, value: FloatArray) -> None:
        digest  # noqa: B018  part of the cache key
        for k in range(blocks.shape[0]):
            block_values(blocks[k], constants, point, value)

    return values


def values_of_rows(table: Table, rows: FloatArray, n_values: int) -> FloatArray:
    """The values of many points, (n, value)."""
    made = np.empty((len(rows), n_values))
    one_row: Any = compiled_values()
    for row, value in zip(np.ascontiguousarray(rows, dtype=np.float64), made, strict=True):
        one_row(table.blocks, table.constants, row, value)
    return made
