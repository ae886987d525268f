"""One chain: its arrays, its blocks, and what it leaves however it ends."""

import math

import numpy as np

from temperance.core.iteration import compiled_loop
from temperance.core.lanes import LANES
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
    Settings,
    State,
    Trace,
)
from temperance.errors import DensityError, RunError, SwapWeightError
from temperance.runs.allocate import cut, new_control, new_info, new_state, new_trace
from temperance.runs.noise import NoiseSource
from temperance.runs.plan import Plan, kernel_settings
from temperance.runs.record import ChainRecord
from temperance.runs.starts import Starts, settle
from temperance.swaps.binding import bind
from temperance.swaps.custom import explain_bad_weight
from temperance.targets import Buffers


class ChainRun:
    """One tempering run of ``plan``. ``failure`` says what ended it early, if a density did."""

    def __init__(self, plan: Plan, index: int, starts: Starts, seed: np.random.SeedSequence) -> None:
        self.plan = plan
        self.index = index
        self.state = new_state(plan)
        self.info = new_info(plan.n_levels, plan.dim)
        self.control = new_control()
        self.failure: RunError | None = None
        keep = plan.keep_levels
        self.tuning = new_trace(plan, plan.tune, adapting=True, keep_levels=False)
        self.sampling = new_trace(plan, plan.draws, adapting=plan.adapts_for_ever, keep_levels=keep)
        state = self.state
        self._swaps = bind(plan.strategy, state.position, state.log_density, state.beta, state.n_levels)
        self._buffers = Buffers(self.info, self.state.n_levels, self.control)
        self._bound = plan.target.bind(self._buffers)
        self._loop = compiled_loop()  # here, since two threads would each compile it
        start_seed, noise_seed = seed.spawn(2)
        self._noise = NoiseSource(noise_seed, plan.n_levels, plan.dim, plan.n_swaps)
        settle(starts, index, np.random.default_rng(start_seed), self._bound, self._buffers)
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
        """Tune, freeze, draw; ends early when stopped or when the density fails."""
        tuning = kernel_settings(self.plan, adapting=True)
        for end in (self.plan.tune // 2, self.plan.tune):
            self._run_phase(self.tuning, tuning, 0, end)
            self._learn_swaps(end)
        if self.n_done == self.plan.tune:
            if not self.plan.adapts_for_ever and self.plan.settings.adaptation.average:
                freeze_averages(self.state, pinned=bool(self.plan.betas[-1] == 0.0))
            drawing = kernel_settings(self.plan, adapting=self.plan.adapts_for_ever)
            self._run_phase(self.sampling, drawing, self.plan.tune, self.plan.tune + self.plan.draws)

    def leave(self) -> ChainRecord:
        """What has been drawn so far, and the parameters reached."""
        n_tuned = min(self.n_done, self.plan.tune)
        live = slice(0, int(self.state.n_levels[0]))
        return ChainRecord(
            tuning=cut(self.tuning, n_tuned),
            sampling=cut(self.sampling, self.n_done - n_tuned),
            beta=self.state.beta[live].copy(),
            log_scale=self.state.log_scale[live].copy(),
            mean=self.state.mean[live].copy(),
            covariance=covariances(self.state),
            n_refused=int(self.state.n_refused[0]),
            bound_hits=self.state.bound_hits.copy(),
            complete=self.finished,
        )

    def _take_start(self) -> None:
        self.state.position[:] = self.info.proposal
        self.state.mean[:] = self.info.proposal
        self.state.log_density[:] = self.info.log_density
        self.state.log_prior[:] = self.info.log_prior

    def _learn_swaps(self, end: int) -> None:
        """Let the strategy learn from the half of tuning that has just ended."""
        learn = self.plan.strategy.learn
        if learn is not None and self.n_done == end > 0:
            seen = self.tuning.log_density[end - max(self.plan.tune // 2, 1) : end]
            self._swaps.view.parameters[:] = learn(seen)

    def _run_phase(self, trace: Trace, settings: Settings, first: int, end: int) -> None:
        """Run on to iteration ``end``, recording from ``first`` on."""
        while self.control[STATUS] == RUNNING and self.n_done < end:
            size = min(self._noise.block_size, end - self.n_done)
            self._run_block(trace, settings, self.n_done - first, size)

    def _run_block(self, trace: Trace, settings: Settings, row: int, n_iterations: int) -> None:
        noise = self._noise.draw(n_iterations, int(self.state.n_levels[0]))
        view, kernel = self._swaps.view, self._swaps.kernel
        chain = Chain(self.state, self.info, view, settings, noise, trace, self.control)
        try:
            self._loop(self._bound.evaluate, self._bound.context, kernel, chain, row, n_iterations)
        except Exception as error:  # noqa: BLE001  whatever the density raised
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
        self.failure = SwapWeightError(
            f"the swap weight {self.plan.strategy.name} {what} in chain {self.index + 1}, iteration "
            f"{self.n_done + 1}; log densities {self.state.log_density[live].tolist()}, inverse temperatures "
            f"{self.state.beta[live].tolist()}, positions {self.state.position[live].tolist()}"
        )
        self.failure.__cause__ = cause

    def _fail(self, what: str, cause: BaseException | None) -> None:
        level = int(self.control[LEVEL])
        self.failure = DensityError(
            f"the log density {self.plan.target.name} {what} in chain {self.index + 1}, level {level + 1}, "
            f"iteration {self.n_done + 1}, at the point {self.info.proposal[level].tolist()}"
            + ("" if cause is not None else "; Settings(bad_density='reject') refuses such points instead")
        )
        self.failure.__cause__ = cause


def freeze_averages(state: State, *, pinned: bool) -> None:
    """Replace scales and temperature gaps by their averages over late tuning, in place."""
    n_averaged = int(state.n_averaged[0])
    if n_averaged == 0:
        return
    n_levels = int(state.n_levels[0])
    state.log_scale[:n_levels] = state.log_scale_sum[:n_levels] / n_averaged
    state.log_gap[:n_levels] = state.log_gap_sum[:n_levels] / n_averaged
    n_free = n_levels - int(pinned)
    state.beta[1:n_free] = 1.0 / (1.0 + np.cumsum(np.exp(state.log_gap[: n_free - 1])))


def covariances(state: State) -> FloatArray:
    """Σ at each live level, multiplied out of its factors, and with what it has yet to take in."""
    dim, gain = state.cov_diag.shape[1], float(state.pending_gain[0])
    below = np.triu_indices(dim, 1)[::-1]  # column by column, as the factor is stored
    levels = []
    for level in range(int(state.n_levels[0])):
        bundle, lane = divmod(level, LANES)
        lower = np.eye(dim)
        lower[below] = state.cov_factor[bundle, :, lane]
        sigma = lower @ np.diag(state.cov_diag[bundle, :, lane]) @ lower.T
        waiting = state.deviation[bundle, :, lane]
        levels.append((1.0 - gain) * sigma + gain * np.outer(waiting, waiting))
    return np.array(levels)


def temperatures(beta: FloatArray) -> list[float]:
    """Temperatures as people read them; infinite where beta is zero."""
    return [math.inf if value == 0.0 else 1.0 / value for value in beta]
