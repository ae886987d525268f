"""What a run with goals has reached, and what ended it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from temperance.results.result import Result

GOALS_MET, UNKNOWN, STOPPED = "goals", "unknown", "stopped"
MIN_DRAWS = 1_000  # a chain; what cannot be computed from these is not going to be
NAMES = {"ess": "ESS", "weight_error": "weight error", "r_hat": "R-hat"}


@dataclass(frozen=True, kw_only=True)
class Reached:
    """Goals and what was found, by name, and what ended the run.

    ``ended_by`` is "goals" where all are met, or else the budget that was spent: "draws", "evaluations" or
    "seconds"; "unknown" where a goal cannot be computed, as of a parameter that never moved; and "stopped"
    where somebody or something ended the run before.
    """

    wanted: Mapping[str, float]
    found: Mapping[str, float]
    draws: int  # a chain
    ended_by: str
    doubts: tuple[str, ...] = ()  # serious warnings, beside which no goal counts as met

    @property
    def met(self) -> bool:
        """Whether all goals are, by draws that no serious warning puts in doubt."""
        return not self.missed and not self.doubts

    @property
    def missed(self) -> tuple[str, ...]:
        """The goals that are not met."""
        return tuple(name for name in self.wanted if not is_met(name, self.found[name], self.wanted[name]))

    def __str__(self) -> str:
        if self.doubts and not self.missed and self.wanted:
            return self._doubted()
        goals = ", ".join(_shown(name, self.found[name], wanted) for name, wanted in self.wanted.items())
        after = f"after {self.draws:,} draws a chain"
        if self.ended_by == GOALS_MET:
            return f"goals: met {after}: {goals}"
        end = {
            UNKNOWN: "what cannot be computed cannot be reached",
            STOPPED: "the run was ended before",
        }.get(self.ended_by, f"the budget of {self.ended_by} is spent")
        word = "none asked for" if not self.wanted else "not met" if self.missed else "met"
        return f"goals: {word} {after}, {end}{': ' if goals else ''}{goals}"

    def _doubted(self) -> str:
        """Numbers that would do, of draws that do not."""
        goals = ", ".join(_shown(name, self.found[name], wanted) for name, wanted in self.wanted.items())
        return (
            f"goals: not met, since the draws are in doubt ({', '.join(self.doubts)}), though after "
            f"{self.draws:,} draws a chain the numbers are as asked for: {goals}"
        )


def reached_of(result: "Result") -> Reached | None:
    """What was reached of the goals of a run, if it has any."""
    until = result.setup.until
    if until is None:
        return None
    wanted = {name: until[name] for name in FIGURES if until[name] is not None}
    found = {name: FIGURES[name](result) for name in wanted}
    n_draws = int(result.draws.shape[1]) * result.chains[0].thin
    ended = result.ended_by if result.complete else STOPPED
    return Reached(wanted=wanted, found=found, draws=n_draws, ended_by=ended, doubts=result.doubts)


def is_met(name: str, found: float, wanted: float) -> bool:
    """Whether a goal is; what is not known is not."""
    return found >= wanted if name == "ess" else found <= wanted


def never_known(found: Mapping[str, float], n_draws: int) -> bool:
    """Whether something cannot be computed that more draws would not help."""
    hopeless = any(math.isnan(found[name]) for name in ("ess", "r_hat") if name in found)
    return hopeless and n_draws >= MIN_DRAWS


def evaluations_of(result: "Result") -> int:
    """How often the log density was asked for, in the tuning and since."""
    return sum(
        int(trace.evaluations.sum()) for chain in result.chains for trace in (chain.tuning, chain.sampling)
    )


def _shown(name: str, found: float, wanted: float) -> str:
    compared = "of" if is_met(name, found, wanted) else "short of" if name == "ess" else "above"
    as_text = "{:,.0f}" if name == "ess" else "{:.4g}"
    return f"{NAMES[name]} {as_text.format(found)} {compared} {as_text.format(wanted)}"


def _smallest_ess(result: "Result") -> float:
    sizes = np.minimum(result.estimates["ess_bulk"], result.estimates["ess_tail"])
    return float(np.min(sizes))  # NaN where any is


def _largest_r_hat(result: "Result") -> float:
    return float(np.max(np.asarray(result.estimates["r_hat"], dtype=np.float64)))


def _largest_weight_error(result: "Result") -> float:
    """One mode has all the weight that there is."""
    return float(np.max(result.modes.weight_error)) if len(result.modes) > 1 else 0.0


FIGURES: Mapping[str, Callable[["Result"], float]] = {
    "ess": _smallest_ess,
    "weight_error": _largest_weight_error,
    "r_hat": _largest_r_hat,
}
