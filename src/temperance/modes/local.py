"""One mode by itself: what components are worth there, by its states, and how high each of them is."""

import functools
from dataclasses import replace

import numpy as np

from temperance.core.state import FloatArray
from temperance.modes.components import Components
from temperance.modes.mixture import log_masses
from temperance.modes.policy import REGRESSION
from temperance.modes.regress import Known
from temperance.modes.student import from_parts, log_fall, most_likely, squares
from temperance.modes.worth import balance
from temperance.theory import chi_square_quantile

LEAST_LOG_MASS = -600.0  # beside the heaviest, so that a weight is never zero


def by_component(components: Components, known: Known) -> list[Known]:
    """The points of each component: those where it is the most likely."""
    mass = log_masses(components)
    weights = np.exp(np.maximum(mass - mass.max(), LEAST_LOG_MASS))
    mixture = from_parts(weights, components.centre, components.covariance)
    label = most_likely(known.point, mixture)
    return [known.chosen(label == k) for k in range(len(components))]


def weighed(components: Components, judges: Known) -> Components:
    """With the heights by which the components together come nearest to the log densities.

    Where components overlap each explains a share of the density. The height of one is the median of what
    its share says, weighted by that share; shares follow from heights, in a few rounds.
    """
    falls = local_falls(components, judges)
    if len(components) == 1:
        return replace(components, log_peak=np.array([median(judges.log_density + falls[:, 0])]))
    peaks = np.full(len(components), 0.0)
    for _ in range(REGRESSION.n_rounds):
        term = peaks - falls
        term = term - term.max(axis=1, keepdims=True)
        share = np.exp(term)
        share /= share.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            heights = np.log(share) + judges.log_density[:, None] + falls
        peaks = np.array([weighted_median(heights[:, k], share[:, k]) for k in range(len(components))])
    return replace(components, log_peak=peaks)


def widened(one: Components, judges: Known) -> tuple[Components, float]:
    """One component, of the width and with the height that describe the states best, and what it is worth."""
    dim = judges.point.shape[1]
    square = squares(judges.point, one.centre[0], one.covariance[0])
    tried = []
    for factor in REGRESSION.widths:
        height = judges.log_density + log_fall(square / factor, dim)
        peak = median(height)
        tried.append((balance(height - peak, REGRESSION.trimmed), factor, peak))
    worth, factor, peak = max(tried)
    return replace(one, covariance=factor * one.covariance, log_peak=np.array([peak])), worth


def median(values: FloatArray) -> float:
    """As NumPy's, which takes longer to begin than to sort a few hundred numbers."""
    ordered, n = np.sort(values), len(values)
    return float(0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]))


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value below which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def local_falls(components: Components, judges: Known) -> FloatArray:
    """How far below its peak each component is at each point, (point, component)."""
    dim = judges.point.shape[1]
    columns = [
        log_fall(squares(judges.point, centre, covariance), dim)
        for centre, covariance in zip(components.centre, components.covariance, strict=True)
    ]
    return np.stack(columns, axis=1)


def local_worth(components: Components, judges: Known) -> float:
    """The efficiency of jumps within a mode, by the states there."""
    term = components.log_peak - local_falls(components, judges)
    largest = term.max(axis=1)
    height = largest + np.log(np.exp(term - largest[:, None]).sum(axis=1))
    return balance(judges.log_density - height, REGRESSION.trimmed)


@functools.cache
def best_worth(dim: int) -> float:
    """The efficiency of the best Student's t for a Gaussian, by as many states as are usual."""
    chances = (np.arange(1000) + 0.5) / 1000.0
    radius = np.sqrt([max(0.0, chi_square_quantile(chance, dim)) for chance in chances])
    return max(
        balance(log_fall(radius**2 / width, dim) - 0.5 * radius**2, REGRESSION.trimmed)
        for width in np.linspace(0.5, 1.5, 41)
    )
