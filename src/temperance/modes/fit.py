"""From states and their log densities to the modes they came from."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray
from temperance.modes.components import Components
from temperance.modes.link import link_states
from temperance.modes.policy import FITTING
from temperance.modes.student import influence, log_fall, squares
from temperance.theory import chi_square_quantile


@dataclass(frozen=True)
class Sample:
    """States to learn from. ``worth`` is how much of an independent state each counts."""

    point: FloatArray  # (state, dim)
    log_density: FloatArray  # (state,)
    width: FloatArray  # (state,) of the mode around it in units of the shape, one where it is not known
    own: npt.NDArray[np.bool_]  # (state,) of the chain itself; what scouts bring may be no mode at all
    worth: float


@dataclass(frozen=True)
class Cluster:
    """The states of one mode."""

    rows: IntArray
    mean: FloatArray
    scatter: FloatArray  # sum of outer products about the mean

    @property
    def size(self) -> int:
        """How many states."""
        return len(self.rows)


def fit_modes(
    sample: Sample, shape: FloatArray, max_modes: int, n_sweeps: int = FITTING.n_sweeps
) -> tuple[Components, FloatArray]:
    """The modes that the states show, and the pooled covariance within them.

    ``shape`` is a first guess of that covariance. States that are whitened by it are linked into clusters;
    small clusters that a larger one explains are absorbed; a mode's covariance is shrunk to the pooled one.
    """
    dim = sample.point.shape[1]
    weight = prior_weight(dim)
    clusters, pooled = _clusters(sample, shape, weight, n_sweeps)
    clusters = _absorbed(clusters, sample, pooled, weight)
    clusters = sorted(clusters, key=lambda cluster: -cluster.size)[:max_modes]
    fitted = [_component(cluster, sample, pooled, weight) for cluster in clusters]
    return (
        Components(
            np.array([centre for centre, _, _ in fitted]),
            np.array([covariance for _, covariance, _ in fitted]),
            np.array([peak for _, _, peak in fitted]),
            np.array([cluster.size for cluster in clusters], dtype=np.int64),
        ),
        pooled,
    )


def prior_weight(dim: int) -> float:
    """How many states the pooled shape weighs."""
    return FITTING.prior_states * dim + FITTING.prior_more


def _clusters(
    sample: Sample, shape: FloatArray, weight: float, n_sweeps: int
) -> tuple[list[Cluster], FloatArray]:
    dim = sample.point.shape[1]
    reach = 2.0 * chi_square_quantile(FITTING.link_quantile, dim) * sample.width**2
    pooled, clusters = shape, []
    for _ in range(n_sweeps):
        whitened = np.linalg.solve(np.linalg.cholesky(pooled), sample.point.T).T
        label, _ = link_states(whitened, sample.log_density, reach)
        by_label = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])
        clusters = [_cluster(rows, sample) for rows in by_label]
        own = [_cluster(rows[sample.own[rows]], sample) for rows in by_label if np.any(sample.own[rows])]
        scatter = np.sum([cluster.scatter for cluster in own], axis=0)
        freedom = sum(cluster.size - 1 for cluster in own)
        pooled = _shrunk(scatter, freedom, sample.worth, pooled, weight)
    return clusters, pooled


def _cluster(rows: IntArray, sample: Sample) -> Cluster:
    points = sample.point[rows]
    mean = points.mean(axis=0)
    centred = points - mean
    return Cluster(rows, mean, centred.T @ centred)


def _shrunk(scatter: FloatArray, freedom: int, worth: float, prior: FloatArray, weight: float) -> FloatArray:
    """A covariance from a scatter with some degrees of freedom, and a prior of some weight."""
    return (worth * scatter + weight * prior) / (worth * freedom + weight)


def _absorbed(clusters: list[Cluster], sample: Sample, pooled: FloatArray, weight: float) -> list[Cluster]:
    """Small clusters join a larger one whose Gaussian explains both where they are and how dense they are."""
    dim = sample.point.shape[1]
    near = chi_square_quantile(FITTING.absorb_quantile, dim)
    excess = math.sqrt(2.0 * dim) + FITTING.absorb_excess
    left = sorted(clusters, key=lambda cluster: -cluster.size)
    kept = []
    while left:
        large, *left = left
        if large.size > 2 and left:
            shape = _shrunk(large.scatter, large.size - 1, sample.worth, pooled, weight)
            peak = _peak(large, large, sample, shape)
            distance = squares(np.array([small.mean for small in left]), large.mean, shape)
            explained = [
                square < near and _peak(small, large, sample, shape) - peak < excess
                for small, square in zip(left, distance, strict=True)
            ]
            joined = [small.rows for small, inside in zip(left, explained, strict=True) if inside]
            left = [small for small, inside in zip(left, explained, strict=True) if not inside]
            if joined:
                large = _cluster(np.concatenate([large.rows, *joined]), sample)
        kept.append(large)
    return kept


def _peak(of: Cluster, about: Cluster, sample: Sample, shape: FloatArray) -> float:
    """The log density that states of one cluster predict at the centre of another, were that a Gaussian."""
    distance = squares(sample.point[of.rows], about.mean, shape)
    return float(np.median(sample.log_density[of.rows] + 0.5 * distance))


def _component(
    cluster: Cluster, sample: Sample, pooled: FloatArray, weight: float
) -> tuple[FloatArray, FloatArray, float]:
    """Centre, scale matrix shrunk to the pooled shape in the cluster's own size, and the log peak."""
    dim, points = sample.point.shape[1], sample.point[cluster.rows]
    size = 1.0
    if cluster.size > 2:
        freedom = cluster.size - 1.0
        spread = squares(points, cluster.mean, pooled).sum() / (dim * freedom)
        size = max(spread, 1e-12) ** (freedom / (freedom + 2.0))
    centre, scatter = cluster.mean, cluster.scatter
    covariance = _shrunk(scatter, cluster.size - 1, sample.worth, size * pooled, weight)
    for _ in range(FITTING.n_reweighted if cluster.size > dim + 1 else 0):
        centre, scatter = _reweighted(points, centre, covariance)
        covariance = _shrunk(scatter, cluster.size - 1, sample.worth, size * pooled, weight)
    falls = log_fall(squares(points, centre, covariance), dim)
    # Distances to a mean of the states themselves are too short by one part in their number.
    peak = float(np.median(sample.log_density[cluster.rows] + falls)) + 0.5 * dim / cluster.size
    return centre, covariance, peak


def _reweighted(
    points: FloatArray, centre: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and scatter with the weights of Student's t, to which states far out matter less."""
    weights = influence(squares(points, centre, covariance), points.shape[1])
    mean = weights @ points / weights.sum()
    centred = points - mean
    return mean, (weights * centred.T) @ centred
