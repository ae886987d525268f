"""What a run asks of the place where its rows are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from temperance.core.state import Trace

Arrays = Mapping[str, np.ndarray[Any, Any]]
TUNING, SAMPLING = "tuning", "sampling"
PHASES = (TUNING, SAMPLING)


@dataclass(frozen=True)
class Handed:
    """What a chain hands over: rows that will not change any more, and how to go on after them.

    Rows follow those handed over before. Columns that are not kept have no rows. The snapshot also holds
    rows that are not final yet, so that nothing is made twice. Without one, the chain goes on from the last
    that it handed over, and makes the rows after it again, the same.
    """

    rows: Mapping[str, Trace]  # by phase
    snapshot: Arrays


class Store(Protocol):
    """Keeps the rows of all chains, and what they need to go on."""

    def wants(self, chain: int) -> bool:
        """Whether it is time that this chain hands over what it has."""

    def append(self, chain: int, handed: Handed) -> None:
        """Rows of a chain, in order; any thread may, for a chain of its own."""

    def append_all(self, handed: Mapping[int, Handed]) -> None:
        """Rows of several chains that must not be kept without each other."""

    def tell(self, facts: Mapping[str, Any]) -> None:
        """Facts of the run that have changed, to be kept with what is handed over next."""

    def sampled(self, chain: int) -> Trace:
        """All rows of the draws so far, to be read."""

    def close(self, ended: Mapping[str, Any]) -> None:
        """Keep all that was handed over for good, with how the run ended."""

    def check(self) -> None:
        """Raise what went wrong since, if anything did."""
