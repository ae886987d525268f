"""One thing to worry about, and what all of them together amount to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temperance.results.result import Result


@dataclass(frozen=True, kw_only=True)
class ResultWarning:
    """A warning as data: what was seen, what to try, and whether the draws themselves are in doubt.

    ``cure`` is that of the first cause behind it; `Result.advice` has all causes.
    """

    name: str
    message: str
    serious: bool
    cure: str = ""

    @property
    def seen(self) -> str:
        """Name and message, without the cure."""
        return f"{self.name}: {self.message}."

    def __str__(self) -> str:
        return f"{self.seen} Try: {self.cure}."


def verdict(found: Sequence[ResultWarning], *, searched: bool = True) -> str:
    """One sentence: whether the draws agree with themselves, and no more than that."""
    if any(warning.name == "no draws" for warning in found):
        return "Nothing was drawn."
    serious = [warning.name for warning in found if warning.serious]
    if serious:
        return f"Do not rely on these draws yet: {', '.join(serious)}."
    if found:
        return "No sign that the draws are wrong, but something to improve."
    if not searched:
        return "These draws agree with themselves, and no other mode was searched for."
    return "No sign of trouble."


def listed(indices: Sequence[int], noun: str) -> str:
    """``chain 2`` or ``chains 1, 3 and 4``, counted from one."""
    numbers = [str(index + 1) for index in indices]
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    return f"{noun}s {', '.join(numbers[:-1])} and {numbers[-1]}"


def listed_kept(result: "Result", places: Sequence[int]) -> str:
    """Chains by their places among those kept, listed by their numbers among all."""
    return listed([result.kept_numbers[place] for place in places], "chain")


def round_up(number: float) -> int:
    """A number to try: two digits, not below what was asked."""
    if number <= 10:
        return max(1, math.ceil(number))
    unit = int(10 ** (math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit) * unit
