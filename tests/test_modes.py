"""Modes as data: what chains learnt is put together, draws are given to modes, and the numbers are right."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import temperance as tp
from records import jumping, learnt_modes, make_result, with_chains, with_draws, with_sampling
from temperance.core.state import JUMP_DOF
from temperance.modes import overlap, student
from temperance.modes import pool as pooling
from temperance.modes.overlap import Overlaps, along_ridges, joined, overlaps, without_fragments
from temperance.modes.policy import MATCHING
from temperance.modes.pool import pooled
from temperance.modes.student import most_likely
from temperance.results.diagnostics import find_modes, mcse_mean, occupancy
from temperance.runs.allocate import cut
from temperance.theory import student_tail

CENTRES = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 20.0]])


def among(result, rng, centres, share):
    """The same result with its draws moved to these centres, by chance; and which went where."""
    label = rng.choice(len(centres), size=result.draws.shape[:2], p=share)
    return with_draws(result, result.draws + np.asarray(centres)[label]), label


def knowing(result, modes, **options):
    """All chains learnt the same and jumped."""
    return with_chains(result, lambda k, chain: jumping(chain, modes, **options))


@pytest.fixture
def three(rng):
    """Three modes of weight 0.5, 0.3 and 0.2, which all chains know; and the mode of each draw."""
    drawn, label = among(make_result(rng), rng, CENTRES, [0.5, 0.3, 0.2])
    return knowing(drawn, learnt_modes(CENTRES)), label


# ---- putting the chains together


def jittered(rng, n_chains, size):
    return [
        learnt_modes(CENTRES[rng.permutation(3)] + rng.normal(0.0, size, (3, 2))) for _ in range(n_chains)
    ]


def test_components_of_different_chains_are_matched(rng):
    chains = jittered(rng, 4, 0.2)
    pool = pooled(chains)
    assert len(pool.weight) == 3
    assert pool.weight.sum() == pytest.approx(1.0)
    for modes, place in zip(chains, pool.place, strict=True):
        assert place[-1] == -1, "the broad component is no mode"
        np.testing.assert_allclose(pool.centre[place[:-1]], modes.centre[:-1], atol=1.0)


def test_components_that_lie_apart_are_not_matched(rng):
    """Just inside and just outside of the inner half of a mode's mass, by the exact chi-square."""
    edge = np.sqrt(stats.chi2(2).median())
    for distance, n_left in ((0.97 * edge, 1), (1.03 * edge, 2)):
        assert len(pooled([learnt_modes([[0.0, 0.0]]), learnt_modes([[distance, 0.0]])]).weight) == n_left


def test_both_have_to_be_near_by_their_own_widths():
    """A narrow mode in the flank of a wide one is near to it, and not the other way round."""
    wide, narrow = learnt_modes([[0.0, 0.0]], width=10.0), learnt_modes([[4.0, 0.0]], width=0.5)
    assert len(pooled([wide, narrow]).weight) == 2


def test_of_each_chain_one_component_at_most_is_matched():
    """Two of one chain stay two, and the third goes to the nearer."""
    pool = pooled([learnt_modes([[0.0, 0.0], [1.2, 0.0]]), learnt_modes([[0.5, 0.0]])])
    assert [place[:-1].tolist() for place in pool.place] == [[0, 1], [0]]


def test_the_order_of_the_chains_makes_no_difference(rng):
    chains = jittered(rng, 4, 0.2)
    one, other = pooled(chains), pooled(chains[::-1])
    np.testing.assert_allclose(np.sort(one.centre, axis=0), np.sort(other.centre, axis=0))


def test_the_work_grows_with_the_chains_and_not_with_their_square(monkeypatch, rng):
    """Distances between centres: three of each chain, both ways, to the three that are known."""
    counted = []

    def counting(points, mixture):
        counted.append(len(points) * len(mixture.centre))
        return student.whitened_squares(points, mixture)

    monkeypatch.setattr(pooling, "whitened_squares", counting)
    for n_chains in (10, 80):
        counted.clear()
        assert len(pooled(jittered(rng, n_chains, 0.05)).weight) == 3
        assert sum(counted) == 2 * 9 * (n_chains - 1)


def test_a_mode_that_the_first_chains_do_not_know_is_matched_among_the_others():
    pool = pooled([None, *(learnt_modes(CENTRES[:n]) for n in (1, 3, 2, 3))])
    assert [place[:-1].tolist() for place in pool.place] == [[], [0], [0, 1, 2], [0, 1], [0, 1, 2]]


