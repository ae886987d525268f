"""How a run shows itself: a live bar for each chain, or one line where there is no terminal."""

import contextlib
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

import numpy as np

from temperance.runs.chain import ChainRun
from temperance.runs.levels import temperatures
from temperance.text import counted

MAX_RUNGS = 3  # more would push the chain and its bar out of 80 columns
RECENT = 500  # iterations over which the bar averages


class Display(Protocol):
    """Something that watches chains."""

    def __enter__(self) -> "Display":
        """Begin to watch."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The run is over, in whatever way."""

    def update(self) -> None:
        """Look again."""


def display_for(runs: Sequence[ChainRun], progress: bool) -> Display:
    """The display that suits where the output goes."""
    if not progress:
        return Silent()
    return LiveBars(runs) if _on_a_terminal() else OneLine(runs)


def tell(text: str) -> None:
    """Write to the standard error; a service may have none, or one that nobody reads any more."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _on_a_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


class Silent:
    """Shows nothing."""

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self) -> None:
        """Nothing to do."""


class OneLine(Silent):
    """One line at the end."""

    def __init__(self, runs: Sequence[ChainRun]) -> None:
        self._runs = runs
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        seconds = time.perf_counter() - self._began
        iterations = sum(run.n_done for run in self._runs)
        ended = "finished" if all(run.finished for run in self._runs) else "ended early"
        levels = ", ".join(str(int(run.state.n_levels[0])) for run in self._runs)
        chains = counted(len(self._runs), "chain")
        tell(f"{chains} {ended}: {iterations:,} iterations in {seconds:.1f} s, levels {levels}\n")


class LiveBars(Silent):
    """A bar for each chain, with acceptance, swap rate, levels and temperatures; and one for all of them."""

    def __init__(self, runs: Sequence[ChainRun]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._runs = runs
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
        )
        self._tasks = [
            self._progress.add_task(f"chain {run.index + 1}", total=run.n_in_all, status="") for run in runs
        ]
        in_all = sum(run.n_in_all for run in runs)
        self._all = self._progress.add_task("all", total=in_all, status="", visible=len(runs) > 1)

    def __enter__(self) -> "LiveBars":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.update()
        self._progress.stop()

    def update(self) -> None:
        """Move every bar."""
        for run, task in zip(self._runs, self._tasks, strict=True):
            self._progress.update(task, completed=run.n_done, status=status_line(run))
        self._progress.update(self._all, completed=sum(run.n_done for run in self._runs))


def status_line(run: ChainRun) -> str:
    """Phase, acceptance of jumps or else of walks, swap rate and ladder, over recent iterations."""
    n_done, tune = run.n_done, run.plan.tune
    phase, trace, end = (
        ("tune", run.tuning, n_done) if n_done <= tune else ("draw", run.sampling, n_done - tune)
    )
    if end == 0:
        return "starting" if n_done == 0 else phase
    recent = slice(max(0, end - RECENT), end)
    walks, jumps = trace.walk_accept_prob[recent, 0], trace.base_accept_prob[recent][trace.jump[recent] >= 0]
    move, probs = ("jump", jumps) if len(jumps) else ("walk", walks[~np.isnan(walks)])
    accepted = probs.sum() / max(len(probs), 1)
    swap = trace.swap_accepted[recent].sum() / max(trace.swap_attempts[recent].sum(), 1)
    n_levels = int(run.state.n_levels[0])
    rungs = [f"{value:.3g}" for value in temperatures(run.state.beta[:n_levels])]
    ladder = " ".join(rungs if n_levels <= MAX_RUNGS else [rungs[0], "...", rungs[-1]])
    return f"{phase} {move} {accepted:.2f} swap {swap:.2f} {n_levels} levels T {ladder}"
