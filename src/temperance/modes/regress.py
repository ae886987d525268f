"""Components from log densities: within a mode they are known without noise, wherever they were asked for.

A Gaussian's log density is a quadratic, so a regression of the log density on one gives centre and covariance
from any points of the mode, whatever led there: states, proposals that were refused, what scouts brought. The
moments of a few hundred correlated states are far noisier. What bends has a component for each part of it.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray
from temperance.modes.components import Components
from temperance.modes.mixture import log_masses
from temperance.modes.policy import REGRESSION
from temperance.modes.student import from_parts, log_fall, most_likely, squares
from temperance.modes.worth import balance
from temperance.theory import chi_square_quantile

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Known:
    """Points whose log density is known, and which of them the chain was at, not just asked about."""

    point: FloatArray  # (point, dim)
    log_density: FloatArray  # (point,)
    own: BoolArray  # (point,)

    def chosen(self, rows: BoolArray) -> "Known":
        """Some of these."""
        return Known(self.point[rows], self.log_density[rows], self.own[rows])

    def judges(self) -> "Known":
        """Those by which a fit is judged: where the chain was, or all if that is next to nothing."""
        enough = np.count_nonzero(self.own) >= REGRESSION.min_judges * (self.point.shape[1] + 1)
        return self.chosen(self.own) if enough else self


def regressed(
    components: Components, known: Known, shape: FloatArray, *, split: bool
) -> tuple[Components, FloatArray]:
    """The same modes by regression, each where that describes the chain's states better than before.

    With ``split`` a mode that no single component describes gets several. Also the share of the chain's
    states that each describes well, (component,).
    """
    dim = components.centre.shape[1]
    if dim > REGRESSION.max_dim or not len(components):
        return components, np.zeros(len(components))
    parts = []
    for k, mine in enumerate(by_component(components, known)):
        one = sharpened(components.chosen(np.arange(len(components)) == k), mine, shape)
        parts.append(divided(one, mine, shape, REGRESSION.max_parts) if split else one)
    made = functools.reduce(Components.joined, parts)
    good = REGRESSION.good * best_worth(dim)
    n_own = max(1, np.count_nonzero(known.own))
    described = []
    for k, mine in enumerate(by_component(made, known)):
        own = mine.chosen(mine.own)
        worth = local_worth(made.chosen(np.arange(len(made)) == k), own) if len(own.point) > dim else 0.0
        described.append(len(own.point) / n_own if worth > good else 0.0)
    return made, np.array(described)


def sharpened(one: Components, known: Known, shape: FloatArray) -> Components:
    """A component by regression, if the states of its mode agree with that better.

    Where the component is far off itself, one of the usual shape may be a better place to begin.
    """
    if len(known.point) < n_coefficients(known.point.shape[1]):
        return one
    judges = known.judges()
    best, worth = _climbed(one, local_worth(one, judges), known, judges)
    if worth < REGRESSION.good * best_worth(known.point.shape[1]):
        usual = weighed(replace(one, covariance=shape[None]), judges)
        other, gained = _climbed(usual, local_worth(usual, judges), known, judges)
        if gained > worth:
            best = other
    return best


def _climbed(
    best: Components, worth: float, known: Known, judges: Known
) -> tuple[Components, float]:
    """Regressions, each from where the last one came to, as long as they pay."""
    for _ in range(REGRESSION.n_sweeps):
        fitted = quadratic_fit(best.centre[0], best.covariance[0], known)
        if fitted is None:
            break
        tried = [
            weighed(replace(best, centre=fitted[0][None], covariance=factor * fitted[1][None]), judges)
            for factor in REGRESSION.widths
        ]
        gained, found = max(((local_worth(one, judges), k) for k, one in enumerate(tried)))
        if gained <= worth:
            break
        best, worth = tried[found], gained
    return best, worth


def quadratic_fit(
    centre: FloatArray, covariance: FloatArray, known: Known
) -> tuple[FloatArray, FloatArray] | None:
    """Centre and covariance of the quadratic that log densities near a component follow; None where unfit.

    In whitened coordinates z the log density plus |z|²/2 is regressed on 1, z_i and z_i z_j. All but the
    first coefficient are drawn to zero, the component as it was, the more so the worse a quadratic fits.
    """
    dim = len(centre)
    root = np.linalg.cholesky(covariance)
    z = np.linalg.solve(root, (known.point - centre).T).T
    square = (z**2).sum(axis=1)
    near = square < REGRESSION.reach * chi_square_quantile(0.99, dim)
    if np.count_nonzero(near) < n_coefficients(dim):
        return None
    lowest = known.log_density[near].max() - 0.5 * chi_square_quantile(0.999, dim) - REGRESSION.depth
    near &= known.log_density > lowest
    if np.count_nonzero(near) < n_coefficients(dim):
        return None
    z, square = z[near], square[near]
    weight = 1.0 / (1.0 + np.maximum(square - dim, 0.0) / dim)
    i, j = np.triu_indices(dim)
    design = np.concatenate([np.ones((len(z), 1)), z, z[:, i] * z[:, j]], axis=1)
    coefficient = ridge(design, known.log_density[near] + 0.5 * square, weight)
    linear = coefficient[1 : dim + 1]
    quadratic = np.zeros((dim, dim))
    quadratic[i, j] = coefficient[dim + 1 :]
    hessian = np.eye(dim) - (quadratic + quadratic.T)
    if np.linalg.eigvalsh(hessian)[0] < REGRESSION.min_curvature:
        return None
    inverse = np.linalg.inv(hessian)
    shift = inverse @ linear
    if shift @ shift > REGRESSION.max_shift * dim:
        return None
    spread = root @ inverse @ root.T
    return centre + root @ shift, 0.5 * (spread + spread.T)


def n_coefficients(dim: int) -> int:
    """Of a quadratic in so many variables."""
    return (dim + 1) * (dim + 2) // 2


def ridge(design: FloatArray, response: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted least squares; coefficients but the first have a prior of mean zero.

    The variance of the residuals, against which that prior is weighed, comes from a first fit that hardly
    has one.
    """
    gram = (design.T * weight) @ design
    moment = design.T @ (weight * response)
    shrink = np.ones(len(gram))
    shrink[0] = 0.0
    n, p = design.shape
    scale = float(weight.sum())
    penalty = REGRESSION.least_ridge * scale
    coefficient = np.linalg.solve(gram + np.diag(penalty * shrink + 1e-12 * scale), moment)
    residual = response - design @ coefficient
    variance = float(weight @ residual**2) / scale * n / max(n - p, 1)
    penalty = max(variance / REGRESSION.prior_sd**2, penalty)
    return np.linalg.solve(gram + np.diag(penalty * shrink + 1e-12 * scale), moment)


