"""What the state says about the levels, in whole matrices and numbers, and how it is frozen."""

import math

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.state import FloatArray, Mixture, State
from temperance.modes.mixture import with_chance
from temperance.modes.policy import JUMPING
from temperance.modes.student import from_parts
from temperance.runs.plan import Plan


def freeze_averages(state: State, *, pinned: bool) -> None:
    """Replace scales and temperature gaps by their averages over late tuning, in place."""
    n_levels = int(state.n_levels[0])
    if np.any(state.n_averaged[:n_levels] == 0):
        return
    state.log_scale[:n_levels] = state.log_scale_sum[:n_levels] / state.n_averaged[:n_levels]
    state.log_gap[:n_levels] = state.log_gap_sum[:n_levels] / state.n_averaged[:n_levels]
    set_betas(state, n_levels - int(pinned))


def set_betas(state: State, n_free: int) -> None:
    """β of all levels that are free to move, from the log gaps, in place."""
    state.beta[1:n_free] = 1.0 / (1.0 + np.cumsum(np.exp(state.log_gap[: n_free - 1])))


def set_factors(state: State, level: int, root: FloatArray) -> None:
    """Σ of one level from its lower factor, in place."""
    scale = np.diag(root)
    bundle, lane = divmod(level, LANES)
    dim = len(scale)
    state.cov_factor[bundle, :, lane] = (root / scale)[np.triu_indices(dim, 1)[::-1]]
    state.cov_diag[bundle, :, lane] = scale**2


def covariances(state: State) -> FloatArray:
    """Σ at each live level."""
    return np.array([covariance_of(state, level) for level in range(int(state.n_levels[0]))])


def covariance_of(state: State, level: int) -> FloatArray:
    """Σ of one level, multiplied out of its factors, and with the update that it has yet to take in."""
    dim = state.cov_diag.shape[1]
    bundle, lane = divmod(level, LANES)
    lower = np.eye(dim)
    lower[np.triu_indices(dim, 1)[::-1]] = state.cov_factor[bundle, :, lane]  # column by column, as stored
    sigma: FloatArray = lower @ np.diag(state.cov_diag[bundle, :, lane]) @ lower.T
    if not state.update_waits[0]:
        return sigma
    waiting = state.deviation[bundle, :, lane]
    keep, total = state.update_keep[bundle, 0, lane], state.update_total[bundle, 0, lane]
    updated: FloatArray = keep * (sigma + np.outer(waiting, waiting) / total)
    return updated


def apparent_scales(plan: Plan, state: State) -> FloatArray:
    """The scale of each live level beside the covariance of its states, as trimming sees it."""
    score, n_levels = plan.walk.score, int(state.n_levels[0])
    if score is None:
        return np.full(n_levels, np.nan)
    return np.array([score(state, level) for level in range(n_levels)])


def own_component(state: State, level: int) -> Mixture:
    """A mixture of one: the level itself, as its walk knows it."""
    mixture = from_parts(np.ones(1), state.mean[level : level + 1], covariance_of(state, level)[None])
    return with_chance(mixture, JUMPING.refresh_chance)


def temperatures(beta: FloatArray) -> list[float]:
    """Temperatures as people read them; infinite where beta is zero."""
    return [math.inf if value == 0.0 else 1.0 / value for value in beta]
