"""A wider search: where it looks, checked, and the points that climbs start from."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from temperance.checks import instance_of, number_between, numeric_array, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.models.contract import ModelSpec
from temperance.runs.chain import ChainRun
from temperance.runs.departures import usual_steps
from temperance.runs.plan import Plan
from temperance.runs.seeds import SEARCH, keyed
from temperance.settings import Settings

SOURCES = ("bounds", "draw", "points")
MOST_CLIMBS = 10_000  # of a chain, whose points are kept

Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """A part of the tuning for climbs from scattered points, which need no gradient.

    Where a climb ends no mode explains, there is another one. At most one of the first three is given; with
    none, a `temperance.Model` is searched where its prior is.

    Parameters
    ----------
    bounds
        Points are drawn evenly between bounds: ``(low, high)`` for all coordinates, one such pair for each,
        or a dict of them by the names of parameters, in their own units, where the prior draws the others.
    draw
        A function of a ``numpy.random.Generator`` that returns a point, as in ``initial``.
    points
        The points themselves, ``(point, dim)``, or a list of dicts of parameters, all in the support.
    share
        Of the evaluations of the tuning, at most.
    """

    bounds: Any = None
    draw: Draw | None = None
    points: Any = None
    share: float = 0.2

    def __post_init__(self) -> None:
        number_between("search.share", self.share, 0.0, 1.0)
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInputError(
                f"search must have one of {', '.join(SOURCES)}, got {' and '.join(given)}"
            )
        if self.draw is not None and not callable(self.draw):
            kind = type(self.draw).__name__
            raise InvalidTypeError(f"search.draw must be a function of a numpy Generator, got {kind}")
        if self.bounds is not None:
            object.__setattr__(self, "bounds", _checked_bounds(self.bounds))

    @property
    def source(self) -> str:
        """Where points come from."""
        return next((name for name in SOURCES if getattr(self, name) is not None), "prior")


def search_from_words(text: str) -> Search:
    """A search as it is typed: ``-10:10``, ``rate=0:5,place=-1:1`` or ``prior``."""
    if text == "prior":
        return Search()
    if "=" not in text:
        return Search(bounds=_pair_from(text))
    parts = [part.partition("=") for part in text.split(",")]
    return Search(bounds={name.strip(): _pair_from(pair) for name, _, pair in parts})


def _pair_from(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError as error:
        raise InvalidInputError(
            f"search must be LOW:HIGH, NAME=LOW:HIGH,... or prior, got {text!r}"
        ) from error


def scattered(
    search: Search, spec: ModelSpec, plan: Plan, seeds: Sequence[np.random.SeedSequence]
) -> list[FloatArray]:
    """The points of each chain, (point, dim), as coordinates: as many as there may be climbs."""
    if search.points is not None:
        points = _given_points(search.points, spec, plan.dim)
        return [points[chain :: len(seeds)] for chain in range(len(seeds))]
    draw = _drawing(search, spec, plan.dim)
    n_steps = search.share * max(plan.tune, plan.max_tune) * plan.n_levels
    n_points = min(MOST_CLIMBS, math.ceil(n_steps / usual_steps(plan.dim)))
    rngs = [np.random.default_rng(keyed(seed, SEARCH)) for seed in seeds]
    name = f"search.{search.source}"
    with within(name):
        return [
            np.array([_one_point(name, draw(rng), plan.dim) for _ in range(n_points)]).reshape(-1, plan.dim)
            for rng in rngs
        ]


def _drawing(search: Search, spec: ModelSpec, dim: int) -> Draw:
    """A function from a generator to one point in coordinates."""
    if search.draw is not None:
        return search.draw if spec.unconstrain is None else spec.unconstrain(search.draw)
    if isinstance(search.bounds, Mapping):
        return _within_named(search.bounds, spec)
    if search.bounds is not None:
        if search.bounds.shape not in ((2,), (dim, 2)):
            raise InvalidInputError(
                f"search.bounds must be one pair, or one for each coordinate, of shape ({dim}, 2); "
                f"got shape {search.bounds.shape}"
            )
        low, high = np.broadcast_to(search.bounds, (dim, 2)).T
        return lambda rng: rng.uniform(low, high)
    if spec.unconstrain is None or not callable(spec.start):
        raise InvalidInputError(
            f"search must say where to look, since {spec.target.name} has no prior to draw from: "
            f"Search(bounds=(low, high)), or one of {', '.join(SOURCES[1:])}"
        )
    start: Draw = spec.start
    return start


def _within_named(bounds: Mapping[str, FloatArray], spec: ModelSpec) -> Draw:
    """Named parameters between bounds, all others from the prior."""
    if spec.unconstrain is None or spec.value_names is None:
        raise InvalidInputError(
            "search.bounds by name are for a temperance.Model; give one pair for each coordinate"
        )
    shapes = dict(spec.value_names.shapes)
    for name in bounds:
        if name not in shapes:
            known = ", ".join(list(shapes)[:10])
            raise InvalidInputError(f"search.bounds has {name!r}, and the parameters are {known}")

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {name: rng.uniform(low, high, shapes[name] or None) for name, (low, high) in bounds.items()}

    drawn: Draw = spec.unconstrain(draw)
    return drawn


def _given_points(given: Any, spec: ModelSpec, dim: int) -> FloatArray:
    if spec.unconstrain is not None:
        with within("search.points"):
            given = [spec.unconstrain(one) for one in given]
    points = numeric_array("search.points", given, "fiu", "numbers, one row for each point")
    if points.ndim != 2 or points.shape[1] != dim or not len(points):
        raise InvalidInputError(f"search.points must have shape (point, {dim}), got {points.shape}")
    if not np.all(np.isfinite(points)):
        raise InvalidInputError("search.points must be finite, got NaN or inf")
    return points.astype(np.float64)


def _one_point(name: str, drawn: Any, dim: int) -> FloatArray:
    point = np.atleast_1d(numeric_array(name, drawn, "fiu", "a function that returns a point"))
    if point.shape != (dim,):
        raise InvalidInputError(f"a point must have shape ({dim},), got {point.shape}")
    if not np.all(np.isfinite(point)):
        raise InvalidInputError(f"a point must be finite, got {point.tolist()}")
    return point.astype(np.float64)


def _checked_bounds(bounds: Any) -> Any:
    """Pairs of finite numbers in order, as an array, or by name."""
    if isinstance(bounds, Mapping):
        return {
            str(name): _pairs(f"search.bounds[{name!r}]", pair, named=True) for name, pair in bounds.items()
        }
    return _pairs("search.bounds", bounds, named=False)


def _pairs(name: str, given: Any, *, named: bool) -> FloatArray:
    pairs = numeric_array(name, given, "fiu", "a pair of numbers (low, high)").astype(np.float64)
    if pairs.ndim not in ((1,) if named else (1, 2)) or pairs.shape[-1] != 2:
        raise InvalidInputError(f"{name} must be a pair (low, high), got shape {pairs.shape}")
    if not np.all(np.isfinite(pairs)):
        raise InvalidInputError(f"{name} must be finite, got {pairs.tolist()}")
    if not np.all(pairs[..., 0] < pairs[..., 1]):
        raise InvalidInputError(f"{name} must have its low bound below its high one, got {pairs.tolist()}")
    return pairs


def share_of(search: Search | None, settings: Settings) -> float:
    """The share of the tuning for a search, which needs jumps to go where it leads."""
    if search is None:
        return 0.0
    instance_of("search", search, Search, "a temperance.Search")
    if not settings.jumps.enabled:
        raise InvalidInputError("search needs jumps: Settings(jumps=Jumps(enabled=True)), got enabled=False")
    return search.share


def scatter(runs: Sequence[ChainRun], points: Sequence[FloatArray], search: Search) -> int:
    """Give chains the points that they climb from; evaluations of those that must lie in the support."""
    for run, own in zip(runs, points, strict=True):
        run.now.learner = replace(run.now.learner, scattered=own)
    if search.points is None:
        return 0
    every = np.concatenate(points)
    for first in range(0, len(every), runs[0].plan.n_levels):
        _require_support(runs[0], every[first : first + runs[0].plan.n_levels])
    return len(every)


def _require_support(run: ChainRun, points: FloatArray) -> None:
    error, info = run.evaluate(points), run.info
    if error is not None and not isinstance(error, Exception):
        raise error
    log_target = info.log_density[: len(points)] + info.log_prior[: len(points)]
    wrong = np.flatnonzero(~np.isfinite(log_target)) if error is None else np.zeros(1, dtype=np.intp)
    if len(wrong):
        what = f"raises {error!r}" if error is not None else f"is {log_target[wrong[0]]}"
        raise InvalidInputError(
            f"search.points must lie in the support: the log density {what} at {points[wrong[0]].tolist()}"
        ) from error
