"""Whether a vectorised density of this process is asked for points to come together with those that are needed.

What is measured decides whether it is, and never changes a draw: that rows stand alone is seen first.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from temperance.core.state import FloatArray
from temperance.runs.asking import RowsOf
from temperance.runs.chain import ChainRun
from temperance.runs.plan import Plan
from temperance.targets.answers import Answer
from temperance.targets.batches import ROWS
from temperance.targets.rows import looked_at, near

LEAST_DRAWS = 2_000  # of all chains: to look at rows takes some seventy calls
TURNS = 3  # the best of so many calls counts; the first may compile
SECONDS = 0.1  # that a call may take which looks ahead, as a stop waits for it; or twice that of one row
WORTH = 1e-5  # seconds that a jump must gain, beside what it takes to know it: some microseconds
WORTH_HOT = 3e-4  # seconds of a call, above which it pays to find out what hot levels will ask for

Ask = Callable[[FloatArray], Answer]


def look_at_batches(plan: Plan, runs: Sequence[ChainRun]) -> None:
    """Have all chains look ahead if their rows stand alone and it pays."""
    n_left = sum(min(plan.draws, run.n_in_all - run.n_done) for run in runs)
    if not runs[0].has_batches or plan.adapts_for_ever or not plan.settings.jumps.enabled:
        return
    if n_left < LEAST_DRAWS:
        return
    target, state = plan.target, runs[0].state
    rows_of, starts = RowsOf(getattr(target, "bare", target)), state.position[: int(state.n_levels[0])]
    one, many = measured(lambda points: rows_of((points, False)), starts)
    if not pays(one, many):
        return
    if looked_at(lambda points: at_once(rows_of((points, False))), starts, 0.0, None).stand_alone:
        for run in runs:
            run.look_ahead(hot=one >= WORTH_HOT)


def measured(ask: Ask, starts: FloatArray) -> tuple[float, float]:
    """Seconds of a call with one row, and of one that looks ahead."""
    points = near(starts, ROWS)
    one, many = (min(ask(points[:n]).seconds for _ in range(TURNS)) for n in (1, ROWS))
    return one, many


def pays(one: float, many: float) -> bool:
    """Whether a row in a call that looks ahead takes less than a call of its own, and nobody waits for long."""
    return one - many / ROWS >= WORTH and many <= max(SECONDS, 2.0 * one)


def at_once(answer: Answer) -> "Future[Answer]":
    """An answer that is there."""
    future: Future[Answer] = Future()
    future.set_result(answer)
    return future
