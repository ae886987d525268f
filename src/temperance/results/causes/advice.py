"""One thing to do about a run: its cause, what shows it, and the change as words and as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A cause, and what to change.

    ``changes`` are keyword arguments of `sample`, which a program can put into its next call; ``rework`` is
    what only the user can do: "density", "proper", "constants", "apart", "units", "parametrisation" or
    "elsewhere" (another start). One of both may be empty. ``warnings`` are those that the cause explains.
    """

    cause: str
    seen: str
    cure: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    rework: str = ""
    warnings: tuple[str, ...] = ()
    ends: bool = False  # whether nothing else is to be tried before

    def __str__(self) -> str:
        return f"{self.cause}: {self.seen}. Try: {self.cure} (for: {', '.join(self.warnings)})."


def changes_of(advice: tuple[Advice, ...]) -> dict[str, Any]:
    """All changes together; where two name the same thing they name the same number."""
    together: dict[str, Any] = {}
    for one in reversed(advice):
        together |= one.changes
    return together
