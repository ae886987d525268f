"""Chains that learn together: when they meet, what all have seen makes one mixture, and levels are averaged.

All goes by the order of the chains and by what each has recorded, so that threads change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from temperance.core.state import FloatArray, Trace
from temperance.modes.student import from_parts, whitened_squares
from temperance.modes.worth import efficiency
from temperance.runs.averaging import Ladder, averaged_ladders
from temperance.runs.events import Notes
from temperance.runs.fitting import Material, distinct_states, fitted, material, put_together
from temperance.runs.leaping import with_leaps
from temperance.runs.learn import measured, postponed, ready_to_jump, unknown_share
from temperance.runs.learner import Learner, explained_within
from temperance.runs.levels import covariance_of
from temperance.runs.plan import Plan, next_meeting
from temperance.runs.state import RunState
from temperance.runs.teaching import over, with_lesson


@dataclass(frozen=True)
class Outcome:
    """What a meeting came to: what each chain knows, what its levels are like, and what failed."""

    learners: Sequence[Learner]
    ladders: Sequence[Ladder]  # none where they stay as they are
    setbacks: tuple[str, ...]


@np.errstate(all="ignore")
def met_over_rounds(plan: Plan, chains: Sequence[RunState], traces: Sequence[Trace]) -> Outcome:
    """What the round that all chains have made teaches them."""
    notes, learners = Notes(chains[0].n_done), [now.learner for now in chains]
    ended = [over(learner, plan) for learner in learners]
    if any(learner.rounds.is_over for learner in learners):  # one of them could not make its share
        return Outcome(ended, (), ())
    told = notes.attempt(
        "rounds of proposals", lambda: with_lesson(learners, plan, traces, chains[0].n_done), ended
    )
    return Outcome(told, (), tuple(notes.setbacks))


@np.errstate(all="ignore")
def met(plan: Plan, chains: Sequence[RunState], traces: Sequence[Trace]) -> Outcome:
    """One fit to what all chains have seen, and their ladders averaged; nothing is changed here."""
    notes, n_done = Notes(chains[0].n_done), chains[0].n_done
    none: tuple[Ladder, ...] = ()
    ladders = notes.attempt(
        "levels of all chains", lambda: averaged_ladders(plan, [now.core for now in chains]), none
    )
    shape = ladders[0].covariance[0] if ladders else covariance_of(chains[0].core, 0)
    learners = [now.learner for now in chains]
    alone = [postponed(learner, plan, n_done) for learner in learners]
    told = notes.attempt("modes of all chains", lambda: _told(plan, learners, traces, shape, n_done), alone)
    return Outcome(told, ladders, tuple(notes.setbacks))


def _told(
    plan: Plan, learners: Sequence[Learner], traces: Sequence[Trace], shape: FloatArray, n_done: int
) -> list[Learner]:
    """What each chain knows after all have told what they saw."""
    parts = [
        material(learner.archive, trace, n_done, len(learners))
        for learner, trace in zip(learners, traces, strict=True)
    ]
    every = put_together(parts)
    unknown = [
        unknown_share(learner, plan, trace, n_done) for learner, trace in zip(learners, traces, strict=True)
    ]
    acceptance = measured(learners, traces, n_done)
    common = fitted(_best(learners, every), plan, every, shape, n_done)
    common = replace(
        common,
        novelty=float(np.mean(unknown)),
        acceptance=acceptance,
        fitted_at=n_done,
        next_fit=next_meeting(plan, n_done),
    )
    common = with_leaps(common, plan, learners, traces, n_done)
    common = ready_to_jump(common, plan, acceptance)
    return [
        _with_common(learner, common, plan, trace, n_done)
        for learner, trace in zip(learners, traces, strict=True)
    ]


def _best(learners: Sequence[Learner], every: Material) -> Learner:
    """The chain whose mixture describes the states of all best; they differ by what scouts have found."""
    return max(
        learners,
        key=lambda one: (
            efficiency(one.mixture, every.point, every.log_density) if len(one.components) else 0.0
        ),
    )


def _with_common(own: Learner, common: Learner, plan: Plan, trace: Trace, n_done: int) -> Learner:
    """A chain with what all know, but with its own finds, and with a note of what it had seen by itself."""
    told_at, seen = _lineage(own, common, plan, trace, n_done)
    return replace(
        common,
        archive=own.archive,
        rounds=own.rounds,
        starts=own.starts,
        surprising=own.surprising,
        vain=own.vain,
        scattered=own.scattered,
        tail_dof=own.tail_dof,
        next_check=own.next_check,
        n_scouts=own.n_scouts,
        n_scout_evaluations=own.n_scout_evaluations,
        n_surprise_evaluations=own.n_surprise_evaluations,
        n_climbs=own.n_climbs,
        n_search_evaluations=own.n_search_evaluations,
        n_scouts_lost=own.n_scouts_lost,
        best_scouted=own.best_scouted,
        told_at=told_at,
        seen=seen,
    )


def _lineage(
    own: Learner, common: Learner, plan: Plan, trace: Trace, n_done: int
) -> tuple[FloatArray, FloatArray]:
    """When all came to know of each mode, and whether this chain had been there before.

    A component that one of the shared ones before explains is the same mode. Of a new one the chain knows by
    itself if its states since the last meeting, or its scouts, have been there.
    """
    limit, n_told = explained_within(plan), len(own.told_at)
    points, _ = distinct_states(trace, own.fitted_at, n_done)
    been = whitened_squares(np.concatenate([points, own.archive.point]), common.mixture)
    been = been[:, : len(common.components)]
    told_at = np.full(len(common.components), float(n_done))
    seen = np.any(been <= limit, axis=0).astype(np.float64)
    if n_told:
        before = own.components.chosen(np.arange(len(own.components)) < n_told)
        shared = from_parts(np.full(n_told, 1.0 / n_told), before.centre, before.covariance)
        distance = whitened_squares(common.components.centre, shared)
        nearest = np.argmin(distance, axis=1)
        known = distance[np.arange(len(nearest)), nearest] <= limit
        told_at[known], seen[known] = own.told_at[nearest[known]], own.seen[nearest[known]]
    return told_at, seen
