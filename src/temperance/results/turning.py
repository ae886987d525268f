"""Values that go in circles: means, and draws without a cut."""

import math
from collections.abc import Mapping

import numpy as np

from temperance.core.state import FloatArray
from temperance.parameters import Parameters

Turns = Mapping[int, tuple[float, float]]  # by column: where a turn begins, and how long it is


def turns_of(parameters: Parameters) -> Turns:
    """The columns that go in circles."""
    return {
        k: parameters.periods[label]
        for k, label in enumerate(parameters.labels)
        if label in parameters.periods
    }


def circular_mean(values: FloatArray, start: float, turn: float) -> float:
    """The direction in which the values point on average, between ``start`` and a turn further."""
    angles = (values - start) * (2.0 * math.pi / turn)
    direction = math.atan2(float(np.sin(angles).mean()), float(np.cos(angles).mean()))
    return start + (direction / (2.0 * math.pi)) % 1.0 * turn


def unrolled(points: FloatArray, turns: Turns, about: FloatArray | None = None) -> FloatArray:
    """The same points, (..., value), with turning values within half a turn of the mean of all.

    ``about`` has the points whose mean that is, where it is not their own.
    """
    if not turns or not points.size:
        return points
    flat, centre = points.copy(), points if about is None else about
    for k, (start, turn) in turns.items():
        mean = circular_mean(centre[..., k], start, turn)
        flat[..., k] = mean + (points[..., k] - mean + 0.5 * turn) % turn - 0.5 * turn
    return flat


def rolled(point: FloatArray, turns: Turns) -> FloatArray:
    """A point whose turning values lie in their turn again."""
    back = point.copy()
    for k, (start, turn) in turns.items():
        back[..., k] = start + (point[..., k] - start) % turn
    return back


def chords(points: FloatArray, turns: Turns) -> FloatArray:
    """Points as their distances see them: a turning value is a place on a circle."""
    columns = []
    for k in range(points.shape[-1]):
        if k not in turns:
            columns.append(points[..., k])
            continue
        start, turn = turns[k]
        angle = (points[..., k] - start) * (2.0 * math.pi / turn)
        radius = turn / (2.0 * math.pi)
        columns += [radius * np.cos(angle), radius * np.sin(angle)]
    return np.stack(columns, axis=-1)
