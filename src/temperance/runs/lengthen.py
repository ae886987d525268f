"""Whether the tuning should go on, where its length was left open: a rule, and its reason in words."""

from collections.abc import Sequence

from temperance.core.state import Trace
from temperance.modes.policy import LEARNING
from temperance.modes.student import most_likely
from temperance.runs.fitting import distinct_states
from temperance.runs.learner import Learner
from temperance.runs.plan import Plan


def longer_tune(plan: Plan) -> int:
    """How long the tuning is when it goes on: twice as long, but not beyond the longest."""
    return min(2 * plan.tune, plan.max_tune)


def reason_for_more(plan: Plan, learners: Sequence[Learner], traces: Sequence[Trace], n_done: int) -> str:
    """Why the tuning of these chains should go on, or nothing where it need not or must not."""
    alone = plan.chains > 1 and not plan.shares
    if n_done != plan.tune or longer_tune(plan) <= plan.tune or not plan.settings.jumps.enabled or alone:
        return ""
    worth, before = learners[0].efficiency, learners[0].efficiency_before
    least, most = LEARNING.near_zero
    if least < worth < most and worth > LEARNING.rising * before:
        return f"after {n_done:,} iterations the efficiency of jumps was {worth:.2g}, up from {before:.2g}"
    if len(learners) > 1 and not _have_met(learners, traces, n_done):
        return f"after {n_done:,} iterations two chains had no mode in common"
    return ""


def _have_met(learners: Sequence[Learner], traces: Sequence[Trace], n_done: int) -> bool:
    """Whether any two chains have been in a mode in common, lately."""
    if len(learners[0].components) < 2:
        return True
    mixture, first = learners[0].mixture, int(LEARNING.lately * n_done)
    been = [set(most_likely(distinct_states(trace, first, n_done)[0], mixture).tolist()) for trace in traces]
    return all(not one.isdisjoint(other) for k, one in enumerate(been) for other in been[:k])
