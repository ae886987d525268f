"""Phase 1: a random-walk Metropolis step at every level."""

import math

from temperance.core.compile import compiled
from temperance.core.lanes import LANES
from temperance.core.linalg import Bundle, step_only, update_and_step
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
def choose_active(state: State, settings: Settings, info: Info) -> None:
    """How many levels move in this iteration: all, or the base alone while the hot ones rest. In place."""
    rests = settings.rest_every > 1 and state.iteration[0] % settings.rest_every != 0
    info.n_active[0] = 1 if rests else state.n_levels[0]
    for level in range(info.n_active[0]):
        info.jump[level] = -1
        info.log_proposal_ratio[level] = 0.0


@compiled
def propose(state: State, noise: Noise, row: int, info: Info) -> None:
    """Y = X + e^θ G with G ~ N(0, Σ), at every level; writes ``info.proposal``.

    Phase 2 left in ``state.deviation`` what Σ has yet to learn: one pass over the factor serves both. Levels
    that rest make no step, and yet take in what waits for them.
    """
    n_passed = state.n_levels[0] if state.update_waits[0] != 0 else info.n_active[0]
    n_bundles = (n_passed + LANES - 1) // LANES
    for turn in range(n_bundles):
        # To and fro, so that each iteration begins with the factors that are still in the cache.
        bundle = turn if state.iteration[0] % 2 == 0 else n_bundles - 1 - turn
        gather(bundle, state, info)
        work = Bundle(
            state.cov_factor[bundle],
            state.cov_diag[bundle],
            state.deviation[bundle],
            state.update_total[bundle],
            state.update_keep[bundle],
            info.scale,
            noise.normals[bundle, row],
            info.moved,
        )
        if state.update_waits[0] != 0:
            update_and_step(work)
        else:
            step_only(work)
        scatter(bundle, info)
    state.update_waits[0] = 0


@compiled
def gather(bundle: int, state: State, info: Info) -> None:
    """Scales and positions of one bundle into its lanes, in place; zero where no level moves."""
    for lane in range(LANES):
        level = bundle * LANES + lane
        live = level < info.n_active[0]
        info.scale[0, lane] = math.exp(state.log_scale[level]) if live else 0.0
        for i in range(info.moved.shape[0]):
            info.moved[i, lane] = state.position[level, i] if live else 0.0


@compiled
def scatter(bundle: int, info: Info) -> None:
    """The proposals of one bundle out of its lanes, in place."""
    for lane in range(min(LANES, info.n_active[0] - bundle * LANES)):
        for i in range(info.moved.shape[0]):
            info.proposal[bundle * LANES + lane, i] = info.moved[i, lane]


@compiled
def screen(state: State, info: Info, settings: Settings, control: IntArray) -> None:
    """Stop at a NaN or +inf log density, or refuse the proposal, in place."""
    for level in range(info.n_active[0]):
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
    """Log η: the tempered part is raised to β, the prior is not; a jump adds its own ratio."""
    tempered = tempered_difference(state.beta[level], info.log_density[level], state.log_density[level])
    prior = info.log_prior[level] - state.log_prior[level]
    return capped_log_prob(tempered + prior + info.log_proposal_ratio[level])


@compiled
def accept_walk(noise: Noise, row: int, state: State, info: Info) -> None:
    """Move each level to its proposal with probability η, in place."""
    for level in range(info.n_active[0]):
        accept_prob = math.exp(walk_log_accept(level, state, info))
        info.walk_accept_prob[level] = accept_prob
        if noise.uniforms[level, row] < accept_prob:
            state.log_density[level] = info.log_density[level]
            state.log_prior[level] = info.log_prior[level]
            for i in range(state.position.shape[1]):
                state.position[level, i] = info.proposal[level, i]
