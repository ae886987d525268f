"""What jumps are worth: how often to jump, and how often the hot levels still have to move."""

import numpy as np

from temperance.core.state import FloatArray, Mixture
from temperance.modes.mixture import log_densities

TRIMMED = 0.02  # of the states with the largest ratios, which say more about luck than about the mixture
LARGEST_LOG_RATIO = 300.0
MAX_CHANCE = 0.95
TUNING_CHANCE = (0.2, 0.5)  # while tuning jumps have to be seen, and walks have to learn
HALF_CHANCE = 0.15  # over the dimension: an acceptance at which a jump is as good as a walk
HOT_SHARE = 0.1  # of the evaluations that hot levels get once jumps are good
GOOD_ACCEPTANCE = 0.25
USUAL_NOVELTY = 0.01  # a few states lie far out in the modes that they belong to


def efficiency(mixture: Mixture, states: FloatArray, log_density: FloatArray) -> float:
    """1 / (E w · E 1/w) over states of the target, w the ratio of target to mixture; one if they are equal.

    The acceptance alone misleads: where the target has heavier tails, jumps are accepted often and yet the
    chain stays in a tail for ever.
    """
    ratio = np.sort(log_density - log_densities(states, mixture))
    kept = ratio[: max(1, int(len(ratio) * (1.0 - TRIMMED)))] - ratio[len(ratio) // 2]
    kept = np.clip(kept, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
    return float(1.0 / (np.exp(kept).mean() * np.exp(-kept).mean()))


def jump_chance(worth: float, dim: int) -> float:
    """How often to jump instead of walking, for jumps worth this much."""
    even = HALF_CHANCE / dim
    return MAX_CHANCE * worth**2 / (worth**2 + even**2)


def tuning_chance(worth: float, dim: int) -> float:
    """Likewise while tuning."""
    least, most = TUNING_CHANCE
    return max(most / MAX_CHANCE * jump_chance(worth, dim), least)


def rest_every(worth: float, novelty: float, n_levels: int) -> int:
    """Once in how many iterations the hot levels move while drawing.

    ``novelty`` is the share of states where the mixture knew no mode: only the ladder leads there.
    """
    longest = (n_levels - 1) * (1.0 / HOT_SHARE - 1.0)
    return max(1, round(longest * min(1.0, worth / GOOD_ACCEPTANCE) / (1.0 + novelty / USUAL_NOVELTY)))
