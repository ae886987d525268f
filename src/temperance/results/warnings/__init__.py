"""What a run should worry its reader about, in words: one small rule for each."""

from typing import TYPE_CHECKING

from temperance.results.warnings.density import does_not_fall_off, lost_mode, not_repeatable, rounding
from temperance.results.warnings.jumping import idle_jumps, unknown_mode
from temperance.results.warnings.ladder import (
    dead_edge,
    endless_heat,
    few_levels,
    many_levels,
    no_round_trips,
)
from temperance.results.warnings.mixing import chains_differ, low_ess, missed_mode
from temperance.results.warnings.moving import hardly_moved, never_moved, stuck_chain, unknown_accuracy
from temperance.results.warnings.running import (
    bound_hit,
    goals_missed,
    incomplete,
    learning_failed,
    no_draws,
    no_statistics,
    one_chain,
    still_adapting,
)
from temperance.results.warnings.warning import ResultWarning, verdict

if TYPE_CHECKING:
    from temperance.results.result import Result

__all__ = ["RULES", "ResultWarning", "found_in", "goals_missed", "verdict"]

# In the order in which they are read: what makes the draws wrong first, causes before consequences.
RULES = (
    no_draws,
    not_repeatable,
    does_not_fall_off,
    rounding,
    never_moved,
    hardly_moved,
    stuck_chain,
    few_levels,
    dead_edge,
    no_round_trips,
    lost_mode,
    missed_mode,
    unknown_mode,
    unknown_accuracy,
    chains_differ,
    low_ess,
    idle_jumps,
    still_adapting,
    learning_failed,
    endless_heat,
    bound_hit,
    many_levels,
    no_statistics,
    one_chain,
    incomplete,
    goals_missed,
)


def found_in(result: "Result") -> tuple[ResultWarning, ...]:
    """All that the rules find, but whether goals were missed: that rests on what the others find."""
    found = (rule(result) for rule in RULES if rule is not goals_missed)
    return tuple(warning for warning in found if warning is not None)
