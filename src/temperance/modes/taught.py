"""Points with known densities as one weighted sample of the target: proposals of rounds, and states.

Proposals y come from the mixtures q_r of all rounds so far, n_r from each, with D = Σ n_r q_r; states x come
from the target ℓ/Z and are worth n of themselves. As in a bridge (Meng & Wong 1996, with the deterministic
mixture of Owen & Zhou 2000 and Cornuet et al. 2012) a proposal weighs ℓ / (D Z + n ℓ) and a state n/M times
that, Z being where the weights add up to one. No weight is larger than 1/n: where no mixture has reached yet
the states speak, and a few proposals never outweigh all. Rounds depend on those before, so these weights
only teach.
"""

import math
from dataclasses import dataclass

import numpy as np

from temperance.core.state import FloatArray
from temperance.modes.policy import TEACHING

STEPS = 100
PRECISION = 1e-9  # in log Z


@dataclass(frozen=True)
class Asked:
    """Points, the log density of the target there, and log D, the log of that of all proposals together."""

    point: FloatArray  # (point, dim)
    log_density: FloatArray
    log_drawn: FloatArray


@dataclass(frozen=True)
class Taught:
    """Points with the log density of the normalised target and their weights, which add up to one.

    By ``warm`` they are a sample of a power of the target.
    """

    point: FloatArray
    log_target: FloatArray
    weight: FloatArray
    warm: FloatArray
    log_z: float


def weighed_together(proposals: Asked, states: Asked, worth: float) -> Taught | None:
    """Proposals and states as one sample, the states ``worth`` of so many; None without proposals."""
    proposals = _finite(proposals)
    if not len(proposals.point) or not len(states.point):
        return None
    log_z = log_root(
        proposals.log_density - proposals.log_drawn, states.log_density - states.log_drawn, worth
    )
    log_target = np.append(proposals.log_density, states.log_density) - log_z
    drawn = np.append(proposals.log_drawn, states.log_drawn)
    log_all = np.logaddexp(drawn, math.log(worth) + log_target)
    n_proposals, n_states = len(proposals.point), len(states.point)
    count = np.append(np.ones(n_proposals), np.full(n_states, worth / n_states))
    return Taught(
        np.concatenate([proposals.point, states.point]),
        log_target,
        shares(count, log_target - log_all),
        shares(count, TEACHING.warmth * log_target - log_all),
        log_z,
    )


def log_root(of_proposals: FloatArray, of_states: FloatArray, worth: float) -> float:
    """Log Z from log ℓ/D at proposals and states, by halving: weights that add up to more need a larger Z."""
    largest = of_proposals.max()
    middle = float(largest + np.log(np.exp(of_proposals - largest).sum()))
    step, low, high = 1.0, -math.inf, math.inf
    for _ in range(STEPS):
        if _total(of_proposals, of_states, worth, middle) > 1.0:
            low, middle = middle, middle + step if high == math.inf else 0.5 * (middle + high)
        else:
            high, middle = middle, middle - step if low == -math.inf else 0.5 * (low + middle)
        step *= 2.0
        if high - low < PRECISION:
            break
    return middle


def shares(count: FloatArray, log_weight: FloatArray) -> FloatArray:
    """Weights that add up to one."""
    weight = count * np.exp(log_weight - log_weight.max())
    share: FloatArray = weight / weight.sum()
    return share


def _total(of_proposals: FloatArray, of_states: FloatArray, worth: float, log_z: float) -> float:
    """What all weights add up to, were this Z."""
    shift = math.log(worth) - log_z
    with np.errstate(over="ignore"):
        proposed = 1.0 / (1.0 + np.exp(-(of_proposals + shift)))
        stayed = 1.0 / (1.0 + np.exp(-(of_states + shift)))
    return float(proposed.sum() / worth + stayed.mean())


def _finite(asked: Asked) -> Asked:
    some = np.isfinite(asked.log_density)
    return Asked(asked.point[some], asked.log_density[some], asked.log_drawn[some])
