"""Rules about how the run went: tuning, bounds, chains, interruptions."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.results.findings.evidence import MAX_DRIFT, USUAL_DRAWS, drift
from temperance.results.findings.finding import Finding, listed, round_up

if TYPE_CHECKING:
    from temperance.results.result import Result

BOUND_NAMES = ("temperature_gap", "scale", "variance")
LONGER = 2  # times as much tuning
USUAL_TUNE = 5_000
USUAL_CHAINS = 4


def no_draws(result: "Result") -> Finding | None:
    """There is nothing to look at."""
    if result.draws.shape[1]:
        return None
    asked = result.setup.draws
    return Finding(
        name="no draws",
        message="the run ended before its first draw" if asked else "no draws were asked for",
        cure="a shorter tuning, or more patience" if asked else f"draws={USUAL_DRAWS}",
        serious=True,
    )


def still_adapting(result: "Result") -> Finding | None:
    """Scales or temperatures were still moving when the draws began."""
    moving = [k for k, chain in enumerate(result.chains) if drift(chain) > MAX_DRIFT]
    if result.n_tune and not moving:
        return None
    tune = round_up(LONGER * result.n_tune) if result.n_tune else USUAL_TUNE
    message = f"in {listed(moving, 'chain')} scales or temperatures still moved" if result.n_tune else ""
    return Finding(
        name="still adapting",
        message=f"{message} when the draws began" if message else "there was no tuning",
        cure=f"tune={tune}",
        serious=False,
    )


def bound_hit(result: "Result") -> Finding | None:
    """An adapted quantity reached the edge of its compact set."""
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    if not np.any(hits):
        return None
    name = BOUND_NAMES[int(np.argmax(hits))]
    low, high = result.setup.settings["bounds"][name]
    return Finding(
        name="bound hit",
        message=f"the bound on {name} was hit {int(hits.max())} times; the target may be flat or improper in "
        "some direction",
        cure=f"a proper target or fewer levels; if both are as they should be, "
        f"Bounds({name}=({low / 10:g}, {high * 10:g}))",
        serious=False,
    )


def learning_failed(result: "Result") -> Finding | None:
    """Something could not be learnt while tuning."""
    failed = [k for k, chain in enumerate(result.chains) if chain.setbacks]
    if not failed:
        return None
    return Finding(
        name="learning failed",
        message=f"in {listed(failed, 'chain')} something could not be learnt while tuning and stayed as it "
        f"was: {result.chains[failed[-1]].setbacks[-1]}",
        cure="other units, if parameters or the log density are very large or small; else to mend what the "
        "error names; nothing, if there are no other warnings",
        serious=False,
    )


def one_chain(result: "Result") -> Finding | None:
    """Agreement cannot be checked."""
    if result.draws.shape[0] > 1 or not result.draws.size:
        return None
    return Finding(
        name="one chain",
        message="a single chain cannot be compared with another, so a missed mode would not show",
        cure=f"chains={USUAL_CHAINS}, started far apart",
        serious=False,
    )


def incomplete(result: "Result") -> Finding | None:
    """The run was stopped or failed."""
    if result.complete:
        return None
    return Finding(
        name="incomplete run",
        message="the run ended before all draws were made",
        cure="the same call again",
        serious=False,
    )