def test_merged_components_have_the_moments_of_the_whole():
    one, other = learnt_modes([[0.0, 0.0]], width=1.0), learnt_modes([[1.0, 0.0]], width=2.0)
    pool = pooled([one, other])
    np.testing.assert_allclose(pool.centre, [[0.5, 0.0]])
    np.testing.assert_allclose(pool.covariance, [[[2.5 + 0.25, 0.0], [0.0, 2.5]]])


def test_chains_that_learnt_nothing_do_not_matter(rng):
    pool = pooled([None, learnt_modes(CENTRES), None])
    assert [len(place) for place in pool.place] == [1, 4, 1]
    assert pooled([None, None]) is None


# ---- which draw belongs where


def random_pool(rng, n_components, dim):
    roots = rng.normal(size=(n_components, dim, dim))
    modes = learnt_modes(rng.normal(0.0, 3.0, (n_components, dim)))
    covariance = modes.covariance.copy()
    covariance[:-1] = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(dim)
    weight = np.append(0.95 * rng.dirichlet(np.ones(n_components)), 0.05)
    return pooled([replace(modes, weight=weight, covariance=covariance)])


def naive_terms(points, pool):
    parts = zip(pool.weight, pool.centre, pool.covariance, strict=True)
    return np.array(
        [
            np.log(weight) + stats.multivariate_t(centre, covariance, df=JUMP_DOF).logpdf(points)
            for weight, centre, covariance in parts
        ]
    ).T


