"""A table of results: columns of plain values, and how people read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from temperance.text import table

DIGITS = ".4g"
FORMATS = {
    "acceptance": ".3f",
    "barrier": ".2f",
    "ess": ".0f",
    "exchange": ".3f",
    "ess_bulk": ".0f",
    "ess_tail": ".0f",
    "flow": ".2f",
    "mcse": ".2g",
    "move": ".3f",
    "r_hat": ".3f",
    "scale": ".3g",
    "share": ".3f",
    "tail": ".0f",
}


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, with a title; ``pandas.DataFrame`` takes ``columns`` as they are."""

    title: str
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def header(self) -> list[str]:
        """What people read above the columns."""
        return [name.replace("_", " ") if name != "r_hat" else name for name in self.columns]

    @property
    def rows(self) -> list[list[str]]:
        """The cells as people read them, row by row."""
        texts = [[_cell(name, value) for value in values] for name, values in self.columns.items()]
        return [list(row) for row in zip(*texts, strict=True)]

    def head(self, length: int) -> "Table":
        """The first rows."""
        return Table(self.title, {name: list(values)[:length] for name, values in self.columns.items()})

    def __str__(self) -> str:
        return f"{self.title}\n\n{table(self.header, self.rows)}"


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    last_word = name.split("_")[-1] if name not in FORMATS else name
    return f"{value:{FORMATS.get(last_word, DIGITS)}}" if value == value else "–"
