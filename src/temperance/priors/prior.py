"""What the prior of one parameter is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.priors.kernels.table import Block

Draw = Callable[[np.random.Generator], FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Prior:
    """The law of one parameter, of any shape, by coordinates that may be anything.

    Made by the functions of `temperance.priors`. Coordinates are what is sampled: they have the law of the
    parameter with the Jacobian of its transform, and about the same size whatever the units.
    """

    text: str  # how it was written
    shape: tuple[int, ...]  # of the parameter
    blocks: tuple[Block, ...]
    unconstrain: Callable[[FloatArray], FloatArray] = field(repr=False)  # not finite outside the support
    draw: Draw | None = None  # coordinates, exactly from the prior; None where it cannot be drawn from
    proper: bool = True
    # Of each value that is an angle, where it begins and how long a turn is; empty where none is one.
    turns: tuple[tuple[float, float] | None, ...] = ()
    log_density: Any = None  # of the user's own, of one value, beside what the blocks say
    scalar: Any = None  # a `Scalar`, where values know nothing of each other

    @property
    def n_coordinates(self) -> int:
        """How many coordinates are sampled."""
        return sum(block.n_coordinates for block in self.blocks)

    @property
    def size(self) -> int:
        """How many values there are."""
        return sum(block.size for block in self.blocks)

    def __repr__(self) -> str:
        return f"<prior {self.text}>"
