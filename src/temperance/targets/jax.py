"""Functions of JAX: ``jax.jit(f)`` of one point, called for the points of all levels at once."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from temperance.errors import InvalidInputError
from temperance.extras import needed, require_version
from temperance.origin import function_name

SWITCH = 'jax.config.update("jax_enable_x64", True)'


def is_jax(given: Any) -> bool:
    """Whether this is what ``jax.jit`` makes; other functions of JAX look like any other."""
    kind = type(given)
    return kind.__name__ == "PjitFunction" and kind.__module__.partition(".")[0] == "jaxlib"


def require_x64(name: str) -> Any:
    """JAX itself, or an error if it computes with half the digits."""
    jax = needed("functions of JAX need", "jax")[0]
    require_version("jax")
    if not jax.config.jax_enable_x64:
        raise InvalidInputError(
            f"{name} is a function of JAX, which computes in float32 unless told otherwise, and the "
            f"differences of log densities get lost in that; write {SWITCH} before any array is made"
        )
    return jax


def over_rows(function: Any, *, with_data: bool = False) -> Callable[..., Any]:
    """A function of one point, or of a point and data, as one of rows that returns arrays of NumPy.

    Points may be dicts of arrays, too. Each number of rows is compiled anew, hence only powers of two are.
    """
    jax, many = require_x64(function_name(function)), _many(function, with_data)
    leaves, mapped = jax.tree_util.tree_leaves, jax.tree_util.tree_map
    held: list[Any] = [None, None]  # data as they came, and as JAX has them

    @functools.wraps(function)
    def called(points: Any, *data: Any) -> Any:
        if data and held[0] is not data[0]:
            held[:] = data[0], jax.device_put(mapped(np.array, data[0]))
        arguments = held[1 : 1 + len(data)]
        if isinstance(
            points, np.ndarray
        ):  # the usual case; going over trees takes longer than a small density
            n, returned = len(points), many(_padded(points), *arguments)
        else:
            n, returned = len(leaves(points)[0]), many(mapped(_padded, points), *arguments)
        if isinstance(returned, tuple | dict | list):
            return mapped(lambda one: np.asarray(one)[:n], returned)
        return np.asarray(returned)[:n]

    return called


@functools.lru_cache(maxsize=64)
def _many(function: Any, with_data: bool) -> Any:
    """A function of rows that JAX compiles; the same when asked again: other data compile nothing."""
    jax = needed("functions of JAX need", "jax")[0]
    return jax.jit(jax.vmap(function, in_axes=(0, None) if with_data else 0))


def _padded(rows: Any) -> Any:
    """Rows and the last of them once more, as often as it takes to have a power of two."""
    n = len(rows)
    more = (1 << (n - 1).bit_length()) - n
    return np.concatenate([rows, np.repeat(rows[-1:], more, axis=0)]) if more else rows