@pytest.mark.parametrize(("dim", "batch"), [(1, 10**6), (3, 10**6), (3, 50)])
def test_draws_go_to_the_component_with_the_highest_density(rng, monkeypatch, dim, batch):
    """Against SciPy; distances alone, without weights and volumes, would give others."""
    monkeypatch.setattr(student, "BATCH", batch)
    pool, points = random_pool(rng, 5, dim), rng.normal(0.0, 4.0, (300, dim))
    terms = naive_terms(points, pool)
    labels = most_likely(points, pool.mixture)
    np.testing.assert_array_equal(labels, terms.argmax(axis=1))
    chance = np.exp(terms - terms.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    points[1:4] = points[0]  # repeats, which say nothing about heights
    rows = np.concatenate([[0, 0, 0, 0], np.arange(4, 300)])
    labels, chance = labels[rows], chance[rows]
    log_density = rng.normal(size=300)
    found = overlaps(points, labels, pool, log_density)
    np.testing.assert_allclose(found.shared, np.array([chance[labels == k].sum(axis=0) for k in range(5)]))
    new = ~np.isin(np.arange(300), [1, 2, 3])
    for i in range(5):
        own = log_density[new & (labels == i)]
        assert found.height[i] == pytest.approx(own.mean() if len(own) else -np.inf)
        for j in range(i):
            pair = new & np.isin(labels, [i, j]) & (chance[:, [i, j]].min(axis=1) >= MATCHING.between)
            assert found.between[i, j] == found.between[j, i] == pair.sum()
            saddle = log_density[pair].mean() if pair.any() else -np.inf
            assert found.saddle[i, j] == pytest.approx(saddle)
    squares = [
        [(x - c) @ np.linalg.solve(s, x - c) for c, s in zip(pool.centre, pool.covariance, strict=True)]
        for x in points
    ]
    np.testing.assert_allclose(found.nearest, np.min(squares, axis=1))


@pytest.mark.parametrize(
    ("place", "count", "n_modes"),
    [(5.0, 1, 1), (7.0, 1, 1), (7.0, 40, 2), (60.0, 1, 2), (60.0, 400, 2), (5.0, 400, 2)],
    ids=["tail", "far tail", "too many for a tail", "too far for a tail", "a mode", "a near mode"],
)
def test_a_few_draws_in_a_tail_are_no_mode(place, count, n_modes, rng):
    """Beside 10,000 draws of one mode; a mode of some weight stays one wherever it is."""
    points = np.concatenate(
        [rng.standard_normal((10_000, 2)), [place, 0.0] + 0.1 * rng.standard_normal((count, 2))]
    )
    component = (np.arange(len(points)) >= 10_000).astype(np.int64)
    assert len(np.unique(without_fragments(np.array([0, 1]), component, points))) == n_modes


def test_fragments_join_the_mode_that_explains_them_best(rng):
    """And draws that have no width at all explain nothing."""
    sizes, places = [4_000, 4_000, 2, 4_000], [0.0, 30.0, 25.0, 90.0]
    points = np.concatenate(
        [
            [place, 0.0] + (place < 90.0) * rng.standard_normal((n, 2))
            for n, place in zip(sizes, places, strict=True)
        ]
    )
    component = np.repeat(np.arange(4), sizes)
    mode = without_fragments(np.arange(4), component, points)
    assert mode.tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("dim", [1, 2, 7, 100])
@pytest.mark.parametrize("square", [1.0, 30.0, 1e3, 1e6])
def test_the_tail_of_a_student_is_that_of_scipy(dim, square):
    """With unit covariance, whatever the degrees of freedom."""
    for dof in (3.0, 5.0, 20.0):
        expected = stats.f.sf(square * dof / (dof - 2.0) / dim, dim, dof)
        assert student_tail(square, dim, dof) == pytest.approx(expected, rel=1e-9)
    assert student_tail(0.0, dim, 5.0) == 1.0


def test_what_overlaps_is_one_mode():
    """Along a chain of three, of which the ends do not overlap; and one apart."""
    shared = np.array(
        [[90.0, 10.0, 0.0, 0.0], [10.0, 80.0, 10.0, 0.0], [0.0, 10.0, 90.0, 0.0], [0, 0, 0, 5.0]]
    )
    assert joined(shared).tolist() in ([0, 0, 0, 1], [1, 1, 1, 0])
    shared[1, 0] = shared[0, 1] = 3.0
    assert len(np.unique(joined(shared))) == 3
    shared[3, 0] = 1.0  # a fifth of what is light might be part of what is heavy
    assert len(np.unique(joined(shared))) == 2


def test_one_mode_that_was_learnt_as_many_is_one(rng, monkeypatch):
    """And with overlaps left alone it would be as many."""
    angles = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    pieces = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    far = [[15.0, 0.0]]
    drawn, label = among(make_result(rng), rng, [[0.0, 0.0], *far], [0.7, 0.3])
    split = knowing(drawn, learnt_modes([*pieces, *far], width=0.8))
    assert len(split.modes) == 2
    np.testing.assert_array_equal(split.modes.label, label)
    monkeypatch.setattr(overlap, "MATCHING", replace(MATCHING, max_overlap=2.0, least_between=10**9))
    assert len(replace(split).modes) > 4


# ---- ridges


def ring(rng, n_draws=4_000, radius=8.0, n_pieces=10):
    """A ring with components along it that share few draws, and a mode apart; as draws of a run."""
    turn = np.linspace(0.0, 2.0 * np.pi, n_pieces, endpoint=False)
    pieces = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    angle, apart = rng.uniform(0.0, 2.0 * np.pi, (4, n_draws)), rng.random((4, n_draws)) < 0.3
    length = radius + rng.standard_normal((4, n_draws))
    points = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=2)
    points[apart] = rng.normal([30.0, 0.0], 1.0, (int(apart.sum()), 2))
    height = np.where(apart, -0.5 * ((points - [30.0, 0.0]) ** 2).sum(axis=2), -0.5 * (length - radius) ** 2)
    return points, height, learnt_modes([*pieces, [30.0, 0.0]], width=0.9), apart


def drawn(rng, points, height, modes):
    """A run with these draws and log densities, in which all chains know these modes."""
    made = knowing(with_draws(make_result(rng, n_draws=points.shape[1], n_tune=4), points), modes)
    return with_chains(made, lambda k, chain: with_sampling(chain, log_density=_base(chain, height[k])))


def _base(chain, height):
    columns = chain.sampling.log_density.copy()
    columns[:, 0] = height
    return columns


def test_neighbours_along_a_ridge_are_one_mode(rng, monkeypatch):
    """By what they share alone they would be several; and where log densities are not known they are."""
    points, height, modes, apart = ring(rng)
    result = drawn(rng, points, height, modes)
    assert len(result.modes) == 2
    np.testing.assert_array_equal(result.modes.label, apart.astype(int))
    assert len(drawn(rng, points, np.full(height.shape, np.nan), modes).modes) > 4
    monkeypatch.setattr(overlap, "MATCHING", replace(MATCHING, least_between=10**9))
    assert len(replace(result).modes) > 4


