"""Weighted components that are made better by weighted points: EM, and new ones where they are needed."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.mixture import compiled_log_densities
from temperance.core.moments import Sums, compiled_sums
from temperance.core.schema import allocate
from temperance.core.state import JUMP_DOF, FloatArray, IntArray, Mixture
from temperance.modes.policy import JUMPING, TEACHING
from temperance.modes.student import from_parts, squares, whitened_squares
from temperance.modes.taught import Taught, shares

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Blend:
    """Components of Student's t with weights that add up to one."""

    weight: FloatArray  # (component,)
    centre: FloatArray  # (component, dim)
    covariance: FloatArray  # (component, dim, dim) the scale matrix

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def mixture(self) -> Mixture:
        """As a mixture."""
        return from_parts(self.weight, self.centre, self.covariance)

    def joined(self, weight: float, centre: FloatArray, covariance: FloatArray) -> "Blend":
        """With one component more, of this weight before all are made to add up to one again."""
        weights = np.append(self.weight, weight)
        return Blend(
            weights / weights.sum(),
            np.concatenate([self.centre, centre[None]]),
            np.concatenate([self.covariance, covariance[None]]),
        )

    def chosen(self, rows: BoolArray) -> "Blend":
        """Some of these."""
        return Blend(self.weight[rows] / self.weight[rows].sum(), self.centre[rows], self.covariance[rows])


def log_density_of(points: FloatArray, mixture: Mixture) -> FloatArray:
    """The log density of a mixture at each point, compiled."""
    values = np.empty(len(points))
    compiled_log_densities()(np.ascontiguousarray(points), mixture, values)
    return values


def sums_of(points: FloatArray, weights: FloatArray, mixture: Mixture) -> Sums:
    """What weighted points say of each component."""
    n_components, dim = mixture.centre.shape
    sums: Sums = allocate(Sums, {"component": n_components, "dim": dim})
    for array in sums:
        array[...] = 0.0
    compiled_sums()(np.ascontiguousarray(points), np.ascontiguousarray(weights), mixture, sums)
    lower = np.tril(np.ones((dim, dim)), -1)
    sums.second[...] += np.swapaxes(sums.second * lower, 1, 2)
    return sums


def em_step(blend: Blend, points: FloatArray, weights: FloatArray) -> Blend:
    """One step towards the blend that explains the weighted points best; the weights add up to one.

    Centre and scale matrix are drawn to what they were, the more so the fewer points speak of a component,
    by the effective number of its shares. One that less than one point supports goes.
    """
    sums = sums_of(points, weights, blend.mixture)
    dim = blend.centre.shape[1]
    tiny = np.finfo(np.float64).tiny
    size = sums.mass**2 / np.maximum(sums.mass_squared, tiny)
    shift = sums.first / np.maximum(sums.influence, tiny)[:, None]
    spread = sums.influence[:, None, None] * shift[:, :, None] * shift[:, None, :]
    covariance = (sums.second - spread) / np.maximum(sums.mass, tiny)[:, None, None]
    trust = size / (size + TEACHING.prior_points * dim)
    least = JUMPING.min_weight / len(blend)
    made = Blend(
        np.maximum(sums.mass / sums.mass.sum(), least),
        blend.centre + trust[:, None] * shift,
        trust[:, None, None] * covariance + (1.0 - trust)[:, None, None] * blend.covariance,
    )
    supported = size > 1.0
    return made.chosen(supported) if supported.any() else blend


def climbed(blend: Blend, points: FloatArray, weights: FloatArray) -> Blend:
    """A few steps of EM. Points that weigh next to nothing are left out."""
    heavy = weights > TEACHING.least_weight * weights.max()
    some, its_weights = points[heavy], weights[heavy] / weights[heavy].sum()
    for _ in range(TEACHING.em_steps):
        blend = em_step(blend, some, its_weights)
    return blend


def reaching(blend: Blend, beside: Blend, taught: Taught, log_mixture: FloatArray) -> Blend:
    """With new components where the target is highest above the mixture of all that there is.

    One after the other, each from the points nearest to the worst one, in the widths of the component there;
    those ``beside`` are others that these may be taken from.
    """
    heavy = taught.weight > TEACHING.least_weight * taught.weight.max()
    points, weights = taught.point[heavy], taught.weight[heavy]
    log_target, covered = taught.log_target[heavy], log_mixture[heavy]
    for _ in range(min(TEACHING.added, TEACHING.most_components - len(blend))):
        worst = int(np.argmax(log_target - covered))
        if log_target[worst] - covered[worst] < TEACHING.badly_covered:
            break
        shape = _shape_at(points[worst], blend, beside)
        centre, covariance, mass = _around(points[worst], shape, points, weights)
        blend = blend.joined(mass, centre, covariance)
        one = from_parts(np.array([mass]), centre[None], covariance[None])
        covered = np.logaddexp(covered, log_density_of(points, one))
    return blend


def _shape_at(point: FloatArray, blend: Blend, beside: Blend) -> FloatArray:
    """The scale matrix of the component that is nearest in its own widths."""
    covariances = np.concatenate([blend.covariance, beside.covariance])
    offset = point - np.concatenate([blend.centre, beside.centre])
    square = np.einsum("ki,ki->k", offset, np.linalg.solve(covariances, offset[:, :, None])[:, :, 0])
    nearest: FloatArray = covariances[np.argmin(square)]
    return nearest


