"""Diagnostics of arrays, against ArviZ, closed forms and counts by hand."""

import math
import warnings

import numpy as np
import pytest
from scipy import integrate, stats

import temperance as tp
from records import wandering_replicas
from temperance.results import diagnostics as d
from temperance.results.diagnostics.acceptance import pair_acceptance
from temperance.theory import asymptotic_scale
from test_results import autoregression

# ---- one quantity: ArviZ


def chaos(n_chains, n_draws, memory, digits):
    """The logistic map instead of random numbers, which another NumPy might draw differently."""
    state, draws = np.linspace(0.21, 0.47, n_chains), np.zeros((n_chains, n_draws))
    for step in range(n_draws):
        state = 3.99 * state * (1.0 - state)
        draws[:, step] = memory * draws[:, step - 1] + state
    return np.round(draws, digits)


FUNCTIONS = (d.ess_bulk, d.ess_tail, d.ess_mean, d.r_hat, d.mcse_mean, d.mcse_sd)
# What ArviZ 0.23.4 gives for these, with its compiled functions off.
ARVIZ = [
    (
        (4, 500, 0.0, 9),
        (
            3589.4252376207132,
            2248.7423945076325,
            2812.207396198084,
            0.9991376493637999,
            0.006400703847553064,
            0.0030194178422880374,
        ),
    ),
    (
        (4, 500, 0.9, 9),
        (
            134.50286880745028,
            168.26598375664335,
            126.73393346060014,
            1.0342452324822964,
            0.06589862813446741,
            0.06957204034900805,
        ),
    ),
    (
        (2, 101, 0.5, 9),
        (
            99.63784827929155,
            139.22875889018894,
            97.83986349372375,
            0.9990683055342288,
            0.03624777885643847,
            0.014744870091818619,
        ),
    ),
    (
        (3, 41, 0.7, 1),
        (
            45.73121901666902,
            41.408108301356094,
            43.76207259484704,
            1.0039102976983871,
            0.0623056393973859,
            0.037077399348585616,
        ),
    ),
    (
        (4, 60, -0.5, 0),
        (
            571.2506980107854,
            240.0,
            571.2506980107854,
            0.988579474442686,
            0.020799054388638844,
            0.0026149696064795176,
        ),
    ),
    (
        (1, 201, 0.3, 9),
        (
            181.2274009393945,
            138.29729583265592,
            180.68437719556246,
            None,  # needs two chains there
            0.023863426381938974,
            0.011721849182872878,
        ),
    ),
    (
        (3, 21, 0.95, 9),
        (
            7.003628109483494,
            42.82136894824707,
            6.373207833131555,
            1.7032728674937656,
            0.8433549457809947,
            0.2333559551970618,
        ),
    ),
]


@pytest.mark.parametrize(("case", "expected"), ARVIZ)
def test_equal_to_what_arviz_gave(case, expected):
    """Short, long, tied, antithetic and single chains; a wrong cut-off of the sum shows in the shortest."""
    for function, theirs in zip(FUNCTIONS, expected, strict=True):
        if theirs is not None:
            assert function(chaos(*case)) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("phi", [-0.8, 0.0, 0.6, 0.95])
@pytest.mark.parametrize("shape", [(1, 101), (2, 40), (4, 500), (3, 8), (2, 5)])
@pytest.mark.parametrize("ties", [False, True])
def test_equal_to_the_arviz_that_is_installed(rng, phi, shape, ties):
    arviz = old_arviz()
    draws = autoregression(rng, phi, shape)
    draws = np.round(draws) if ties else draws
    theirs = [arviz.ess(draws, method=method) for method in ("bulk", "tail", "mean")]
    theirs.append(arviz.rhat(draws) if shape[0] > 1 else d.r_hat(draws))
    theirs.append(arviz.mcse(draws, method="mean"))
    found = [function(draws) for function in FUNCTIONS[:5]]
    assert found == pytest.approx([float(np.squeeze(value)) for value in theirs], rel=1e-10)


def old_arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
    if int(arviz.__version__.split(".")[0]) >= 1:
        pytest.skip("ArviZ 1 rounds the quantiles of the tails differently")
    return arviz


