"""Rules about how the run went: tuning, bounds, chains, interruptions."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.signs import drift
from temperance.results.warnings.warning import ResultWarning, listed

if TYPE_CHECKING:
    from temperance.results.result import Result

BUDGETS = ("draws", "evaluations", "seconds")  # of `temperance.Until`
BOUND_NAMES = ("temperature_gap", "scale", "variance")


def no_draws(result: "Result") -> ResultWarning | None:
    """There is nothing to look at."""
    if result.draws.shape[1]:
        return None
    asked = result.setup.draws
    return ResultWarning(
        name="no draws",
        message="the run ended before its first draw" if asked else "no draws were asked for",
        serious=True,
    )


def still_adapting(result: "Result") -> ResultWarning | None:
    """Scales or temperatures were still moving when the draws began."""
    moving = [k for k, chain in enumerate(result.chains) if drift(chain) > THRESHOLDS.max_drift]
    if result.n_tune and not moving:
        return None
    message = f"in {listed(moving, 'chain')} scales or temperatures still moved" if result.n_tune else ""
    return ResultWarning(
        name="still adapting",
        message=f"{message} when the draws began" if message else "there was no tuning",
        serious=False,
    )


def bound_hit(result: "Result") -> ResultWarning | None:
    """An adapted quantity reached the edge of its compact set."""
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    if not np.any(hits):
        return None
    name, _, _ = bound_in_question(result)
    return ResultWarning(
        name="bound hit",
        message=f"the bound on {name} was hit {int(hits.max())} times; the target may be flat or improper in "
        "some direction",
        serious=False,
    )


def bound_in_question(result: "Result") -> tuple[str, float, float]:
    """The bound that was hit most often, and where it is."""
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    name = BOUND_NAMES[int(np.argmax(hits))]
    low, high = result.setup.settings["bounds"][name]
    return name, float(low), float(high)


def learning_failed(result: "Result") -> ResultWarning | None:
    """Something could not be learnt while tuning."""
    failed = [k for k, chain in enumerate(result.chains) if chain.setbacks]
    if not failed:
        return None
    return ResultWarning(
        name="learning failed",
        message=f"in {listed(failed, 'chain')} something could not be learnt while tuning and stayed as it "
        f"was: {result.chains[failed[-1]].setbacks[-1]}",
        serious=False,
    )


def no_statistics(result: "Result") -> ResultWarning | None:
    """Most of the other rules have nothing to look at."""
    if result.keeps_statistics:
        return None
    return ResultWarning(
        name="no statistics",
        message="only draws were kept, so that the ladder, the swaps and the jumps could not be checked",
        serious=False,
    )


def one_chain(result: "Result") -> ResultWarning | None:
    """Agreement cannot be checked."""
    if result.draws.shape[0] > 1 or not result.draws.size:
        return None
    return ResultWarning(
        name="one chain",
        message="a single chain cannot be compared with another, so a missed mode would not show",
        serious=False,
    )


def goals_missed(result: "Result") -> ResultWarning | None:
    """A budget was spent, or something cannot be computed, before all goals were met."""
    reached = result.reached
    if reached is None or not result.complete or not reached.missed:
        return None
    return ResultWarning(
        name="goals missed",
        message=str(reached).removeprefix("goals: "),
        serious=False,
    )


def incomplete(result: "Result") -> ResultWarning | None:
    """The run was stopped or failed."""
    if result.complete:
        return None
    return ResultWarning(
        name="incomplete run",
        message="the run ended before all draws were made",
        serious=False,
    )
