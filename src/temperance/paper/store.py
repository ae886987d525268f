"""Finished runs on disk: one CSV a cell, one row a run, and a note of where they come from.

A row is written as soon as its run is over, so that whatever ends a reproduction leaves it whole.
"""

import datetime
import json
import platform
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np

from temperance.checks import one_of
from temperance.core.compile import kernel_digest
from temperance.errors import InvalidInputError
from temperance.paper.estimates import FloatArray
from temperance.paper.study import Cell

NOTE = "run.json"
CELLS = "cells"
DIGITS = 6  # far below the spread over runs, and the files stay small

Existing = Literal["refuse", "continue", "overwrite"]
EXISTING = ("refuse", "continue", "overwrite")


class Store:
    """The folder of one reproduction."""

    def __init__(self, folder: Path, note: dict[str, Any]) -> None:
        self.folder = folder
        self.note = note

    @property
    def seed(self) -> int:
        """Seed of all runs."""
        return int(self.note["seed"])

    def read(self, cell: Cell) -> dict[int, dict[str, float]]:
        """The finished runs of a cell by their index."""
        path = self._path(cell)
        if not path.exists():
            return {}
        lines = path.read_text().split("\n")[:-1]  # a last line without an end was cut off
        if not lines:
            return {}
        names = lines[0].split(",")[1:]
        rows = [line.split(",") for line in lines[1:]]
        return {int(row[0]): dict(zip(names, map(float, row[1:]), strict=True)) for row in rows}

    def columns(self, cell: Cell, n_runs: int) -> dict[str, FloatArray]:
        """The first ``n_runs`` runs of a cell, one array for each quantity."""
        runs = self.read(cell)
        missing = [index for index in range(n_runs) if index not in runs]
        if missing:
            raise InvalidInputError(f"{self.folder} lacks {len(missing)} of {n_runs} runs of {cell.name}")
        return {name: np.array([runs[index][name] for index in range(n_runs)]) for name in runs[0]}

    def add(self, cell: Cell, rows: Mapping[int, Mapping[str, float]], seconds: float) -> None:
        """Append finished runs."""
        if not rows:
            return
        path = self._path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._mend(path)
        lines = [_line(index, row.values()) for index, row in sorted(rows.items())]
        if not path.exists():
            lines.insert(0, ",".join(["run", *next(iter(rows.values()))]) + "\n")
        with path.open("a") as file:
            file.write("".join(lines))
        self.note["seconds"][cell.name] = round(self.note["seconds"].get(cell.name, 0.0) + seconds, 2)

    def save_note(self) -> None:
        """Write down where the runs come from and how long they took."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"{NOTE}.new"
        temporary.write_text(json.dumps(self.note, indent=2, ensure_ascii=False) + "\n")
        temporary.replace(self.folder / NOTE)

    def _path(self, cell: Cell) -> Path:
        return self.folder / CELLS / f"{cell.name}.csv"

    def _mend(self, path: Path) -> None:
        """Drop a last line that was cut off."""
        if path.exists() and not (text := path.read_text()).endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1])


def open_store(folder: Path, seed: int, existing: Existing = "refuse") -> Store:
    """A folder to write to: a new one, or one that holds the same run and is to be continued."""
    one_of("existing", existing, EXISTING)
    note = {"seed": seed, "begun": str(datetime.date.today()), "versions": versions(), "seconds": {}}
    if not folder.exists() or not any(folder.iterdir()):
        return _saved(Store(folder, note))
    if not (folder / NOTE).exists():
        raise InvalidInputError(f"out: {folder} holds other files and no run; choose a new or empty folder")
    if existing == "overwrite":
        shutil.rmtree(folder / CELLS, ignore_errors=True)
        return _saved(Store(folder, note))
    found = load_store(folder)
    if existing == "refuse":
        raise InvalidInputError(
            f"out: {folder} holds a run with seed {found.seed}, begun {found.note['begun']}; "
            "continue it (--continue), overwrite it (--overwrite) or choose another folder"
        )
    _check_same(found, note)
    return found


def load_store(folder: Path) -> Store:
    """The runs of a folder, to read."""
    path = folder / NOTE
    try:
        return Store(folder, json.loads(path.read_text()))
    except (OSError, json.JSONDecodeError) as error:
        raise InvalidInputError(f"{path} is not the note of a run: {error}") from error


def versions() -> dict[str, str]:
    """All that the numbers depend on beside the seed."""
    packages = {name: metadata.version(name) for name in ("temperance", "numpy", "numba")}
    return {"python": platform.python_version(), **packages, "kernels": kernel_digest()[:12]}


def _check_same(found: Store, note: Mapping[str, Any]) -> None:
    """A run goes on only with what it was begun with: other versions may draw other numbers."""
    if found.seed != note["seed"]:
        raise InvalidInputError(
            f"seed: {found.folder} was begun with seed {found.seed}, got {note['seed']}; "
            "give the same seed, or overwrite it (--overwrite)"
        )
    old, new = found.note["versions"], note["versions"]
    changed = [f"{name} {old.get(name)} → {new[name]}" for name in new if old.get(name) != new[name]]
    if changed:
        raise InvalidInputError(
            f"out: {found.folder} was begun with other versions ({', '.join(changed)}); "
            "overwrite it (--overwrite)"
        )


def _saved(store: Store) -> Store:
    store.save_note()
    return store


def _line(index: int, values: Sequence[float] | Any) -> str:
    return ",".join([str(index), *(f"{value:.{DIGITS}g}" for value in values)]) + "\n"
