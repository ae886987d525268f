"""Points that scouts start from because nothing given is forgotten: the starts of a chain."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from temperance.core.state import FloatArray
from temperance.modes.surprise import margin, surprises
from temperance.runs.learner import Learner, explained_within
from temperance.runs.plan import Plan


@dataclass(frozen=True)
class Candidate:
    """One point, and the log of its target density."""

    point: FloatArray
    log_target: float


def with_starts(learner: Learner, points: FloatArray, log_target: FloatArray) -> Learner:
    """A chain that remembers its starts, those that differ."""
    _, first = np.unique(points, axis=0, return_index=True)
    rows = np.sort(first)
    return replace(
        learner,
        start=points[rows].copy(),
        start_log_target=log_target[rows].copy(),
        start_scouted=np.zeros(len(rows)),
    )


def are_news(
    learner: Learner, plan: Plan, points: FloatArray, log_target: FloatArray
) -> npt.NDArray[np.bool_]:
    """Whether no mode explains them, for where they are or for how high the density is there."""
    above = surprises(points, log_target, learner.components, learner.mixture)
    news: npt.NDArray[np.bool_] = (learner.nearest(points) > explained_within(plan)) | (
        above > margin(plan.dim)
    )
    return news


def next_start(learner: Learner, plan: Plan) -> int | None:
    """The start that no scout has left from yet and no mode explains, the highest first."""
    waiting = learner.start_scouted == 0.0
    if not waiting.any():
        return None
    rows = np.flatnonzero(waiting & are_news(learner, plan, learner.start, learner.start_log_target))
    return int(rows[np.argmax(learner.start_log_target[rows])]) if len(rows) else None


def left_from(learner: Learner, row: int) -> Learner:
    """With a note that a scout has left from this start."""
    scouted = learner.start_scouted.copy()
    scouted[row] = 1.0
    return replace(learner, start_scouted=scouted)
