"""What a worker answers when it is asked for the log densities of some points."""

from dataclasses import dataclass

from temperance.core.state import FloatArray
from temperance.executors.trouble import Trouble


@dataclass(frozen=True)
class Answer:
    """One row of ``values`` for each point: log density, log prior, and both gradients if they are wanted.

    Where a function raised, ``trouble`` is what, at the point ``row``; later rows are then not evaluated.
    """

    values: FloatArray
    seconds: float  # that it took
    row: int = 0
    trouble: Trouble | None = None
