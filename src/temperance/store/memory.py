"""Rows in memory, which last as long as the process."""

from collections.abc import Callable, Mapping, Sequence

from temperance.core.state import Trace
from temperance.store.contract import Arrays


class Memory:
    """Traces allocated at the start; nobody asks for a snapshot of what has not ended."""

    def __init__(self, traces: Sequence[Mapping[str, Trace]]) -> None:
        self._traces = traces

    def rows(self, chain: int, phase: str) -> Trace:
        """The trace of one phase."""
        return self._traces[chain][phase]

    def commit(self, chain: int, snapshot: Callable[[], Arrays]) -> None:
        """The rows are where they are."""
