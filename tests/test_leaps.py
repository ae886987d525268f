"""Leaps from mode to mode: kernels against naive twins, what maps are made from, how often to leap."""

import math
from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy import stats

import naive
import temperance as tp
from densities import bumpy
from harness import (
    PLAIN,
    HandTarget,
    advance,
    give_mixtures,
    make_noise,
    make_plan,
    make_run,
    out_of_lanes,
    place,
)
from temperance.core.state import HUMPS, JUMP_DOF, LEAPT, N_KINDS, OWN, POOLED, Humps
from temperance.modes.components import Components
from temperance.modes.humps import humps_of, other_hump
from temperance.modes.leaps import for_good, jump_chance_beside, no_humps, no_leaps, on_trial
from temperance.modes.maps import Places, distinct, make_maps, places_of
from temperance.modes.pairs import corrected, explains, pairs_of
from temperance.modes.policy import LEAPING

TARGET = HandTarget(bumpy)
JUMPING = replace(PLAIN, jumps=tp.Jumps())


def random_places(rng, n_modes, dim):
    roots = rng.standard_normal((n_modes + 1, dim, dim))
    covariance = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(dim)
    centres = 2.0 * rng.standard_normal((n_modes, dim))
    size = np.exp(rng.standard_normal(n_modes))
    return Places(rng.dirichlet(np.ones(n_modes)), centres, covariance[0], size, covariance[1:])


def shapes(places, kind):
    return places.size[:, None, None] * places.pooled if kind == POOLED else places.own


@pytest.mark.parametrize("kind", [POOLED, OWN])
@pytest.mark.parametrize(("dim", "n_modes"), [(1, 2), (2, 3), (5, 2), (5, 4)])
def test_leap_is_the_corresponding_point_with_its_full_ratio(dim, n_modes, kind, rng) -> None:
    """By a naive twin; how often each way is taken follows responsibilities and weights."""
    run = make_run(make_plan(TARGET, [1.0, 0.5], dim, draws=400, settings=JUMPING))
    places = random_places(rng, n_modes, dim)
    covariances = shapes(places, kind)
    chance = np.zeros(N_KINDS)
    chance[kind] = 0.7
    give_mixtures(run, leaps=(make_maps(places), no_humps(), chance))
    start = places.centre[0] + 0.3 * (places.centre[1] - places.centre[0])
    expected, seen = np.zeros((n_modes, n_modes)), np.zeros((n_modes, n_modes))
    for n in range(400):
        place(run, np.tile(start, (2, 1)))
        noise = make_noise(rng, 1, 2, dim)
        advance(run, noise, adapting=False, row=n)
        leaps = noise.jump_uniforms[0, 0, 0] < 0.7
        assert run.sampling.jump[n] == (LEAPT - kind if leaps else -1)
        if not leaps:
            continue
        goal = int(run.info.which[0])
        ways = [naive.corresponding_point(start, i, goal, places.centre, covariances) for i in range(n_modes)]
        (origin,) = np.flatnonzero([np.allclose(run.info.base_proposal, y, rtol=1e-8) for y in ways])
        assert origin != goal
        parts = places.weight, places.centre, covariances
        ratio = naive.leap_log_ratio(start, ways[origin], origin, goal, *parts, JUMP_DOF)
        assert run.info.log_proposal_ratio[0] == pytest.approx(ratio, rel=1e-7, abs=1e-7)
        here = naive.responsibilities(start, *parts, JUMP_DOF)
        to = places.weight * (1 - np.eye(n_modes))
        expected += here[:, None] * to / to.sum(axis=1, keepdims=True)
        seen[origin, goal] += 1
    error = np.sqrt(np.maximum(expected, 1.0))
    assert np.all(np.abs(seen - expected) < 5.0 * error)


def test_a_point_far_out_stays_where_it_is(rng) -> None:
    run = make_run(make_plan(HandTarget(_flat), [1.0], 3, draws=5, settings=JUMPING))
    maps = make_maps(random_places(rng, 3, 3))
    give_mixtures(run, leaps=(maps, no_humps(), [1.0, 0.0, 0.0]))
    place(run, np.full((1, 3), 1e200))
    advance(run, make_noise(rng, 5, 1, 3), adapting=False)
    np.testing.assert_array_equal(run.state.position, np.full((1, 3), 1e200))


@numba.njit
def _flat(x):
    return 0.0 * x[0]


