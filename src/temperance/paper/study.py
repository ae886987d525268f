"""The nouns of an experiment: a study, its arms, and the tables that compare it with print."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from temperance.paper.estimates import Estimator
from temperance.paper.measure import Measure
from temperance.settings import Trimming
from temperance.zoo import Problem

NO_TRIMMING = Trimming(enabled=False)
NOT_PRINTED = "-"


class Cell(NamedTuple):
    """One arm of a study: the unit that is run, and stored in a file of its own."""

    study: str
    strategy: str
    levels: int

    @property
    def name(self) -> str:
        """How the cell is called in files and on the screen."""
        return f"{self.study}/{self.strategy}-{self.levels}"


@dataclass(frozen=True, kw_only=True)
class Study:
    """Runs of the paper's algorithm on one target, for some strategies and numbers of levels.

    ``runs`` is the number in the paper. ``initial`` replaces the target's own start; ``start`` says in words
    where all levels begin.
    """

    name: str
    problem: Callable[[], Problem]
    arms: tuple[tuple[str, int], ...]
    burn_in: int
    draws: int
    exponent: float
    runs: int
    measure: Measure
    start: str
    trimming: Trimming = NO_TRIMMING
    initial: Callable[[Problem], Any] | None = None

    @property
    def definition(self) -> str:
        """What the numbers depend on beside seed and versions, in words."""
        parts = {
            "target": self.problem().name,
            "burn-in": self.burn_in,
            "draws": self.draws,
            "exponent": self.exponent,
            "start": self.start,
            "trimming": self.trimming,
        }
        return ", ".join(f"{name} {value}" for name, value in parts.items())

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One for each arm."""
        return tuple(Cell(self.name, strategy, levels) for strategy, levels in self.arms)


@dataclass(frozen=True, kw_only=True)
class Column:
    """The cells behind one column of a table: one, or two for a ratio."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A quantity, and what was printed for it, column by column."""

    label: str
    estimator: Estimator
    printed: str

    @property
    def printed_cells(self) -> list[str]:
        """The printed figures as they stand, so that their rounding is known."""
        return self.printed.split()


@dataclass(frozen=True, kw_only=True)
class Block:
    """One reading of a table: the same printed figures may be compared with several of ours."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    n_published: int


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper."""

    name: str
    title: str
    blocks: tuple[Block, ...] = field(repr=False)

    @property
    def cells(self) -> list[Cell]:
        """All that must be run for it."""
        columns = [column for block in self.blocks for column in block.columns]
        return list(dict.fromkeys(cell for column in columns for cell in column.cells))
