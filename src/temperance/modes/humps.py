"""Coordinates with several humps, by their marginal densities."""

import numpy as np

from temperance.core.state import FloatArray, Humps, IntArray
from temperance.modes.leaps import no_humps
from temperance.modes.overlap import BoolArray
from temperance.modes.policy import HUMP_FITTING


def humps_of(points: FloatArray, depth: float = HUMP_FITTING.depth) -> Humps:
    """The coordinates of these states that have several humps, with a normal for each hump.

    The valley between two of them is lower than ``depth`` of the lower one.
    """
    if len(points) < HUMP_FITTING.min_states:
        return no_humps()
    found = {i: _parts(column, depth) for i, column in enumerate(points.T)}
    several = [i for i, parts in found.items() if len(parts) > 1]
    if not several:
        return no_humps()
    most = max(len(found[i]) for i in several)
    table = np.zeros((3, len(several), most))
    table[2] = 1.0
    for which, i in enumerate(several):
        table[:, which, : len(found[i])] = np.array(found[i]).T
    share, centre, sd = (np.ascontiguousarray(column) for column in table)
    return Humps(np.array(several, dtype=np.int64), share, centre, sd)


def other_hump(humps: Humps, before: FloatArray, after: FloatArray) -> BoolArray:
    """Whether any coordinate is at another of its humps in a row than it was."""
    changed = np.zeros(len(before), dtype=np.bool_)
    for which, i in enumerate(humps.coordinate):
        with np.errstate(divide="ignore"):
            height = np.log(humps.share[which] / humps.sd[which])
        sides = [
            np.argmax(height - 0.5 * ((x[:, i, None] - humps.centre[which]) / humps.sd[which]) ** 2, axis=1)
            for x in (before, after)
        ]
        changed |= sides[0] != sides[1]
    return changed


def _parts(values: FloatArray, depth: float) -> list[tuple[float, float, float]]:
    """Share, centre and width of each hump of one coordinate."""
    cuts = _valleys(values, depth)
    if not cuts:
        return []
    side = np.searchsorted(np.array(cuts), values)
    parts = [values[side == k] for k in range(len(cuts) + 1)]
    parts = [part for part in parts if len(part) > HUMP_FITTING.min_share * len(values)]
    parts = [part for part in parts if part.std() > 0.0][: HUMP_FITTING.max_humps]
    if len(parts) < 2:
        return []
    share = np.array([len(part) for part in parts]) / sum(len(part) for part in parts)
    share = np.maximum(share, HUMP_FITTING.least_share / len(parts))
    share /= share.sum()
    return [
        (float(weight), float(np.median(part)), HUMP_FITTING.width * float(part.std()))
        for weight, part in zip(share, parts, strict=True)
    ]


def _valleys(values: FloatArray, depth: float) -> list[float]:
    """Places between two peaks of the smoothed density where it is much lower than at both."""
    low, high = np.quantile(values, [0.001, 0.999])
    if not high > low:
        return []
    edges = np.linspace(low, high, HUMP_FITTING.n_bins + 1)
    density = _smooth(np.histogram(values, edges)[0].astype(np.float64))
    middle = 0.5 * (edges[1:] + edges[:-1])
    cuts, valley, peak = [], -1, 0
    for k in range(1, len(density)):
        if valley < 0:  # up to a peak, and down from it
            if density[k] > density[peak]:
                peak = k
            elif density[k] < depth * density[peak]:
                valley = k
        elif density[k] < density[valley]:
            valley = k
        elif density[k] > density[valley] / depth and _counts(density, k):
            cuts.append(float(middle[valley]))
            valley, peak = -1, k
    return cuts


def _counts(density: FloatArray, k: int) -> bool:
    """Whether it is more than a few stray states that the density rises by."""
    return bool(density[k] > HUMP_FITTING.min_share * density.max())


def _smooth(counts: FloatArray) -> FloatArray:
    """Counts of neighbouring bins together, by a normal window."""
    distance: IntArray = np.arange(len(counts))[:, None] - np.arange(len(counts))
    window = np.exp(-0.5 * (distance / (HUMP_FITTING.window * len(counts))) ** 2)
    smooth: FloatArray = (window / window.sum(axis=0)) @ counts
    return smooth