def test_mcse_is_the_error_of_the_mean(rng):
    """Over independent replicates the mean scatters as the estimate says."""
    runs = [autoregression(rng, 0.7, (4, 500)) for _ in range(400)]
    spread = np.std([run.mean() for run in runs], ddof=1)
    told = np.mean([d.mcse_mean(run) for run in runs])
    assert told == pytest.approx(spread, rel=0.15)  # a standard deviation of 400 is known to 3.5 %
    spread = np.std([run.std(ddof=1) for run in runs], ddof=1)
    assert np.mean([d.mcse_sd(run) for run in runs]) == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_single_row_is_one_chain(rng, function):
    draws = rng.standard_normal(100)
    assert function(draws) == function(draws[None, :])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_more_than_one_quantity_is_refused(rng, function):
    with pytest.raises(tp.InvalidInputError, match=r"\(chain, draw\).*\(2, 3, 4\)"):
        function(rng.standard_normal((2, 3, 4)))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("draws", [np.full((4, 50), 2.0), np.empty((2, 0)), np.ones((1, 3))])
def test_what_says_nothing_is_nan(function, draws):
    assert math.isnan(function(draws))


# ---- the barrier


def test_local_barrier_of_a_gaussian_in_the_plane(rng):
    """There −log π is exponential with rate β, so that λ(β) = 1/(2β)."""
    beta = np.array([1.0, 0.3, 0.05])
    log_density = -rng.exponential(size=(200_000, 3)) / beta
    np.testing.assert_allclose(d.local_barrier(log_density) * beta, 0.5, rtol=0.02)


def test_integrated_barrier_of_that_gaussian_is_exact():
    beta = np.geomspace(1.0, 0.01, 7)
    assert d.integrated_barrier(0.5 / beta, beta) == pytest.approx(0.5 * math.log(100.0), rel=1e-12)


def test_integrated_barrier_down_to_the_prior():
    beta = np.array([1.0, 0.5, 0.0])
    heights = np.array([1.0, 2.0, 4.0])
    power = (1.0 * 1.0 + 2.0 * 0.5) / 2.0 * math.log(2.0)
    assert d.integrated_barrier(heights, beta) == pytest.approx(power + 3.0 * 0.5)


def test_local_barrier_equals_its_double_sum(rng):
    values = np.append(rng.standard_normal(60), np.nan)  # a level that was dropped in the last draw
    pairs = [abs(a - b) for i, a in enumerate(values[:-1]) for k, b in enumerate(values[:-1]) if i != k]
    assert d.local_barrier(values[:, None])[0] == pytest.approx(0.5 * np.mean(pairs))


def test_barrier_is_the_sum_of_rejections_and_asks_for_edges():
    assert d.barrier([0.234] * 5) == pytest.approx(5 * 0.766)
    assert d.edges_needed(5 * 0.766 - 1e-9) == 5
    assert d.edges_needed(3.1, 0.5) == 7  # 2Λ, for even-odd sweeps
    assert d.barrier([]) == 0.0
    assert d.edges_needed(0.0) == 1
    with pytest.raises(tp.InvalidInputError, match="finite, got nan"):
        d.edges_needed(math.nan)


# ---- swaps


def test_pair_acceptance_equals_its_definition(rng):
    beta = np.array([1.0, 0.4, 0.1])
    values = -rng.exponential(size=(50, 3)) / beta
    found = pair_acceptance(values, beta)
    for i in range(3):
        for j in range(3):
            one_by_one = [min(1.0, math.exp((beta[j] - beta[i]) * (row[i] - row[j]))) for row in values]
            assert found[i, j] == pytest.approx(np.mean(one_by_one))


def test_pair_acceptance_of_a_gaussian_in_the_plane(rng):
    """E min(1, e^…) over two exponentials, by quadrature; β and 1/β exchanged would not give it."""
    cold, hot = 1.0, 0.2

    def integrand(v, u):
        accept = min(1.0, math.exp((hot - cold) * (v - u)))
        return accept * stats.expon.pdf(u, scale=1 / cold) * stats.expon.pdf(v, scale=1 / hot)

    exact = sum(
        integrate.dblquad(integrand, 0, 60, low, high)[0]
        for low, high in ((0.0, lambda u: u), (lambda u: u, 120.0))
    )
    draws = -rng.exponential(size=(400_000, 2)) / np.array([cold, hot])
    assert pair_acceptance(draws, [cold, hot])[0, 1] == pytest.approx(exact, abs=0.005)


