"""Phase 1: a random-walk Metropolis step at every level."""

import math

from temperance.core.compile import compiled
from temperance.core.linalg import add_scaled_normal
from temperance.core.numeric import capped_log_prob, tempered_difference
from temperance.core.state import (
    INFINITE,
    LEVEL,
    NOT_A_NUMBER,
    RUNNING,
    STATUS,
    Info,
    IntArray,
    Noise,
    Settings,
    State,
)


@compiled
def propose(state: State, noise: Noise, row: int, info: Info) -> None:
    """Y = X + e^θ G with G ~ N(0, Σ), at every level; writes ``info.proposal``."""
    for level in range(state.n_levels[0]):
        for i in range(state.position.shape[1]):
            info.proposal[level, i] = state.position[level, i]
        add_scaled_normal(
            level,
            math.exp(state.log_scale[level]),
            state.cov_factor,
            state.cov_diag,
            noise.normals[level, row],
            info.proposal,
        )


@compiled
def screen(state: State, info: Info, settings: Settings, control: IntArray) -> None:
    """Stop at a NaN or +inf log density, or refuse the proposal, in place."""
    for level in range(state.n_levels[0]):
        value = info.log_density[level] + info.log_prior[level]
        if not (math.isnan(value) or value == math.inf):
            continue
        if settings.refuse_bad:
            info.log_density[level] = -math.inf
            info.log_prior[level] = -math.inf
            state.n_refused[0] += 1
        elif control[STATUS] == RUNNING:
            control[STATUS] = NOT_A_NUMBER if math.isnan(value) else INFINITE
            control[LEVEL] = level


@compiled
def walk_log_accept(level: int, state: State, info: Info) -> float:
    """Log η: the tempered part is raised to β, the prior is not."""
    tempered = tempered_difference(state.beta[level], info.log_density[level], state.log_density[level])
    return capped_log_prob(tempered + (info.log_prior[level] - state.log_prior[level]))


@compiled
def accept_walk(noise: Noise, row: int, state: State, info: Info) -> None:
    """Move each level to its proposal with probability η, in place."""
    for level in range(state.n_levels[0]):
        accept_prob = math.exp(walk_log_accept(level, state, info))
        info.walk_accept_prob[level] = accept_prob
        if noise.uniforms[level, row] < accept_prob:
            state.log_density[level] = info.log_density[level]
            state.log_prior[level] = info.log_prior[level]
            for i in range(state.position.shape[1]):
                state.position[level, i] = info.proposal[level, i]
