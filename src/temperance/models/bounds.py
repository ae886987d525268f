"""Parameters without priors: names, bounds, and which of them go in circles."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from temperance.checks import real_number, whole_number, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.parameters import DEFAULT_NAME
from temperance.priors import Prior, angle, flat

Pair = tuple[float | None, float | None]
OPEN: Pair = (None, None)
TURN: Pair = (0.0, 2.0 * math.pi)


def bounded(bounds: Any, periodic: Any, names: Any) -> dict[str, Prior]:
    """Flat priors within bounds, and angles, by name; one vector where there are no names."""
    if names is None and not isinstance(bounds, Mapping):
        return {DEFAULT_NAME: _vector(bounds, periodic)}
    shapes = _shapes(names, bounds)
    pairs = _by_name("bounds", bounds, shapes)
    turning = _names_of(periodic, shapes)
    return {
        name: _prior(name, pairs.get(name, OPEN), name in turning, shape) for name, shape in shapes.items()
    }


def _vector(bounds: Any, periodic: Any) -> Prior:
    """One prior for each coordinate of a vector."""
    pairs = _pairs(bounds)
    turning = () if periodic is None else periodic
    if not isinstance(turning, tuple | list):
        raise InvalidTypeError(f"periodic must be a list of coordinates, got {turning!r}")
    places = [whole_number("periodic", place, least=0) for place in turning]
    if places and max(places) >= len(pairs):
        raise InvalidInputError(f"periodic must be of coordinates 0 to {len(pairs) - 1}, got {max(places)}")
    labels = [f"{DEFAULT_NAME}[{k}]" for k in range(len(pairs))]
    return stacked(
        [_prior(labels[k], pair, k in places, ()) for k, pair in enumerate(pairs)],
    )


def stacked(priors: list[Prior]) -> Prior:
    """A vector whose values have priors of their own."""
    drawable = all(prior.draw is not None for prior in priors)

    def draw(generator: np.random.Generator) -> FloatArray:
        return np.concatenate([prior.draw(generator) for prior in priors if prior.draw is not None])

    def unconstrain(values: FloatArray) -> FloatArray:
        parts = [prior.unconstrain(value) for prior, value in zip(priors, values, strict=True)]
        return np.concatenate(parts)

    return Prior(
        text="flat within bounds",
        shape=(len(priors),),
        blocks=tuple(block for prior in priors for block in prior.blocks),
        unconstrain=unconstrain,
        draw=draw if drawable else None,
        proper=all(prior.proper for prior in priors),
        turns=tuple(prior.turns[0] if prior.turns else None for prior in priors),
    )


def _prior(name: str, pair: Pair, turns: bool, shape: tuple[int, ...]) -> Prior:
    with within(f"bounds of {name!r}"):
        if not turns:
            return flat(*pair, shape=shape)
        low, high = TURN if pair == OPEN else pair
        if low is None or high is None or not low < high:
            raise InvalidInputError(f"a periodic parameter must have two bounds, lower first; got {pair}")
        return angle(low, high - low, shape=shape)


def _shapes(names: Any, bounds: Any) -> dict[str, tuple[int, ...]]:
    """Names with their shapes; those of the bounds where no names are given."""
    if names is None:
        return dict.fromkeys(bounds, ())
    if isinstance(names, Mapping):
        return {
            name: tuple(shape) if isinstance(shape, tuple | list) else (shape,)
            for name, shape in names.items()
        }
    if isinstance(names, str) or not isinstance(names, list | tuple):
        raise InvalidTypeError(f"names must be a list of names, or a dict of their shapes, got {names!r}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InvalidInputError(f"names must be different, got {twice!r} twice")
    return dict.fromkeys(names, ())


def _by_name(label: str, given: Any, shapes: Mapping[str, Any]) -> dict[str, Pair]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        pairs = _pairs(given)
        if len(pairs) != len(shapes):
            raise InvalidInputError(
                f"{label} must be {len(shapes)} pairs, as many as names; got {len(pairs)}"
            )
        return dict(zip(shapes, pairs, strict=True))
    for name in given:
        if name not in shapes:
            raise InvalidInputError(f"{label} must be of {', '.join(shapes)}; got {name!r}")
    return {name: _pair(f"{label} of {name!r}", pair) for name, pair in given.items()}


def _names_of(periodic: Any, shapes: Mapping[str, Any]) -> set[str]:
    given = () if periodic is None else (periodic,) if isinstance(periodic, str) else tuple(periodic)
    for name in given:
        if name not in shapes:
            raise InvalidInputError(f"periodic must be of {', '.join(shapes)}; got {name!r}")
    return set(given)


def _pairs(bounds: Any) -> list[Pair]:
    if bounds is None or not len(bounds):
        raise InvalidInputError("bounds or names must say which parameters there are")
    return [_pair(f"bounds of {DEFAULT_NAME}[{k}]", pair) for k, pair in enumerate(bounds)]


def _pair(name: str, pair: Any) -> Pair:
    if pair is None:
        return OPEN
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise InvalidTypeError(f"{name} must be a pair (low, high), got {pair!r}")
    low, high = (None if end is None else real_number(name, end) for end in pair)
    return (None if low == -math.inf else low, None if high == math.inf else high)
