"""The score that tells one mode from several: against its twin, in other coordinates, and in whole runs."""

import math

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from densities import bumpy, gaussian
from harness import HandTarget, advance, alone, make_noise, make_plan, make_run, place
from judge import judge_means
from temperance.core import unimodal
from temperance.core.lanes import LANES
from temperance.core.unimodal import JUDGED, PART_OF_DIM
from temperance.runs.levels import apparent_scales, covariances
from test_jumps import with_walk

ROTATED = math.sqrt(0.5)


@pytest.mark.parametrize(("dim", "n_iterations"), [(1, 300), (2, 256), (5, 140), (17, 700)])
def test_score_equals_its_twin(dim, n_iterations, rng) -> None:
    """After iterations of all kinds, at a doubling and between, and where not every state is measured."""
    plan = make_plan(HandTarget(bumpy), [1.0, 0.3], dim, tune=n_iterations, settings=with_walk(walk="robust"))
    run = make_run(plan)
    place(run, rng.standard_normal((2, dim)))
    squares = [[], []]
    for n in range(n_iterations):
        sigma, mean = covariances(run.state), run.state.mean.copy()
        advance(run, make_noise(rng, 1, 2, dim), adapting=True, row=n)
        for level in range(2):
            # The walk learns before the swap, which may have put another position here.
            walked = run.state.position[level if run.info.swap_accepted[0] == 0 else 1 - level]
            away = walked - mean[level]
            squares[level].append(away @ np.linalg.solve(sigma[level], away) / dim)
    stride = max(1, dim // PART_OF_DIM)
    for level, scale in enumerate(apparent_scales(plan, run.state)):
        expected = naive.apparent_scale(run.state.log_scale[level], squares[level], stride, max(64, 8 * dim))
        assert scale == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_states_beside_the_shape_are_the_same_in_all_coordinates(dim, rng) -> None:
    """x → A x + b changes nothing, however skew A is."""
    run = make_run(make_plan(HandTarget(bumpy), [1.0], dim, settings=with_walk(walk="robust")))
    root, map_, shift = (
        rng.standard_normal((dim, dim)),
        rng.standard_normal((dim, dim)),
        rng.standard_normal(dim),
    )
    sigma, state, mean = root @ root.T, rng.standard_normal(dim), rng.standard_normal(dim)
    values = []
    for matrix, offset in ((np.eye(dim), np.zeros(dim)), (map_, shift)):
        put_covariance(run.state, matrix @ sigma @ matrix.T)
        run.state.position[0], run.state.mean[0] = matrix @ state + offset, matrix @ mean + offset
        values.append(alone(unimodal.mean_square)(0, run.state, np.empty(dim)))
    away = state - mean
    assert values == pytest.approx([away @ np.linalg.solve(sigma, away) / dim] * 2, rel=1e-6)


def put_covariance(state, sigma) -> None:
    lower = np.linalg.cholesky(sigma)
    unit = lower / np.diag(lower)
    state.cov_diag[0, :, 0] = np.diag(lower) ** 2
    state.cov_factor[0, :, 0] = unit[np.triu_indices(len(sigma), 1)[::-1]]
    assert state.cov_diag.shape[2] == LANES


@numba.njit
def two_along_an_axis(x):
    return np.logaddexp(-0.5 * ((x[0] - 8.0) ** 2 + x[1] ** 2), -0.5 * ((x[0] + 8.0) ** 2 + x[1] ** 2))


@numba.njit
def two_along_the_diagonal(x):
    u, v = ROTATED * (x[0] + x[1]), ROTATED * (x[1] - x[0])
    return np.logaddexp(-0.5 * ((u - 8.0) ** 2 + v**2), -0.5 * ((u + 8.0) ** 2 + v**2))


@pytest.mark.parametrize("walk", ["robust", "covariance"])
def test_a_level_with_two_modes_shows_them_in_whatever_direction_they_lie(walk, seed) -> None:
    """Measured along the axes the modes on the diagonal pass for one: 0.9 to 1 instead of 0.2."""
    settings = tp.Settings(
        adaptation=tp.Adaptation(walk=walk),
        trimming=tp.Trimming(enabled=False),
        jumps=tp.Jumps(share=False),  # chains are replicates here
    )
    scores = []
    for density in (two_along_an_axis, two_along_the_diagonal):
        result = tp.sample(
            density,
            initial=[0.0, 0.0],
            draws=1,
            chains=8,
            levels=4,
            seed=seed,
            progress=False,
            settings=settings,
        )
        scores.append([np.exp(chain.log_scale[0]) / result.setup.unimodal_scale for chain in result.chains])
    along, across = np.array(scores)
    assert np.all(along < 0.6)
    assert np.all(across < 0.6)
    verdict = judge_means((along - across)[:, None], np.zeros(1), np.array([0.3]))
    assert verdict.passed, verdict.detail


def test_levels_stay_while_their_score_is_not_known(seed) -> None:
    """A single Gaussian, but too few iterations to tell."""
    result = tp.sample(
        gaussian, initial=np.zeros(2), draws=20, tune=100, levels=4, chains=1,
        seed=seed, progress=False, settings=tp.Settings(trimming=tp.Trimming(after=0, every=1)),
    )  # fmt: skip
    assert result.n_levels == [4]
    assert np.all(np.isnan(result.chains[0].log_scale))


def test_a_walk_that_never_moved_is_not_called_unimodal(rng) -> None:
    run = make_run(make_plan(HandTarget(bumpy), [1.0], 2, tune=300, settings=with_walk(walk="robust")))
    noise = make_noise(rng, 300, 1, 2)
    noise.uniforms[:] = 1.0
    advance(run, noise, adapting=True)
    assert run.state.spread[0, JUDGED] == 0.0
    assert np.isnan(apparent_scales(run.plan, run.state)[0])
