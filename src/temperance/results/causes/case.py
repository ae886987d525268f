"""A run with its warnings, as the rules about causes look at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import measure
from temperance.results.causes.policy import LIMITS
from temperance.results.warnings import signs
from temperance.results.warnings.ladder import all_dropped
from temperance.results.warnings.policy import CURES, THRESHOLDS
from temperance.results.warnings.warning import ResultWarning, round_up

if TYPE_CHECKING:
    from temperance.results.result import Result


@dataclass(frozen=True, eq=False)
class Case:
    """What is known, and the numbers that all advice of a run has in common."""

    result: "Result"
    found: Sequence[ResultWarning]

    @cached_property
    def names(self) -> frozenset[str]:
        """Of all warnings."""
        return frozenset(one.name for one in self.found)

    @cached_property
    def serious(self) -> frozenset[str]:
        """Of those that put the draws in doubt."""
        return frozenset(one.name for one in self.found if one.serious)

    @cached_property
    def usual_tune(self) -> int:
        """What a run of this dimension is tuned for by default."""
        return max(LIMITS.usual_tune, LIMITS.tune_per_dim * self.result.dim)

    @cached_property
    def tune(self) -> int:
        """Tuning iterations to try, the same in all advice; zero where more would be more of the same."""
        before, most = self.result.n_tune, LIMITS.longest_tune * self.usual_tune
        if before >= most:
            return 0
        return min(round_up(max(CURES.longer_tuning * before, self.usual_tune)), most)

    @property
    def is_short(self) -> bool:
        """Whether the tuning was shorter than is usual in so many dimensions."""
        return self.result.n_tune < self.usual_tune

    @property
    def longer(self) -> str:
        """Longer tuning in words, before something else; nothing where it was long enough."""
        return f"tune={self.tune}, and " if self.tune else ""

    @property
    def longer_change(self) -> dict[str, int]:
        """The same as a change."""
        return {"tune": self.tune} if self.tune else {}

    @cached_property
    def draws_needed(self) -> float:
        """Times as many draws as would give the effective sample size wanted."""
        size, _ = signs.worst_ess(self.result)
        wanted: float = THRESHOLDS.min_ess * self.result.draws.shape[0]
        return wanted / max(size, 1.0)

    @cached_property
    def draws(self) -> int:
        """Draws to try, the same in all advice."""
        n_draws = self.result.draws.shape[1] * self.result.chains[0].thin
        factor = CURES.more_draws if not self.draws_needed > 1.0 else CURES.spare * self.draws_needed
        factor = min(factor, LIMITS.most_draws)
        few = "unknown accuracy" in self.names
        return max(round_up(factor * n_draws), CURES.usual_draws if few else 0)

    @cached_property
    def has_prior(self) -> bool:
        """Whether a part of the target is not tempered."""
        return any(
            np.any(chain.tuning.log_prior) or np.any(chain.sampling.log_prior) for chain in self.result.chains
        )

    @cached_property
    def hottest(self) -> float:
        """The hottest temperature below infinity."""
        ladders = [ladder[np.isfinite(ladder)] for ladder in self.result.temperatures]
        return float(max(ladder[-1] for ladder in ladders))

    @property
    def proper_below(self) -> float:
        """The temperature from which on the density has no integral, by what the preflight saw; infinite."""
        tail = self.result.setup.preflight.get("tail")
        return np.inf if tail is None or self.has_prior else float(tail) / self.result.dim

    @cached_property
    def modes_are_mixed(self) -> bool:
        """Whether each chain came into each mode of some weight again and again."""
        modes = self.result.modes
        if len(modes) < 2:
            return True
        heavy = modes.draw_weight >= THRESHOLDS.missed_share
        return bool(np.all(modes.visits[:, heavy] >= LIMITS.few_visits))

    @cached_property
    def jumps_are_off(self) -> bool:
        """Whether the user switched them off."""
        jumps = self.result.setup.settings.get("jumps", {})
        return not jumps.get("enabled", True)

    @cached_property
    def moving(self) -> list[int]:
        """Chains whose scales or temperatures had not settled."""
        chains = self.result.chains
        return [k for k, chain in enumerate(chains) if signs.drift(chain) > THRESHOLDS.max_drift]

    @property
    def only_one_mode(self) -> bool:
        """Whether all levels that may go have gone."""
        return all_dropped(self.result)

    @cached_property
    def base_walk(self) -> float:
        """Acceptance of the walk of the base level, the lowest of all chains; NaN while unknown."""
        rates: FloatArray = np.array([measure.walk_acceptance(chain)[:1] for chain in self.result.kept])
        return float(np.nanmin(rates)) if rates.size and not np.all(np.isnan(rates)) else float("nan")
