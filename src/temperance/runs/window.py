"""The rows of one chain that are in memory: all of the tuning, and a window of the draws.

Rows are handed over to the store when they are final. Those that are not, and those that wait for others of
their group, go into snapshots.
"""

from collections.abc import Mapping
from typing import Any

from temperance.core.state import Trace
from temperance.runs.allocate import (
    cut,
    new_trace,
    recorded_columns,
    row_bytes,
    sampled_columns,
    tuning_columns,
)
from temperance.runs.keep import thinned
from temperance.runs.plan import Plan
from temperance.runs.snapshot import Snapshot, restored, snapshot

WINDOW_BYTES = 8 * 2**20
MIN_WINDOW = 256  # rows
WAITING = "waiting"  # in a snapshot: rows that were not handed over
RECENT = 500  # rows that stay for the display, when they were handed over


def window_rows(plan: Plan) -> int:
    """Rows that a window has: enough for a second or two, and for a few groups of which one row is kept."""
    fitting = WINDOW_BYTES // row_bytes(plan, recorded_columns(plan))
    return max(MIN_WINDOW, int(fitting), 4 * plan.thin) + RECENT


class Rows:
    """What a chain has recorded. Iterations of the draws are counted from the first draw on."""

    def __init__(self, plan: Plan, n_rows: int | None) -> None:
        size = plan.draws if n_rows is None else min(n_rows, plan.draws)
        self.tuning = new_trace(plan, plan.tune, tuning_columns(), plan.most_levels)
        self._plan, self._n_levels = plan, plan.n_levels  # in a row of the draws
        # ``first`` is the draw in the first row of the window.
        self._put_window(self._new_window(size), 0)
        self._columns = sampled_columns(plan)
        self._keeps_all = self._columns == recorded_columns(plan)
        self._n_tuned_given = self._n_drawn_given = 0  # handed over

    def lengthen_tuning(self, plan: Plan) -> None:
        """Room for the rows of a tuning that has become longer."""
        self._plan, longer = plan, new_trace(plan, plan.tune, tuning_columns(), plan.most_levels)
        _put(longer, 0, self.tuning)
        self.tuning = longer

    def fit_levels(self, n_levels: int) -> None:
        """Rows of the draws for so many levels, where the ladder has grown; before there are any draws."""
        self._n_levels = max(n_levels, self._plan.n_levels)
        if self.window.log_density.shape[1] != self._n_levels:
            self._put_window(self._new_window(len(self.window.draws)), self.first)

    def _new_window(self, size: int) -> Trace:
        return new_trace(self._plan, size, recorded_columns(self._plan), self._n_levels)

    @property
    def is_whole(self) -> bool:
        """Whether there is room for all draws, and all that is recorded is kept."""
        return len(self.window.draws) == self._plan.draws and self._plan.thin == 1 and self._keeps_all

    @property
    def end_of_room(self) -> int:
        """The first draw for which there is no row."""
        return self.first + len(self.window.draws)

    def drawn(self, n_drawn: int) -> Trace:
        """The draws that are in memory, of so many that were made."""
        return cut(self.window, max(0, n_drawn - self.first))

    def seen(self, n_drawn: int) -> tuple[int, Trace]:
        """Rows of so many draws for another thread to look at, and the draw that they begin with."""
        window, first = self._shown
        return first, cut(window, max(0, n_drawn - first))

    def begin_at(self, n_drawn: int) -> None:
        """The window begins after so many draws, whose rows somebody else has."""
        self._put_window(self.window, n_drawn)

    def since(self, n_tuned: int, n_written: int) -> tuple[Trace, Trace]:
        """Rows of the tuning after so many, and those in the window, up to an iteration."""
        tuned = _between(self.tuning, n_tuned, min(n_written, self._plan.tune))
        return tuned, self.drawn(n_written - self._plan.tune)

    def put(self, n_tuned: int, tuning: Trace, n_drawn: int, sampling: Trace) -> None:
        """Rows that were made elsewhere, after so many of each phase."""
        _put(self.tuning, n_tuned, tuning)
        _put(self.window, n_drawn - self.first, sampling)

    def hand_over(self, n_tuned: int, n_drawn: int) -> dict[str, Trace]:
        """Rows that were not handed over before, up to these; of the draws, what is kept of whole groups."""
        thin = self._plan.thin
        start = self._n_drawn_given
        end = max(start, n_drawn // thin * thin)
        drawn = _between(self.window, start - self.first, end - self.first)
        tuned = _between(self.tuning, self._n_tuned_given, n_tuned)
        self._n_tuned_given, self._n_drawn_given = max(n_tuned, self._n_tuned_given), end
        return {"tuning": tuned, "sampling": thinned(drawn, self._columns, thin)}

    def make_room(self, n_drawn: int, n_written: int) -> None:
        """Go on after so many draws in a new window when this one is filled by half; a whole trace stays."""
        if self.end_of_room >= self._plan.draws or 2 * (n_drawn - self.first) <= len(self.window.draws):
            return
        size = len(self.window.draws)
        keep_from = max(self.first, min(self._n_drawn_given, n_drawn - min(RECENT, size // 4)))
        fresh = self._new_window(size)
        _put(fresh, 0, _between(self.window, keep_from - self.first, n_written - self.first))
        self._put_window(fresh, keep_from)

    def _put_window(self, window: Trace, first: int) -> None:
        self.window, self.first = window, first
        self._shown = window, first  # at once, for other threads

    def waiting(self, n_tuned: int, n_drawn: int) -> Snapshot:
        """Rows that were made and not handed over, as arrays by name."""
        tuned = _between(self.tuning, self._n_tuned_given, n_tuned)
        drawn = _between(self.window, self._n_drawn_given - self.first, n_drawn - self.first)
        return {
            name: array
            for phase, rows in (("tuning", tuned), ("sampling", drawn))
            if len(rows.draws)
            for name, array in snapshot(rows, f"{WAITING}.{phase}").items()
        }

    def take_back(
        self, given: Mapping[str, int], tuning: Trace | None, waiting: Snapshot, n_drawn: int
    ) -> None:
        """Rows as they were: those of the tuning that were handed over, and those that were waiting."""
        self._n_tuned_given = given["tuning"]
        self._n_drawn_given = given["sampling"] * self._plan.thin
        if tuning is not None:
            _put(self.tuning, 0, tuning)
        if f"{WAITING}.tuning.draws" in waiting:
            _put(self.tuning, self._n_tuned_given, restored(Trace, waiting, f"{WAITING}.tuning"))
        self._put_window(self.window, min(self._n_drawn_given, n_drawn))
        if f"{WAITING}.sampling.draws" in waiting:
            rows = restored(Trace, waiting, f"{WAITING}.sampling")
            n_waiting = max(0, n_drawn - self._n_drawn_given)
            _put(self.window, self._n_drawn_given - self.first, cut(rows, n_waiting))


def _between(trace: Trace, start: int, end: int) -> Trace:
    return Trace._make(column[start : max(start, end)] for column in trace)


def _put(trace: Trace, row: int, rows: Trace) -> None:
    """Rows into a trace from a row on, in place; columns that one of them lacks stay as they are."""
    columns: Any = zip(trace, rows, strict=True)
    for column, new in columns:
        if len(column):
            column[row : row + len(new)] = new
