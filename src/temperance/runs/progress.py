"""How a run shows itself: live bars, lines of a log, or facts for a function of the user's."""

import contextlib
import logging
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from temperance.errors import InvalidTypeError
from temperance.runs.chain import ChainRun
from temperance.runs.facts import ChainProgress, Ess, Observer, Progress, chain_progress
from temperance.text import counted, duration

MAX_RUNGS = 3  # more would push the chain and its bar out of 80 columns
CALL_SECONDS = 1.0  # between calls of a function
# Between lines of a log: the first comes soon, and the longer a run, the fewer there are.
FIRST_LINE, LINE_GROWTH, LAST_LINE = 10.0, 1.5, 60.0
LOGGER = logging.getLogger("temperance")


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


@dataclass(frozen=True)
class Watcher:
    """How a run is to show itself: ``progress`` as the user gave it, and how the ESS is found."""

    progress: Any
    ess: Ess

    @property
    def shows(self) -> bool:
        """Whether anything is written for people."""
        return self.progress is True or self.progress == "log"

    def display(self, runs: Sequence[ChainRun]) -> Display:
        """The display that suits where the output goes."""
        if self.progress is False:
            return Silent()
        observer = Observer(runs, self.ess)
        if callable(self.progress):
            return Called(observer, self.progress)
        if self.progress is True and _in_a_notebook():
            return NotebookBar(observer)
        return LiveBars(runs) if self.progress is True and _on_a_terminal() else LogLines(observer)


def watcher(progress: Any, ess: Ess) -> Watcher:
    """What was asked for, checked."""
    if progress is True or progress is False or progress == "log" or callable(progress):
        return Watcher(progress, ess)
    raise InvalidTypeError(
        f"progress must be True, False, 'log' or a function of a temperance.Progress, got "
        f"{type(progress).__name__}: {progress!r}"
    )


def tell(text: str) -> None:
    """Write to the standard error; a service may have none, or one that nobody reads any more."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def log(line: str) -> None:
    """A line through ``logging`` where that is set up to take it, and else to the standard error."""
    if LOGGER.isEnabledFor(logging.INFO) and LOGGER.hasHandlers():
        LOGGER.info(line)
    else:
        tell(f"{time.strftime('%H:%M:%S')} {line}\n")


def _on_a_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _in_a_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Silent:
    """Shows nothing."""

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self) -> None:
        """Nothing to do."""


class Called(Silent):
    """Calls a function of the user's every so often, and at the end."""

    def __init__(self, observer: Observer, function: Callable[[Progress], Any]) -> None:
        self._observer, self._function = observer, function
        self._called = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._function(self._observer.look(last=True))

    def update(self) -> None:
        """Call it, if it is time."""
        if time.monotonic() - self._called >= CALL_SECONDS:
            self._function(self._observer.look())
            self._called = time.monotonic()


class LogLines(Silent):
    """A line now and then, and one at the end."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._pause = FIRST_LINE
        self._next = time.monotonic() + self._pause

    def __exit__(self, *_: object) -> None:
        runs, facts = self._observer.runs, self._observer.look()
        ended = "finished" if all(run.finished for run in runs) else "ended early"
        levels = ", ".join(str(chain.levels) for chain in facts.chains)
        log(
            f"{counted(len(runs), 'chain')} {ended}: {facts.iterations:,} iterations in "
            f"{facts.seconds:.1f} s, levels {levels}"
        )

    def update(self) -> None:
        """Write a line, if it is time."""
        if time.monotonic() >= self._next:
            log(line(self._observer.look()))
            self._pause = min(LAST_LINE, self._pause * LINE_GROWTH)
            self._next = time.monotonic() + self._pause


def line(facts: Progress) -> str:
    """The facts in one line."""
    chains = facts.chains
    parts = [
        f"{duration(facts.seconds)}",
        f"{facts.draws:,} of {facts.draws_wanted:,} draws",
        f"{facts.iterations / max(facts.iterations_wanted, 1):.0%} of all iterations",
        f"{facts.rate:,.0f}/s",
        f"{duration(facts.seconds_left)} left",
        f"levels {' '.join(str(chain.levels) for chain in chains)}",
        f"accepted {' '.join(rate_of(chain)[1] for chain in chains)}",
        f"swaps {' '.join(_rate(chain.swap_acceptance) for chain in chains)}",
    ]
    return ", ".join([*parts, f"ESS {facts.ess:,.0f}"] if math.isfinite(facts.ess) else parts)


def rate_of(chain: ChainProgress) -> tuple[str, str]:
    """Which move the base level makes most of its way with, and how often that is accepted."""
    jumps = not math.isnan(chain.jump_acceptance)
    return ("jump", _rate(chain.jump_acceptance)) if jumps else ("walk", _rate(chain.walk_acceptance))


def _rate(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


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
            self._progress.add_task(f"chain {run.index + 1}", total=run.n_ahead, status="") for run in runs
        ]
        in_all = sum(run.n_ahead for run in runs)
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
            status = status_line(chain_progress(run))
            self._progress.update(task, completed=run.n_done, total=run.n_ahead, status=status)
        done, total = sum(run.n_done for run in self._runs), sum(run.n_ahead for run in self._runs)
        self._progress.update(self._all, completed=done, total=total)


def status_line(chain: ChainProgress) -> str:
    """Phase, acceptance of jumps or else of walks, swap rate and ladder, over recent iterations."""
    if chain.phase == "starting":
        return chain.phase
    move, accepted = rate_of(chain)
    rungs = [f"{value:.3g}" for value in chain.temperatures]
    ladder = " ".join(rungs if chain.levels <= MAX_RUNGS else [rungs[0], "...", rungs[-1]])
    swap = _rate(chain.swap_acceptance)
    return f"{chain.phase} {move} {accepted} swap {swap} {chain.levels} levels T {ladder}"


class NotebookBar(Silent):
    """One bar and one line in the cell's output, renewed in place; needs nothing but IPython."""

    def __init__(self, observer: Observer) -> None:
        from IPython.display import HTML, display

        self._observer, self._html = observer, HTML
        self._handle: Any = display(HTML(""), display_id=True)
        self._shown = 0.0

    def __exit__(self, *_: object) -> None:
        self._show(last=True)

    def update(self) -> None:
        """Renew it, a few times a second."""
        if time.monotonic() - self._shown >= CALL_SECONDS / 2.0:
            self._show()

    def _show(self, *, last: bool = False) -> None:
        facts, self._shown = self._observer.look(last=last), time.monotonic()
        bar = f'<progress value="{facts.iterations}" max="{facts.iterations_wanted}"></progress>'
        self._handle.update(self._html(f"{bar} {line(facts)}"))
