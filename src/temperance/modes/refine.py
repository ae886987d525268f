"""Components made better by what is known of log densities; what bends gets one for each part of it."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from temperance.core.state import FloatArray
from temperance.modes.components import Components
from temperance.modes.local import best_worth, by_component, local_worth, weighed, widened
from temperance.modes.policy import REGRESSION
from temperance.modes.regress import BoolArray, Known, few_coefficients, n_coefficients, quadratic_fit


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
    n_own = max(1, int(np.count_nonzero(known.own)))
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
    if len(known.point) < few_coefficients(known.point.shape[1]):
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
    best: Components, worth: float, known: Known, judges: Known, n_sweeps: int = REGRESSION.n_sweeps
) -> tuple[Components, float]:
    """Regressions, each from where the last one came to, as long as they pay."""
    for _ in range(n_sweeps):
        fitted = quadratic_fit(best.centre[0], best.covariance[0], known)
        if fitted is None:
            break
        found, gained = widened(replace(best, centre=fitted[0][None], covariance=fitted[1][None]), judges)
        if gained <= worth:
            break
        best, worth = found, gained
    return best, worth


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
        both = [_first_try(part, one) for part in parts]
        pair = weighed(both[0].joined(both[1]), judges)
        found = local_worth(pair, judges)
        if found > gained:
            best, gained, split = pair, found, (both, parts)
    if split is None:
        return one
    both, parts = split
    both = [sharpened(half, part, shape) for half, part in zip(both, parts, strict=True)]
    deeper = [divided(half, part, shape, room // 2) for half, part in zip(both, parts, strict=True)]
    more = weighed(deeper[0].joined(deeper[1]), judges)
    return more if local_worth(more, judges) > gained else best


def _first_try(part: Known, whole: Components) -> Components:
    """A component for a part of a mode, by one regression."""
    one, judges = moments(part, whole), part.judges()
    return _climbed(one, local_worth(one, judges), part, judges, n_sweeps=1)[0]


def cuts(judges: Known, shape: FloatArray) -> Iterator[Callable[[FloatArray], BoolArray]]:
    """Ways to cut a mode in two: across the axes in which it is longest beside the usual shape."""
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
