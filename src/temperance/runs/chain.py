"""One chain: its arrays, its blocks, and what it leaves however it ends."""

import math
from collections.abc import Callable

import numpy as np

from temperance.core.iteration import compiled_loop
from temperance.core.lanes import LANES
from temperance.core.scout import compiled_scout
from temperance.core.state import (
    BAD_WEIGHT,
    INFINITE,
    LEVEL,
    NOT_A_NUMBER,
    RAISED,
    RUNNING,
    STATUS,
    STOP,
    SWAPPING,
    Chain,
    FloatArray,
    Mixture,
    Noise,
    Settings,
    State,
    Trace,
)
from temperance.core.unimodal import JUDGED, scale_beside
from temperance.errors import DensityError, RunError, SwapWeightError
from temperance.modes.mixture import from_parts, no_mixture
from temperance.origin import came_from
from temperance.runs.allocate import cut, new_control, new_info, new_state, new_trace
from temperance.runs.learn import ModeLearner
from temperance.runs.noise import NoiseBlocks, first_streams
from temperance.runs.pace import coordinate_every
from temperance.runs.plan import Plan, first_coordinate_every, kernel_settings, unimodal_scale
from temperance.runs.record import ChainRecord
from temperance.runs.seeds import STARTS, keyed
from temperance.runs.starts import Starts, settle
from temperance.swaps.binding import bind
from temperance.swaps.custom import explain_bad_weight
from temperance.targets import Buffers

REFRESH_CHANCE = 0.5  # of a fresh proposal at the hottest level


