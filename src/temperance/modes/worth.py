"""What jumps are worth: how often to jump, and how often the hot levels still have to move."""

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.policy import JUMPING, MANY
from temperance.modes.student import log_densities

LARGEST_LOG_RATIO = 300.0  # whose exponential, and a mean of such, is still a number


def efficiency(mixture: Mixture, states: FloatArray, log_density: FloatArray) -> float:
    """1 / (E w · E 1/w) over states of the target, w the ratio of target to mixture; one if they are equal.

    The acceptance alone misleads: where the target has heavier tails, jumps are accepted often and yet the
    chain stays in a tail for ever.
    """
    return balance(log_density - log_densities(states, mixture))


def balance(log_ratio: FloatArray, trimmed: float = JUMPING.trimmed) -> float:
    """1 / (E w · E 1/w) of the ratios, without the few that are most extreme in either direction.

    A state that has not arrived in a mode yet would be enough to make it zero. Of nothing it is zero.
    """
    if not len(log_ratio):
        return 0.0
    ratio = np.sort(log_ratio)
    beyond = int(len(ratio) * trimmed)
    kept = ratio[beyond : len(ratio) - beyond] - ratio[len(ratio) // 2]
    ratio = np.exp(np.clip(kept, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO))
    return float(len(ratio) ** 2 / (ratio.sum() * (1.0 / ratio).sum()))


def jump_chance(worth: float, dim: int) -> float:
    """How often to jump instead of walking, for jumps worth this much."""
    even = JUMPING.half_chance / dim
    return JUMPING.max_chance * worth**2 / (worth**2 + even**2)


def tuning_chance(worth: float, dim: int) -> float:
    """Likewise while tuning."""
    least, most = JUMPING.tuning_chance
    least = MANY.jump_chance if dim > MANY.beyond else least
    return max(most / JUMPING.max_chance * jump_chance(worth, dim), least)


def rest_every(worth: float, novelty: float, n_levels: int) -> int:
    """Once in how many iterations the hot levels move while drawing.

    ``novelty`` is the share of states where the mixture knew no mode: only the ladder leads there.
    """
    longest = (n_levels - 1) * (1.0 / JUMPING.hot_share - 1.0)
    return max(
        1,
        round(longest * min(1.0, worth / JUMPING.good_acceptance) / (1.0 + novelty / JUMPING.usual_novelty)),
    )
