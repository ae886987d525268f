"""Robust walks, steps along one coordinate, jumps and resting levels: each kernel against its naive twin."""

from dataclasses import replace

import numpy as np
import pytest

import naive
import temperance as tp
from densities import bumpy
from harness import (
    PLAIN,
    HandTarget,
    advance,
    alone,
    give_mixtures,
    make_noise,
    make_plan,
    make_run,
    out_of_lanes,
    place,
)
from invariance import learnt_run
from temperance.core.mixture import compiled_log_densities, mixture_log_density, whitened_square
from temperance.core.move import score_level
from temperance.core.state import JUMP_DOF
from temperance.core.unimodal import JUDGED
from temperance.modes import student
from temperance.modes.mixture import no_mixture
from temperance.modes.student import from_parts, log_densities, most_likely, nearest_squares, whitened_squares
from temperance.moves import BESIDE
from temperance.moves.independence import INDEPENDENCE
from temperance.runs.levels import covariances
from temperance.runs.plan import kernel_settings

TARGET = HandTarget(bumpy)


def with_walk(**adaptation):
    return replace(PLAIN, adaptation=replace(PLAIN.adaptation, **adaptation))


def jumps(run, level):
    """Whether a level jumped in the latest iteration."""
    return run.info.move[level] == 1 + BESIDE.index(INDEPENDENCE)


def random_parts(rng, n_components, dim):
    roots = rng.standard_normal((n_components, dim, dim))
    covariance = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(dim)
    return rng.dirichlet(np.ones(n_components)), 3.0 * rng.standard_normal((n_components, dim)), covariance


@pytest.mark.parametrize("n_levels", [1, 3, 5])
@pytest.mark.parametrize(("dim", "every"), [(1, 0), (2, 0), (2, 2), (5, 0), (5, 3)])
def test_robust_walk_learns_vihola_s_shape(n_levels, dim, every, rng) -> None:
    """Each of many iterations from the same state, at every level; means beside it.

    Steps along one coordinate say nothing about the shape, and do not count towards its gain.
    """
    settings = with_walk(walk="robust", coordinate_every=every)
    plan = make_plan(TARGET, 0.5 ** np.arange(n_levels), dim, tune=100, settings=settings)
    run, n_steps = make_run(plan), 0
    place(run, rng.standard_normal((n_levels, dim)))
    k = kernel_settings(plan, adapting=True)
    for n in range(100):
        sigma, mean = covariances(run.state), run.state.mean.copy()
        noise = make_noise(rng, 1, n_levels, dim)
        uniforms = noise.swap_uniforms
        uniforms[:, 2] = 1.0  # no swap: what the walk left is what it learns from
        advance(run, noise, adapting=True, row=n)
        single = every > 0 and n % every == every - 1
        g = naive.gain(n_steps + 1, k.shape_gain_scale, k.shape_gain_exponent, k.shape_gain_delay)
        n_steps += not single
        gc = naive.gain(n + 1, k.cov_gain_scale, k.cov_gain_exponent, k.cov_gain_delay)
        learnt, z = covariances(run.state), out_of_lanes(noise.normals, n_levels)[:, 0]
        for level in range(n_levels):
            eta = run.info.accept_prob[level]
            expected = naive.robust_step(sigma[level], z[level], eta, min(g, 0.99), k.target_walk_accept)
            expected = sigma[level] if single else expected
            np.testing.assert_allclose(learnt[level], expected, rtol=1e-10, atol=1e-12)
        away = run.state.position - mean
        np.testing.assert_allclose(run.state.mean, mean + gc * away, rtol=1e-12)
    assert np.all(run.state.log_scale == run.state.log_scale[0])


def test_robust_shape_is_the_covariance_within_a_mode(seed) -> None:
    """Two far modes with correlated coordinates: the shape is that of one, the spread that of both."""
    modes = tp.zoo.two_modes(3, separation=8.0, sd=0.7)
    result = tp.sample(
        modes, initial=modes.modes[0], levels=6, tune=20_000, draws=1, chains=4, seed=seed,
        progress=False,
    )  # fmt: skip
    shapes = np.array([chain.covariance[0] for chain in result.chains]).mean(axis=0)
    np.testing.assert_allclose(shapes, 0.49 * np.eye(3), atol=0.1)