def test_pair_acceptance_with_levels_that_were_dropped(rng):
    values = -rng.exponential(size=(30, 3))
    values[10:, 2] = np.nan
    beta = np.tile([1.0, 0.5, 0.2], (30, 1))
    full, first = pair_acceptance(values, beta), pair_acceptance(values[:10], beta[:10])
    assert full[0, 2] == first[0, 2]
    values[:, 2] = np.nan
    assert np.isnan(pair_acceptance(values, beta)[0, 2])


# ---- replicas


def by_hand(replica):
    """Flow, crossings and moves, iteration by iteration."""
    n_rows, n_levels = replica.shape
    came, seen, known = {}, np.zeros(n_levels), np.zeros(n_levels)
    crossed, moved = np.zeros(n_levels - 1), np.zeros((n_levels, n_levels))
    for t in range(n_rows):
        came[replica[t, 0]], came[replica[t, -1]] = "base", "top"
        for level in range(n_levels):
            origin = came.get(replica[t, level])
            known[level] += origin is not None
            seen[level] += origin == "base"
            if t:
                before = list(replica[t - 1]).index(replica[t, level])
                moved[before, level] += 1
                crossed[before:level] += 1
    return seen / known, crossed, moved / (n_rows - 1)


def test_flow_crossings_and_moves_equal_a_count_by_hand(rng):
    replica = wandering_replicas(rng, 400, 4)
    share, crossed, moved = by_hand(replica)
    np.testing.assert_allclose(d.flow(replica), share)
    np.testing.assert_array_equal(d.crossings(replica), crossed)
    np.testing.assert_allclose(d.moves(replica), moved)


def test_flow_falls_from_one_to_zero(rng):
    shares = d.flow(wandering_replicas(rng, 5_000, 5))
    assert shares[0] == 1.0
    assert shares[-1] == 0.0
    assert np.all(np.diff(shares) < 0.0)


def test_replicas_that_never_move():
    still = np.tile(np.arange(4), (50, 1))
    np.testing.assert_array_equal(d.flow(still), [1.0, np.nan, np.nan, 0.0])
    assert not d.crossings(still).any()
    np.testing.assert_array_equal(d.moves(still), np.eye(4))
    assert d.round_trips(still) == 0


def test_replicas_of_levels_that_were_dropped():
    replica = np.array([[0, 1, 2], [1, 0, 2], [1, 0, -1], [0, 1, -1]])
    places = d.replica_places(replica)
    np.testing.assert_array_equal(places, [[0, 1, 2], [1, 0, 2], [1, 0, -1], [0, 1, -1]])
    np.testing.assert_array_equal(d.crossings(replica), [2, 0])
    assert np.all(np.isfinite(d.moves(replica)))


@pytest.mark.parametrize("function", [d.flow, d.crossings, d.moves, d.round_trips])
@pytest.mark.parametrize("replica", [np.empty((0, 3), dtype=int), np.zeros((5, 1), dtype=int)])
def test_replicas_of_empty_runs_and_single_levels(function, replica):
    assert np.all(np.asarray(function(replica)).shape <= (3, 3))


def test_replicas_must_be_by_level():
    with pytest.raises(tp.InvalidInputError, match=r"\(draw, level\)"):
        d.flow(np.arange(3))


# ---- unimodality


def test_unimodality_compares_with_a_scale():
    assert asymptotic_scale(4) == 2.38 / 2.0
    np.testing.assert_allclose(d.unimodality(np.log([1.19, 0.595]), asymptotic_scale(4)), [1.0, 0.5])


@pytest.mark.parametrize(
    ("scales", "first", "all_hotter"),
    [([1.0, 0.5, 2.0], 0, 2), ([0.5, 2.0, 0.9], 1, 3), ([0.5, np.nan], 2, 2), ([1.0, np.nan, 1.0], 0, 2)],
)
def test_the_first_unimodal_level_by_both_rules(scales, first, all_hotter):
    """What is not known passes for nothing."""
    assert d.first_unimodal(scales, 1.0, "first") == first
    assert d.first_unimodal(scales, 1.0, "all_hotter") == all_hotter
    with pytest.raises(tp.InvalidInputError, match="rule must be"):
        d.first_unimodal(scales, 1.0, "last")


