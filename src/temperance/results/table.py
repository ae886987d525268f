"""A table of results: columns of plain values, and how people read them."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from temperance.text import table

DIGITS = ".4g"
FORMATS = {
    "acceptance": ".3f",
    "accepted": ".3f",
    "barrier": ".2f",
    "error": ".2g",
    "ess": ".0f",
    "ess_bulk": ".0f",
    "ess_tail": ".0f",
    "flow": ".2f",
    "mcse": ".2g",
    "moved": ".3f",
    "r_hat": ".3f",
    "scale": ".3g",
    "share": ".3f",
    "tail": ".0f",
    "weight": ".4f",
}


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, with a title; ``pandas.DataFrame`` takes ``columns`` as they are."""

    title: str
    columns: Mapping[str, Sequence[Any]]
    n_left_out: int = 0  # rows that came after these

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
        columns = {name: list(values)[:length] for name, values in self.columns.items()}
        return Table(self.title, columns, max(len(self) - length, 0))

    @property
    def ending(self) -> str:
        """What is said below a table that has been cut."""
        return f"... {self.n_left_out} more" if self.n_left_out else ""

    @property
    def text(self) -> str:
        """The table without its title."""
        return "\n".join(part for part in (table(self.header, self.rows), self.ending) if part)

    def __str__(self) -> str:
        return f"{self.title}\n\n{self.text}"

    @property
    def html(self) -> str:
        """The table in HTML, escaped, without its title."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.header)
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        ending = f"<p>{html.escape(self.ending)}</p>" if self.ending else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{ending}"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.title)}</b></p>{self.html}"


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    last_word = name.split("_")[-1] if name not in FORMATS else name
    return f"{value:{FORMATS.get(last_word, DIGITS)}}" if value == value else "-"
