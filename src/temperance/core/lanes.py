"""Four levels at once: a vector type for kernels whose arrays end in an axis of ``LANES``.

A value of this type holds one number for each of four levels. It is loaded from a row of an array,
computed with by ``+ - * /`` and ``root``, and stored again; each lane gets the numbers that a loop over
levels would give. With the compiler off the same functions work on NumPy rows.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from temperance.core.numba_internals.vectors import WIDTH, load_vector, store_vector, vector_of, vector_root

LANES = WIDTH


def load(array: Any, row: int) -> Any:
    """The numbers in one row of an array of shape (rows, LANES)."""
    return array[row].copy()


def store(array: Any, row: int, value: Any) -> None:
    """Put a value into one row, in place."""
    array[row] = value


def spread(number: float) -> Any:
    """The same number in every lane."""
    return np.full(LANES, number)


def root(value: Any) -> Any:
    """Square roots."""
    return np.sqrt(value)


# What the plain functions above are when a kernel calls them.
overload(load)(lambda array, row: lambda array, row: load_vector(array, row))
overload(store)(lambda array, row, value: lambda array, row, value: store_vector(array, row, value))
overload(spread)(lambda number: lambda number: vector_of(number))
overload(root)(lambda value: lambda value: vector_root(value))
