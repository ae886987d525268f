"""Arguments of a model of NumPyro: arrays that JAX traces, and what is constant."""

from typing import Any

import numpy as np


class Arguments:
    """What a model is called with; its arrays apart if they are to be traced, and constants otherwise."""

    def __init__(self, jax: Any, call: tuple[Any, Any, Any], *, traced: bool) -> None:
        self._model, *given = call
        leaves, self._tree = jax.tree_util.tree_flatten(given)
        self._is_array = [traced and isinstance(leaf, np.ndarray | jax.Array) for leaf in leaves]
        self._constants = [None if apart else leaf for leaf, apart in self._parted(leaves)]
        self.arrays = tuple(np.array(leaf) for leaf, apart in self._parted(leaves) if apart)
        self._jax = jax

    def _parted(self, leaves: list[Any]) -> Any:
        return zip(leaves, self._is_array, strict=True)

    def call(self, arrays: Any) -> tuple[Any, ...]:
        """The model, its arguments and its keywords with these arrays."""
        left = iter(arrays)
        leaves = [next(left) if apart else leaf for leaf, apart in self._parted(self._constants)]
        return self._model, *self._jax.tree_util.tree_unflatten(self._tree, leaves)

    def same_but_for_numbers(self, other: "Arguments") -> bool:
        """Whether a function that was compiled for the one is right for the other."""
        if not self._is_array or self._is_array != other._is_array or self._tree != other._tree:
            return False
        kinds = [[(array.shape, array.dtype) for array in one.arrays] for one in (self, other)]
        pairs = zip(self._constants, other._constants, strict=True)
        return kinds[0] == kinds[1] and all(_same(*pair) for pair in pairs)


def _same(one: Any, two: Any) -> bool:
    """Whether two constants are one; arrays that are not traced only if they are the same object."""
    plain = isinstance(one, bool | int | float | str | type(None))
    return one is two or (plain and type(one) is type(two) and one == two)
