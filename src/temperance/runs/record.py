"""What one chain leaves behind, and how the run was set up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from temperance.core.state import FloatArray, IntArray, Trace
from temperance.modes.learnt import LearntModes


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays have no single answer to ==
class ChainRecord:
    """One chain's traces, and the parameters it ended with (one row for each level left)."""

    tuning: Trace
    sampling: Trace
    beta: FloatArray
    log_scale: FloatArray  # beside the covariance of the level's states; of a robust walk it is computed
    mean: FloatArray
    covariance: FloatArray  # what proposals are shaped by: of a robust walk, that within a mode
    n_bad_density: int  # proposals rejected for a NaN or +inf log density
    bound_hits: IntArray
    complete: bool
    modes: LearntModes | None = None
    setbacks: tuple[str, ...] = ()  # what could not be learnt, when and why; it stayed as it was before
    lengthened: tuple[str, ...] = ()  # why the tuning became longer than planned, each time
    ladder: tuple[str, ...] = ()  # how it changed for other reasons than trimming, each time
    ran_off: tuple[str, ...] = ()  # levels that had no end to go to, at the last looks in a row
    thin: int = 1  # draws that were made for each that was kept
    # The draws after tuning in the terms of a model with ``constrain``, by name.
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    # Likewise of the jumps that were proposed in the support; NaN in the rows of all other draws.
    proposal_values: Mapping[str, FloatArray] = field(default_factory=dict)
    # Makes those of all levels, (draw, level, value), where a model shows its parameters.
    level_points: Callable[[], FloatArray] | None = None

    @property
    def n_draws(self) -> int:
        """How many draws are kept."""
        known: Any = self.sampling
        return int(known.n_rows) if hasattr(known, "n_rows") else len(known.draws)  # without reading them


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """What was asked for, as far as those who read the results need it: plain numbers and words."""

    draws: int
    adapts_always: bool
    walk_acceptance: float
    swap_acceptance: float
    unimodal_scale: float  # the scale at which trimming takes a level for unimodal
    min_levels: int
    settings: Mapping[str, Any] = field(repr=False)
    versions: Mapping[str, str] = field(repr=False)
    n_preflight: int = 0  # evaluations before the run, which no chain counts
    preflight: Mapping[str, float] = field(default_factory=dict)  # what they showed; see `runs.preflight`
    n_starts: int = 0  # different points from which chains and levels started; 0 if unknown
    unimodal: bool = False  # whether the user said so
    search: str = ""  # where climbs started: "bounds", "draw", "points", "prior"; nothing without a search
    until: Mapping[str, Any] | None = None  # goals and budgets, of a run that had any
    priors: Mapping[str, str] = field(default_factory=dict, repr=False)  # of the parameters, in words
