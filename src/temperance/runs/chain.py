"""One chain: its value tied to a density and a strategy in this process, and advanced by segments."""

import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from temperance.core import schema
from temperance.core.iteration import compiled_loop
from temperance.core.scout import Scouts, compiled_scouts
from temperance.core.state import (
    ASKED_TOO_OFTEN,
    BAD_RATIO,
    BAD_WEIGHT,
    CHANGED,
    INFINITE,
    LEVEL,
    NOT_A_NUMBER,
    RAISED,
    RUNNING,
    STATUS,
    STOP,
    STOPPED,
    SWAPPING,
    Chain,
    Explained,
    FloatArray,
    Noise,
    Settings,
    State,
    Trace,
)
from temperance.modes.surprise import explained_by, nothing_explained
from temperance.moves import records_of
from temperance.runs.allocate import cut, new_control, new_info
from temperance.runs.asking import asked
from temperance.runs.averaging import Ladder, take_ladder
from temperance.runs.batching import can_look_ahead, hot_pays
from temperance.runs.candidates import distinct_starts
from temperance.runs.departures import forget_surprises, note_best_start
from temperance.runs.events import for_the_draws, learn, teach
from temperance.runs.failures import density_failure, move_failure, own_failure, swap_failure, thawed_failure
from temperance.runs.foresight import HotPoints, coming_jumps
from temperance.runs.growing import take_change
from temperance.runs.heat import Change, Sight, is_look, looked
from temperance.runs.learn import fit_after
from temperance.runs.learner import Learner
from temperance.runs.leave import LOG_SCALE, record_of
from temperance.runs.lengthen import longer_tune, reason_for_more
from temperance.runs.levels import apparent_scales, freeze_averages
from temperance.runs.noise import noise_for
from temperance.runs.plan import NEVER, Plan, kernel_settings, next_meeting
from temperance.runs.record import ChainRecord
from temperance.runs.schedule import schedule_of
from temperance.runs.seeds import STARTS, keyed
from temperance.runs.snapshot import Snapshot, restored, snapshot
from temperance.runs.starts import Starts, require_gradient, settle
from temperance.runs.state import RunState, first_run_state, stop_after
from temperance.runs.teaching import begun
from temperance.runs.unraisable import heeding, noticed
from temperance.runs.walking import Walks
from temperance.runs.window import WAITING, Rows
from temperance.store.contract import Handed
from temperance.swaps.binding import bind
from temperance.targets import Buffers


class Elsewhere(Protocol):
    """Somebody else who makes segments of a chain."""

    def advance(self, run: "ChainRun", n_iterations: int) -> None:
        """Have so many iterations made, or fewer when something ends it."""


