"""A look at a log density before a run: whether it depends on the point alone, and whether it falls off.

At most twenty evaluations, none of which the run sees: it has the same draws without them.
"""

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from typing import NamedTuple

import numpy as np

from temperance.core.state import STOP, FloatArray
from temperance.errors import FlatDensityWarning, VaryingDensityWarning
from temperance.executors.threads import Threads
from temperance.runs.chain import ChainRun
from temperance.runs.stopping import Stop
from temperance.runs.unraisable import noticed

TOLERANCE = 1e-9  # of a log density, between two calls; more is chance
MOST_REPEATED = 4  # points that are asked for once more
MOST_RAYS = 8  # of two points each
LOOK_SECONDS = 0.05  # between two looks at whether somebody wants to end it
MOST_SECONDS, SLOWER = 1.0, 10.0  # rays end that take longer, and so much longer than points of the start
NEAR, FAR = 1e3, 1e6  # distances along a ray, in units of the start or of one, whichever is the larger


class Glance(NamedTuple):
    """How many points a look took, and what it found, in numbers that a result keeps.

    "varies" is 1 for a density of chance. "tail" is the smallest power of the distance with which the density
    falls along a ray, and is left out where it falls faster than any; "walls" is the number of rays on which
    it is -inf, and "near" the distance of the nearer points.
    """

    n_points: int
    facts: dict[str, float]


def asked_again(run: ChainRun, stop: Stop, caller: int) -> Glance:
    """Ask once more where a chain starts, and warn if a density is one of chance."""
    points = run.state.position[: min(MOST_REPEATED, run.plan.n_levels)]
    n_points = len(points)
    old = (run.state.log_density + run.state.log_prior)[:n_points]
    with _looking(run, stop):
        new = _asked(run, points)
    differs = np.zeros(1) if new is None else ~np.isclose(new, old, rtol=TOLERANCE, atol=TOLERANCE)
    if new is not None and np.any(differs):
        level = int(np.argmax(differs))
        warnings.warn(
            f"the log density {run.plan.target.name} gave {old[level]} and then {new[level]} at the point "
            f"{points[level].tolist()}; it must depend on the point alone, or the draws are not of it",
            VaryingDensityWarning,
            stacklevel=caller,
        )
    return Glance(n_points, {"varies": 1.0} if np.any(differs) else {})


def along_rays(run: ChainRun, stop: Stop, caller: int) -> Glance:
    """Ask far away, in several directions, and warn if a density has no integral."""
    start = run.state.position[0].copy()
    unit = max(1.0, float(np.max(np.abs(start))))
    n_made, flat, powers, walls = 0, "", [], 0
    usual, began = run.cost[0], time.perf_counter()
    with _looking(run, stop):
        for ray, name in _rays(run.plan.dim):
            if run.control[STOP] != 0 or _takes_long(time.perf_counter() - began, n_made, usual):
                break
            values = [_asked(run, (start + distance * unit * ray)[None]) for distance in (NEAR, FAR)]
            n_made += 2
            near, far = (math.nan if value is None else float(value[0]) for value in values)
            powers.append(tail_power(near, far))
            walls += far == -math.inf
            if not flat and not falls_off(near, far, run.plan.dim):
                flat = (
                    f"{name}: it is {near:.6g} at {NEAR * unit:g} from the start, {far:.6g} at {FAR * unit:g}"
                )
    if flat:
        warnings.warn(
            f"the log density {run.plan.target.name} does not fall off along {flat}; so it has no finite "
            "integral, and there is nothing to sample: a sign may be wrong, a prior or bounds may be missing",
            FlatDensityWarning,
            stacklevel=caller,
        )
    facts = {"tail": min(powers, default=math.inf), "walls": float(walls), "near": NEAR * unit}
    return Glance(n_made, {name: value for name, value in facts.items() if math.isfinite(value)})


def _takes_long(seconds: float, n_made: int, usual: float) -> bool:
    """Whether points far away take so long that there had better be no more, as a solver of equations may."""
    return seconds > MOST_SECONDS and seconds > SLOWER * n_made * usual


def falls_off(near: float, far: float, dim: int) -> bool:
    """Whether a density may have an integral by its logarithm at two distances: it falls faster than r^-dim.

    What is not finite so far away tells nothing against it: the run ends where it meets a NaN or +inf.
    """
    return tail_power(near, far) > dim


def tail_power(near: float, far: float) -> float:
    """The power of the distance with which a density falls between two distances, by its logarithm there."""
    if not math.isfinite(far) or not math.isfinite(near):
        return -math.inf if near == -math.inf and math.isfinite(far) else math.inf
    return (near - far) / math.log(FAR / NEAR)


def _rays(dim: int) -> Iterator[tuple[FloatArray, str]]:
    """Directions to look into, with their names: along coordinates, or where these are many by chance."""
    if 2 * dim <= MOST_RAYS:
        for k in range(dim):
            for sign, word in ((1.0, "+"), (-1.0, "-")):
                yield sign * np.eye(dim)[k], f"{word}x[{k}]"
        return
    normals = np.random.default_rng(0).standard_normal((MOST_RAYS // 2, dim))
    for ray in normals / np.linalg.norm(normals, axis=1, keepdims=True):
        yield ray, f"a ray into {np.round(ray[:3], 2).tolist()} ..."
        yield -ray, f"a ray into {np.round(-ray[:3], 2).tolist()} ..."


def _left_alone(evaluate: Callable[[], BaseException | None]) -> BaseException | None:
    """What a question came to; a Ctrl-C does not wait for it, since compiled code may hang so far away."""
    crew = Threads(1)
    with crew:
        answered: list[BaseException | None] = []

        @np.errstate(all="ignore")  # a state of the thread; numbers overflow so far away
        def answer() -> None:
            answered.append(evaluate())

        future = crew.submit(answer)
        try:
            while not wait([future], timeout=LOOK_SECONDS).done:
                pass
        except BaseException:
            crew.abandon()
            raise
    future.result()
    return answered[0]


@contextlib.contextmanager
def _looking(run: ChainRun, stop: Stop) -> Iterator[None]:
    """Errors of C and a stop are noticed meanwhile, and the chain does not see that it was asked."""
    n_asked = int(run.info.n_asked[0])
    try:
        with noticed(), stop.telling(run.stop):
            yield
    finally:
        run.info.n_asked[0] = n_asked


def _asked(run: ChainRun, points: FloatArray) -> FloatArray | None:
    """Log densities of points, likelihood and prior together; nothing where it fails, as the run will say."""
    error = _left_alone(lambda: run.evaluate(points))
    if isinstance(error, KeyboardInterrupt):
        raise error
    if error is not None or run.control[STOP] != 0:
        return None
    return run.info.log_density[: len(points)] + run.info.log_prior[: len(points)]
