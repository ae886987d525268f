"""Rounds of proposals at the end of the tuning, and what becomes of the mixture.

A round is a batch of draws from the mixture of the moment, evaluated at once; with those of all rounds
before and with the states it makes one weighted sample, to which the mixture is fitted anew. Chains that
share make a part of each round and meet. Nothing is learnt in the draws: by then rounds are over.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from temperance.core.state import FloatArray, Mixture, Trace
from temperance.modes.blend import (
    Blend,
    acceptance_of,
    blended,
    draws_from,
    log_density_of,
    stacked,
    taught_by,
    wide_blend,
    worth_of,
    worth_with_tails,
)
from temperance.modes.components import Components
from temperance.modes.local import best_worth
from temperance.modes.policy import LEARNING, REGRESSION, TEACHING
from temperance.modes.student import whitened_squares
from temperance.modes.taught import Asked, Taught, weighed_together
from temperance.modes.worth import efficiency
from temperance.runs.fitting import Material, material, put_together
from temperance.runs.learner import Learner, is_aside
from temperance.runs.plan import Plan
from temperance.runs.rounds import Rounds, gone_over
from temperance.runs.seeds import ROUNDS, keyed

Ask = Callable[[FloatArray], FloatArray | None]  # log densities of the target at points; None when stopped


def begun(learners: Sequence[Learner], plan: Plan, traces: Sequence[Trace], n_done: int) -> list[Learner]:
    """The chains with a first round due, at the end of the tuning, where rounds may be of use."""
    if not plan.settings.jumps.rounds or n_done != plan.tune or plan.dim > REGRESSION.max_dim:
        return list(learners)
    n_points = sum(_n_points(one, plan, trace, n_done) for one, trace in zip(learners, traces, strict=True))
    enough = n_points >= TEACHING.least_per_dim * plan.dim
    wanted = enough and all(_may_gain(one, plan) for one in learners)
    return [replace(one, rounds=replace(one.rounds, is_due=wanted)) for one in learners]


def _may_gain(learner: Learner, plan: Plan) -> bool:
    """Whether there is a mixture that may become better, and jumps are what counts."""
    is_known = len(learner.components) > 0 and learner.efficiency > LEARNING.hopeless
    leaps = bool(np.any(learner.leaps.chance > 0.0))
    return is_known and not leaps and not learner.rounds.is_over and not is_aside(learner, plan)


def _n_points(learner: Learner, plan: Plan, trace: Trace, n_done: int) -> int:
    """Of a chain in the coming round: a share of its evaluations before the rounds."""
    first, later = TEACHING.first_share, TEACHING.n_rounds - 1
    share = first if learner.rounds.n_made == 0 else (TEACHING.share - first) / later
    evaluated = int(trace.evaluations[:n_done].sum()) - learner.rounds.n_evaluations
    most = TEACHING.most_points // ((plan.chains if plan.shares else 1) * TEACHING.n_rounds)
    return min(int(share * evaluated), most)


def with_round(
    learner: Learner, plan: Plan, trace: Trace, n_done: int, seed: np.random.SeedSequence, ask: Ask
) -> Learner:
    """The chain with its share of a round made."""
    rounds = learner.rounds
    rng = np.random.default_rng(keyed(seed, ROUNDS, rounds.n_made))
    n_points = max(1, _n_points(learner, plan, trace, n_done))
    points = draws_from(_trial(learner), n_points, rng)
    values = ask(points)
    if values is None:
        return over(learner, plan)
    made = replace(
        rounds,
        fresh_point=points,
        fresh_log_density=values,
        n_evaluations=rounds.n_evaluations + n_points,
        is_due=False,
    )
    return replace(learner, rounds=made)


def over(learner: Learner, plan: Plan) -> Learner:
    """The same without any rounds to come."""
    return replace(learner, rounds=gone_over(learner.rounds, plan.dim))


def _trial(learner: Learner) -> Mixture:
    """What the coming round is drawn from: at first the mixture that is known."""
    rounds = learner.rounds
    if rounds.n_made == 0:
        return learner.mixture
    return blended(rounds.core, rounds.wide, learner.broad_mean, learner.broad_covariance)


def with_lesson(
    learners: Sequence[Learner], plan: Plan, traces: Sequence[Trace], n_done: int
) -> list[Learner]:
    """What all chains know after a round: a mixture for the next one, or for good."""
    n_chains = len(learners)
    parts = [
        material(one.archive, trace, n_done, n_chains) for one, trace in zip(learners, traces, strict=True)
    ]
    given, first = put_together(parts), learners[0]
    rounds = _told(learners)
    states = Asked(given.point, given.log_density, log_density_of(given.point, rounds.drawn_from))
    proposals = Asked(rounds.point, rounds.log_density, rounds.log_drawn)
    worth = max(1.0, len(given.point) * LEARNING.worth_a_state / plan.dim)
    taught = weighed_together(proposals, states, worth)
    if taught is None or _is_enough(first, rounds, taught, plan):
        return [_ended(one, plan, rounds.n_made) for one in learners]
    rounds = _refitted(first, rounds, taught, given)
    if rounds.n_made < TEACHING.n_rounds:
        return [_with_rounds(one, rounds) for one in learners]
    common = _for_good(first, rounds, taught, given)
    return [_ended(_with_mixture(one, common), plan, rounds.n_made) for one in learners]


def _ended(learner: Learner, plan: Plan, n_made: int) -> Learner:
    return over(replace(learner, rounds=replace(learner.rounds, n_made=n_made)), plan)


def _told(learners: Sequence[Learner]) -> Rounds:
    """The rounds with what all chains have drawn afresh, in their order."""
    rounds = learners[0].rounds
    points = np.concatenate([one.rounds.fresh_point for one in learners])
    values = np.concatenate([one.rounds.fresh_log_density for one in learners])
    trial = stacked(_trial(learners[0]), len(points))
    before = rounds.drawn_from
    log_drawn = log_density_of(points, trial)
    log_drawn_before = log_density_of(rounds.point, trial)
    if rounds.n_made:
        log_drawn = np.logaddexp(log_drawn, log_density_of(points, before))
        trial = Mixture(*(np.concatenate(pair) for pair in zip(before, trial, strict=True)))
        trial = trial._replace(chance=before.chance)
    return replace(
        rounds,
        point=np.concatenate([rounds.point, points]),
        log_density=np.append(rounds.log_density, values),
        log_drawn=np.append(np.logaddexp(rounds.log_drawn, log_drawn_before), log_drawn),
        drawn_from=trial,
        n_made=rounds.n_made + 1,
    )


def _is_enough(learner: Learner, rounds: Rounds, taught: Taught, plan: Plan) -> bool:
    """Whether there is nothing to gain: by the first round the mixture is good, by the second no better."""
    if rounds.n_made == 1:
        fresh = rounds.log_density - log_density_of(rounds.point, learner.mixture)
        return worth_of(fresh) >= TEACHING.good * best_worth(plan.dim)
    if rounds.n_made == 2:
        before = acceptance_of(taught, learner.mixture)
        return acceptance_of(taught, _trial(replace(learner, rounds=rounds))) < TEACHING.rise * before
    return False


def _refitted(learner: Learner, rounds: Rounds, taught: Taught, given: Material) -> Rounds:
    """The mixture for the next round."""
    core, wide = rounds.core, rounds.wide
    if rounds.n_made == 1:
        weight = np.diff(learner.mixture.cumulative, prepend=0.0)[: len(learner.components)]
        components = learner.components
        core = Blend(weight / weight.sum(), components.centre, components.covariance)
        wide = wide_blend(core, given.point, learner.broad_covariance)
    broad = learner.broad_mean, learner.broad_covariance
    core, wide = taught_by(taught, core, wide, *broad)
    return replace(rounds, core=core, wide=wide)


def _with_rounds(learner: Learner, common: Rounds) -> Learner:
    """A chain that knows what all know of the rounds, and is to make its share of the next."""
    nothing = learner.rounds.fresh_point[:0], learner.rounds.fresh_log_density[:0]
    rounds = replace(
        common,
        fresh_point=nothing[0],
        fresh_log_density=nothing[1],
        n_evaluations=learner.rounds.n_evaluations,
        is_due=True,
    )
    return replace(learner, rounds=rounds)


def _for_good(learner: Learner, rounds: Rounds, taught: Taught, given: Material) -> Learner:
    """With the new mixture, if it is better by states and proposals, all tails included."""
    mixture = _trial(replace(learner, rounds=rounds))
    before = worth_with_tails(taught, learner.mixture)
    if worth_with_tails(taught, mixture) < TEACHING.gain * before:
        return learner
    n_core = len(rounds.core)
    count = np.rint(rounds.core.weight * len(given.point)).astype(np.int64)
    log_peak = taught.log_z + mixture.log_height[:n_core]
    return replace(
        learner,
        mixture=mixture,
        components=Components(rounds.core.centre, rounds.core.covariance, log_peak, count),
        efficiency=efficiency(mixture, given.point, given.log_density),
        acceptance=acceptance_of(taught, mixture),
    )


def _with_mixture(learner: Learner, common: Learner) -> Learner:
    """A chain with the mixture of all. What it had seen of a component it has seen of those that follow."""
    if common.mixture is learner.mixture:
        return learner
    told_at, seen = learner.told_at, learner.seen
    if len(told_at):
        known = whitened_squares(common.components.centre, learner.mixture)[:, : len(told_at)]
        nearest = np.argmin(known, axis=1)
        told_at, seen = told_at[nearest], seen[nearest]
    return replace(
        learner,
        mixture=common.mixture,
        components=common.components,
        efficiency=common.efficiency,
        acceptance=common.acceptance,
        told_at=told_at,
        seen=seen,
        rounds=replace(learner.rounds, taught=True),
    )