def test_apparent_scale_is_the_scale_over_the_root_of_the_spread() -> None:
    """As e^θ while the level varies as its shape says; half of it when it varies four times as much."""

    def scales(walk):
        run = make_run(make_plan(TARGET, [1.0, 0.5], 3, tune=50, settings=with_walk(walk=walk)))
        run.state.spread[:, JUDGED] = 1.0, 4.0
        return [score_level(run.state, 0, level) for level in range(2)] / np.exp(run.state.log_scale)

    np.testing.assert_allclose(scales("robust"), [1.0, 0.5], rtol=1e-12)
    np.testing.assert_allclose(scales("covariance"), [1.0, 1.0], rtol=1e-12)
    assert np.all(np.isnan(scales("slice"))), "which cannot tell"


@pytest.mark.parametrize("rest_every", [2, 3, 4])
def test_coordinates_take_turns_at_the_iterations_in_which_a_level_moves(rest_every, rng) -> None:
    """Every other move of each level is along one coordinate, the next one each time."""
    dim, n_moves = 3, 12
    n = n_moves * rest_every
    run = make_run(make_plan(TARGET, [1.0, 0.5, 0.2], dim, draws=n, settings=with_walk(coordinate_every=2)))
    turns: list[list[int]] = [[], [], []]
    for row in range(n):
        advance(run, make_noise(rng, 1, 3, dim), adapting=False, row=row, rest_every=rest_every)
        for level in range(run.info.n_active[0]):
            turns[level].append(int(run.info.which[level]))
    expected = [-1 if k % 2 == 0 else k // 2 % dim for k in range(n)]
    assert turns == [expected, expected[:n_moves], expected[:n_moves]]


def test_one_step_in_three_moves_one_coordinate_and_all_take_turns(rng) -> None:
    dim, n_levels = 4, 2
    run = make_run(make_plan(TARGET, [1.0, 0.5], dim, tune=48, settings=with_walk(coordinate_every=3)))
    place(run, rng.standard_normal((n_levels, dim)))
    seen = []
    for n in range(48):
        before, scale = run.state.position.copy(), run.state.coordinate_log_scale.copy()
        noise = make_noise(rng, 1, n_levels, dim)
        advance(run, noise, adapting=True, row=n)
        moved = run.info.proposal != before
        if n % 3 != 2:
            assert np.all(moved)
            continue
        chosen = int(run.info.which[0])
        seen.append(chosen)
        assert np.all(moved.sum(axis=1) == 1)
        assert np.all(moved[:, chosen])
        steps = np.exp(scale[:, chosen]) * out_of_lanes(noise.normals, n_levels)[:, 0, 0]
        np.testing.assert_allclose(run.info.proposal[:, chosen], before[:, chosen] + steps, rtol=1e-12)
        change = (run.info.accept_prob - 0.44) / np.sqrt(1.0 + n // (3 * dim))
        grown = run.state.coordinate_log_scale - scale
        np.testing.assert_allclose(grown[:, chosen], change, atol=0.01)  # the best rate is near 0.44
        assert np.count_nonzero(grown) == n_levels
    assert seen == [k % dim for k in range(16)]


@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("n_components", [1, 2, 9])
def test_mixture_density_is_that_of_students(dim, n_components, rng) -> None:
    weights, centres, covariances_ = random_parts(rng, n_components, dim)
    mixture = from_parts(weights, centres, covariances_)
    points = 5.0 * rng.standard_normal((20, dim))
    expected = [naive.t_mixture_log_density(x, weights, centres, covariances_, JUMP_DOF) for x in points]
    np.testing.assert_allclose([alone(mixture_log_density)(x, mixture) for x in points], expected, rtol=1e-10)
    np.testing.assert_allclose(log_densities(points, mixture), expected, rtol=1e-10)


@pytest.mark.parametrize("batch", [1, 10**6])
@pytest.mark.parametrize("dim", [1, 3, 12])
def test_the_mixture_in_numpy_equals_the_compiled_one(dim, batch, rng, monkeypatch) -> None:
    """What results and learning compute is what the loop jumps with; a row in a batch, or all at once."""
    monkeypatch.setattr(student, "BATCH", batch)
    mixture = from_parts(*random_parts(rng, 5, dim))
    points = 5.0 * rng.standard_normal((30, dim))
    squares = [[alone(whitened_square)(k, x, mixture) for k in range(5)] for x in points]
    np.testing.assert_allclose(whitened_squares(points, mixture), squares, rtol=1e-10)
    np.testing.assert_allclose(nearest_squares(points, mixture), np.min(squares, axis=1), rtol=1e-10)
    terms = [[alone(mixture_log_density)(x, only(k, mixture)) for k in range(5)] for x in points]
    np.testing.assert_array_equal(most_likely(points, mixture), np.argmax(terms, axis=1))
    assert len(set(np.argmax(terms, axis=1))) > 2, "or this test says nothing"
    whole = [alone(mixture_log_density)(x, mixture) for x in points]
    np.testing.assert_allclose(log_densities(points, mixture), whole, rtol=1e-10)
    rows = np.empty(30)
    compiled_log_densities()(points, mixture, rows)
    np.testing.assert_allclose(rows, whole, rtol=1e-12)


def only(k, mixture):
    """One component with its weight."""
    return mixture._replace(**{name: getattr(mixture, name)[k : k + 1] for name in mixture._fields[1:]})


def test_mixture_density_far_out_is_finite(rng) -> None:
    mixture = from_parts(*random_parts(rng, 3, 40))
    assert np.isfinite(alone(mixture_log_density)(np.full(40, 1e100), mixture))


@pytest.mark.parametrize("n_allocated", [3, 5])
@pytest.mark.parametrize("dim", [1, 3])
def test_jump_is_a_draw_from_the_mixture_with_its_full_ratio(dim, n_allocated, rng) -> None:
    """Of the base, and of the hottest of three live levels; two more may have been dropped."""
    parts = random_parts(rng, 4, dim)
    ladder = [1.0, 0.5, 0.2, 0.1, 0.05][:n_allocated]
    run = make_run(make_plan(TARGET, ladder, dim, draws=60, settings=JUMPING))
    run.state.n_levels[0] = 3
    place(run, rng.standard_normal((3, dim)))
    refresh = random_parts(rng, 1, dim)
    give_mixtures(run, (from_parts(*parts), 0.6), (from_parts(*refresh), 0.3))
    jumped = []
    for n in range(60):
        before = run.state.position.copy()
        noise = make_noise(rng, 1, n_allocated, dim)
        advance(run, noise, adapting=False, row=n)
        z = out_of_lanes(noise.normals, 3)[:, 0]
        cases = ((0, 0.6, parts, noise.jump_uniforms[0, 0]), (2, 0.3, refresh, noise.jump_uniforms[0, 1]))
        for level, chance, (weights, centres, covs), uniforms in cases:
            jumped.append(uniforms[0] < chance)
            if not jumped[-1]:
                assert not jumps(run, level)
                assert run.info.log_proposal_ratio[level] == 0.0
                continue
            component, proposal = naive.t_draw(weights, centres, covs, JUMP_DOF, uniforms, z[level])
            assert jumps(run, level)
            assert run.info.which[level] == component
            np.testing.assert_allclose(run.info.proposal[level], proposal, rtol=1e-10)
            back, there = (
                naive.t_mixture_log_density(x, weights, centres, covs, JUMP_DOF)
                for x in (before[level], proposal)
            )
            assert run.info.log_proposal_ratio[level] == pytest.approx(back - there, rel=1e-8, abs=1e-8)
            assert np.isnan(run.sampling.walk_accept_prob[n, level])
        assert not jumps(run, 1)
        assert run.sampling.jump[n] == (run.info.which[0] if jumps(run, 0) else -1)
        assert run.sampling.base_accept_prob[n] == np.float32(run.info.accept_prob[0])
    assert 20 < np.sum(jumped) < 90


JUMPING = replace(PLAIN, jumps=tp.Jumps())


@pytest.mark.parametrize("walk", ["covariance", "robust"])
def test_nothing_about_scales_is_learnt_from_a_jump(walk, rng) -> None:
    """Neither by the base nor by the hottest level, also where it was the turn of a single coordinate."""
    settings = replace(with_walk(walk=walk, coordinate_every=2), jumps=tp.Jumps())
    run = make_run(make_plan(TARGET, [1.0, 0.5, 0.2], 2, tune=100, settings=settings))
    mixture, refresh = from_parts(*random_parts(rng, 2, 2)), from_parts(*random_parts(rng, 1, 2))
    give_mixtures(run, (mixture, 0.5), (refresh, 0.5))
    n_jumps = n_walks = 0
    for n in range(100):
        before = scales_of(run, walk)
        advance(run, make_noise(rng, 1, 3, 2), adapting=True, row=n)
        for level in (0, 2):
            learnt = any(
                not np.allclose(new[level], old[level], rtol=1e-10, atol=0.0)
                for new, old in zip(scales_of(run, walk), before, strict=True)
            )
            jumped = jumps(run, level)
            assert learnt != jumped
            n_jumps, n_walks = n_jumps + jumped, n_walks + (not jumped)
    assert min(n_jumps, n_walks) > 50


def scales_of(run, walk):
    """What says how far a level steps. The covariance follows jumps too; a robust walk's shape does not."""
    scales = [run.state.log_scale.copy(), run.state.coordinate_log_scale.copy()]
    return [*scales, covariances(run.state)] if walk == "robust" else scales


def test_fresh_proposals_come_from_the_hottest_live_level(seed) -> None:
    """After a tuning that dropped levels: neither from the base nor from a level that is gone."""
    run = learnt_run(seed, dim=2, n_levels=5, min_levels=2, n_steps=1)
    last = int(run.state.n_levels[0]) - 1
    assert 0 < last < 4
    (centre,), (root,) = run.now.refresh.centre, run.now.refresh.root
    np.testing.assert_array_equal(centre, run.state.mean[last])
    np.testing.assert_allclose(root @ root.T, covariances(run.state)[last], rtol=1e-9)


def test_an_empty_mixture_never_jumps(rng) -> None:
    run = make_run(make_plan(TARGET, [1.0, 0.5], 2, draws=20, settings=JUMPING))
    give_mixtures(run, (no_mixture(2), 1.0))
    advance(run, make_noise(rng, 20, 2, 2), adapting=False)
    assert np.all(run.sampling.jump == -1)


@pytest.mark.parametrize("rest", [2, 3, 4])
def test_resting_levels_do_not_move_and_are_not_evaluated(rest, rng) -> None:
    """Hot levels once in so many iterations; only then swaps, even and odd edges in turn."""
    plan = make_plan(
        TARGET, [1.0, 0.6, 0.3, 0.1], 2, draws=20 * rest, settings=PLAIN, strategy=tp.swaps.even_odd()
    )
    run = make_run(plan)
    attempts = []
    for n in range(20 * rest):
        before = run.state.position.copy()
        noise = make_noise(rng, 1, 4, 2, plan.n_swaps)
        noise.normals[:] += 0.1
        advance(run, noise, adapting=False, row=n, rest_every=rest)
        trace = run.sampling
        if n % rest == 0:
            assert trace.evaluations[n] == 4
            attempts.append(int(trace.swap_attempts[n]))
        else:
            assert trace.evaluations[n] == 1
            assert trace.swap_attempts[n] == 0
            np.testing.assert_array_equal(run.state.position[1:], before[1:])
            assert np.all(np.isnan(trace.walk_accept_prob[n, 1:]))
            assert np.all(np.isnan(trace.adjacent_swap_accept[n]))
            assert not np.isnan(trace.walk_accept_prob[n, 0])
    assert attempts == [2, 1] * 10, "edges 1-2 and 3-4, then edge 2-3"


@pytest.mark.parametrize("walk", ["robust", "covariance"])
def test_levels_at_rest_take_in_what_they_had_learnt_last(walk, rng) -> None:
    """Tuning ends with an update that waits for the next proposal; levels that rest make none for a while."""
    dim, n_levels = 3, 9
    plan = make_plan(TARGET, 0.7 ** np.arange(n_levels), dim, tune=5, draws=1, settings=with_walk(walk=walk))
    run = make_run(plan)
    advance(run, make_noise(rng, 5, n_levels, dim), adapting=True)
    assert run.state.update_waits[0]
    before = covariances(run.state)
    advance(run, make_noise(rng, 1, n_levels, dim), adapting=False, rest_every=4)
    assert not run.state.update_waits[0]
    np.testing.assert_allclose(covariances(run.state), before, rtol=1e-10)
