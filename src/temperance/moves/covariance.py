"""The paper's walk: its covariance is that of the level, across all its modes, and its scale is learnt."""

import math

from temperance.core.accept import metropolis
from temperance.core.compile import compiled
from temperance.core.move import Move
from temperance.core.shape import bound_variances, bounded_log_scale, covariance_gain, learn_covariances
from temperance.core.state import STEP, Chain, State


@compiled
def learn(chain: Chain, row: int, gain: float, own: int) -> None:  # noqa: ARG001  one contract for all
    """Eqs (8)–(10), in place. Only a step in all coordinates teaches a scale."""
    state, info, settings = chain.state, chain.info, chain.settings
    bound_variances(settings, state)
    learn_covariances(state, covariance_gain(state, settings))
    for level in range(state.n_levels[0]):
        if info.move[level] == own:
            change = gain * (info.accept_prob[level] - settings.target_walk_accept)
            state.log_scale[level] = bounded_log_scale(state.log_scale[level] + change, state, settings)


@compiled
def score(state: State, level: int) -> float:
    """The scale itself, Eq. (11)."""
    return math.exp(state.log_scale[level])


COVARIANCE = Move(name="covariance", advance=metropolis, learn=learn, score=score, shape=STEP)
