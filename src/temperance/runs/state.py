"""A chain as a value: everything that its next iteration depends on, beside the plan and the seed."""

from dataclasses import dataclass

import numpy as np

from temperance.core.state import FloatArray, Mixture, State
from temperance.modes.mixture import no_mixture
from temperance.runs.allocate import new_state
from temperance.runs.learn import next_stop
from temperance.runs.learner import Learner, first_learner
from temperance.runs.noise import first_streams
from temperance.runs.plan import NEVER, Plan, first_coordinate_every, looks, next_meeting


@dataclass
class RunState:
    """Arrays and plain numbers, which `snapshot` and `restored` turn into arrays by name and back."""

    core: State
    learner: Learner
    refresh: Mixture  # what the hottest level draws fresh proposals from
    swap_parameters: FloatArray  # of the strategy, as far as they are learnt
    coordinate_every: int  # one step in how many moves a single coordinate
    next_stop: int  # the iteration of the tuning after which something is learnt next
    next_meeting: int  # the iteration of the tuning after which it waits for the other chains, or never
    tune: int  # how long the tuning is to be
    lengthened: tuple[str, ...]  # why it became longer, each time
    most_levels: int  # that there have been
    n_born: int  # levels, those that are gone included
    ladder: tuple[str, ...]  # how it changed for other reasons than trimming, each time
    ran_off: tuple[str, ...]  # levels that had no end to go to, at the last looks in a row
    frozen: bool  # whether the tuning was brought to an end
    setbacks: tuple[str, ...]  # what could not be learnt, when and why

    @property
    def n_done(self) -> int:
        """Iterations finished, tuning included."""
        return int(self.core.iteration[0])


def first_run_state(plan: Plan, seed: np.random.SeedSequence) -> RunState:
    """A chain before its start is known."""
    core = new_state(plan)
    first_streams(core, seed)
    learner = first_learner(plan)
    return RunState(
        core=core,
        learner=learner,
        refresh=no_mixture(plan.dim),
        swap_parameters=plan.strategy.parameters.copy(),
        coordinate_every=first_coordinate_every(plan),
        next_stop=stop_after(plan, learner, 0),
        next_meeting=next_meeting(plan, 0),
        tune=plan.tune,
        lengthened=(),
        most_levels=plan.n_levels,
        n_born=plan.n_levels,
        ladder=(),
        ran_off=(),
        frozen=False,
        setbacks=(),
    )


def stop_after(plan: Plan, learner: Learner, iteration: int) -> int:
    """The next iteration of the tuning after which something is learnt outside the loop, or never."""
    if learner.rounds.is_due:
        return iteration
    ends = [plan.tune // 2, plan.tune, *(looks(plan) if not plan.shares else ())]
    if plan.settings.jumps.enabled:
        ends.append(next_stop(learner, plan, iteration))
    return min((end for end in ends if iteration < end <= plan.tune), default=NEVER)