def test_leap_between_humps_moves_one_coordinate_by_its_normals(rng) -> None:
    run = make_run(make_plan(TARGET, [1.0], 4, draws=200, settings=JUMPING))
    humps = Humps(
        np.array([1, 3]),
        np.array([[0.3, 0.7, 0.0], [0.2, 0.5, 0.3]]),
        np.array([[-1.0, 2.0, 0.0], [-3.0, 0.0, 4.0]]),
        np.array([[0.5, 1.0, 1.0], [0.3, 0.6, 0.9]]),
    )
    give_mixtures(run, leaps=(*(run.now.learner.leaps.maps,), humps, [0.0, 0.0, 1.0]))
    for n in range(200):
        before = run.state.position[0].copy()
        noise = make_noise(rng, 1, 1, 4)
        advance(run, noise, adapting=False, row=n)
        uniforms, z = noise.jump_uniforms[0, 0], out_of_lanes(noise.normals, 1)[0, 0, 0]
        which = int(2 * uniforms[1])
        hump = int(np.searchsorted(np.cumsum(humps.share[which]), uniforms[2], side="right"))
        i = humps.coordinate[which]
        value = humps.centre[which, hump] + humps.sd[which, hump] * z
        expected = before.copy()
        expected[i] = value
        np.testing.assert_allclose(run.info.base_proposal, expected, rtol=1e-12)
        parts = humps.share[which], humps.centre[which], humps.sd[which]
        back, there = (
            math.log(sum(w * stats.norm(c, s).pdf(x) for w, c, s in zip(*parts, strict=True)))
            for x in (before[i], value)
        )
        assert run.info.log_proposal_ratio[0] == pytest.approx(back - there, rel=1e-8, abs=1e-8)
        assert run.sampling.jump[n] == LEAPT - HUMPS


def heavy(rng, n, centre, root, dof=3.0):
    z = rng.standard_normal((n, len(centre)))
    return centre + (z @ root.T) / np.sqrt(rng.chisquare(dof, (n, 1)) / dof)


def test_centres_and_sizes_are_robust(rng) -> None:
    """Student's t with three degrees of freedom, where means and covariances hardly settle."""
    dim, n = 20, 4_000
    centres = np.array([np.full(dim, -5.0), np.full(dim, 5.0)])
    points = np.concatenate(
        [heavy(rng, n, centres[0], np.eye(dim)), heavy(rng, n, centres[1], 2.0 * np.eye(dim))]
    )
    label = np.repeat([0, 1], n)
    known = Components(centres + 1.0, np.tile(np.eye(dim), (2, 1, 1)), np.zeros(2), np.array([9, 9]))
    found = places_of(known, np.eye(dim), points, label, 1.0)
    error = np.sqrt(((found.centre - centres) ** 2).sum(axis=1)) / [1.0, 2.0]
    assert np.all(error < 0.15)
    assert found.size[1] / found.size[0] == pytest.approx(4.0, rel=0.1)


def test_a_mode_without_states_stays_as_it_was(rng) -> None:
    dim = 3
    known = Components(
        np.array([np.zeros(dim), np.full(dim, 9.0)]), np.array([np.eye(dim), 4.0 * np.eye(dim)]),
        np.zeros(2), np.array([9, 9]),
    )  # fmt: skip
    found = places_of(known, np.eye(dim), rng.standard_normal((500, dim)), np.zeros(500, dtype=int), 1.0)
    np.testing.assert_array_equal(found.centre[1], np.full(dim, 9.0))
    assert found.size[1] == pytest.approx(4.0)
    np.testing.assert_array_equal(found.own[1], 4.0 * np.eye(dim))


def test_parts_of_one_mode_are_one(rng) -> None:
    centre = np.array([[0.0, 0.0], [0.5, 0.0], [20.0, 0.0]])
    known = Components(centre, np.tile(np.eye(2), (3, 1, 1)), np.array([1.0, 0.0, 2.0]), np.array([9, 9, 9]))
    assert distinct(known, np.eye(2), 100.0).centre.tolist() == [[0.0, 0.0], [20.0, 0.0]]


def test_states_of_one_mode_are_no_modes_in_many_dimensions(rng) -> None:
    """Centres that are single states, of two modes in two hundred dimensions; covariances say little."""
    dim = 200
    states = rng.standard_normal((6, dim)) + np.repeat([[-1.0], [1.0]], 3, axis=0) * 1.2
    noisy = np.cov(rng.standard_normal((2 * dim, dim)).T) + 0.1 * np.eye(dim)
    known = Components(states, np.tile(noisy, (6, 1, 1)), np.zeros(6), np.ones(6, dtype=int))
    found = distinct(known, noisy, 2.0 * dim).centre.mean(axis=1)
    assert sorted(np.sign(found)) == [-1.0, 1.0]


