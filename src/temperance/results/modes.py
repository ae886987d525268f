"""Modes as data: where they are, how wide, how heavy, and which chains have been there."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray, IntArray
from temperance.errors import InvalidInputError
from temperance.modes.overlap import (
    BoolArray,
    along_ridges,
    far_from_all,
    joined,
    overlaps,
    visited_only,
    without_fragments,
)
from temperance.modes.pool import NOWHERE, Pool, pooled
from temperance.modes.student import most_likely, nearest_squares
from temperance.results.diagnostics import find_modes, mcse_mean, nearest_mode, occupancy
from temperance.results.turning import chords, rolled, turns_of, unrolled
from temperance.results.weighting.weighting import DRAWS, WEIGHTED, Estimate, Weighting

if TYPE_CHECKING:
    from temperance.results.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays have no single answer to ==
class Modes:
    """The modes in which there are draws, the heaviest first.

    A mode is a group of draws. Its centre and covariance are those of its draws; where these are too few for
    that, no more than dimensions, those that were learnt. Of a `Model` they are in the user's units, and too
    few draws have no covariance. Chains are counted as in ``Result.draws``.
    """

    label: IntArray = field(repr=False)  # (chain, draw) the mode of each draw
    # (chain, draw) that of each jump proposal; anything where there is none, `NOWHERE` if there are no draws.
    proposed: IntArray | None = field(default=None, repr=False)
    weighting: Weighting = field(default=Weighting(None), repr=False)
    centre: FloatArray  # (mode, dim)
    covariance: FloatArray = field(repr=False)  # (mode, dim, dim)
    learnt: BoolArray = field(repr=False)  # (chain, mode) whether the chain learnt to jump there
    # (chain, mode) whether the chain came there by itself: before all were told of it, where chains share.
    found: BoolArray = field(repr=False)
    told_at: FloatArray = field(repr=False)  # (mode,) the iteration in which all were told; NaN if never
    n_jumps: IntArray = field(repr=False)  # (chain, mode) jumps that were proposed to the mode
    jump_acceptance: FloatArray = field(repr=False)  # (mode,) of those; NaN without any
    far: FloatArray = field(repr=False)  # (chain,) share of draws that nothing learnt explains
    n_unvisited: int = 0  # components that were learnt, and near which there is no draw

    def __len__(self) -> int:
        return len(self.centre)

    @property
    def width(self) -> FloatArray:
        """Standard deviation of each coordinate, (mode, dim)."""
        widths: FloatArray = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        return widths

    @cached_property
    def share(self) -> FloatArray:
        """Share of each chain in each mode, (chain, mode)."""
        if not self.label.size:
            return np.empty((len(self.label), 0))
        return occupancy(self.label, len(self))

    @property
    def draw_weight(self) -> FloatArray:
        """Share of all draws in each mode, (mode,)."""
        weights: FloatArray = self.share.mean(axis=0)
        return weights

    @property
    def weight(self) -> FloatArray:
        """Mass of each mode, (mode,), by the weighted sample or by the draws; ``by`` says which."""
        return self._masses.value  # type: ignore[no-any-return]

    @property
    def weight_error(self) -> FloatArray:
        """Standard error of the weights; NaN where it cannot be told."""
        return self._masses.error  # type: ignore[no-any-return]

    @property
    def by(self) -> str:
        """What the weights are by: ``"weighted"`` or ``"draws"``, whichever has the smaller errors."""
        return self._masses.by

    @cached_property
    def _masses(self) -> Estimate:
        plain = Estimate(self.draw_weight, self._draw_weight_error, DRAWS)
        if self.proposed is None or self.weighting.bridge is None or len(self) < 2:
            return plain
        modes = np.arange(len(self))
        masses = self.weighting.estimates(self.label[:, :, None] == modes, self.proposed[:, :, None] == modes)
        known = np.isfinite(plain.error) & np.isfinite(masses.error)
        smaller = (masses.error[known] ** 2).sum() < (plain.error[known] ** 2).sum()
        return masses if masses.by == WEIGHTED and smaller else plain

    @cached_property
    def _draw_weight_error(self) -> FloatArray:
        """Monte Carlo standard error of the shares of the draws; NaN where the draws do not tell.

        At least what the shares of the chains differ by: where moves between modes are rare, the draws of a
        chain look better than they are.
        """
        within = np.array([mcse_mean(self.label == mode) for mode in range(len(self))])
        n_chains = len(self.label)
        if n_chains < 2:
            return within
        between = self.share.std(axis=0, ddof=1) / math.sqrt(n_chains)
        error: FloatArray = np.maximum(within, between)
        return error

    @cached_property
    def visits(self) -> IntArray:
        """How often each chain came into each mode, (chain, mode)."""
        return np.array([_visits(labels, len(self)) for labels in self.label]).reshape(self.share.shape)


def modes_of(result: "Result") -> Modes:
    """The modes that were learnt; where nothing was learnt, groups of draws with wide gaps between them."""
    pool = pooled([chain.modes for chain in result.kept])
    if not result.draws.size:
        return _plain(result, np.empty(result.draws.shape[:2], dtype=np.int64), np.empty((0, result.dim)))
    if pool is None:
        label = find_modes(result.draws)
        return _as_shown(result, _plain(result, label, _means(result.draws, label)))
    return _as_shown(result, _from_pool(result, pool))


def given_modes(result: "Result", centres: Any) -> Modes:
    """The modes with these centres, in this order; each draw belongs to the nearest."""
    given = np.atleast_2d(np.asarray(centres, dtype=np.float64))
    if result.value_names is None:
        found = _plain(result, nearest_mode(result.draws, given), given)
        return _with_proposals(result, found, lambda: nearest_mode(result.proposals, given))
    if given.ndim != 2 or given.shape[1] != result.points.shape[2]:
        wanted = result.points.shape[2]
        raise InvalidInputError(
            f"modes must have shape (mode, {wanted}) with a row at least, got {given.shape}"
        )
    turns = turns_of(result.parameters)
    label = nearest_mode(chords(result.points, turns), chords(given, turns))
    found = _as_shown(result, _plain(result, label, np.full((len(given), result.dim), np.nan)))
    return _with_proposals(result, found, lambda: _nearest_proposed(result, chords(given, turns)))


def _nearest_proposed(result: "Result", centres: FloatArray) -> IntArray:
    """The nearest of these for each jump proposal; the first where there is no proposal."""
    points = np.nan_to_num(result.proposal_points)
    return nearest_mode(chords(points, turns_of(result.parameters)), centres)


def _with_proposals(result: "Result", modes: Modes, labels: Callable[[], IntArray]) -> Modes:
    """Modes that know where jump proposals belong, if these are of use."""
    weighting = result.weighting
    if weighting.bridge is None:
        return modes
    return replace(modes, proposed=labels(), weighting=weighting)


def _as_shown(result: "Result", modes: Modes) -> Modes:
    """Centres and covariances in the terms of a model that shows its parameters."""
    if result.value_names is None or not len(modes):
        return modes
    size, turns = result.points.shape[2], turns_of(result.parameters)
    centre, covariance = np.full((len(modes), size), np.nan), np.full((len(modes), size, size), np.nan)
    for mode, points in enumerate(_by_mode(result.points, modes.label, len(modes))):
        flat = unrolled(points, turns)
        if len(points):
            centre[mode] = rolled(flat.mean(axis=0), turns)
        if len(points) > size:
            covariance[mode] = np.cov(flat.T).reshape(size, size)
    return replace(modes, centre=centre, covariance=covariance)


def _plain(result: "Result", label: IntArray, centre: FloatArray) -> Modes:
    """Modes that nobody learnt."""
    n_chains, n_modes, dim = len(label), len(centre), result.dim
    unknown = np.full((n_modes, dim, dim), np.nan)
    mean, covariance = _moments(result.draws, label, centre, unknown)
    return Modes(
        label=label,
        centre=mean,
        covariance=covariance,
        learnt=np.zeros((n_chains, n_modes), dtype=np.bool_),
        found=np.zeros((n_chains, n_modes), dtype=np.bool_),
        told_at=np.full(n_modes, np.nan),
        n_jumps=np.zeros((n_chains, n_modes), dtype=np.int64),
        jump_acceptance=np.full(n_modes, np.nan),
        far=np.zeros(n_chains),
    )


def _from_pool(result: "Result", pool: Pool) -> Modes:
    """Draws go to the component with the highest density there, and components that overlap are one mode."""
    n_chains, n_draws, dim = result.draws.shape
    points = result.draws.reshape(-1, dim)
    component = most_likely(points, pool.mixture)
    visited, component = np.unique(component, return_inverse=True)
    left = visited_only(pool, visited)
    found = overlaps(points, component, left, _log_densities(result))
    mode = along_ridges(joined(found.shared), found)
    mode_of, order = _heaviest_first(without_fragments(mode, component, points), component)
    label = mode_of[component].reshape(n_chains, n_draws)
    place = [np.append(mode_of, NOWHERE)[where] for where in left.place]  # what is nowhere takes the last
    n_jumps, acceptance = _jumps(result, place, len(order))
    centre, covariance = left.centre[order], left.covariance[order]
    mean, covariance = _moments(result.draws, label, centre, covariance)
    modes = Modes(
        label=label,
        centre=mean,
        covariance=covariance,
        learnt=np.array([np.isin(np.arange(len(order)), where) for where in place]),
        found=_found(result, place, len(order)),
        told_at=_told_at(result, place, len(order)),
        n_jumps=n_jumps,
        jump_acceptance=acceptance,
        far=far_from_all(found.nearest, dim).reshape(n_chains, n_draws).mean(axis=1),
        n_unvisited=sum(int(np.count_nonzero(where[:-1] == NOWHERE)) for where in place),
    )
    return _with_proposals(result, modes, lambda: _of_proposals(result, pool, visited, left, mode_of))


def _log_densities(result: "Result") -> FloatArray:
    """Of the draws of all chains, one after the other; NaN where they were not kept."""
    known = result.keeps_statistics
    return result.log_density.ravel() if known else np.full(result.draws[:, :, 0].size, np.nan)


def _found(result: "Result", place: list[IntArray], n_modes: int) -> BoolArray:
    """Which modes each chain came to by itself: all that it learnt, where it was told of none."""
    rows = []
    for chain, where in zip(result.kept, place, strict=True):
        own = np.ones(0) if chain.modes is None else chain.modes.seen != 0.0  # NaN is not zero
        rows.append(
            np.isin(np.arange(n_modes), where[own.astype(np.bool_)]) if len(own) else np.zeros(n_modes)
        )
    return np.array(rows, dtype=np.bool_)


def _told_at(result: "Result", place: list[IntArray], n_modes: int) -> FloatArray:
    """When all chains were told of each mode: of the first of its components that they were told of."""
    first = np.full(n_modes, np.inf)
    for chain, where in zip(result.kept, place, strict=True):
        if chain.modes is not None:
            told = (where != NOWHERE) & ~np.isnan(chain.modes.told_at)
            np.minimum.at(first, where[told], chain.modes.told_at[told])
    return np.where(np.isinf(first), np.nan, first)


def _of_proposals(result: "Result", pool: Pool, visited: IntArray, left: Pool, mode_of: IntArray) -> IntArray:
    """The mode of each jump proposal. Near a component that no draw visited and no mode explains: nowhere."""
    points = result.proposals.reshape(-1, result.dim)
    alone = np.setdiff1d(np.arange(len(pool)), visited)
    label = mode_of[most_likely(points, left.mixture)]
    if len(alone):
        apart = alone[far_from_all(nearest_squares(pool.centre[alone], left.mixture), result.dim)]
        label[np.isin(most_likely(points, pool.mixture), apart)] = NOWHERE
    return label.reshape(result.draws.shape[:2])


def _heaviest_first(mode: IntArray, component: IntArray) -> tuple[IntArray, IntArray]:
    """The mode of each component, numbered by falling weight; and the main component of each mode."""
    size = np.bincount(component, minlength=len(mode))
    order = np.argsort(-np.bincount(mode, size), kind="stable")
    ranked = np.argsort(order)[mode]
    main = [max(np.flatnonzero(ranked == k), key=lambda c: size[c]) for k in range(len(order))]
    return ranked, np.array(main, dtype=np.int64)


def _jumps(result: "Result", place: list[IntArray], n_modes: int) -> tuple[IntArray, FloatArray]:
    """Jumps to each mode, chain by chain, and how many of all of them were accepted."""
    counts, accepted = np.zeros((len(place), n_modes), dtype=np.int64), np.zeros(n_modes)
    for k, (chain, where) in enumerate(zip(result.kept, place, strict=True)):
        trace = chain.sampling
        jumped = trace.jump[: result.n_common] >= 0
        mode = where[trace.jump[: result.n_common][jumped]]
        chance = trace.base_accept_prob[: result.n_common][jumped].astype(np.float64)
        counts[k] = np.bincount(mode[mode >= 0], minlength=n_modes)
        accepted += np.bincount(mode[mode >= 0], chance[mode >= 0], minlength=n_modes)
    total = counts.sum(axis=0)
    return counts, np.where(total > 0, accepted / np.maximum(total, 1), np.nan)


def _moments(
    draws: FloatArray, label: IntArray, centre: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the draws of each mode; as given where the draws are too few."""
    mean, second = centre.copy(), covariance.copy()
    for mode, points in enumerate(_by_mode(draws, label, len(centre))):
        if len(points) > draws.shape[2]:
            mean[mode] = points.mean(axis=0)
            second[mode] = np.cov(points.T).reshape(second[mode].shape)
    return mean, second


def _means(draws: FloatArray, label: IntArray) -> FloatArray:
    return np.array([points.mean(axis=0) for points in _by_mode(draws, label, int(label.max()) + 1)])


def _by_mode(draws: FloatArray, label: IntArray, n_modes: int) -> list[FloatArray]:
    order = np.argsort(label, axis=None, kind="stable")
    ends = np.cumsum(np.bincount(label.ravel(), minlength=n_modes))
    return np.split(draws.reshape(-1, draws.shape[2])[order], ends[:-1])


def _visits(labels: IntArray, n_modes: int) -> IntArray:
    enters = np.append(True, np.diff(labels) != 0)[: len(labels)]
    return np.bincount(labels[enters], minlength=n_modes)
