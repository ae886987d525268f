"""What one chain learnt, as it is kept: the components of its mixture and what they were worth."""

from dataclasses import dataclass

from temperance.core.state import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)  # arrays have no single answer to ==
class LearntModes:
    """What a chain learnt to jump to while tuning.

    The last ``n_broad`` components belong to no mode: the broad one, and with rounds of proposals wide ones
    before it. ``chance`` is how often the base level
    jumped instead of walking, ``efficiency`` what the jumps were judged to be worth (one if the mixture were
    the target), and ``rest_every`` once in how many draws the hot levels moved.
    """

    weight: FloatArray  # (component,)
    centre: FloatArray  # (component, dim)
    covariance: FloatArray  # (component, dim, dim)
    chance: float
    efficiency: float
    rest_every: int
    n_scouts: int
    # Of chains that share: the iteration at which all came to know of a component's mode, and one if this
    # chain had been there by itself before, else zero; NaN where nothing was shared.
    told_at: FloatArray  # (component,)
    seen: FloatArray  # (component,)
    n_broad: int = 1
    n_climbs: int = 0  # from scattered points
    n_scouts_lost: int = 0  # of scouts and climbs, those that met a NaN, a +inf or an error
