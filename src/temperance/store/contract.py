"""What a run asks of the place where its rows are kept."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from temperance.core.state import Trace

Arrays = Mapping[str, np.ndarray[Any, Any]]


class Store(Protocol):
    """Keeps the rows of all chains, and what they need to go on."""

    def rows(self, chain: int, phase: str) -> Trace:
        """All rows of ``"tuning"`` or ``"sampling"`` that there will be, for the loop to write to."""

    def commit(self, chain: int, snapshot: Callable[[], Arrays]) -> None:
        """A segment has ended: rows up to here are final, and with the snapshot the chain can go on."""
