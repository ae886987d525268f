"""How far the log density of a point is above what the known modes explain there."""

import math

import numpy as np

from temperance.core.state import Explained, FloatArray, Mixture
from temperance.modes.components import Components
from temperance.modes.policy import FITTING, SURPRISE
from temperance.modes.student import whitened_squares
from temperance.theory import chi_square_quantile


def surprises(
    points: FloatArray,
    log_density: FloatArray,
    components: Components,
    mixture: Mixture,
    dof: float,
) -> FloatArray:
    """Log density less the largest that any one component predicts there; broad ones predict nothing.

    A component falls as Student's t does with so many degrees of freedom.
    """
    squares = whitened_squares(points, mixture)[:, : len(components)]
    falls = power(dof, points.shape[1]) * np.log1p(SURPRISE.tightness * squares / dof)
    above: FloatArray = log_density - (components.log_peak - falls).max(axis=1)
    return above


def power(dof: float, dim: int) -> float:
    """To which 1 + square / dof is raised in the density of Student's t."""
    return 0.5 * (dof + dim)


def margin(dim: int) -> float:
    """What a log density may exceed the prediction by in a mode that is known."""
    return math.sqrt(2.0 * dim) + FITTING.absorb_excess


def tail_dof(points: FloatArray, log_density: FloatArray, components: Components, mixture: Mixture) -> float:
    """The lightest tails by which none of these points surprises, which belong to known modes."""
    for dof in SURPRISE.dofs[:-1] if len(points) else ():
        above = surprises(points, log_density, components, mixture, dof)
        if np.all(above <= SURPRISE.margin):
            return dof
    return SURPRISE.dofs[-1] if len(points) else SURPRISE.dofs[0]


def nothing_explained(dim: int) -> Explained:
    """No mode is known."""
    return Explained(np.empty((0, dim)), np.empty((0, dim, dim)), *np.empty((3, 0)), *np.zeros((5, 1)))


def explained_by(components: Components, mixture: Mixture, dof: float) -> Explained:
    """What the loop compares evaluated points with; the mixture is that of the components."""
    dim = components.centre.shape[1]
    if not len(components):
        return nothing_explained(dim)
    highest = components.log_peak.max()
    depth = 0.5 * chi_square_quantile(SURPRISE.floor_quantile, dim)
    whitener = math.sqrt(SURPRISE.tightness) * mixture.whitener[: len(components)]
    return Explained(
        centre=mixture.centre[: len(components)].copy(),
        whitener=whitener,
        log_peak=components.log_peak.copy(),
        slope=np.linalg.norm(whitener, ord=2, axis=(1, 2)) ** 2,
        reach=np.exp((components.log_peak - highest) / power(dof, dim)),
        highest=np.array([highest]),
        floor=np.array([components.log_peak.min() - depth]),
        margin=np.array([SURPRISE.margin]),
        dof=np.array([dof]),
        allowance=np.array([SURPRISE.work + SURPRISE.work_per_dim * dim]),
    )