class ChainRun:
    """One tempering run of ``plan``. ``failure`` says what ended it early, if a user's function did."""

    def __init__(self, plan: Plan, index: int, starts: Starts, seed: np.random.SeedSequence) -> None:
        self.plan = plan
        self.index = index
        self.state = new_state(plan)
        self.info = new_info(plan.n_levels, plan.dim)
        self.control = new_control()
        self.failure: BaseException | None = None
        self._setbacks: list[str] = []
        keep = plan.keep_levels
        self.tuning = new_trace(plan, plan.tune, adapting=True, keep_levels=False)
        self.sampling = new_trace(plan, plan.draws, adapting=plan.adapts_for_ever, keep_levels=keep)
        state = self.state
        self._swaps = bind(plan.strategy, state.position, state.log_density, state.beta, state.n_levels)
        self._buffers = Buffers(self.info, self.control)
        self._bound = plan.target.bind(self._buffers)
        self._loop = compiled_loop()  # here, since two threads would each compile it
        jumps = plan.settings.jumps.enabled
        first_streams(state, seed)
        self._noise = NoiseBlocks(plan.n_levels, plan.dim, plan.n_swaps, jumps=jumps)
        self._learner = ModeLearner(plan, seed)
        self._refresh = no_mixture(plan.dim)
        self._coordinate_every = first_coordinate_every(plan)
        if jumps:
            self._scout = compiled_scout()
        settle(starts, index, np.random.default_rng(keyed(seed, STARTS)), self._bound, self._buffers)
        self._take_start()

    @property
    def n_done(self) -> int:
        """Iterations finished, tuning included."""
        return int(self.state.iteration[0])

    @property
    def finished(self) -> bool:
        """Whether all iterations were made."""
        return self.n_done == self.plan.tune + self.plan.draws

    def stop(self) -> None:
        """Ask the loop to end before its next density; any thread may."""
        self.control[STOP] = 1

    def run(self) -> None:
        """Tune, freeze, draw; ends early when stopped or when something fails, with all that was drawn."""
        try:
            self._tune()
            if self._running:
                self._freeze()
                drawing = self._settings(adapting=self.plan.adapts_for_ever)
                self._run_phase(self.sampling, drawing, self.plan.tune, self.plan.tune + self.plan.draws)
        except Exception as error:  # noqa: BLE001  whatever it is, the draws must not go with it
            self.failure = RunError(
                f"chain {self.index + 1} failed in iteration {self.n_done + 1}: {error!r}"
            )
            self.failure.__cause__ = error

    def _tune(self) -> None:
        while self._running and self.n_done < self.plan.tune:
            settings = self._settings(adapting=True)
            self._run_phase(self.tuning, settings, 0, self._next_stop())
            if self._running:
                self._learn("the swaps", self._learn_swaps)
                self._learn("how often to move one coordinate", self._learn_pace)
                self._learn("modes", lambda: self._learn_modes(settings))  # noqa: B023  called at once

    def leave(self) -> ChainRecord:
        """What has been drawn so far, and the parameters reached."""
        n_tuned = min(self.n_done, self.plan.tune)
        live = slice(0, int(self.state.n_levels[0]))
        return ChainRecord(
            tuning=cut(self.tuning, n_tuned),
            sampling=cut(self.sampling, self.n_done - n_tuned),
            beta=self.state.beta[live].copy(),
            log_scale=np.log(apparent_scales(self.plan, self.state)),
            mean=self.state.mean[live].copy(),
            covariance=covariances(self.state),
            n_refused=int(self.state.n_refused[0]),
            bound_hits=self.state.bound_hits.copy(),
            complete=self.finished,
            modes=self._learner.leave(),
            setbacks=tuple(self._setbacks),
        )

    @property
    def _running(self) -> bool:
        return bool(self.control[STATUS] == RUNNING)

    def _take_start(self) -> None:
        self.state.position[:] = self.info.proposal
        self.state.mean[:] = self.info.proposal
        self.state.log_density[:] = self.info.log_density
        self.state.log_prior[:] = self.info.log_prior

    def _settings(self, *, adapting: bool) -> Settings:
        rest, every = self._learner.rest_every, self._coordinate_every
        return kernel_settings(self.plan, adapting=adapting, rest_every=rest, coordinate_every=every)

    def _next_stop(self) -> int:
        """The next iteration of the tuning after which something is learnt outside the loop."""
        ends = [self.plan.tune // 2, self.plan.tune]
        if self.plan.settings.jumps.enabled:
            ends.append(self._learner.next_stop(self.n_done))
        return min(end for end in ends if end > self.n_done)

    def _learn(self, what: str, learn: Callable[[], None]) -> None:
        """Learn from what was drawn. Where that fails, what was known before stays, and it is noted."""
        known = self._learner.remember()
        try:
            with np.errstate(all="ignore"):
                learn()
        except Exception as error:  # noqa: BLE001  whatever is wrong with what was drawn
            self._learner.go_back(known, self.n_done)
            self._setbacks.append(f"{what}, after iteration {self.n_done}: {error!r}")

    def _learn_swaps(self) -> None:
        """Let the strategy learn from the half of tuning that has just ended."""
        learn, end = self.plan.strategy.learn, self.n_done
        if learn is not None and end in (self.plan.tune // 2, self.plan.tune):
            seen = self.tuning.log_density[end - max(self.plan.tune // 2, 1) : end]
            self._swaps.view.parameters[:] = learn(seen)

    def _learn_pace(self) -> None:
        """At the end of tuning: how often to move a single coordinate from now on."""
        end = self.n_done
        if self.plan.settings.adaptation.coordinate_every is None and end == self.plan.tune:
            self._coordinate_every = coordinate_every(self.tuning, end // 2, end, self._coordinate_every)

    def _learn_modes(self, settings: Settings) -> None:
        """Let the learner look at the states so far, and send out scouts where it knows no mode."""
        if not self.plan.settings.jumps.enabled:
            return
        shape = covariance_of(self.state, 0)
        self._learner.learn(self.tuning, shape, self.n_done)
        evaluated = int(self.tuning.evaluations[: self.n_done].sum())
        for level in self._learner.scout_from(self.state, self.n_done, evaluated):
            if self._running and self._learner.afford_scout(evaluated):
                self._send_scout(level, math.exp(2.0 * self.state.log_scale[0]) * shape, settings)

    def _send_scout(self, level: int, covariance: FloatArray, settings: Settings) -> None:
        scout = self._learner.new_scout(self.state, level, np.linalg.cholesky(covariance).astype(np.float64))
        chain = self._chain(settings, self._noise.draw(self.state, 0), self.tuning)
        bound = self._bound
        for _ in self._learner.rounds(scout):
            self._guarded(lambda: self._scout(bound.evaluate, bound.context, chain, scout))
            self.tuning.evaluations[self.n_done - 1] += len(scout.uniforms)
            if not self._running:
                return

    def _freeze(self) -> None:
        """What was learnt stays as it is from now on, unless adaptation never ends."""
        if not self.plan.adapts_for_ever and self.plan.settings.adaptation.average:
            freeze_averages(self.state, pinned=bool(self.plan.betas[-1] == 0.0))
        n_levels = int(self.state.n_levels[0])
        if self.plan.settings.jumps.enabled:
            self._learn("how often to jump", lambda: self._learner.freeze(n_levels))
        if self.plan.settings.jumps.enabled and self.plan.settings.jumps.refresh and n_levels > 1:
            self._learn("the hottest level", self._learn_refresh)

    def _learn_refresh(self) -> None:
        """A hottest level with one mode gets fresh proposals from what is known of it."""
        scales = apparent_scales(self.plan, self.state)
        if scales[-1] >= unimodal_scale(self.plan):
            self._refresh = own_component(self.state, len(scales) - 1)

    def _run_phase(self, trace: Trace, settings: Settings, first: int, end: int) -> None:
        """Run on to iteration ``end``, recording from ``first`` on."""
        while self._running and self.n_done < end:
            size = min(self._noise.block_size, end - self.n_done)
            self._run_block(trace, settings, self.n_done - first, size)

    def _run_block(self, trace: Trace, settings: Settings, row: int, n_iterations: int) -> None:
        rest, began = settings.rest_every, self.n_done
        noise = self._noise.draw(self.state, n_iterations, first=-began % rest, step=rest)
        chain, bound, kernel = self._chain(settings, noise, trace), self._bound, self._swaps.kernel
        self._guarded(lambda: self._loop(bound.evaluate, bound.context, kernel, chain, row, n_iterations))
        if self.n_done - began < n_iterations:
            self._noise.give_back(self.state, self.n_done - began)

    def _chain(self, settings: Settings, noise: Noise, trace: Trace) -> Chain:
        jumps, refresh = self._learner.mixture, self._refresh
        view = self._swaps.view
        return Chain(self.state, self.info, view, settings, jumps, refresh, noise, trace, self.control)

    def _guarded(self, call: Callable[[], int]) -> None:
        """Call compiled code; whatever a user's function did wrong on the way becomes the failure."""
        try:
            call()
        except BaseException as error:  # noqa: BLE001  whatever the density raised
            self.control[STATUS] = RAISED
            if self.control[LEVEL] == SWAPPING:
                self._fail_swap(error)
            else:
                self._fail("raised an error", error)
        else:
            self._explain_status()

    def _explain_status(self) -> None:
        status, level = self.control[STATUS], self.control[LEVEL]
        if status == RAISED:
            self._fail("raised an error", self._bound.failures[0])
        elif status in (NOT_A_NUMBER, INFINITE):
            value = self.info.log_density[level] + self.info.log_prior[level]
            self._fail(f"is {value}", None)
        elif status == BAD_WEIGHT:
            self._fail_swap(self._swaps.failures[0] if self._swaps.failures else None)

    def _fail_swap(self, cause: BaseException | None) -> None:
        live = slice(0, int(self.state.n_levels[0]))
        what = (
            explain_bad_weight(self.plan.strategy, self._swaps.view) if cause is None else "raised an error"
        )
        failure = SwapWeightError(
            f"the swap weight {self.plan.strategy.name} {what} in chain {self.index + 1}, iteration "
            f"{self.n_done + 1}; log densities {self.state.log_density[live].tolist()}, inverse temperatures "
            f"{self.state.beta[live].tolist()}, positions {self.state.position[live].tolist()}"
            f"{came_from(cause)}"
        )
        self._end_with(failure, cause)

    def _fail(self, what: str, cause: BaseException | None) -> None:
        level = int(self.control[LEVEL])
        cure = "; Settings(bad_density='reject') refuses such points instead"
        failure = DensityError(
            f"the log density {self.plan.target.name} {what} in chain {self.index + 1}, level {level + 1}, "
            f"iteration {self.n_done + 1}, at the point {self.info.proposal[level].tolist()}"
            f"{cure if cause is None else came_from(cause)}"
        )
        self._end_with(failure, cause)

    def _end_with(self, failure: RunError, cause: BaseException | None) -> None:
        """Errors are explained; a SystemExit or a KeyboardInterrupt is none and stays what it is."""
        is_error = cause is None or isinstance(cause, Exception)
        failure.__cause__ = cause
        self.failure = failure if is_error else cause


def freeze_averages(state: State, *, pinned: bool) -> None:
    """Replace scales and temperature gaps by their averages over late tuning, in place."""
    n_levels = int(state.n_levels[0])
    if np.any(state.n_averaged[:n_levels] == 0):
        return
    state.log_scale[:n_levels] = state.log_scale_sum[:n_levels] / state.n_averaged[:n_levels]
    state.log_gap[:n_levels] = state.log_gap_sum[:n_levels] / state.n_averaged[:n_levels]
    n_free = n_levels - int(pinned)
    state.beta[1:n_free] = 1.0 / (1.0 + np.cumsum(np.exp(state.log_gap[: n_free - 1])))


def covariances(state: State) -> FloatArray:
    """Σ at each live level."""
    return np.array([covariance_of(state, level) for level in range(int(state.n_levels[0]))])


def covariance_of(state: State, level: int) -> FloatArray:
    """Σ of one level, multiplied out of its factors, and with the update that it has yet to take in."""
    dim = state.cov_diag.shape[1]
    bundle, lane = divmod(level, LANES)
    lower = np.eye(dim)
    lower[np.triu_indices(dim, 1)[::-1]] = state.cov_factor[bundle, :, lane]  # column by column, as stored
    sigma: FloatArray = lower @ np.diag(state.cov_diag[bundle, :, lane]) @ lower.T
    if not state.update_waits[0]:
        return sigma
    waiting = state.deviation[bundle, :, lane]
    keep, total = state.update_keep[bundle, 0, lane], state.update_total[bundle, 0, lane]
    updated: FloatArray = keep * (sigma + np.outer(waiting, waiting) / total)
    return updated


def apparent_scales(plan: Plan, state: State) -> FloatArray:
    """The scale of each live level beside the covariance of its states, as trimming sees it."""
    robust = plan.settings.adaptation.walk == "robust"
    return np.array(
        [
            scale_beside(state.log_scale[level], state.spread[level, JUDGED], robust)
            for level in range(int(state.n_levels[0]))
        ]
    )


def own_component(state: State, level: int) -> Mixture:
    """A mixture of one: the level itself, as its walk knows it."""
    mixture = from_parts(np.ones(1), state.mean[level : level + 1], covariance_of(state, level)[None])
    mixture.chance[0] = REFRESH_CHANCE
    return mixture


def temperatures(beta: FloatArray) -> list[float]:
    """Temperatures as people read them; infinite where beta is zero."""
    return [math.inf if value == 0.0 else 1.0 / value for value in beta]
