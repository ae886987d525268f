"""The contract between a swap strategy and the loop.

A strategy answers one question: which pair? Its kernel ``propose_pair(view, u, v)`` gets two uniforms,
writes levels ``i < j`` into ``view.pair`` (or leaves -1 when no pair has any weight) and returns
``log p_ij(T_ij x) - log p_ij(x)``, with p normalised, or NaN when a weight is not a weight. The loop does the
rest, by Eq. (3), and asks as often in an iteration as ``attempts`` says.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from temperance.checks import whole_number
from temperance.core.compile import compiled_pointer_for
from temperance.core.state import FloatArray, SwapView, propose_pair_signature

Kernel = Callable[..., float]
# (position, log_density, beta) -> log weights, one row and column for each level, only i < j used
Definition = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _no_parameters() -> FloatArray:
    return np.empty(0)


def _once(_: int) -> int:
    return 1


@dataclass(frozen=True)
class Recipe:
    """The public function that made a strategy, and all its arguments by name: plain values, or functions."""

    made_by: str
    arguments: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, kw_only=True, eq=False)  # by recipe: kernels and arrays have no useful ==
class Strategy:
    """A way to choose the pairs of levels to exchange.

    ``symmetric`` says that p_ij(T_ij x) = p_ij(x), so that Eq. (7) is enough; ``reversible`` that an
    iteration's swaps are reversible and not only invariant. The rest is for the loop. Strategies
    are equal that the same function made with the same arguments.
    """

    name: str
    symmetric: bool
    kernel: Callable[[], Kernel] = field(repr=False)  # compiles on first use
    reversible: bool = True
    heat_bath: bool = False
    attempts: Callable[[int], int] = field(default=_once, repr=False)  # from the number of levels
    definition: Definition | None = field(default=None, repr=False)  # what the kernel draws from
    parameters: FloatArray = field(default_factory=_no_parameters, repr=False)
    weight: Callable[..., float] | None = field(default=None, repr=False)  # as the user wrote it
    log_weight: bool = False  # whether that is the log of a weight
    # New parameters from the log densities seen while tuning.
    learn: Callable[[FloatArray], FloatArray] | None = field(default=None, repr=False)
    # Weights written in Python: a function without arguments that fills in ``view.weight``.
    callback: Callable[[SwapView, list[BaseException]], Any] | None = field(default=None, repr=False)
    # Not an argument, so that what ``replace`` changes does not pass for what it was.
    recipe: Recipe | None = field(default=None, init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Strategy):
            return self is other
        return self.recipe is not None and self.recipe == other.recipe

    def __hash__(self) -> int:
        return id(self) if self.recipe is None else hash(self.recipe)


def pair_kernel(function: Kernel) -> Kernel:
    """Compile a pair proposal for the loop's signature and keep it on disk."""
    return compiled_pointer_for(propose_pair_signature())(function)


def repeated(repeats: int) -> Callable[[int], int]:
    """Attempts an iteration, whatever the number of levels."""
    number = whole_number("repeats", repeats, least=1)
    return lambda _: number
