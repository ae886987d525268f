"""One fit of modes: the material of a chain, or of several together, and the mixture that comes of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from temperance.core.state import FloatArray, Mixture, Trace
from temperance.modes.components import Components
from temperance.modes.fit import Sample, fit_modes
from temperance.modes.local import by_component
from temperance.modes.maps import distinct, same_mode
from temperance.modes.mixture import make_mixture, with_mass
from temperance.modes.policy import LEARNING, REGRESSION
from temperance.modes.refine import regressed
from temperance.modes.regress import Known
from temperance.modes.student import whitened_squares
from temperance.modes.surprise import margin
from temperance.modes.worth import efficiency
from temperance.runs.brought import Archive
from temperance.runs.learner import Learner, explained_within
from temperance.runs.plan import Plan


@dataclass(frozen=True)
class Material:
    """What a fit is made from: states, points that were asked about and left, and what scouts brought."""

    point: FloatArray  # states of the base level
    log_density: FloatArray
    left_point: FloatArray  # proposals that are no states
    left_log_density: FloatArray
    archive: Archive
    n_steps: int  # in which the states were gathered


def material(archive: Archive, trace: Trace, n_done: int, n_chains: int = 1) -> Material:
    """What one of so many chains has, but for the first states, which are too early."""
    first = int(LEARNING.early_states * n_done)
    states = distinct_states(trace, first, n_done, n_chains)
    return Material(*states, *refused(trace, first, n_done, n_chains), archive, n_done - first)


def put_together(parts: Sequence[Material]) -> Material:
    """The material of several chains, in their order."""
    archives = [part.archive for part in parts]
    return Material(
        np.concatenate([part.point for part in parts]),
        np.concatenate([part.log_density for part in parts]),
        np.concatenate([part.left_point for part in parts]),
        np.concatenate([part.left_log_density for part in parts]),
        Archive(*(np.concatenate([getattr(one, name) for one in archives]) for name in Archive.columns())),
        sum(part.n_steps for part in parts),
    )


def fitted(learner: Learner, plan: Plan, given: Material, shape: FloatArray, n_done: int) -> Learner:
    """With a mixture fitted to what there is, unless the old one is better."""
    learner = replace(learner, efficiency_before=learner.efficiency)
    points, log_density = given.point, given.log_density
    if len(points) <= plan.dim + 2:
        return learner
    sample = _sample(given, plan.dim)
    if learner.shape_is_known:
        shape = pooled = learner.pooled
        components, _ = fit_modes(sample, shape, LEARNING.max_modes, 1)
    else:
        components, pooled = fit_modes(sample, shape, LEARNING.max_modes)
    late = n_done >= REGRESSION.split_after * plan.tune
    made, described = regressed(with_mass(components), _known(sample, given), shape, split=late)
    components = believable(made, _known(sample, given))
    shape_is_known = bool(described.sum() > REGRESSION.well_described)
    if shape_is_known:
        pooled = np.tensordot(described / described.sum(), made.covariance, 1)
    if plan.dim > REGRESSION.max_dim:
        components = components.joined(forgotten(learner, components, pooled, given.n_steps))
    components = with_mass(components)
    broad = points.mean(axis=0), np.cov(points.T).reshape(shape.shape) + pooled / len(points)
    mixture = make_mixture(components, *broad)
    gained = efficiency(mixture, points, log_density)
    if len(learner.components):
        before = efficiency(learner.mixture, points, log_density)
        least = LEARNING.keep_old * covered(points, mixture, len(components), plan)
        is_worse = gained < LEARNING.keep_old * before and before > LEARNING.hopeless
        if is_worse and covered(points, learner.mixture, len(learner.components), plan) >= least:
            return replace(learner, efficiency=before)
    return replace(
        learner,
        mixture=mixture,
        components=components,
        pooled=pooled,
        shape_is_known=shape_is_known,
        broad_mean=broad[0],
        broad_covariance=broad[1],
        efficiency=gained,
    )


def forgotten(learner: Learner, found: Components, shape: FloatArray, n_steps: int) -> Components:
    """Modes that were known and that no component of a fit explains: states are few in many dimensions."""
    if not len(learner.components) or not len(found):
        return learner.components
    n_independent = max(n_steps * LEARNING.worth_a_state / len(shape), 1.0)
    known = distinct(learner.components, shape, n_independent)
    return known.chosen(~np.any(same_mode(known, found, shape, n_independent), axis=1))


def believable(components: Components, known: Known) -> Components:
    """Those whose peak is not far above all that was seen of their mode, but at least one.

    A few points of a wide mode in a shape that is too narrow predict a peak that is nowhere.
    """
    dim = components.centre.shape[1]
    slack = 0.5 * dim + margin(dim)
    seen = [mine.log_density.max(initial=-np.inf) for mine in by_component(components, known)]
    highest = np.array([np.inf if value == -np.inf else value + slack for value in seen])
    keep = components.log_peak <= highest
    return components.chosen(keep) if keep.any() else components


def covered(points: FloatArray, mixture: Mixture, n_components: int, plan: Plan) -> float:
    """Share of states that lie in a mode of a mixture, which its first components are.

    Where the broad component alone describes a mode, its efficiency may be high and its weight is wrong.
    """
    nearest = whitened_squares(points, mixture)[:, :n_components].min(axis=1)
    return float(np.mean(nearest <= explained_within(plan)))


def distinct_states(trace: Trace, first: int, end: int, n_chains: int = 1) -> tuple[FloatArray, FloatArray]:
    """States of the base level between two iterations and their log densities, none twice in a row."""
    n_states = min(LEARNING.max_states, int(math.sqrt(LEARNING.max_work / trace.draws.shape[1])))
    rows = slice(first, end, max(1, n_chains * (end - first) // n_states))
    points = trace.draws[rows]
    log_density = trace.log_density[rows, 0] + trace.log_prior[rows]
    moved = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))
    return points[moved], log_density[moved]


def refused(trace: Trace, first: int, end: int, n_chains: int = 1) -> tuple[FloatArray, FloatArray]:
    """Points that the base level proposed between two iterations and is not at, and their log densities."""
    rows = slice(first, end, max(1, n_chains * (end - first) // REGRESSION.max_points))
    points, log_density = trace.proposal[rows], trace.proposal_log_density[rows]
    left = np.isfinite(log_density) & np.any(points != trace.draws[rows], axis=1)
    return points[left], log_density[left]


def _sample(given: Material, dim: int) -> Sample:
    """States and what scouts brought, to be clustered."""
    n_states, archive = len(given.point), given.archive
    return Sample(
        np.concatenate([given.point, archive.point]),
        np.concatenate([given.log_density, archive.log_density]),
        np.concatenate([np.ones(n_states), archive.width]),
        np.arange(n_states + len(archive.point)) < n_states,
        min(1.0, given.n_steps * LEARNING.worth_a_state / (dim * n_states)),
    )


def _known(sample: Sample, given: Material) -> Known:
    """All points of which the log density is known."""
    tried = given.archive.tried
    return Known(
        np.concatenate([sample.point, given.left_point, tried]),
        np.concatenate([sample.log_density, given.left_log_density, given.archive.tried_log_density]),
        np.append(sample.own, np.zeros(len(given.left_point) + len(tried), dtype=np.bool_)),
    )