@pytest.mark.parametrize("dim", [1, 2, 5, 20])
def test_normal_modes_that_a_valley_parts_stay_two(dim, rng):
    """Both alike, and one with a twentieth of the draws, farther off, or it is in the flank of the other."""
    for share, distance in ((0.5, 4.2), (0.05, 6.0)):
        second = rng.random((4, 5_000)) < share
        points = rng.standard_normal((4, 5_000, dim))
        points[..., 0] += distance * second
        centres = np.zeros((2, dim))
        centres[1, 0] = distance
        squares = [-0.5 * ((points - centre) ** 2).sum(axis=2) for centre in centres]
        height = np.logaddexp(squares[0] + np.log(1.0 - share), squares[1] + np.log(share))
        learnt = learnt_modes(centres)
        weight = np.array([0.95 * (1.0 - share), 0.95 * share, 0.05])
        assert len(drawn(rng, points, height, replace(learnt, weight=weight)).modes) == 2


def test_what_lies_low_between_two_modes_never_joins_them():
    """It goes to one of them; a ridge that falls all the way is one mode."""
    between = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 9.0], [0.0, 9.0, 0.0]])

    def modes(heights, first, second):
        saddle = np.full((3, 3), -np.inf)
        saddle[0, 1] = saddle[1, 0] = first
        saddle[1, 2] = saddle[2, 1] = second
        nothing = np.empty(0)
        found = Overlaps(
            shared=between, height=np.array(heights), between=between, saddle=saddle, nearest=nothing
        )
        return along_ridges(np.arange(3), found).tolist()

    assert modes([0.0, -4.0, 0.0], -2.0, -2.0) in ([0, 0, 1], [0, 1, 1])
    assert modes([0.0, -4.0, -9.0], -2.0, -6.0) == [0, 0, 0]
    assert modes([0.0, -4.0, -9.0], -2.0, -10.0) == [0, 0, 1]


def test_a_few_draws_between_say_nothing():
    found = Overlaps(
        shared=np.eye(2),
        height=np.zeros(2),
        between=np.full((2, 2), MATCHING.least_between - 1.0),
        saddle=np.ones((2, 2)),
        nearest=np.empty(0),
    )
    assert along_ridges(np.arange(2), found).tolist() == [0, 1]
    assert along_ridges(np.arange(2), replace(found, between=found.between + 1.0)).tolist() == [0, 0]


def test_a_part_of_a_ridge_that_a_chain_has_not_seen_is_no_missed_mode(rng):
    """A mode apart is; and without the ridge the part would be told."""
    points, height, modes, apart = ring(rng)
    turned = np.arctan2(points[0, :, 1], points[0, :, 0])
    gone = ~apart[0] & (abs(turned) < 0.35)  # a piece at angle 0: its draws go to where the next one is
    points[0, gone], height[0, gone] = points[0, ~apart[0] & ~gone][0], height[0, ~apart[0] & ~gone][0]
    names = lambda result: {warning.name for warning in result.warnings}  # noqa: E731
    whole = drawn(rng, points, height, modes)
    assert "missed mode" not in names(whole)
    assert "missed mode" in names(drawn(rng, points, np.full(height.shape, np.nan), modes))
    points[0, apart[0]], height[0, apart[0]] = points[0, ~apart[0]][0], height[0, ~apart[0]][0]
    assert "missed mode" in names(drawn(rng, points, height, modes))


def test_components_without_draws_are_no_modes(three):
    result, _ = three
    more = learnt_modes([*CENTRES, [500.0, 0.0], [0.0, 0.5]])  # a far one, and one that a mode explains
    modes = knowing(result, more, accepted=0.5).modes
    assert len(modes) == 3
    assert modes.n_unvisited == len(result.chains)
    jumps = np.bincount(np.arange(1_000) % 6 + 6 * (np.arange(1_000) % 100 >= 90), minlength=6)[:6]
    np.testing.assert_array_equal(modes.n_jumps[0], [jumps[0] + jumps[4], jumps[1], jumps[2]])


# ---- the numbers


