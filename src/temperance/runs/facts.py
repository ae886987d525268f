"""Where a run stands, as data: what all displays show and a callback gets."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from temperance.core.state import FloatArray, ProbArray
from temperance.runs.chain import ChainRun
from temperance.runs.levels import temperatures
from temperance.runs.sketch import Sketch, together
from temperance.runs.window import RECENT

ESS_SECONDS = 2.0  # between estimates
LARGEST_SHARE = 0.005  # of the time, for them
Ess = Callable[[FloatArray], float]  # of draws (chain, draw, dim)


@dataclass(frozen=True, kw_only=True)
class ChainProgress:
    """One chain: iterations done and wanted, its phase, and rates over recent iterations."""

    phase: str  # "starting", "tune" or "draw"
    done: int
    wanted: int
    levels: int
    temperatures: tuple[float, ...]
    walk_acceptance: float  # of the base level; NaN while unknown
    jump_acceptance: float
    swap_acceptance: float


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A run: seconds since it began, draws and iterations of all chains, speed, and what is to come."""

    seconds: float
    draws: int
    draws_wanted: int
    iterations: int  # tuning included
    iterations_wanted: int
    rate: float  # iterations a second
    seconds_left: float  # infinite while unknown
    ess: float  # smallest bulk ESS of a coordinate so far, from a few thousand draws; NaN while unknown
    chains: tuple[ChainProgress, ...]


def progress_from(facts: Mapping[str, Any]) -> Progress:
    """The progress that ``dataclasses.asdict`` made plain values of."""
    chains = tuple(
        ChainProgress(**{**chain, "temperatures": tuple(chain["temperatures"])}) for chain in facts["chains"]
    )
    return Progress(**{**facts, "chains": chains})


class Observer:
    """Makes such facts of chains that are running in other threads."""

    def __init__(self, runs: Sequence[ChainRun], ess: Ess) -> None:
        self.runs = runs
        self._ess = ess
        self._sketches = [Sketch(run.plan.dim) for run in runs]
        self._began = time.perf_counter()
        self._first = sum(run.n_done for run in runs)
        self._ess_known, self._ess_due = math.nan, 0.0

    def look(self, *, last: bool = False) -> Progress:
        """The facts of now. The last time, what is costly is found anew, too."""
        self._ess_due = 0.0 if last else self._ess_due
        runs, seconds = self.runs, time.perf_counter() - self._began
        done = sum(run.n_done for run in runs)
        wanted = sum(run.n_ahead for run in runs)
        rate = (done - self._first) / max(seconds, 1e-9)
        return Progress(
            seconds=seconds,
            draws=sum(max(0, run.n_done - run.plan.tune) for run in runs),
            draws_wanted=sum(run.n_ahead - run.plan.tune for run in runs),
            iterations=done,
            iterations_wanted=wanted,
            rate=rate,
            seconds_left=(wanted - done) / rate if rate > 0.0 else math.inf,
            ess=self._ess_so_far(),
            chains=tuple(chain_progress(run) for run in runs),
        )

    def _ess_so_far(self) -> float:
        """Found anew when it is time: no more than a small share of the time goes into it."""
        began = time.perf_counter()
        if began >= self._ess_due:
            self._ess_known = self._estimate()
            cost = time.perf_counter() - began
            self._ess_due = time.perf_counter() + max(ESS_SECONDS, cost / LARGEST_SHARE)
        return self._ess_known

    def _estimate(self) -> float:
        for run, sketch in zip(self.runs, self._sketches, strict=True):
            first, rows = run.rows.seen(run.n_done - run.plan.tune - 1)  # the last may be half written
            sketch.add(rows.draws, first)
        return self._ess(together(self._sketches))


def chain_progress(run: ChainRun) -> ChainProgress:
    """One chain, over its recent iterations."""
    n_done, tune = run.n_done, run.plan.tune
    first, drawn = run.rows.seen(n_done - tune)
    trace, end = (run.tuning, n_done) if n_done <= tune else (drawn, n_done - tune - first)
    recent = slice(max(0, end - RECENT), max(0, end))
    n_levels = int(run.state.n_levels[0])
    attempts = trace.swap_attempts[recent].sum()
    return ChainProgress(
        phase="starting" if n_done == 0 else "tune" if n_done <= tune else "draw",
        done=n_done,
        wanted=run.n_ahead,
        levels=n_levels,
        temperatures=tuple(temperatures(run.state.beta[:n_levels])),
        walk_acceptance=_mean_of_known(trace.walk_accept_prob[recent, 0]),
        jump_acceptance=_mean_of_known(trace.base_accept_prob[recent][trace.jump[recent] >= 0]),
        swap_acceptance=float(trace.swap_accepted[recent].sum() / attempts) if attempts else math.nan,
    )


def _mean_of_known(probs: ProbArray) -> float:
    known = probs[~np.isnan(probs)]
    return float(known.mean()) if len(known) else math.nan
