"""From components to the mixture that the loop draws jumps from."""

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, Mixture
from temperance.modes.components import Components
from temperance.modes.policy import JUMPING, MANY
from temperance.modes.student import from_parts


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
    In many dimensions the volume that a few states show may be anything: no such mode is heavier than the
    heaviest of those that have more.
    """
    masses: FloatArray = components.log_peak + 0.5 * np.linalg.slogdet(components.covariance)[1]
    well_seen = is_well_seen(components)
    return np.minimum(masses, masses[well_seen].max()) if well_seen.any() else masses


def is_well_seen(components: Components) -> npt.NDArray[np.bool_]:
    """Those of which there are more states than dimensions, in many dimensions."""
    dim = components.centre.shape[1]
    seen: npt.NDArray[np.bool_] = (components.count > dim) & (dim > MANY.beyond)
    return seen


def with_mass(components: Components) -> Components:
    """Those that are not negligible: scouts may end in a tail without end, where there is no mode.

    What many states have seen is none of these, whatever its volume seems to be in many dimensions.
    """
    masses, dim = log_masses(components), components.centre.shape[1]
    least = min(JUMPING.negligible, JUMPING.negligible_per_dim * dim)
    return components.chosen((masses - masses.max() > least) | is_well_seen(components))


def mode_weights(components: Components) -> FloatArray:
    """The share of each mode, none near zero."""
    log_mass = log_masses(components)
    mass = np.exp(log_mass - log_mass.max())
    weight = np.maximum(mass / mass.sum(), JUMPING.min_weight / len(components))
    weights: FloatArray = weight / weight.sum()
    return weights


def make_mixture(components: Components, mean: FloatArray, covariance: FloatArray) -> Mixture:
    """The modes by their mass, and last a broad component with the mean and covariance of all states."""
    broad = JUMPING.broad_weight
    weights = np.append((1.0 - broad) * mode_weights(components), broad)
    centres = np.concatenate([components.centre, mean[None]])
    return from_parts(weights, centres, np.concatenate([components.covariance, covariance[None]]))