def _around(
    point: FloatArray, shape: FloatArray, points: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Centre, scale matrix and mass of the points nearest to one, in the widths of a shape."""
    dim = len(point)
    square = squares(points, point, shape)
    n_near = min(TEACHING.near_per_dim * dim, len(points))
    near = np.argpartition(square, n_near - 1)[:n_near]
    share = weights[near] / weights[near].sum()
    centre = share @ points[near]
    offset = points[near] - centre
    width = min(float(np.median(square[near])) / dim, 1.0)
    covariance = (share[:, None] * offset).T @ offset + 0.5 * width * shape
    return centre, covariance, float(weights[near].sum())


def no_blend(dim: int) -> Blend:
    """Nothing."""
    return Blend(np.empty(0), np.empty((0, dim)), np.empty((0, dim, dim)))


def wide_blend(core: Blend, states: FloatArray, broad: FloatArray) -> Blend:
    """Wide components to begin with: at some of the states, in the widened shapes of those there."""
    n_wide = min(TEACHING.most_wide, len(states), len(core) + TEACHING.added)
    points = states[np.linspace(0, len(states) - 1, n_wide).astype(np.int64)]
    nearest = np.argmin(whitened_squares(points, core.mixture), axis=1)
    covariance = TEACHING.first_width * core.covariance[nearest] + JUMPING.broad_weight * broad
    return Blend(np.full(n_wide, 1.0 / n_wide), points, covariance)


def blended(core: Blend, wide: Blend, mean: FloatArray, covariance: FloatArray) -> Mixture:
    """The mixture of both, and last a broad component with the mean and covariance of all states."""
    broad, share = JUMPING.broad_weight, TEACHING.wide_share if len(wide) else 0.0
    return from_parts(
        np.concatenate([(1.0 - broad - share) * core.weight, share * wide.weight, [broad]]),
        np.concatenate([core.centre, wide.centre, mean[None]]),
        np.concatenate([core.covariance, wide.covariance, covariance[None]]),
    )


def taught_by(
    taught: Taught, core: Blend, wide: Blend, mean: FloatArray, covariance: FloatArray
) -> tuple[Blend, Blend]:
    """Both after a lesson: new components where the mixture is thin, and all fitted to the weighted points.

    The wide ones follow a power of the target, so that beyond the modes the ratio of target to mixture
    falls. In the fit of the others points count more where the mixture is thin.
    """
    wide = climbed(wide, taught.point, taught.warm)
    log_mixture = log_density_of(taught.point, blended(core, wide, mean, covariance))
    core = reaching(core, wide, taught, log_mixture)
    log_mixture = log_density_of(taught.point, blended(core, wide, mean, covariance))
    thin = TEACHING.emphasis * (taught.log_target - log_mixture)
    weight = taught.weight * np.exp(np.clip(thin, -TEACHING.most_emphasis, TEACHING.most_emphasis))
    return climbed(core, taught.point, weight / weight.sum()), wide


def stacked(mixture: Mixture, n_draws: int) -> Mixture:
    """The mixture of so many draws: its density is theirs together."""
    return mixture._replace(log_height=mixture.log_height + np.log(n_draws))


def draws_from(mixture: Mixture, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """So many draws, of each component as many as its weight says but for rounding."""
    dim = mixture.centre.shape[1]
    places = (np.arange(n_draws) + rng.random(n_draws)) / n_draws * mixture.cumulative[-1]
    which = np.minimum(np.searchsorted(mixture.cumulative, places, side="right"), len(mixture.centre) - 1)
    normals = rng.standard_normal((n_draws, dim))
    length = np.sqrt(JUMP_DOF / rng.chisquare(JUMP_DOF, n_draws))
    steps = np.einsum("nij,nj->ni", mixture.root[which], normals)
    points: FloatArray = mixture.centre[which] + length[:, None] * steps
    return points


def worth_of(log_ratio: FloatArray) -> float:
    """The effective share of independent draws, (Σ w)² / n Σ w² (Kish 1965), by log ℓ/q at each."""
    largest = log_ratio.max(initial=-np.inf)
    if not np.isfinite(largest):
        return 0.0
    weight = np.exp(log_ratio - largest)
    return float(weight.sum() ** 2 / (len(weight) * (weight**2).sum()))


def acceptance_of(taught: Taught, mixture: Mixture) -> float:
    """How often a jump from the mixture is accepted, by weighted points: E min(1, w(y)/w(x))."""
    log_ratio = taught.log_target - log_density_of(taught.point, mixture)
    with np.errstate(divide="ignore"):
        of_jumps = np.log(taught.weight) - log_ratio
    here = log_ratio[_resampled(taught.weight)]
    there = log_ratio[_resampled(shares(np.ones(len(of_jumps)), of_jumps))]
    return float(np.exp(np.minimum(0.0, there[None] - here[:, None])).mean())


def worth_with_tails(taught: Taught, mixture: Mixture) -> float:
    """1 / (E w · E 1/w) by weighted points, with all tails: w the ratio of target to mixture."""
    log_ratio = taught.log_target - log_density_of(taught.point, mixture)
    some = taught.weight > 0.0
    log_weight, log_ratio = np.log(taught.weight[some]), log_ratio[some]
    return math.exp(-_log_sum(log_weight + log_ratio) - _log_sum(log_weight - log_ratio))


def _log_sum(values: FloatArray) -> float:
    largest = float(values.max())
    return largest + math.log(float(np.exp(values - largest).sum()))


def _resampled(weight: FloatArray) -> IntArray:
    """Rows by their weights, at even places of the sum."""
    places = (np.arange(TEACHING.n_pairs) + 0.5) / TEACHING.n_pairs
    rows: IntArray = np.minimum(np.searchsorted(np.cumsum(weight), places), len(weight) - 1)
    return rows
