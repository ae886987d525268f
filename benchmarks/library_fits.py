"""Ways to fit modes to states: ours, and those of scikit-learn as mixtures of t that jumps could use.

Libraries are favoured: mixtures are told a bound on the number of modes, and of several settings a clustering
takes the one that is worth most on the states.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from temperance.core.state import FloatArray, Mixture
from temperance.modes import fit
from temperance.modes.components import Components
from temperance.modes.mixture import make_mixture
from temperance.modes.policy import FITTING, JUMPING, LEARNING
from temperance.modes.student import from_parts
from temperance.modes.worth import efficiency
from temperance.theory import chi_square_quantile

RIDGE = 0.05  # added to covariances of whitened states: components of two or three states stay proper
FREE_MEAN = 0.01  # states that the common mean weighs in the Bayesian mixture
MAX_SWEEPS = 300
CLUSTER_SIZES = (5, 10, 20)
REACHES = (0.25, 0.5, 1.0)  # of what our links may bridge


class States(NamedTuple):
    """What there is to learn from."""

    sample: fit.Sample
    shape: FloatArray
    whitened: FloatArray  # in units of the shape
    broad: tuple[FloatArray, FloatArray]  # mean and covariance of all
    most: int  # components of a library's mixture
    prior: float  # states that the shape weighs


def ours(states: States, *, by_counts: bool = False) -> Mixture:
    """As it is, or with weights by how often states visited a mode."""
    modes, _ = fit.fit_modes(states.sample, states.shape, LEARNING.max_modes)
    if by_counts:
        return with_shares(modes.count / modes.count.sum(), modes.centre, modes.covariance, states)
    return make_mixture(modes, *states.broad)


def with_shares(share: FloatArray, centre: FloatArray, covariance: FloatArray, states: States) -> Mixture:
    """A mixture with these weights, none near zero, and the broad component."""
    weight, (mean, broad) = np.maximum(share, JUMPING.min_weight / len(share)), states.broad
    weights = np.append((1.0 - JUMPING.broad_weight) * weight / weight.sum(), JUMPING.broad_weight)
    return from_parts(weights, np.vstack([centre, mean]), np.concatenate([covariance, broad[None]]))


def of_labels(label: Any, states: States) -> Mixture:
    """Clusters without noise, as our components: covariances shrunk, weights by density."""
    sample, label = states.sample, (label if label.max() >= 0 else np.zeros_like(label))
    clusters = [fit._cluster(np.flatnonzero(label == k), sample) for k in np.unique(label[label >= 0])]
    scatter, freedom = sum(cluster.scatter for cluster in clusters), np.sum(label >= 0) - len(clusters)
    pooled = fit._shrunk(scatter, freedom, sample.worth, states.shape, states.prior)
    fitted = [fit._component(cluster, sample, pooled, states.prior) for cluster in clusters]
    parts = zip(*((*own, c.size) for c, own in zip(clusters, fitted, strict=True)), strict=True)
    return make_mixture(Components(*map(np.array, parts)), *states.broad)


def of_model(model: Any, states: States) -> Mixture:
    """Weights, means and covariances of a library's mixture, but for components of less than a state."""
    root, used = np.linalg.cholesky(states.shape), model.weights_ * len(states.whitened) >= 1.0
    covariance = root @ model.covariances_[used] @ root.T
    return with_shares(model.weights_[used], model.means_[used] @ root.T, covariance, states)


def by_bic(states: States) -> GaussianMixture:
    """Powers of two, then ever closer to the best number of components."""
    tried, wanted = {}, {states.most, *(2**k for k in range(states.most.bit_length()))}
    while wanted:
        for n in wanted:
            tried[n] = GaussianMixture(n, reg_covar=RIDGE, random_state=0).fit(states.whitened)
        best = min(tried, key=lambda n: tried[n].bic(states.whitened))
        below = max((n for n in tried if n < best), default=best)
        above = min((n for n in tried if n > best), default=best)
        wanted = {(below + best) // 2, (best + above) // 2} - set(tried)
    return tried[best]


def bayesian(states: States) -> BayesianGaussianMixture:
    """With the shape as a prior that weighs what it does in our fit, and means that are free."""
    return BayesianGaussianMixture(
        n_components=states.most, degrees_of_freedom_prior=states.prior, mean_precision_prior=FREE_MEAN,
        covariance_prior=states.prior * np.eye(len(states.shape)), max_iter=MAX_SWEEPS, random_state=0,
    ).fit(states.whitened)  # fmt: skip


def best_clusters(models: list[Any], states: States) -> Mixture:
    """The clustering that is worth most on the states themselves."""
    fits = [of_labels(model.fit_predict(states.whitened), states) for model in models]
    return max(fits, key=lambda fitted: efficiency(fitted, states.sample.point, states.sample.log_density))


def hierarchical(states: States) -> Mixture:
    """HDBSCAN with clusters of so many states at least."""
    return best_clusters([HDBSCAN(min_cluster_size=size, copy=True) for size in CLUSTER_SIZES], states)


def scanned(states: States) -> Mixture:
    """DBSCAN with neighbours as near as parts of our reach."""
    reach = np.sqrt(2.0 * chi_square_quantile(FITTING.link_quantile, len(states.shape)))
    return best_clusters([DBSCAN(eps=part * reach) for part in REACHES], states)


FITS: dict[str, Callable[[States], Mixture]] = {
    "ours": ours,
    "ours, weights by counts": partial(ours, by_counts=True),
    "Gaussian mixture, BIC": lambda states: of_model(by_bic(states), states),
    "the same, our components": lambda states: of_labels(by_bic(states).predict(states.whitened), states),
    "Bayesian Gaussian mixture": lambda states: of_model(bayesian(states), states),
    "HDBSCAN, our components": hierarchical,
    "DBSCAN, our components": scanned,
}
