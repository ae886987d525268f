"""What a run should worry its reader about, in words with a cure: one small rule for each."""

from typing import TYPE_CHECKING

from temperance.results.findings.finding import Finding, verdict
from temperance.results.findings.jumping import idle_jumps, unknown_mode
from temperance.results.findings.ladder import dead_edge, few_levels, many_levels, no_round_trips
from temperance.results.findings.mixing import chains_differ, low_ess, missed_mode, never_moved
from temperance.results.findings.running import (
    bound_hit,
    incomplete,
    learning_failed,
    no_draws,
    one_chain,
    still_adapting,
)

if TYPE_CHECKING:
    from temperance.results.result import Result

__all__ = ["RULES", "Finding", "findings", "verdict"]

# In the order in which they are read: what makes the draws wrong first, causes before consequences.
RULES = (
    no_draws,
    never_moved,
    few_levels,
    dead_edge,
    no_round_trips,
    missed_mode,
    unknown_mode,
    chains_differ,
    low_ess,
    idle_jumps,
    still_adapting,
    learning_failed,
    bound_hit,
    many_levels,
    one_chain,
    incomplete,
)


def findings(result: "Result") -> tuple[Finding, ...]:
    """All that the rules find."""
    found = (rule(result) for rule in RULES)
    return tuple(finding for finding in found if finding is not None)
