"""One command for each table and figure of the paper."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from temperance.checks import flag, whole_number
from temperance.errors import InvalidInputError
from temperance.executors.cores import cores_here
from temperance.files import write_text
from temperance.paper.estimates import FloatArray, scipy_stats
from temperance.paper.figures import FIGURES, write_figure
from temperance.paper.printed import TABLES
from temperance.paper.progress import Progress
from temperance.paper.running import run_cells, wanted_runs
from temperance.paper.store import Existing, Store, open_store
from temperance.paper.study import Cell
from temperance.paper.tables import as_csv, as_text, compare
from temperance.results.plots.canvas import pyplot

ALL = "all"
ITEMS = (*TABLES, *FIGURES)


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What came of it: text for each table, the files written, and whether all runs were made."""

    texts: tuple[str, ...]
    files: tuple[Path, ...]
    complete: bool


def reproduce(
    items: str | Sequence[str],
    *,
    out: Path | str,
    runs: int | None = None,
    seed: int = 1,
    cores: int | None = None,
    existing: Existing = "refuse",
    progress: bool = True,
) -> Reproduction:
    """Make the runs behind tables and figures of the paper, and the tables and figures from them.

    Parameters
    ----------
    items
        ``table1`` to ``table7``, ``trimming``, ``figure1`` to ``figure6``, or ``all``.
    out
        Folder of the finished runs and of what is made from them.
    runs
        Runs a cell; None means as many as in the paper.
    seed, cores
        The numbers depend on the seed alone, not on the cores, nor on which items are made together.
    existing
        What to do with a folder that holds runs: ``"refuse"``, ``"continue"`` or ``"overwrite"``.
    progress
        Show how far it is and the time left, on the standard error.
    """
    chosen = chosen_items([items] if isinstance(items, str) else items)
    _check_extras(chosen)
    runs = None if runs is None else whole_number("runs", runs, least=2)
    cores = whole_number("cores", cores_here() if cores is None else cores, least=1)
    show = flag("progress", progress)
    store = open_store(Path(out), whole_number("seed", seed, least=0), existing)
    cells = needed_cells(chosen)
    wanted = [(cell, wanted_runs(cell, runs)) for cell in cells]
    with Progress(wanted, show=show) as watch:
        complete = run_cells(cells, store, runs=runs, cores=cores, watch=watch)
    if complete:
        with contextlib.suppress(KeyboardInterrupt):
            return write_items(chosen, store, runs)
    return Reproduction(texts=(), files=(), complete=False)


def write_items(items: Sequence[str], store: Store, runs: int | None) -> Reproduction:
    """Make tables and figures from finished runs."""

    def read(cell: Cell) -> dict[str, FloatArray]:
        return store.columns(cell, wanted_runs(cell, runs))

    texts, files = [], []
    for item in items:
        if item in FIGURES:
            files += write_figure(FIGURES[item], read, store.seed, store.folder)
            continue
        compared = compare(TABLES[item], read)
        texts.append(as_text(compared))
        for suffix, text in ((".txt", as_text(compared) + "\n"), (".csv", as_csv(compared))):
            files.append(store.folder / f"{item}{suffix}")
            write_text(files[-1], text)
    return Reproduction(texts=tuple(texts), files=tuple(files), complete=True)


def _check_extras(items: Sequence[str]) -> None:
    """Say what to install before the runs are made, not after."""
    if any(item in TABLES for item in items):
        scipy_stats()
    if any(item in FIGURES for item in items):
        pyplot()


def chosen_items(items: Sequence[str]) -> list[str]:
    """The items, each once; an unknown one is refused with the list of those there are."""
    unknown = [item for item in items if item not in (*ITEMS, ALL)]
    if unknown or not items:
        came = ", ".join(repr(item) for item in unknown) or "nothing"
        raise InvalidInputError(f"item must be one of {', '.join(ITEMS)}, or {ALL}; got {came}")
    return list(ITEMS) if ALL in items else list(dict.fromkeys(items))


def needed_cells(items: Sequence[str]) -> list[Cell]:
    """The cells behind some items, each once."""
    cells = [cell for item in items for cell in (FIGURES.get(item) or TABLES[item]).cells]
    return list(dict.fromkeys(cells))
