"""Maps between modes from many states: robust centres, one pooled shape and sizes, and own shapes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray, IntArray, Maps
from temperance.modes.components import Components
from temperance.modes.fit import prior_weight
from temperance.modes.mixture import mode_weights
from temperance.modes.policy import FITTING, LEAPING, LEARNING, REGRESSION
from temperance.modes.student import influence, squares
from temperance.theory import chi_square_quantile


@dataclass(frozen=True)
class Places:
    """Modes: centres, one shape, the size of each in it, and shapes of their own."""

    weight: FloatArray  # (mode,)
    centre: FloatArray  # (mode, dim)
    pooled: FloatArray  # (dim, dim) covariance
    size: FloatArray  # (mode,) a variance in units of the pooled one
    own: FloatArray  # (mode, dim, dim)


def make_maps(places: Places) -> Maps:
    """What the loop leaps with; the shape of a mode is the pooled one in its size, or its own."""
    root = np.linalg.cholesky(places.pooled)
    roots = np.stack([np.sqrt(places.size)[:, None, None] * root, np.linalg.cholesky(places.own)])
    maps = Maps(
        log_weight=np.log(places.weight),
        centre=np.ascontiguousarray(places.centre),
        root=roots.astype(np.float64),
        whitener=np.linalg.inv(roots).astype(np.float64),
        log_volume=np.log(np.diagonal(roots, axis1=2, axis2=3)).sum(axis=2),
    )
    if not all(np.all(np.isfinite(part)) for part in maps):
        raise ArithmeticError("maps between modes must be finite")
    return maps


def distinct(components: Components, shape: FloatArray, n_independent: float) -> Components:
    """Components that are modes of their own: none as near to a heavier one as states of one mode are.

    In many dimensions that is far: two states of a mode have twice the distance from each other, squared,
    that they have from its centre. A centre may be that of a state or two.
    """
    order = np.argsort(-mode_weights(components), kind="stable")
    near = same_mode(components, components, shape, n_independent)
    kept: list[int] = []
    for k in order:
        if not np.any(near[k, kept]):
            kept.append(int(k))
    return components.chosen(np.isin(np.arange(len(components)), kept))


def same_mode(
    some: Components, others: Components, shape: FloatArray, n_independent: float
) -> npt.NDArray[np.bool_]:
    """Which components may be of one mode, (some, other).

    Up to thirty dimensions the covariances of both are known; beyond, by the shape that all share.
    """
    dim = len(shape)
    if dim <= REGRESSION.max_dim:
        limit = chi_square_quantile(LEARNING.explained, dim)
        return np.asarray(squares_to(some.centre, others) <= limit)
    whitener = np.linalg.inv(np.linalg.cholesky(towards_diagonal(shape, n_independent)))
    reach = 2.0 * chi_square_quantile(FITTING.link_quantile, dim)
    size = np.maximum.outer(_sizes(some, whitener), _sizes(others, whitener))
    offset = (some.centre[:, None] - others.centre) @ whitener.T
    return np.asarray((offset**2).sum(axis=2) <= reach * np.clip(size, *LEAPING.sizes))


def squares_to(points: FloatArray, components: Components) -> FloatArray:
    """Squared distances of points from components in their widths, (point, component)."""
    pairs = zip(components.centre, components.covariance, strict=True)
    return np.stack([squares(points, centre, covariance) for centre, covariance in pairs], axis=1)


def places_of(
    components: Components, pooled: FloatArray, points: FloatArray, label: IntArray, worth: float
) -> Places:
    """The modes as these states show them, each worth so much; what has few of them is as it was."""
    dim, weight = points.shape[1], prior_weight(points.shape[1])
    whitener = np.linalg.inv(np.linalg.cholesky(pooled))
    scatter, freedom = np.zeros((dim, dim)), 0.0
    centre, size, own = components.centre.copy(), _sizes(components, whitener), components.covariance.copy()
    robust = []
    for k in range(len(components)):
        rows = points[label == k]
        robust.append(_robust(rows, whitener) if len(rows) > 2 else None)
    for k, found in enumerate(robust):
        if found is not None:
            centre[k], size[k], around, n = found
            scatter += around / size[k]
            freedom += n - 1.0
    shape = (worth * scatter + weight * pooled) / (worth * freedom + weight)
    shape = towards_diagonal(shape, max(worth * freedom, 1.0))
    for k, found in enumerate(robust):
        if found is not None:
            _, _, around, n = found
            own[k] = (worth * around + weight * size[k] * shape) / (worth * (n - 1.0) + weight)
    mass = mode_weights(components)
    goals = (1.0 - LEAPING.even) * mass + LEAPING.even / len(components)
    return Places(goals / goals.sum(), centre, shape, size, own)


def towards_diagonal(shape: FloatArray, n_independent: float) -> FloatArray:
    """A covariance with its correlations shrunk by the share of them that is noise, after Ledoit & Wolf 2004.

    Of so many independent states each of the d (d − 1) correlations has a noise of one part in their number.
    """
    dim = len(shape)
    sd = np.sqrt(np.diag(shape))
    correlation = shape / np.outer(sd, sd)
    found = float((correlation**2).sum()) - dim
    noise = dim * (dim - 1) / n_independent
    share = min(1.0, noise / found) if found > 0.0 else 0.0
    shrunk: FloatArray = (1.0 - share) * shape + share * np.diag(np.diag(shape))
    return shrunk


def _sizes(components: Components, whitener: FloatArray) -> FloatArray:
    """Of components whose states are not known: the median of their variances in the pooled shape.

    A determinant would be too small: in many dimensions few states leave directions without width.
    """
    variances = np.einsum("ij,kjl,il->ki", whitener, components.covariance, whitener, optimize=True)
    sizes: FloatArray = np.median(variances, axis=1)
    return sizes


def _robust(rows: FloatArray, whitener: FloatArray) -> tuple[FloatArray, float, FloatArray, float]:
    """Centre, size, scatter and number of states; those far out weigh less, as in a fit of Student's t.

    The size is by the median of the squared distances, which heavy tails hardly move.
    """
    dim = rows.shape[1]
    middle = chi_square_quantile(0.5, dim)
    centre = np.median(rows, axis=0)
    size, weight = 1.0, np.ones(len(rows))
    for _ in range(LEAPING.n_reweighted):
        square = (((rows - centre) @ whitener.T) ** 2).sum(axis=1)
        # Distances to a mean of the states themselves are too short by one part in their number.
        size = max(float(np.median(square)) / middle / (1.0 - 1.0 / len(rows)), np.finfo(np.float64).tiny)
        weight = influence(square / size, dim)
        centre = weight @ rows / weight.sum()
    centred = rows - centre
    weight = weight * (len(rows) / weight.sum())
    return centre, size, (weight[:, None] * centred).T @ centred, float(len(rows))


def squares_in(maps: Maps, kind: int, points: FloatArray) -> FloatArray:
    """Squared distances of points from all modes in their widths, (point, mode)."""
    columns = [
        (((points - centre) @ whitener.T) ** 2).sum(axis=1)
        for centre, whitener in zip(maps.centre, maps.whitener[kind], strict=True)
    ]
    return np.stack(columns, axis=1)