@pytest.mark.parametrize("kind", [POOLED, OWN])
def test_pairs_tell_where_centres_are_beside_each_other(kind, rng) -> None:
    """Two Gaussians of unequal width, centres off by two of a mode's widths: exact but for the sizes."""
    dim = 12
    root = np.linalg.cholesky(np.eye(dim) + 0.5)
    truth = np.array([np.full(dim, -4.0), np.full(dim, 4.0)])
    size = np.array([1.0, 2.0])
    off = truth + np.sqrt(size)[:, None] * (rng.standard_normal((2, dim)) * 2.0 / math.sqrt(dim)) @ root.T
    shape = root @ root.T
    maps = make_maps(Places(np.full(2, 0.5), off, shape, 1.1 * size, size[:, None, None] * shape))

    def log_density(x, mode):
        z = np.linalg.solve(root, (x - truth[mode]).T) / math.sqrt(size[mode])
        return -0.5 * (z**2).sum(axis=0) - 0.5 * dim * math.log(size[mode])

    mode = rng.integers(0, 2, 300)
    points = truth[mode] + np.sqrt(size[mode])[:, None] * (rng.standard_normal((300, dim)) @ root.T)
    proposals = np.empty_like(points)
    for k in range(300):
        i, j = mode[k], 1 - mode[k]
        place = maps.whitener[kind, i] @ (points[k] - off[i])
        proposals[k] = off[j] + maps.root[kind, j] @ place
    rise = np.where(mode == 0, log_density(proposals, 1) - log_density(points, 0), 0.0)
    rise = np.where(mode == 1, log_density(proposals, 0) - log_density(points, 1), rise)
    found = corrected(pairs_of(maps, kind, points, proposals, rise), 2)
    assert found is not None
    assert explains(found)
    error = np.linalg.solve(root, (truth - off).T).T / np.sqrt(size)[:, None]  # in widths
    np.testing.assert_allclose(found.shift[1] - found.shift[0], error[1] - error[0], atol=0.25)


def test_too_few_pairs_say_nothing(rng) -> None:
    maps = make_maps(random_places(rng, 2, 10))
    points = rng.standard_normal((20, 10))
    assert corrected(pairs_of(maps, POOLED, points, points, np.zeros(20)), 2) is None


def test_humps_are_found_where_there_are_some(rng) -> None:
    n = 3_000
    side = np.where(rng.random(n) < 0.8, 2.0, -2.0)
    points = np.stack(
        [rng.standard_normal(n), side + 0.5 * rng.standard_normal(n), rng.standard_cauchy(n)], axis=1
    )
    humps = humps_of(points)
    assert humps.coordinate.tolist() == [1]
    np.testing.assert_allclose(humps.centre[0], [-2.0, 2.0], atol=0.1)
    np.testing.assert_allclose(humps.share[0], [0.2, 0.8], atol=0.03)
    before, after = points[:4].copy(), points[:4].copy()
    before[:, 1], after[:, 1] = -2.1, [2.0, -1.5, 1.5, -2.0]
    assert other_hump(humps, before, after).tolist() == [True, False, True, False]


def with_acceptance(maps, *acceptance):
    return replace(no_leaps(2), maps=maps, acceptance=np.array(acceptance))


def test_leaps_are_tried_where_jumps_are_poor_and_made_where_they_are_better(rng) -> None:
    maps = make_maps(random_places(rng, 3, 2))
    good = with_acceptance(maps, 0.6, 0.3, 0.0)
    assert not np.any(on_trial(good, 0.5, early=True).chance), "jumps do it all"
    trial = on_trial(with_acceptance(maps, 0.0, 0.0, 0.0), 0.0, early=True).chance
    assert trial.tolist() == [LEAPING.trial_chance, LEAPING.idle_chance, 0.0]
    chosen = for_good(good, 0.01, 50)
    assert chosen.chance[POOLED] == pytest.approx(LEAPING.max_chance, rel=1e-3)
    assert chosen.chance[OWN] == chosen.chance[HUMPS] == 0.0
    assert jump_chance_beside(0.0, chosen) == LEAPING.jumps_share, "a share stays"
    assert jump_chance_beside(0.9, chosen) == LEAPING.most_jumps
    assert not np.any(for_good(with_acceptance(maps, 0.15, 0.1, 0.0), 0.1, 50).chance), "no better than jumps"
    assert not np.any(for_good(no_leaps(2), 0.0, 50).chance), "nothing to leap between"
