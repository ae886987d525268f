"""Leaps while tuning: how each kind has fared, and what they are made with from all states of all chains."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from temperance.core.state import HUMPS, LEAPT, N_KINDS, OWN, POOLED, FloatArray, Humps, IntArray, Maps, Trace
from temperance.modes.components import Components
from temperance.modes.humps import humps_of, other_hump
from temperance.modes.leaps import Leaps, no_humps, no_maps, on_trial
from temperance.modes.maps import Places, distinct, make_maps, places_of, squares_in
from temperance.modes.overlap import BoolArray
from temperance.modes.pairs import Correction, corrected, explains, pairs_of
from temperance.modes.policy import HUMP_FITTING, LEAPING, LEARNING, MANY
from temperance.modes.student import from_parts, most_likely
from temperance.runs.learner import Learner, explained_within
from temperance.runs.plan import Plan


def fared(learners: Sequence[Learner], traces: Sequence[Trace], n_done: int) -> FloatArray:
    """Acceptance of each kind of leap since the last fit, with what was known before as a few leaps more."""
    before = learners[0].leaps.acceptance
    total, count = LEAPING.prior_leaps * before, np.full(N_KINDS, float(LEAPING.prior_leaps))
    for learner, trace in zip(learners, traces, strict=True):
        since = slice(learner.fitted_at, n_done)
        made, accepted = LEAPT - trace.jump[since], trace.base_accept_prob[since].astype(np.float64)
        for kind in range(N_KINDS):
            rows = np.flatnonzero(made == kind)
            count[kind] += len(rows)
            if kind == HUMPS and len(rows):
                rows = rows[changed_hump(learner.leaps.humps, trace, rows + since.start)]
            total[kind] += accepted[rows].sum()
    acceptance: FloatArray = total / count
    return acceptance


def changed_hump(humps: Humps, trace: Trace, rows: IntArray) -> BoolArray:
    """Whether leaps between humps were to lead to another one, in these rows; before the first is none."""
    before, proposal = trace.draws[rows - 1], trace.proposal[rows]
    return other_hump(humps, before, proposal) & (rows > 0)


def with_leaps(
    learner: Learner, plan: Plan, before: Sequence[Learner], traces: Sequence[Trace], n_done: int
) -> Learner:
    """With leaps between the modes of a fit, where jumps are poor.

    ``before`` is what the chains knew when they made the rows of their traces since the last fit.
    """
    if plan.dim < LEAPING.min_dim:
        return learner
    acceptance = fared(before, traces, n_done)
    learner = replace(learner, leaps=replace(learner.leaps, acceptance=acceptance))
    if learner.acceptance >= LEAPING.poor_jumps or not len(learner.components):
        leaps = replace(learner.leaps, chance=np.zeros(N_KINDS))
        return replace(learner, leaps=leaps)
    first = int(LEARNING.early_states * n_done)
    n_independent = max(len(traces) * (n_done - first) * LEARNING.worth_a_state / plan.dim, 1.0)
    modes = distinct(learner.components, learner.pooled, n_independent)
    thin = max(1, len(traces) * (n_done - first) // HUMP_FITTING.max_states)
    states = np.concatenate([trace.draws[first:n_done:thin] for trace in traces])
    leaps = replace(
        learner.leaps,
        maps=no_maps(plan.dim),
        humps=_humps(states, len(traces) * (n_done - first)) if plan.dim > 1 else learner.leaps.humps,
        novelty=1.0,
    )
    if len(modes) > 1:
        places = _places(learner, plan, modes, before, traces, (first, n_done))
        places, leaps = _taught(places, leaps, plan, before, traces, n_done)
        maps = make_maps(places)
        leaps = replace(leaps, maps=maps, novelty=_novelty(maps, states, explained_within(plan)))
    early = n_done < LEAPING.learning * plan.tune
    return replace(learner, leaps=on_trial(leaps, learner.acceptance, early=early))


def _humps(states: FloatArray, n_rows: int) -> Humps:
    """Coordinates with several humps by some states of so many; in many dimensions walks make false ones."""
    dim = states.shape[1]
    if dim <= MANY.beyond:
        return humps_of(states)
    return humps_of(states, MANY.hump_depth) if n_rows >= MANY.states_per_dim * dim else no_humps()


def _places(
    learner: Learner,
    plan: Plan,
    modes: Components,
    before: Sequence[Learner],
    traces: Sequence[Trace],
    rows: tuple[int, int],
) -> Places:
    """The modes by all states, but for those between which a walk forgets next to nothing."""
    first, end = rows
    work = len(traces) * (end - first) * len(modes) * plan.dim**2 / LEAPING.max_work
    thin = int(np.clip(work, 1, max(1, plan.dim / LEAPING.states_per_mode)))
    points = np.concatenate(
        [trace.draws[first:end:thin] for trace in traces] + [one.archive.point for one in before]
    )
    even = np.full(len(modes), 1.0 / len(modes))
    label = most_likely(points, from_parts(even, modes.centre, modes.covariance))
    worth = min(1.0, thin * LEARNING.worth_a_state / plan.dim)
    return places_of(modes, learner.pooled, points, label, worth)


def _taught(
    places: Places,
    leaps: Leaps,
    plan: Plan,
    before: Sequence[Learner],
    traces: Sequence[Trace],
    end: int,
) -> tuple[Places, Leaps]:
    """With centres beside each other as the leaps that were tried say, by chains that had the same maps.

    Where a correction has not helped, the next one is more careful.
    """
    old = before[0].leaps.maps
    same = [
        (one, trace)
        for one, trace in zip(before, traces, strict=True)
        if np.array_equal(one.leaps.maps.centre, old.centre)
    ]
    found = _correction(old, same, end) if len(old.centre) > 1 else None
    if found is None:
        return places, leaps
    error = float(np.sqrt((found[1].shift ** 2).sum(axis=1).mean()))
    helped = error < LEAPING.progress * leaps.error
    factor = LEAPING.damping_grows if helped else LEAPING.damping_falls
    damping = float(np.clip(factor * leaps.damping, *LEAPING.damping))
    accepted = float(leaps.acceptance[[POOLED, OWN]].max())
    places = _aligned(places, old, found, (damping, accepted), explained_within(plan))
    return places, replace(leaps, damping=damping, error=error)


def _correction(
    old: Maps, chains: Sequence[tuple[Learner, Trace]], end: int
) -> tuple[int, Correction] | None:
    """What the leaps since the last fit say, by the kind of map that explains them better."""
    found = []
    for kind in (POOLED, OWN):
        parts = [_tried(trace, kind, learner.fitted_at, end) for learner, trace in chains]
        points, proposals, rise = (
            np.concatenate(column)[-LEAPING.max_pairs :] for column in zip(*parts, strict=True)
        )
        correction = corrected(pairs_of(old, kind, points, proposals, rise), len(old.centre))
        if correction is not None and explains(correction):
            found.append((correction.left, kind, correction))
    return min(found, key=lambda one: one[0])[1:] if found else None


def _tried(trace: Trace, kind: int, first: int, end: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where the base level was before leaps of a kind, where they led, and the rise of the log density."""
    rows = np.flatnonzero(trace.jump[max(first, 1) : end] == LEAPT - kind) + max(first, 1)
    log_density = trace.log_density[rows - 1, 0] + trace.log_prior[rows - 1]
    with np.errstate(invalid="ignore"):
        rise = trace.proposal_log_density[rows] - log_density
    return trace.draws[rows - 1], trace.proposal[rows], rise


