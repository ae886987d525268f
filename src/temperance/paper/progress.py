"""How a reproduction shows itself: a bar with the time left, or a line for each cell."""

import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from temperance.paper.experiments import STUDIES
from temperance.paper.study import Cell


class Progress:
    """Watches runs; `run_cells` calls it with the cell at work and how many more of its runs are there.

    The first call for a cell counts runs found on disk, which took no time and do not move the estimate.
    """

    def __init__(self, wanted: Iterable[tuple[Cell, int]], *, show: bool) -> None:
        self._wanted = dict(wanted)
        self._finished = dict.fromkeys(self._wanted, 0)
        self._found = 0.0
        self._began = time.perf_counter()
        self._bar = _bar() if show and sys.stderr.isatty() else None
        self._lines = show and self._bar is None
        self._seen: set[Cell] = set()

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total, left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, cell: Cell, n_runs: int) -> None:
        """Count finished runs and show where things stand."""
        self._finished[cell] += n_runs
        if cell not in self._seen:
            self._seen.add(cell)
            self._found += n_runs * _cost(cell)
        self._show(cell, whole=self._finished[cell] == self._wanted[cell])

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far, counted in log densities; None before there is one."""
        done = self._done - self._found
        elapsed = time.perf_counter() - self._began
        return None if done == 0 else elapsed * (self._total - self._done) / done

    @property
    def _total(self) -> float:
        return sum(count * _cost(cell) for cell, count in self._wanted.items())

    @property
    def _done(self) -> float:
        return sum(count * _cost(cell) for cell, count in self._finished.items())

    def _show(self, cell: Cell, *, whole: bool) -> None:
        left = self.seconds_left
        words = "" if left is None else f"{_clock(left)} left"
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=cell.name, left=words)
        elif self._lines and whole:
            after = _clock(time.perf_counter() - self._began)
            counts = f"{self._finished[cell]} of {self._wanted[cell]} runs"
            sys.stderr.write(f"{cell.name}: {counts}, {after} so far" + (f", {words}\n" if words else "\n"))


def _cost(cell: Cell) -> float:
    """Log densities a run."""
    study = STUDIES[cell.study]
    return float(cell.levels * (study.burn_in + study.draws))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
    )
