"""Finished runs on disk: one CSV a cell, one row a run, and a note of where they come from.

Files are replaced whole as soon as a run is over, so that whatever ends a reproduction leaves them readable.
"""

import datetime
import json
import platform
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np

from temperance.checks import one_of
from temperance.core.compile import kernel_digest
from temperance.errors import InvalidInputError
from temperance.files import write_text
from temperance.paper.estimates import FloatArray
from temperance.paper.study import Cell, Study

NOTE = "run.json"
CELLS = "cells"
DIGITS = 6  # far below the spread over runs, and the files stay small

Existing = Literal["refuse", "continue", "overwrite"]
EXISTING = ("refuse", "continue", "overwrite")
CellRuns = dict[int, dict[str, float]]  # by the index of the run


class Store:
    """The folder of one reproduction."""

    def __init__(self, folder: Path, note: dict[str, Any]) -> None:
        self.folder = folder
        self.note = note
        self._runs: dict[Cell, CellRuns] = {}

    @property
    def seed(self) -> int:
        """Seed of all runs."""
        return int(self.note["seed"])

    def read(self, cell: Cell) -> CellRuns:
        """The finished runs of a cell."""
        if cell not in self._runs:
            path = self._path(cell)
            self._runs[cell] = _parsed(path.read_text(encoding="utf-8")) if path.exists() else {}
        return self._runs[cell]

    def columns(self, cell: Cell, n_runs: int) -> dict[str, FloatArray]:
        """The first ``n_runs`` runs of a cell, one array for each quantity."""
        runs = self.read(cell)
        missing = [index for index in range(n_runs) if index not in runs]
        if missing:
            raise InvalidInputError(f"{self.folder} lacks {len(missing)} of {n_runs} runs of {cell.name}")
        return {name: np.array([runs[index][name] for index in range(n_runs)]) for name in runs[0]}

    def add(self, cell: Cell, rows: Mapping[int, Mapping[str, float]], seconds: float) -> None:
        """Keep finished runs."""
        runs = self.read(cell)
        for index, row in rows.items():
            known = next(iter(runs.values()), row)
            if known.keys() != row.keys():
                raise InvalidInputError(
                    f"out: {self.folder} holds other quantities of {cell.name} ({', '.join(known)}); "
                    "overwrite it (--overwrite)"
                )
            runs[index] = {name: float(_number(value)) for name, value in row.items()}
        if rows:
            _replace(self._path(cell), _printed(runs))
        times = self.note["seconds"]
        times[cell.name] = round(times.get(cell.name, 0.0) + seconds, 2)
        self.save_note()

    def check_study(self, study: Study) -> None:
        """A study goes on only as it was begun."""
        now = study.definition
        begun = self.note["studies"].get(study.name)
        if begun is None:
            self.note["studies"][study.name] = now
            self.save_note()
        elif begun != now:
            raise InvalidInputError(
                f"out: {self.folder} was begun with another study {study.name} ({begun}; now {now}); "
                "overwrite it (--overwrite)"
            )

    def save_note(self) -> None:
        """Write down where the runs come from and how long they took."""
        _replace(self.folder / NOTE, json.dumps(self.note, indent=2, ensure_ascii=False) + "\n")

    def _path(self, cell: Cell) -> Path:
        return self.folder / CELLS / f"{cell.name}.csv"


def open_store(folder: Path, seed: int, existing: Existing = "refuse") -> Store:
    """A folder to write to: a new one, or one that holds the same run and is to be continued."""
    one_of("existing", existing, EXISTING)
    note = {
        "seed": seed,
        "begun": str(datetime.date.today()),
        "versions": versions(),
        "studies": {},
        "seconds": {},
    }
    try:
        return _opened(Store(folder, note), existing)
    except OSError as error:
        raise InvalidInputError(f"out: {folder} cannot be used: {error}") from error


def load_store(folder: Path) -> Store:
    """The runs of a folder, to read."""
    path = folder / NOTE
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        for name, kind in {
            "seed": int,
            "begun": str,
            "versions": dict,
            "seconds": dict,
            "studies": dict,
        }.items():
            if not isinstance(note[name], kind):
                raise TypeError(f"{name} is {note[name]!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{path} is not the note of a run: {error!r}") from error
    return Store(folder, note)


def versions() -> dict[str, str]:
    """All that the numbers depend on beside the seed and the studies."""
    packages = {name: metadata.version(name) for name in ("temperance", "numpy", "numba")}
    return {"python": platform.python_version(), **packages, "kernels": kernel_digest()[:12]}


def _opened(new: Store, existing: Existing) -> Store:
    folder = new.folder
    if folder.exists() and any(folder.iterdir()):
        if not (folder / NOTE).exists():
            raise InvalidInputError(
                f"out: {folder} holds other files and no run; choose a new or empty folder"
            )
        if existing != "overwrite":
            return _checked(load_store(folder), new.note, existing)
        shutil.rmtree(folder / CELLS, ignore_errors=True)
    new.save_note()
    return new


def _checked(found: Store, note: Mapping[str, Any], existing: Existing) -> Store:
    """A run goes on only when told so, and only with what it was begun with."""
    if existing == "refuse":
        raise InvalidInputError(
            f"out: {found.folder} holds a run with seed {found.seed}, begun {found.note['begun']}; "
            "continue it (--continue), overwrite it (--overwrite) or choose another folder"
        )
    if found.seed != note["seed"]:
        raise InvalidInputError(
            f"seed: {found.folder} was begun with seed {found.seed}, got {note['seed']}; "
            "give the same seed, or overwrite it (--overwrite)"
        )
    old, new = found.note["versions"], note["versions"]
    changed = [f"{name} {old.get(name)} -> {new[name]}" for name in new if old.get(name) != new[name]]
    if changed:
        raise InvalidInputError(
            f"out: {found.folder} was begun with other versions ({', '.join(changed)}); "
            "overwrite it (--overwrite)"
        )
    return found


def _parsed(text: str) -> CellRuns:
    """The rows of a file; a last line without an end was cut off and does not count."""
    lines = text.split("\n")[:-1]
    if not lines:
        return {}
    names = lines[0].split(",")[1:]
    rows = [line.split(",") for line in lines[1:]]
    return {int(row[0]): dict(zip(names, map(float, row[1:]), strict=True)) for row in rows}


def _printed(runs: CellRuns) -> str:
    """A file, in the order of the runs whatever order they were finished in."""
    header = ["run", *next(iter(runs.values()))]
    rows = [[str(index), *map(_number, runs[index].values())] for index in sorted(runs)]
    return "".join(f"{','.join(row)}\n" for row in (header, *rows))


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, in a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