def test_modes_are_listed_by_weight_with_their_errors(three):
    result, label = three
    modes = result.modes
    np.testing.assert_array_equal(modes.label, label)
    np.testing.assert_allclose(modes.weight, [np.mean(label == k) for k in range(3)])
    assert np.all(np.diff(modes.weight) < 0.0)
    expected = [max(mcse_mean(label == k), np.std(np.mean(label == k, axis=1), ddof=1) / 2) for k in range(3)]
    np.testing.assert_allclose(modes.weight_error, expected)
    np.testing.assert_allclose(modes.share, occupancy(label, 3))
    np.testing.assert_array_equal(result.occupancy(), modes.share)


def test_the_error_of_a_weight_is_no_less_than_the_spread_between_chains(rng):
    """Long stays in two modes: in some of these runs the autocorrelation alone would promise more."""
    promised_more = 0
    for _ in range(30):
        label = (np.cumsum(rng.random((4, 400)) < 0.05, axis=1) + rng.integers(2, size=(4, 1))) % 2
        drawn = with_draws(make_result(rng, n_draws=400, n_tune=4), CENTRES[label])
        modes = knowing(drawn, learnt_modes(CENTRES[:2])).modes
        spread = modes.share.std(axis=0, ddof=1) / 2.0
        alone = np.array([mcse_mean(modes.label == k) for k in range(2)])
        promised_more += np.any(alone < 0.9 * spread)
        np.testing.assert_array_equal(modes.weight_error, np.maximum(alone, spread))
    assert promised_more >= 3, "or this test says nothing"


def test_the_error_of_a_weight_of_one_chain_is_that_of_its_draws(rng):
    drawn, _ = among(make_result(rng, n_chains=1, n_draws=200, n_tune=4), rng, CENTRES, [0.5, 0.3, 0.2])
    modes = knowing(drawn, learnt_modes(CENTRES)).modes
    np.testing.assert_array_equal(modes.weight_error, [mcse_mean(modes.label == k) for k in range(3)])


def test_weights_are_off_by_their_errors(rng):
    """Sixty runs of independent draws: z-scores of the weights have a spread near one."""
    scores = []
    for _ in range(60):
        drawn, _ = among(make_result(rng, n_draws=200, n_tune=4), rng, CENTRES, [0.5, 0.3, 0.2])
        modes = knowing(drawn, learnt_modes(CENTRES)).modes
        scores += ((modes.weight - [0.5, 0.3, 0.2]) / modes.weight_error).tolist()
    assert 0.75 < np.sqrt(np.mean(np.square(scores))) < 1.3


def test_visits_are_counted_by_hand(rng):
    label = np.array([[0, 0, 1, 1, 0, 2], [1, 1, 1, 1, 1, 1]])
    drawn = with_draws(make_result(rng, n_chains=2, n_draws=6, n_tune=4), CENTRES[label])
    modes = knowing(drawn, learnt_modes(CENTRES)).modes
    assert modes.visits.tolist() == [[1, 2, 1], [1, 0, 0]], "the mode with eight draws comes first"
    assert modes.weight.tolist() == pytest.approx([8 / 12, 3 / 12, 1 / 12])


def test_jumps_are_counted_where_they_led(three):
    """Components are numbered by each chain in its own way."""
    result, _ = three
    turned = learnt_modes(CENTRES[[2, 0, 1]])
    mixed = with_chains(
        result,
        lambda k, chain: jumping(chain, turned if k else learnt_modes(CENTRES), accepted=0.25 * k, tried=1.0),
    )
    modes = mixed.modes
    assert modes.n_jumps.tolist() == [[250, 250, 250]] * 4, "a quarter went to the broad component"
    np.testing.assert_allclose(modes.jump_acceptance, [0.375] * 3)


def test_centre_and_covariance_are_those_of_the_draws(three):
    result, label = three
    for k in range(3):
        points = result.draws[label == k]
        np.testing.assert_allclose(result.modes.centre[k], points.mean(axis=0))
        np.testing.assert_allclose(result.modes.covariance[k], np.cov(points.T))
        np.testing.assert_allclose(result.modes.width[k], points.std(axis=0, ddof=1))


def test_a_mode_with_hardly_a_draw_is_as_it_was_learnt(three):
    result, _ = three
    draws = result.draws.copy()
    draws[0, :2] = [[40.0, 40.5], [40.5, 40.0]]
    rare = knowing(with_draws(result, draws), learnt_modes([*CENTRES, [40.0, 40.0]], width=1.5)).modes
    assert rare.visits.sum(axis=0)[-1] == 1
    np.testing.assert_allclose(rare.centre[-1], [40.0, 40.0])
    np.testing.assert_allclose(rare.width[-1], [1.5, 1.5])