class ChainRun:
    """One tempering run of ``plan``. ``failure`` says what ended it early, if a user's function did.

    ``now`` is its value. The rest is of this process alone: buffers, addresses, compiled code, and the rows
    that were not handed over. Of the draws there is room for a ``window`` of rows, or for all.
    """

    def __init__(
        self,
        plan: Plan,
        index: int,
        starts: Starts | None,
        seed: np.random.SeedSequence,
        *,
        now: RunState | None = None,
        window: int | None = None,
    ) -> None:
        self.plan = plan
        self.index = index
        self.now = first_run_state(plan, seed) if now is None else now
        self.info = new_info(plan)
        self.control = new_control()
        self.failure: BaseException | None = None
        self.abandoned = False  # a call does not return, and nobody waits for it any more
        self.handing_over = threading.Lock()
        self.elsewhere: Elsewhere | None = None  # where its segments are made, if not here
        # Of a point, at the start or when it was last evaluated by itself: seconds, and cores busy meanwhile.
        self.cost = (math.inf, 0.0)
        self.rows = Rows(plan, window)
        self.look_at: int | None = None  # draws after which it is seen whether there are enough
        self._seed = seed
        self._n_rows = 0  # iterations that have a row
        self._knows_hot = True  # whether it pays to find out what hot levels will ask for
        self._foreseen = 0  # iterations of which somebody was told what they will ask for
        self.n_wasted = 0  # evaluations of scouts that were stopped
        state = self.state
        self._swaps = bind(plan.strategy, state.position, state.log_density, state.beta, state.n_levels)
        self._swaps.view.parameters[:] = self.now.swap_parameters
        self._buffers = Buffers(self.info, self.control)
        self._met: list[str] = []  # by scouts, in words
        self._explained: tuple[Learner | None, Explained] = None, nothing_explained(plan.dim)
        self._bound = plan.target.bind(self._buffers)
        self._loop = compiled_loop(*records_of(plan.moves))  # here, since two threads would each compile it
        self._noise = noise_for(plan, self._n_swaps)
        if plan.settings.jumps.enabled:
            kernel = compiled_scouts(*records_of(plan.moves))
            self._walks = Walks(kernel, plan.target, self._bound, self._buffers, self._fail, self._met)
        if starts is not None:
            generator = np.random.default_rng(keyed(seed, STARTS))
            with noticed(), heeding(self.control, self._bound.failures), self._timed(plan.n_levels):
                rejects = plan.settings.bad_density == "reject"
                settle(starts, index, generator, self._bound, self._buffers, rejects_bad=rejects)
            require_gradient(plan.walk, plan.target.name, self._buffers)
            self._take_start()

    @property
    def state(self) -> State:
        """What the loop works on."""
        return self.now.core

    @property
    def tuning(self) -> Trace:
        """The rows of the tuning."""
        return self.rows.tuning

    @property
    def sampling(self) -> Trace:
        """The rows of the draws, or a window of them."""
        return self.rows.window

    @property
    def n_done(self) -> int:
        """Iterations finished, tuning included."""
        return self.now.n_done

    @property
    def n_written(self) -> int:
        """Iterations that have a row; without the last where another thread may be about to write it."""
        return max(self._n_rows, self.n_done - int(self.abandoned))

    @property
    def is_full(self) -> bool:
        """Whether it has to hand over rows before it can go on."""
        return self.n_done >= self.plan.tune + self.rows.end_of_room and not self.finished

    @property
    def n_in_all(self) -> int:
        """Iterations that there are to make."""
        return self.plan.tune + self.plan.draws

    @property
    def n_ahead(self) -> int:
        """Iterations up to the next look at what was reached, or all."""
        return self.n_in_all if self.look_at is None else self.plan.tune + self.look_at

    @property
    def finished(self) -> bool:
        """Whether all iterations were made."""
        return self.n_done == self.n_in_all

    @property
    def running(self) -> bool:
        """Whether nothing has ended the loop early."""
        return bool(self.control[STATUS] == RUNNING)

    @property
    def waits(self) -> bool:
        """Whether it has come to where it meets the other chains."""
        return self.n_done == self.now.next_meeting and not self.is_to_learn

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to do by itself, and nobody asked it to stop."""
        left = not (self.finished or self.waits) or self.something_is_due
        return self.running and self.control[STOP] == 0 and left

    def stop(self) -> None:
        """Ask the loop to end before its next density; any thread may."""
        self.control[STOP] = 1

    def abandon(self) -> None:
        """Nobody waits for the segment that is under way: it may never end."""
        with self.handing_over:
            self.abandoned = True

    def go_on(self) -> None:
        """Forget that it was stopped, so that it can be advanced again."""
        if self.n_wasted:
            self.tuning.evaluations[self.n_done - 1] -= self.n_wasted
            self.n_wasted = 0
        self.control[STOP], self.control[STATUS], self.failure = 0, RUNNING, None

    def end_here(self) -> None:
        """There are enough draws."""
        self.plan, self.look_at = replace(self.plan, draws=self.n_done - self.plan.tune), None

    def run(self) -> None:
        """All of it."""
        self.advance(self.n_in_all)

    def advance(self, n_iterations: int) -> None:
        """Make so many iterations more, or as many as there are or have room; fewer when something ends it.

        Whatever ends it, the value and its streams agree, and no row that was written is lost.
        """
        end = min(self.n_done + n_iterations, self.n_in_all, self.plan.tune + self.rows.end_of_room)
        try:
            if self.elsewhere is not None:
                self.elsewhere.advance(self, end - self.n_done)
                return
            while self.running and (self.something_is_due or (self.n_done < end and not self.waits)):
                if self.is_to_learn:
                    self._learn()
                elif self.n_done >= self.plan.tune and not self.now.frozen:
                    self._freeze()
                else:
                    self._run_block(end)
        except Exception as error:  # noqa: BLE001  whatever it is, the draws must not go with it
            self.control[STATUS] = RAISED
            self.failure = own_failure(self.index, self.n_done, error)

    def tuned(self) -> Trace:
        """The rows of the tuning so far."""
        return cut(self.tuning, self._phases(self.n_done)[0])

    def take(self, value: Snapshot, n_tuned: int, tuning: Trace, sampling: Trace) -> None:
        """The value after a segment made elsewhere, and its rows; those of the tuning after so many."""
        now = restored(RunState, value, "now", {State: records_of(self.plan.moves).state})
        if now.frozen and not self.now.frozen:
            self.rows.fit_levels(int(now.core.n_levels[0]))
        if now.tune != self.plan.tune:
            self.plan = replace(self.plan, tune=now.tune)
            self.rows.lengthen_tuning(self.plan)
        n_drawn = self._phases(self.n_done)[1]
        self.rows.put(n_tuned, tuning, n_drawn, sampling)
        self._n_rows = max(self._n_rows, n_tuned + len(tuning.draws) + n_drawn + len(sampling.draws))
        self.now = now

    def snapshot(self) -> Snapshot:
        """The value and the rows that were not handed over, as arrays by name."""
        rows = self.rows.waiting(*self._phases(self.n_written))
        if self.n_wasted:  # by scouts that will be sent again
            rows[f"{WAITING}.tuning.evaluations"][-1] -= self.n_wasted
        with np.errstate(all="ignore"):  # of levels about which nothing is known yet
            scales = {LOG_SCALE: np.log(apparent_scales(self.plan, self.state))}
        return snapshot(self.now, "now") | rows | scales

    def hand_over(self) -> Handed:
        """Rows that will not change any more, and how to go on after them.

        Scouts count as evaluations of the iteration before them: its row waits until they are back.
        """
        final = self.n_done - int(self.n_done == self.now.next_stop)
        n_drawn = self._phases(self.n_written)[1]  # a row that is made again is the same
        rows = self.rows.hand_over(self._phases(final)[0], n_drawn)
        handed = Handed(rows, self.snapshot())
        self.rows.make_room(self._phases(self.n_done)[1], n_drawn)
        return handed

    def rescue(self) -> Handed:
        """Rows that are final, of a chain that has not ended its segment; it has no value to go on from."""
        return Handed(self.rows.hand_over(*self._phases(max(0, self.n_done - 1))), {})

    def _phases(self, n_iterations: int) -> tuple[int, int]:
        """So many iterations as those of the tuning and those of the draws."""
        n_tuned = min(n_iterations, self.plan.tune)
        return n_tuned, n_iterations - n_tuned

    @classmethod
    def from_snapshot(
        cls,
        plan: Plan,
        index: int,
        seed: np.random.SeedSequence,
        arrays: Snapshot,
        *,
        window: int | None = None,
        tuning: Trace | None = None,
        given: Mapping[str, int] | None = None,
    ) -> "ChainRun":
        """The chain that a snapshot was taken of.

        ``given`` says how many rows had been handed over; those of the tuning have to be given back.
        """
        now = restored(RunState, arrays, "now", {State: records_of(plan.moves).state})
        plan = replace(plan, tune=now.tune)
        run = cls(plan, index, None, seed, now=now, window=window)
        _, n_drawn = run._phases(run.n_done)
        if now.frozen:
            run.rows.fit_levels(int(now.core.n_levels[0]))
        run.rows.take_back({"tuning": 0, "sampling": 0} if given is None else given, tuning, arrays, n_drawn)
        run._n_rows = run.n_done
        return run

    def drawn(self) -> Trace:
        """The draws that are in memory."""
        return self.rows.drawn(self._phases(self.n_written)[1])

    def leave(self, drawn: Trace | None = None) -> ChainRecord:
        """What has been drawn so far, or what was handed over of it, and the parameters reached."""
        n_tuned, _ = self._phases(self.n_written)
        return record_of(
            self.now,
            np.log(apparent_scales(self.plan, self.state)),
            tuning=cut(self.tuning, n_tuned),
            sampling=self.drawn() if drawn is None else drawn,
            complete=self.finished,
            thin=self.plan.thin,
        )

    def evaluate(self, points: FloatArray) -> BaseException | None:
        """Ask the target at these points, the answers being in ``info``; what it raised, if it did."""
        self.info.n_asked[0] = len(points)
        self.info.proposal[: len(points)] = points
        with self._timed(len(points)):
            return asked(self._bound, self._buffers)

    @contextlib.contextmanager
    def _timed(self, n_points: int) -> Iterator[None]:
        began, busy = time.perf_counter(), time.process_time()
        yield
        seconds = time.perf_counter() - began
        self.cost = seconds / n_points, (time.process_time() - busy) / max(seconds, 1e-9)

    @property
    def something_is_due(self) -> bool:
        """Whether there is something to do before the next iteration."""
        ended = self.n_done >= self.plan.tune and not self.now.frozen and not self.waits
        return ended or self.is_to_learn

    @property
    def is_to_learn(self) -> bool:
        """Whether something is learnt, and scouts may be sent, before the next iteration."""
        return self.n_done == self.now.next_stop

    def be_told(self, learner: Learner, ladder: Ladder | None, setbacks: tuple[str, ...]) -> None:
        """What it was told at a meeting of all chains."""
        now = self.now
        meets_again = learner.rounds.is_due
        now.next_meeting = self.n_done if meets_again else next_meeting(self.plan, self.n_done)
        now.learner = replace(learner, next_fit=next_meeting(self.plan, self.n_done))
        now.setbacks += setbacks
        if ladder is not None:
            take_ladder(self.state, ladder, pinned=self.plan.ends_at_prior)
        now.next_stop = stop_after(self.plan, now.learner, self.n_done)

    def lengthen(self, why: str) -> None:
        """Go on tuning, with means over what comes now."""
        self.plan = replace(self.plan, tune=longer_tune(self.plan))
        self.rows.lengthen_tuning(self.plan)
        self.now.tune, self.now.lengthened = self.plan.tune, (*self.now.lengthened, why)
        for total in (self.state.log_scale_sum, self.state.log_gap_sum, self.state.n_averaged):
            total[:] = 0

    def take_change(self, sight: Sight, change: Change) -> None:
        """What was seen of the ladder, and the change that it asks for."""
        take_change(self.plan, self.now, sight, change, self._seed)
        self._noise.n_swaps = self._n_swaps

    @property
    def _n_swaps(self) -> int:
        """Swaps attempted in an iteration."""
        return self.plan.strategy.attempts(self.now.most_levels)

    def _settings(self, *, adapting: bool) -> Settings:
        return kernel_settings(self.plan, adapting=adapting, n_swaps=self._n_swaps)

    def _take_start(self) -> None:
        state, info, live = self.state, self.info, slice(0, self.plan.n_levels)  # there is room for more
        state.position[live] = state.mean[live] = info.proposal[live]
        state.log_density[live] = info.log_density[live]
        state.log_prior[live] = info.log_prior[live]
        log_target = state.log_density[live] + state.log_prior[live]
        note_best_start(state)
        self.now.learner = replace(self.now.learner, starts=distinct_starts(state.position[live], log_target))

    def _run_block(self, end: int) -> None:
        """Iterations up to ``end``, to the next stop, or as many as there are random numbers for."""
        tuning = not self.now.frozen
        settings = self._settings(adapting=tuning or self.plan.adapts_for_ever)
        trace, first = (self.tuning, 0) if tuning else (self.sampling, self.plan.tune + self.rows.first)
        began, rest = self.n_done, self.now.learner.rest_every
        stops = [stop for stop in (self.now.next_stop, self.now.next_meeting) if stop != NEVER]
        stop = min(end, *stops) if tuning else end
        size = min(self._noise.block_size, stop - began)
        if began >= self._foreseen:
            self._foreseen = min(self.plan.tune, *stops) if tuning else self.n_in_all
            self._expect(self._foreseen)
        before = schema.snapshot(self.state) if self._may_stop_halfway else None
        noise = self._noise.draw(self.state, size, first=-began % rest, step=rest)
        chain, bound, kernel = self._chain(settings, noise, trace), self._bound, self._swaps.kernel
        self._guarded(lambda: self._loop(bound.evaluate, bound.context, kernel, chain, began - first, size))
        if before is not None and not settings.adapting:
            self._require_frozen(before, began)
        self._n_rows = max(self._n_rows, self.n_done)
        if before is not None and not self.running and self._stopped_halfway:
            schema.restore(self.state, before)
        elif self.n_done - began < size:
            self._noise.give_back(self.state, self.n_done - began)

    def forget_what_comes(self) -> int:
        """Nobody wants what is evaluated ahead of its time any more; how many points of that there are."""
        return 0 if self._bound.ahead is None else self._bound.ahead.forget()

    def _expect(self, last: int) -> None:
        """Say what will be asked for up to iteration ``last``, as far as that can be known, if it is of use.

        Jumps follow from what was learnt, whatever it is; hot levels when they rest. Of a user's own moves
        nothing is known.
        """
        now, rests = self.now, self.now.learner.rest_every > 1
        if rests and self._bound.ahead is None and self._bound.batches is not None:
            values, tuned = self._bound.batches.values, self.tuned()
            if can_look_ahead(values, tuned, last - self.n_done):
                self._bound.ahead, self._knows_hot = self._bound.batches, hot_pays(values, tuned)
        ahead = self._bound.ahead
        if ahead is None or not (rests or ahead.serves_all_moving):
            return
        jumps = coming_jumps(now, last)
        if now.frozen and rests and self._knows_hot and records_of(self.plan.moves).keep:
            blocks = noise_for(self.plan, self._n_swaps)
            ahead.expect(jumps, HotPoints(now, last, blocks, self._first_hot_points))
        else:
            ahead.expect(jumps)

    def _first_hot_points(self, state: State, noise: Noise) -> FloatArray:
        """What hot levels would ask for from this state, those whose moves ask for one point.

        The loop makes them, and ends before anything is asked.
        """
        info, control = new_info(self.plan), new_control()
        control[STATUS] = STOPPED
        chain = self._chain(self._settings(adapting=False), noise, self.sampling)
        chain = chain._replace(state=state, info=info, control=control)
        self._loop(self._bound.evaluate, self._bound.context, self._swaps.kernel, chain, 0, 1)
        hot = np.arange(1, int(state.n_levels[0]))
        points: FloatArray = info.proposal[hot[chain.schedule.max_evaluations[info.move[hot]] == 1]]
        return points

    @property
    def _may_stop_halfway(self) -> bool:
        """Whether an iteration can fail after levels have moved: in code of a user's, or at a later point."""
        own_code = self.plan.strategy.weight is not None or not records_of(self.plan.moves).keep
        return own_code or self.plan.walk.max_evaluations > 1

    def _require_frozen(self, before: Snapshot, began: int) -> None:
        """What the walk remembers must be what it was; otherwise the block counts as not made."""
        rows = self.plan.walk.rows
        for name in schema.fields(rows) if rows is not None else ():
            if not np.array_equal(getattr(self.state, name), before[name], equal_nan=True):
                first, last = began, self.n_done
                schema.restore(self.state, before)
                self.control[STATUS], self.control[CHANGED] = RAISED, 1
                self.failure = thawed_failure(self.plan.walk, name, self.index, first, last - 1)
                return

    @property
    def _stopped_halfway(self) -> bool:
        return bool(self.control[LEVEL] == SWAPPING or self.control[CHANGED] != 0)

    def _learn(self) -> None:
        """Everything that is learnt after this iteration, or nothing if it is stopped on the way."""
        now, settings = self.now, self._settings(adapting=True)
        spent = int(self.tuning.evaluations[self.n_done - 1])
        self._met.clear()
        if now.learner.rounds.is_due:
            self._make_round(settings, spent)
            return
        walk = functools.partial(self._walk, settings)
        lesson = learn(self.plan, now, self.tuning, self._seed, walk, self._met)
        if not self.running:
            self.n_wasted = int(self.tuning.evaluations[self.n_done - 1]) - spent
            return
        now.swap_parameters, now.coordinate_every = lesson.swap_parameters, lesson.coordinate_every
        now.learner, now.setbacks = lesson.learner, now.setbacks + lesson.setbacks
        forget_surprises(now.core)
        if not self.plan.shares:
            why = reason_for_more(self.plan, [now.learner], [self.tuning], self.n_done)
            if why:
                self.lengthen(why)
                now.learner = replace(now.learner, next_fit=fit_after(now.learner, self.plan, self.n_done))
            if is_look(self.plan, self.n_done):
                self.take_change(*looked(self.plan, [now], [self.tuning]))
            now.learner = begun([now.learner], self.plan, [self.tuning], self.n_done)[0]
        now.next_stop = stop_after(self.plan, now.learner, self.n_done)
        self._swaps.view.parameters[:] = now.swap_parameters

    def _make_round(self, settings: Settings, spent: int) -> None:
        """Its share of a round of proposals, or nothing if it is stopped on the way."""
        now, row = self.now, self.n_done - 1

        def ask(points: FloatArray) -> FloatArray | None:
            values = self._walks.values(points, self.state, settings)
            self.tuning.evaluations[row] += 0 if values is None else len(points)
            return values

        learner, setbacks = teach(self.plan, now, self.tuning, self._seed, ask)
        if not self.running:
            self.n_wasted = int(self.tuning.evaluations[row]) - spent
            return
        now.learner, now.setbacks = learner, now.setbacks + setbacks
        now.next_stop = stop_after(self.plan, learner, self.n_done)

    def _walk(self, settings: Settings, scouts: Scouts) -> bool:
        """One round of scouts; whether they came to its end."""
        if not self.running:
            return False
        before = int(scouts.n_evaluations.sum())
        came_back = self._walks.round(scouts, self.state, settings)
        self.tuning.evaluations[self.n_done - 1] += int(scouts.n_evaluations.sum()) - before
        return came_back

    def _freeze(self) -> None:
        """What was learnt stays as it is from now on, unless adaptation never ends."""
        now = self.now
        if not self.plan.adapts_for_ever and self.plan.settings.adaptation.average:
            freeze_averages(self.state, pinned=self.plan.ends_at_prior)
        for move in () if self.plan.adapts_for_ever else self.plan.moves:
            if move.freeze is not None:
                move.freeze(self.state)
        self.rows.fit_levels(int(self.state.n_levels[0]))
        now.learner, now.refresh, setbacks = for_the_draws(self.plan, now)
        now.setbacks += setbacks
        now.frozen = True

    def _chain(self, settings: Settings, noise: Noise, trace: Trace) -> Chain:
        learner = self.now.learner
        return Chain(
            state=self.state,
            info=self.info,
            swaps=self._swaps.view,
            settings=settings,
            schedule=schedule_of(self.plan, self.now),
            jumps=learner.mixture,
            refresh=self.now.refresh,
            maps=learner.leaps.maps,
            humps=learner.leaps.humps,
            explained=self._explains(),
            noise=noise,
            trace=trace,
            control=self.control,
        )

    def _explains(self) -> Explained:
        """What the known modes explain, made anew when others are known."""
        learner = self.now.learner
        if self._explained[0] is not learner:
            self._explained = learner, explained_by(learner.components, learner.mixture, learner.tail_dof)
        return self._explained[1]

    def _guarded(self, call: Callable[[], int]) -> None:
        """Call compiled code; whatever a user's function did wrong on the way becomes the failure."""
        try:
            with heeding(self.control, self._bound.failures):
                call()
        except BaseException as error:  # noqa: BLE001  whatever the density raised
            self.control[STATUS] = RAISED
            self._fail(error)
        else:
            status = self.control[STATUS]
            if status == RAISED:
                self._fail(self._bound.failures[-1])
            elif status == BAD_WEIGHT:
                self._fail(self._swaps.failures[-1] if self._swaps.failures else None)
            elif status in (NOT_A_NUMBER, INFINITE):
                self._fail(None)
            elif status in (BAD_RATIO, ASKED_TOO_OFTEN):
                moves, state, info = self.plan.moves, self.state, self.info
                self.failure = move_failure(moves, self.index, state, info, self.control)

    def _fail(self, cause: BaseException | None) -> None:
        if self.control[LEVEL] == SWAPPING:
            self.failure = swap_failure(self.plan.strategy, self._swaps, self.index, self.state, cause)
        else:
            density = self.plan.target.name, self._bound
            self.failure = density_failure(density, self.index, self.state, self.info, self.control, cause)
