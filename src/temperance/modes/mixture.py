"""From components to the mixture that the loop draws jumps from."""

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.components import Components, log_constant, log_fall

MIN_WEIGHT = 0.1  # over the number of modes: no mode is as good as forgotten
NEGLIGIBLE = -20.0  # log of a mass beside that of the heaviest mode
BROAD_WEIGHT = 0.05  # of the defensive component


def no_mixture(dim: int) -> Mixture:
    """Nothing to jump to."""
    empty = np.empty((0, dim, dim))
    return Mixture(np.zeros(1), np.empty(0), np.empty((0, dim)), empty, empty.copy(), np.empty(0))


def with_chance(mixture: Mixture, chance: float) -> Mixture:
    """The same mixture, to jump from with this chance."""
    return mixture._replace(chance=np.array([chance]))


def log_masses(components: Components) -> FloatArray:
    """Log mass of each mode, up to a constant: height times volume.

    How often the states visited a mode says less: they change mode rarely, and know the density exactly.
    """
    masses: FloatArray = components.log_peak + 0.5 * np.linalg.slogdet(components.covariance)[1]
    return masses


def with_mass(components: Components) -> Components:
    """Those that are not negligible: scouts may end in a tail without end, where there is no mode."""
    masses = log_masses(components)
    return components.chosen(masses - masses.max() > NEGLIGIBLE)


def mode_weights(components: Components) -> FloatArray:
    """The share of each mode, none near zero."""
    log_mass = log_masses(components)
    mass = np.exp(log_mass - log_mass.max())
    weight = np.maximum(mass / mass.sum(), MIN_WEIGHT / len(components))
    weights: FloatArray = weight / weight.sum()
    return weights


def make_mixture(components: Components, mean: FloatArray, covariance: FloatArray) -> Mixture:
    """The modes by their mass, and last a broad component with the mean and covariance of all states."""
    weights = np.append((1.0 - BROAD_WEIGHT) * mode_weights(components), BROAD_WEIGHT)
    centres = np.concatenate([components.centre, mean[None]])
    return from_parts(weights, centres, np.concatenate([components.covariance, covariance[None]]))


def from_parts(weights: FloatArray, centres: FloatArray, covariances: FloatArray) -> Mixture:
    """A mixture with these weights, centres and scale matrices, and no chance yet."""
    root: FloatArray = np.linalg.cholesky(covariances).astype(np.float64)
    half_log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    mixture = Mixture(
        chance=np.zeros(1),
        cumulative=np.cumsum(weights),
        centre=np.ascontiguousarray(centres),
        root=root,
        whitener=np.linalg.inv(root).astype(np.float64),
        log_height=np.log(weights) - half_log_det + log_constant(centres.shape[1]),
    )
    if not len(weights) or not all(np.all(np.isfinite(part)) for part in mixture):
        raise ArithmeticError("a mixture needs components, and all of them finite")
    return mixture


def whitened_squares(points: FloatArray, mixture: Mixture) -> FloatArray:
    """Squared distance of each point from each centre in its component's own widths, (point, component)."""
    columns = [
        (((points - centre) @ whitener.T) ** 2).sum(axis=1)
        for centre, whitener in zip(mixture.centre, mixture.whitener, strict=True)
    ]
    return np.stack(columns, axis=1) if columns else np.empty((len(points), 0))


def log_densities(points: FloatArray, mixture: Mixture) -> FloatArray:
    """Log density of the mixture at each point."""
    terms = mixture.log_height - log_fall(whitened_squares(points, mixture), points.shape[1])
    largest = terms.max(axis=1)
    total: FloatArray = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
    return total