def test_who_learnt_a_mode_is_known(rng):
    drawn, _ = among(make_result(rng), rng, CENTRES, [0.5, 0.3, 0.2])
    some = with_chains(
        drawn, lambda k, chain: jumping(chain, learnt_modes(CENTRES[: k or 3])) if k < 3 else chain
    )
    assert some.modes.learnt.astype(int).tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert np.all(some.modes.share > 0.0)


def test_draws_far_from_all_are_counted(three):
    result, _ = three
    draws = result.draws.copy()
    draws[1, :100] += 50.0
    far = with_draws(result, draws).modes.far
    assert far[1] == pytest.approx(0.1, abs=0.01)
    assert max(far[[0, 2, 3]]) < 0.02


# ---- where there is less to go by


def test_where_nothing_was_learnt_gaps_are_looked_for(three):
    result, _ = three
    plain = with_chains(result, lambda k, chain: replace(chain, modes=None))
    np.testing.assert_array_equal(plain.modes.label, find_modes(result.draws))
    assert len(plain.modes) == 3
    assert not plain.modes.learnt.any()
    assert np.all(np.isnan(plain.modes.jump_acceptance))


def test_given_centres_are_taken_as_they_are(three):
    result, label = three
    shares = result.occupancy(CENTRES[::-1])
    np.testing.assert_allclose(shares, occupancy(2 - label, 3))


@pytest.mark.parametrize("lengths", [[1_000, 0, 300, 1_000], [0, 0, 0, 1], [0, 0, 0, 0]])
def test_modes_of_an_incomplete_run(three, lengths):
    result, _ = three
    part = with_chains(result, lambda k, chain: replace(chain, sampling=cut(chain.sampling, lengths[k])))
    part = replace(part, complete=False)
    assert part.modes.label.shape == part.draws.shape[:2]
    assert part.modes.share.shape == part.modes.visits.shape == (len(part.draws), len(part.modes))
    assert part.modes.share.sum() == pytest.approx(len(part.draws) if part.draws.size else 0.0)
    assert str(part)
    assert str(part.summary())


# ---- shown


def test_modes_are_shown_as_a_table_with_the_jumps(three):
    text = str(three[0])
    head = r"mode +centre +width +weight +error +by +visits +chains +learnt by +jumps accepted\n(.+)\n"
    row = re.search(head, text)[1].split()
    modes = three[0].modes
    assert row[0] == "1"
    assert row[5:8] == [f"{modes.weight[0]:.4f}", f"{modes.weight_error[0]:.2g}", "draws"]
    assert row[8:] == [str(modes.visits[:, 0].sum()), "4", "4", "0.800"]
    evaluations = 4 * 4 * 1_400
    assert (
        f"jumps: 0.80 accepted, 90 % of the proposals; hot levels move in every draw; 12 scouts; "
        f"{evaluations:,} evaluations"
    ) in text


def test_many_modes_and_dimensions_are_shortened(rng):
    centres = 20.0 * np.arange(13)[:, None] * np.ones(5)
    drawn, _ = among(make_result(rng, dim=5), rng, centres, np.full(13, 1 / 13))
    many = knowing(drawn, learnt_modes(centres, rest_every=30))
    text = str(many)
    assert "\n... 3 more\n" in text
    assert text.count(", ...") == 2 * 10
    assert "hot levels move once in 30 draws" in text
    assert many._repr_html_().count("<p>... 3 more</p>") == 1
    assert len(many.summary().modes) == 13


def test_one_mode_and_no_jumps_are_not_worth_a_table(rng):
    text = str(make_result(rng, n_draws=50, n_tune=4))
    assert "mode " not in text
    assert "jumps:" not in text


# ---- real runs


def test_modes_that_no_ellipse_fits(seed):
    """Each banana is learnt as many components, and all of them make two modes, with the weights known."""
    problem = tp.zoo.two_bananas()
    result = tp.sample(problem, seed=seed, progress=False)
    modes = result.modes
    assert min(len(chain.modes.weight) for chain in result.chains) > 4, "or this test says nothing"
    heavy = modes.weight > 0.02
    assert heavy.sum() == 2
    truth = np.sort(problem.mode_weights)[::-1]
    assert np.all(np.abs(modes.weight[:2] - truth) < 5.0 * modes.weight_error[:2] + 0.02)