# ---- modes


def blobs(rng, centres, n_draws, spread=1.0):
    """Two chains, each with its draws spread evenly over the modes."""
    centres = np.asarray(centres, dtype=float)
    which = rng.integers(0, len(centres), size=(2, n_draws))
    return centres[which] + spread * rng.standard_normal((2, n_draws, centres.shape[1])), which


@pytest.mark.parametrize("dim", [1, 2, 10, 100])
@pytest.mark.parametrize("law", ["normal", "t", "uniform", "exponential"])
def test_one_mode_is_one_mode(rng, dim, law):
    """A rule without regard to the sparser side finds modes in the tails."""
    draw = {
        "normal": rng.standard_normal,
        "t": lambda size: rng.standard_t(3, size=size),
        "uniform": lambda size: rng.uniform(size=size),
        "exponential": lambda size: rng.exponential(size=size),
    }[law]
    assert d.find_modes(draw((4, 500, dim))).max() == 0


@pytest.mark.parametrize("dim", [1, 2, 10, 100])
@pytest.mark.parametrize("n_modes", [2, 3, 6])
def test_separate_modes_are_found(rng, dim, n_modes):
    centres = 12.0 * np.arange(n_modes)[:, None] * np.ones(dim)
    draws, which = blobs(rng, centres, 1_000)
    labels = d.find_modes(draws)
    assert labels.max() + 1 == n_modes
    for k in range(n_modes):
        assert len(np.unique(labels[which == k])) == 1
    weights = np.bincount(labels.ravel())
    assert np.all(np.diff(weights) <= 0), "the heaviest comes first"


def test_modes_of_different_width_are_found(rng):
    wide, narrow = rng.standard_normal((2, 500, 2)), 0.02 * rng.standard_normal((2, 500, 2)) + 15.0
    labels = d.find_modes(np.concatenate([wide, narrow], axis=1))
    assert labels.max() == 1


def test_a_walk_that_waits_is_no_mode(rng):
    """Repeated draws have no distance; clustering them all would make each a mode."""
    draws = np.repeat(rng.standard_normal((4, 30, 2)), 40, axis=1)
    assert d.find_modes(draws).max() == 0


def test_coordinates_that_never_move_do_not_matter(rng):
    draws, _ = blobs(rng, [[0.0, 0.0], [20.0, 20.0]], 400)
    with_constant = np.concatenate([draws, np.full((2, 400, 1), 7.0)], axis=2)
    np.testing.assert_array_equal(d.find_modes(with_constant), d.find_modes(draws))


@pytest.mark.parametrize("shape", [(2, 0, 3), (1, 1, 2), (2, 3, 1)])
def test_hardly_any_draws_are_one_mode(rng, shape):
    assert not d.find_modes(rng.standard_normal(shape)).any()


def test_nearest_mode_equals_the_zoo(rng):
    peaks = tp.zoo.twenty_peaks()
    points = rng.uniform(0.0, 10.0, size=(3, 200, 2))
    labels = d.nearest_mode(points, peaks.modes)
    np.testing.assert_array_equal(labels[1], peaks.nearest_mode(points[1]))
    np.testing.assert_allclose(d.occupancy(labels, 20)[2], peaks.occupancy(points[2]))


def test_modes_must_fit_the_draws(rng):
    with pytest.raises(tp.InvalidInputError, match=r"\(mode, 3\).*\(2, 2\)"):
        d.nearest_mode(rng.standard_normal((2, 5, 3)), np.zeros((2, 2)))


def test_occupancy_and_disagreement_by_hand():
    shares = d.occupancy([[0, 0, 1, 1], [0, 2, 2, 2]])
    np.testing.assert_allclose(shares, [[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]])
    assert d.disagreement(shares) == pytest.approx(0.75)
    assert d.disagreement(shares[:1]) == 0.0
    assert d.disagreement([[1.0, 0.0], [0.0, 1.0]]) == 1.0
    with pytest.raises(tp.InvalidInputError, match="at least one draw"):
        d.occupancy(np.empty((2, 0)))