def _aligned(
    places: Places, old: Maps, found: tuple[int, Correction], shares: tuple[float, float], limit: float
) -> Places:
    """Modes that were known before are beside each other as pairs say, the less so the more are accepted.

    Where leaps are accepted, the states of all modes have had one place, so that the errors of their means
    are the same; where they are not, pairs know better. Only how centres lie to each other matters, so that
    their common place is left to the states.
    """
    (kind, correction), (damping, accepted) = found, shares
    distance = squares_in(old, POOLED, places.centre)
    nearest = np.argmin(distance, axis=1)
    known = (distance.min(axis=1) <= limit) & (np.bincount(nearest, minlength=len(old.centre))[nearest] == 1)
    mine, theirs = np.flatnonzero(known), nearest[known]
    if len(mine) < 2:
        return places
    dim = places.centre.shape[1]
    log_size = 2.0 * old.log_volume[POOLED, theirs] / dim - np.log1p(correction.precision[theirs])
    size, centre = places.size.copy(), places.centre.copy()
    size[mine] = np.exp(log_size - log_size.mean() + np.log(size[mine]).mean())
    width = np.sqrt(size[mine])[:, None]
    steps = damping * np.einsum("kij,kj->ki", old.root[kind, theirs], correction.shift[theirs])
    offset = (old.centre[theirs] + steps - centre[mine]) / width
    centre[mine] += (1.0 - accepted) * width * (offset - offset.mean(axis=0))
    return replace(places, centre=centre, size=size)


def _novelty(maps: Maps, states: FloatArray, limit: float) -> float:
    """Share of the states that are far from all modes of the maps."""
    some = states[:: max(1, len(states) // LEARNING.max_states)]
    return float(np.mean(squares_in(maps, POOLED, some).min(axis=1) > LEAPING.novel * limit))
