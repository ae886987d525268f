"""What scouts bring back."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from temperance.core.scout import Scouts
from temperance.core.state import FloatArray
from temperance.modes.policy import SCOUTING


@dataclass(frozen=True)
class Found:
    """What one scout saw in its last round: the states that it kept, and all points that it asked about."""

    kept: FloatArray
    kept_log_target: FloatArray
    tried: FloatArray
    tried_log_target: FloatArray
    log_scale: float

    @property
    def is_finite(self) -> npt.NDArray[np.bool_]:
        """Which of the points that it asked about have a density."""
        finite: npt.NDArray[np.bool_] = np.isfinite(self.tried_log_target)
        return finite


def found_by(scouts: Scouts, scout: int) -> Found:
    """What one of several has seen."""
    return Found(
        scouts.kept[scout].copy(),
        scouts.kept_log_target[scout].copy(),
        scouts.tried[scout].copy(),
        scouts.tried_log_target[scout].copy(),
        float(scouts.log_scale[scout]),
    )


@dataclass(frozen=True)
class Archive:
    """What scouts brought back: states, which make modes, and all that they evaluated at last."""

    point: FloatArray
    log_density: FloatArray
    width: FloatArray
    tried: FloatArray
    tried_log_density: FloatArray

    @staticmethod
    def columns() -> tuple[str, ...]:
        """The names of the columns, in order."""
        return "point", "log_density", "width", "tried", "tried_log_density"

    def with_scout(self, scout: Found) -> "Archive":
        """With what a scout kept. Its scale tells how wide a mode is that is wider than the base's."""
        width = np.full(len(scout.kept), max(1.0, math.exp(scout.log_scale)))
        most, finite = SCOUTING.max_archive, scout.is_finite
        return Archive(
            np.concatenate([self.point, scout.kept])[-most:],
            np.concatenate([self.log_density, scout.kept_log_target])[-most:],
            np.concatenate([self.width, width])[-most:],
            np.concatenate([self.tried, scout.tried[finite]])[-most:],
            np.concatenate([self.tried_log_density, scout.tried_log_target[finite]])[-most:],
        )


def no_archive(dim: int) -> Archive:
    """Nothing yet."""
    return Archive(np.empty((0, dim)), np.empty(0), np.empty(0), np.empty((0, dim)), np.empty(0))
