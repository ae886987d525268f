"""Results on disk: one CSV file for each task and peer, one row for each repetition, written as it comes."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from peers.tasks import Task

HEAD = ("seed", "status", "evaluations", "cpu_seconds", "setup_seconds", "bare_seconds")
MODES = ("missing", "occupancy_error")
TAIL = ("date", "versions", "settings", "message")
DONE, FAILED = "done", "failed"


def columns(task: Task) -> tuple[str, ...]:
    """The header of a task's files."""
    modes = MODES if task.problem.modes is not None else ()
    return (*HEAD, "n_draws", "effective_size", *modes, *task.moments, *TAIL)


class Store:
    """The folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: Task, peer: str) -> Path:
        """Where the rows of a task and a peer are."""
        return self.folder / task.name / f"{peer}.csv"

    def rows(self, task: Task, peer: str) -> list[dict[str, str]]:
        """All rows, as text; none when there is no file."""
        path = self.path(task, peer)
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            found = list(reader)
        if tuple(reader.fieldnames or ()) != columns(task):
            raise ValueError(f"{path.name} of {task.name} must have the columns {', '.join(columns(task))}")
        return found

    def missing_seeds(self, task: Task, peer: str, wanted: Iterable[int]) -> list[int]:
        """Which of the wanted seeds have no row yet; a failure is a row."""
        made = {int(row["seed"]) for row in self.rows(task, peer)}
        return [seed for seed in wanted if seed not in made]

    def append(self, task: Task, peer: str, row: Mapping[str, Any]) -> None:
        """Write one row at the end of its file."""
        path = self.path(task, peer)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns(task), restval="", lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({name: _text(value) for name, value in row.items()})

    def forget(self, task: Task, peer: str) -> None:
        """Remove the rows of a task and a peer, so that they are made anew."""
        self.path(task, peer).unlink(missing_ok=True)


def _text(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)
