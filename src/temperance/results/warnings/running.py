"""Rules about how the run went: tuning, bounds, chains, interruptions."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.results.warnings.policy import CURES, THRESHOLDS
from temperance.results.warnings.signs import drift, longer_tuning
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
        cure="a shorter tuning, or more patience" if asked else f"draws={CURES.usual_draws}",
        serious=True,
    )


def still_adapting(result: "Result") -> ResultWarning | None:
    """Scales or temperatures were still moving when the draws began."""
    moving = [k for k, chain in enumerate(result.chains) if drift(chain) > THRESHOLDS.max_drift]
    if result.n_tune and not moving:
        return None
    tune = longer_tuning(result) if result.n_tune else CURES.usual_tune
    message = f"in {listed(moving, 'chain')} scales or temperatures still moved" if result.n_tune else ""
    return ResultWarning(
        name="still adapting",
        message=f"{message} when the draws began" if message else "there was no tuning",
        cure=f"tune={tune}",
        serious=False,
    )


def bound_hit(result: "Result") -> ResultWarning | None:
    """An adapted quantity reached the edge of its compact set."""
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    if not np.any(hits):
        return None
    name = BOUND_NAMES[int(np.argmax(hits))]
    low, high = result.setup.settings["bounds"][name]
    return ResultWarning(
        name="bound hit",
        message=f"the bound on {name} was hit {int(hits.max())} times; the target may be flat or improper in "
        "some direction",
        cure=f"a proper target or fewer levels; if both are as they should be, "
        f"Bounds({name}=({low / CURES.wider_bounds:g}, {high * CURES.wider_bounds:g}))",
        serious=False,
    )


def learning_failed(result: "Result") -> ResultWarning | None:
    """Something could not be learnt while tuning."""
    failed = [k for k, chain in enumerate(result.chains) if chain.setbacks]
    if not failed:
        return None
    return ResultWarning(
        name="learning failed",
        message=f"in {listed(failed, 'chain')} something could not be learnt while tuning and stayed as it "
        f"was: {result.chains[failed[-1]].setbacks[-1]}",
        cure="other units, if parameters or the log density are very large or small; else to mend what the "
        "error names; nothing, if there are no other warnings",
        serious=False,
    )


def no_statistics(result: "Result") -> ResultWarning | None:
    """Most of the other rules have nothing to look at."""
    if result.keeps_statistics:
        return None
    return ResultWarning(
        name="no statistics",
        message="only draws were kept, so that the ladder, the swaps and the jumps could not be checked",
        cure="a shorter run with keep=('draws', 'statistics') first, to see whether all is well",
        serious=False,
    )


def one_chain(result: "Result") -> ResultWarning | None:
    """Agreement cannot be checked."""
    if result.draws.shape[0] > 1 or not result.draws.size:
        return None
    return ResultWarning(
        name="one chain",
        message="a single chain cannot be compared with another, so a missed mode would not show",
        cure=f"chains={CURES.usual_chains}, started far apart",
        serious=False,
    )


def goals_missed(result: "Result") -> ResultWarning | None:
    """A budget was spent, or something cannot be computed, before all goals were met."""
    reached = result.reached
    if reached is None or not result.complete or not reached.missed:
        return None
    spent = reached.ended_by in BUDGETS
    larger = f"a larger budget, Until({reached.ended_by}=...), or a goal within it" if spent else ""
    return ResultWarning(
        name="goals missed",
        message=str(reached).removeprefix("goals: "),
        cure=larger or "the cures of the other warnings: more draws do not help",
        serious=False,
    )


def incomplete(result: "Result") -> ResultWarning | None:
    """The run was stopped or failed."""
    if result.complete:
        return None
    return ResultWarning(
        name="incomplete run",
        message="the run ended before all draws were made",
        cure=f"temperance resume {result.folder} MODULE:MODEL, or temperance.resume({result.folder!r}, model)"
        if result.folder
        else "the same call again, with store= so that it can be resumed",
        serious=False,
    )
