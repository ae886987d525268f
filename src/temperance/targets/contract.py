"""How a log density reaches the loop.

A target gives the loop one function that fills in the log densities of all points that are asked for, and a
number (an address) that this function gets back with each call. Where ``gradient`` has rows, it fills in
those of the parts whose functions return ``(value, gradient)``, the tempered one first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from temperance.core.evaluate import clear_answers
from temperance.core.state import FloatArray, Info, IntArray
from temperance.targets.ahead import Foresight
from temperance.targets.batches import Batches

# Places of the two parts of a target in a gradient.
TEMPERED, UNTEMPERED = 0, 1


@dataclass(frozen=True)
class Buffers:
    """The arrays of one chain that its target reads and writes."""

    info: Info
    control: IntArray

    @property
    def n_asked(self) -> int:
        """How many points there are to evaluate."""
        return int(self.info.n_asked[0])


def plain_point(point: FloatArray) -> str:
    """A point as messages show it."""
    return str(point.tolist())


@dataclass
class Bound:
    """A target tied to the buffers of one chain."""

    evaluate: Callable[..., None]
    context: int
    keep_alive: Any = None
    failures: list[BaseException] = field(default_factory=list)
    show: Callable[[FloatArray], str] = plain_point  # how errors name a point
    ahead: Foresight | None = None  # whom to tell which points will come, where that is of use
    batches: Batches | None = None  # who is told, once rows were seen to stand alone

    def fill(self, buffers: Buffers) -> None:
        """Evaluate the points that stand in the proposal buffer, from Python."""
        info = buffers.info
        clear_answers(buffers.n_asked, info)
        self.evaluate(
            self.context,
            info.proposal,
            buffers.n_asked,
            info.log_density,
            info.log_prior,
            info.gradient,
            info.scratch,
            buffers.control,
        )


@runtime_checkable
class Target(Protocol):
    """A log density, of whatever kind."""

    @property
    def name(self) -> str:
        """The name that messages use."""

    @property
    def has_prior(self) -> bool:
        """Whether an untempered part exists, so that beta = 0 makes sense."""

    @property
    def runs_in_parallel(self) -> bool:
        """Whether threads speed it up."""

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the target to one chain."""
