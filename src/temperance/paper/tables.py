"""From a table's record and the finished runs to our figures beside the printed ones."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from temperance.paper.estimates import Estimate, Runs, z_score
from temperance.paper.study import NOT_PRINTED, Block, Cell, Column, Row, Table
from temperance.text import table as text_table

FAR = 2.0
FEW_RUNS = 40  # below, standard errors are too uncertain for a normal law of z
CHANCE_OF_FAR = 0.0455  # of a normal variable to lie beyond two standard errors

ReadCell = Callable[[Cell], Runs]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One figure of ours beside the printed one, if there is one."""

    row: str
    column: str
    ours: Estimate
    printed: str | None
    z: float | None

    @property
    def is_far(self) -> bool:
        """Whether the two lie more than two standard errors apart."""
        return self.z is not None and abs(self.z) > FAR


@dataclass(frozen=True, kw_only=True)
class ComparedBlock:
    """A block with its figures, row by row."""

    title: str
    rows: tuple[tuple[Comparison, ...], ...]

    @property
    def comparisons(self) -> list[Comparison]:
        """All figures."""
        return [cell for row in self.rows for cell in row]


@dataclass(frozen=True, kw_only=True)
class ComparedTable:
    """A table with its figures."""

    name: str
    title: str
    blocks: tuple[ComparedBlock, ...]


def compare(table: Table, read: ReadCell) -> ComparedTable:
    """Our figures beside the printed ones, with the z score of each difference."""
    blocks = tuple(_compare_block(block, read) for block in table.blocks)
    return ComparedTable(name=table.name, title=table.title, blocks=blocks)


def _compare_block(block: Block, read: ReadCell) -> ComparedBlock:
    rows = tuple(
        tuple(
            _compare_one(row, column, printed, block.n_published, read)
            for column, printed in zip(block.columns, row.printed_cells, strict=True)
        )
        for row in block.rows
    )
    return ComparedBlock(title=block.title, rows=rows)


def _compare_one(row: Row, column: Column, printed: str, n_published: int, read: ReadCell) -> Comparison:
    ours = row.estimator([read(cell) for cell in column.cells])
    known = printed != NOT_PRINTED
    return Comparison(
        row=row.label,
        column=column.label,
        ours=ours,
        printed=printed if known else None,
        z=z_score(ours, printed, n_published) if known else None,
    )


def far_line(block: ComparedBlock) -> str:
    """How many figures lie beyond two standard errors, and how many would by chance."""
    scores = [cell for cell in block.comparisons if cell.z is not None]
    far = sum(cell.is_far for cell in scores)
    chance = CHANCE_OF_FAR * len(scores)
    n_runs = min((cell.ours.n_runs for cell in scores), default=FEW_RUNS)
    few = f", and more with only {n_runs} runs" if n_runs < FEW_RUNS else ""
    return f"{far} of {len(scores)} beyond |z| = {FAR:g}; chance alone would give about {chance:.1f}{few}"


def as_text(table: ComparedTable) -> str:
    """For a terminal: one line a figure."""
    parts = [f"{table.name}: {table.title}"]
    for block in table.blocks:
        rows = [
            [f"{cell.column}  {cell.row}", *_figures(cell.ours), cell.printed or "", _signed(cell.z)]
            for cell in block.comparisons
        ]
        parts.append(f"{block.title}\n\n{text_table(['', 'ours', '±', 'printed', 'z'], rows)}")
        parts.append(far_line(block))
    return "\n\n".join(parts)


def as_markdown(table: ComparedTable) -> str:
    """For the docs: the paper's grid, with three lines a figure: ours, printed, z."""
    parts = []
    for block in table.blocks:
        header = ["", *(cell.column for cell in block.rows[0])]
        lines = [_markdown_row(header), "|---" * len(header) + "|"]
        lines += [_markdown_row([row[0].row, *map(_markdown_cell, row)]) for row in block.rows]
        parts.append(f"*{block.title}*\n\n" + "\n".join(lines) + f"\n\n{far_line(block)}.")
    return "\n\n".join(parts)


def as_csv(table: ComparedTable) -> str:
    """For a machine: one line a figure."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["block", "row", "column", "ours", "error", "runs", "printed", "z"])
    for block in table.blocks:
        for cell in block.comparisons:
            ours = cell.ours
            figures = [f"{ours.value:.6g}", f"{ours.error:.3g}", ours.n_runs]
            score = "" if cell.z is None else f"{cell.z:z.3f}"
            writer.writerow([block.title, cell.row, cell.column, *figures, cell.printed or "", score])
    return buffer.getvalue()


def _figures(ours: Estimate) -> list[str]:
    """Value and error, the error to two digits and the value to the same place."""
    if ours.count is not None:
        return [f"{ours.value:.1f}", f"{ours.error:.1f}"]
    if ours.error == 0.0:
        return [f"{ours.value:g}", "0"]
    decimals = 0
    while decimals < 6 and 0.0 < ours.error * 10**decimals < 9.5:
        decimals += 1
    return [f"{ours.value:z.{decimals}f}", f"{ours.error:.{decimals}f}"]


def _signed(z: float | None) -> str:
    if z is None:
        return ""
    return "0.0" if abs(z) < 0.05 else f"{z:+.1f}".replace("-", "−")


def _markdown_cell(cell: Comparison) -> str:
    value, error = _figures(cell.ours)
    if cell.printed is None:
        return f"{value} ± {error}"
    score = f"z {_signed(cell.z)}"
    return f"{value} ± {error}<br>*{cell.printed}*<br>{f'**{score}**' if cell.is_far else score}"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