def divided(one: Components, known: Known, shape: FloatArray, room: int) -> Components:
    """A mode in as many components as describe it ever better."""
    if room < 2 or len(known.point) < 2 * n_coefficients(known.point.shape[1]):
        return one
    judges = known.judges()
    worth = local_worth(one, judges)
    if worth > REGRESSION.good * best_worth(known.point.shape[1]):
        return one
    best, gained, split = one, REGRESSION.split_gain * worth, None
    for side in cuts(judges, shape):
        below = side(known.point)
        parts = [known.chosen(below), known.chosen(~below)]
        if min(np.count_nonzero(part.own) for part in parts) <= known.point.shape[1]:
            continue
        both = [sharpened(moments(part, one), part, shape) for part in parts]
        pair = weighed(both[0].joined(both[1]), judges)
        found = local_worth(pair, judges)
        if found > gained:
            best, gained, split = pair, found, (both, parts)
    if split is None:
        return one
    deeper = [divided(half, part, shape, room // 2) for half, part in zip(*split, strict=True)]
    more = weighed(deeper[0].joined(deeper[1]), judges)
    return more if len(more) > 2 and local_worth(more, judges) > gained else best


def by_component(components: Components, known: Known) -> list[Known]:
    """The points of each component: those where it is the most likely."""
    mass = log_masses(components)
    mixture = from_parts(np.exp(mass - mass.max()), components.centre, components.covariance)
    label = most_likely(known.point, mixture)
    return [known.chosen(label == k) for k in range(len(components))]


def cuts(judges: Known, shape: FloatArray) -> Iterator[Callable[[FloatArray], BoolArray]]:
    """Ways to cut a mode in two, at some quantiles along the axes in which it is longest beside the usual shape."""
    whitener = np.linalg.inv(np.linalg.cholesky(shape))
    covariance = np.cov(judges.point.T).reshape(shape.shape)
    axes = (np.linalg.eigh(whitener @ covariance @ whitener.T)[1].T @ whitener)[::-1]
    for axis in axes[: REGRESSION.n_axes]:
        for place in np.quantile(judges.point @ axis, REGRESSION.cuts):
            yield functools.partial(_is_below, axis, place)


def _is_below(axis: FloatArray, place: float, points: FloatArray) -> BoolArray:
    below: BoolArray = points @ axis < place
    return below


def moments(part: Known, whole: Components) -> Components:
    """A component by the moments of a part's states, with the whole one as a prior."""
    points = part.judges().point
    dim = points.shape[1]
    centre = points.mean(axis=0)
    centred = points - centre
    covariance = (centred.T @ centred + dim * whole.covariance[0] / 4.0) / (len(points) + dim)
    one = replace(whole, centre=centre[None], covariance=covariance[None], count=np.array([len(points)]))
    return weighed(one, part.judges())


def weighed(components: Components, judges: Known) -> Components:
    """With the heights by which the components together come nearest to the log densities.

    Where components overlap each explains a share of the density. The height of one is the median of what
    its share says, weighted by that share; shares follow from heights, in a few rounds.
    """
    falls = local_falls(components, judges)
    if len(components) == 1:
        return replace(components, log_peak=np.array([np.median(judges.log_density + falls[:, 0])]))
    peaks = np.full(len(components), 0.0)
    for _ in range(REGRESSION.n_rounds):
        term = peaks - falls
        term = term - term.max(axis=1, keepdims=True)
        share = np.exp(term)
        share /= share.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            heights = np.log(share) + judges.log_density[:, None] + falls
        peaks = np.array(
            [weighted_median(heights[:, k], share[:, k]) for k in range(len(components))]
        )
    return replace(components, log_peak=peaks)


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
