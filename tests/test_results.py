"""What a run leaves: draws, diagnostics, the summary, and the story of the swaps."""

import json
import math
import re
from dataclasses import replace
from importlib import metadata

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import temperance as tp
from records import learnt_modes
from temperance.results.diagnostics import ess_bulk, ess_mean, ess_tail, mcse_mean, r_hat
from temperance.results.drawn import largest_block
from temperance.results.show import MAX_ROWS
from temperance.runs.allocate import cut
from temperance.runs.describe import _version
from temperance.theory import best_acceptance, gaussian_scale

SEED = 20261116
APART = tp.Settings(jumps=tp.Jumps(enabled=False))  # chains that share wait for one another, and for scouts
QUIET = {"chains": 3, "seed": SEED, "progress": False, "swaps": tp.swaps.equi_energy()}
DRAWS = 300
# Lenient enough to drop all but three levels within these short runs.
EAGER = tp.Trimming(after=100, every=50, min_levels=3, leniency=0.9)


# ---- diagnostics: a twin written from Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021)


def naive_split(draws):
    half = draws.shape[1] // 2
    parts = []
    for chain in draws:
        parts += [list(chain[:half]), list(chain[len(chain) - half :])]
    return parts


def naive_scores(chains):
    """Eq. (14): normal quantiles of (r − 3/8) / (S + 1/4), ties sharing their average rank."""
    values = [value for chain in chains for value in chain]

    def rank(value):
        below = sum(other < value for other in values)
        equal = sum(other == value for other in values)
        return below + (equal + 1) / 2

    return [[special.ndtri((rank(value) - 3 / 8) / (len(values) + 1 / 4)) for value in c] for c in chains]


def mean(values):
    return math.fsum(values) / len(values)


def sample_variance(values):
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def marginal_variance(chains):
    """Eqs (1)–(3): within, and within and between together."""
    n = len(chains[0])
    within = mean([sample_variance(chain) for chain in chains])
    between = n * sample_variance([mean(chain) for chain in chains])
    return within, (n - 1) / n * within + between / n


def naive_r_hat(draws):
    chains = naive_split(draws)
    centre = float(np.median([value for chain in chains for value in chain]))
    folded = [[abs(value - centre) for value in chain] for chain in chains]
    values = []
    for part in (naive_scores(chains), naive_scores(folded)):
        within, total = marginal_variance(part)
        if total > 0:  # equal values say nothing; folding two symmetric ones leaves such
            values.append(math.sqrt(total / within) if within > 0 else math.inf)
    return max(values)


def autocovariance(chain, lag):
    centre = mean(chain)
    products = [(a - centre) * (b - centre) for a, b in zip(chain, chain[lag:], strict=False)]
    return math.fsum(products) / len(chain)


def naive_ess(chains):
    """Eqs (10)–(13), with Geyer's initial monotone sequence and the bound ESS ≤ S log10 S.

    As Stan and ArviZ have it: the sequence ends before a pair that is not positive, or three lags before the
    last, and the even lag of the pair where it ends is still added when it or its pair is positive.
    """
    m, n = len(chains), len(chains[0])
    within, total = marginal_variance(chains)

    def rho(lag):
        mixed = mean([autocovariance(chain, lag) for chain in chains])
        return 1.0 if lag == 0 else 1 - (within - mixed) / total

    sums, pair = [], 0
    while 2 * pair + 1 < n - 3 and rho(2 * pair) + rho(2 * pair + 1) > 0:
        sums.append(min([rho(2 * pair) + rho(2 * pair + 1), *sums]))
        pair += 1
    last = rho(2 * pair)
    if rho(2 * pair) + rho(2 * pair + 1) < 0:
        last = max(last, 0)
    time = max(-1 + 2 * math.fsum(sums) + last, 1 / math.log10(m * n))
    return m * n / time


def autoregression(rng, phi, shape, shift=0.0):
    draws = np.empty(shape)
    noise = rng.standard_normal(shape)
    draws[:, 0] = noise[:, 0] / math.sqrt(1 - phi**2)
    for step in range(1, shape[1]):
        draws[:, step] = phi * draws[:, step - 1] + noise[:, step]
    return draws + shift * np.arange(shape[0])[:, None]


SERIES = [
    (phi, shape, shift, ties)
    for phi in (-0.8, 0.0, 0.6, 0.95)
    for shape, shift in (((1, 101), 0.0), ((2, 40), 1.0), ((4, 60), 0.0), ((3, 7), 0.0))
    for ties in (False, True)
]


@pytest.mark.parametrize(("phi", "shape", "shift", "ties"), SERIES)
def test_diagnostics_equal_their_naive_twin(rng, phi, shape, shift, ties):
    draws = autoregression(rng, phi, shape, shift)
    draws = np.round(draws) if ties else draws
    assert ess_mean(draws) == pytest.approx(naive_ess(naive_split(draws)), rel=1e-9)
    assert ess_bulk(draws) == pytest.approx(naive_ess(naive_scores(naive_split(draws))), rel=1e-9)
    assert r_hat(draws) == pytest.approx(naive_r_hat(draws), rel=1e-9)


def test_ess_of_independent_draws_is_their_number(rng):
    draws = rng.standard_normal((4, 5_000))
    assert ess_mean(draws) == pytest.approx(draws.size, rel=0.1)
    assert r_hat(draws) == pytest.approx(1.0, abs=0.002)


def test_ess_of_a_correlated_series_is_the_known_one(rng):
    phi = 0.8
    draws = autoregression(rng, phi, (8, 20_000))
    assert ess_mean(draws) == pytest.approx(draws.size * (1 - phi) / (1 + phi), rel=0.1)


def test_bulk_ess_and_r_hat_depend_on_ranks_only(rng):
    draws = autoregression(rng, 0.5, (4, 200))
    assert ess_bulk(np.exp(3.0 * draws)) == ess_bulk(draws)
    assert ess_mean(7.0 - 2.0 * draws) == pytest.approx(ess_mean(draws), rel=1e-9)


def test_r_hat_sees_chains_that_differ_in_spread_only(rng):
    draws = rng.standard_normal((4, 500)) * np.array([[1.0], [1.0], [1.0], [5.0]])
    assert r_hat(draws) > 1.1


@pytest.mark.parametrize("diagnostic", [ess_bulk, ess_mean, r_hat])
@pytest.mark.parametrize(
    "draws",
    [
        np.full((4, 100), 3.0),
        np.arange(6.0).reshape(2, 3),
        np.empty((2, 0)),
        np.array([[1.0, 2.0, np.nan, 4.0, 5.0, 6.0]]),
        np.array([[1.0, 2.0, np.inf, 4.0, 5.0, 6.0]]),
    ],
    ids=["constant", "short", "empty", "nan", "infinite"],
)
def test_diagnostics_of_what_says_nothing_are_nan(diagnostic, draws):
    assert math.isnan(diagnostic(draws))


def test_chains_stuck_at_different_points():
    draws = np.repeat([[0.0], [1.0], [2.0]], 50, axis=1)
    assert r_hat(draws) == math.inf
    assert ess_mean(draws) < 6
    assert ess_bulk(draws) < 6


def test_r_hat_of_two_symmetric_values_is_not_infinite(rng):
    """Folded at their median, all draws are equal: that half of R-hat says nothing."""
    draws = rng.permuted(np.tile([-1.0, 1.0], (4, 100)), axis=1)
    assert r_hat(draws) == pytest.approx(1.0, abs=0.05)


# ---- runs shared by the tests below


@numba.njit
def log_density(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] - 1.0) ** 2 * (i + 1.0)
    return -0.5 * total


def log_likelihood(x):
    return -50.0 * float((x - 1.0) @ (x - 1.0))


def log_prior(x):
    return -0.125 * float(x @ x)


@pytest.fixture(scope="module")
def result():
    """Levels are dropped while tuning; hot levels kept."""
    return tp.sample(
        log_density,
        initial=np.zeros(2),
        draws=DRAWS,
        tune=400,
        levels=5,
        keep=("draws", "statistics", "levels"),
        settings=tp.Settings(trimming=EAGER),
        **QUIET,
    )


@pytest.fixture(scope="module")
def dropping():
    """Levels are dropped among the draws, at different times."""
    adaptation = tp.Adaptation(when="always")
    trimming = replace(EAGER, after=110)
    return tp.sample(
        log_density,
        initial=np.zeros(2),
        draws=DRAWS,
        tune=100,
        levels=6,
        keep=("draws", "statistics", "levels"),
        settings=tp.Settings(adaptation=adaptation, trimming=trimming),
        **QUIET,
    )


@pytest.fixture(scope="module")
def two_parts():
    """A likelihood and a prior, so that the last level is pinned at beta = 0."""
    return tp.sample(
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        initial=np.zeros(2),
        draws=DRAWS,
        tune=400,
        levels=5,
        keep=("draws", "statistics", "levels"),
        settings=tp.Settings(trimming=EAGER),
        **QUIET,
    )


@pytest.fixture(scope="module")
def plain_metropolis():
    return tp.sample(log_density, initial=np.zeros(2), draws=50, tune=50, levels=1, **QUIET)


def ragged(result, lengths):
    """The same run as if its chains had been cut short."""
    chains = [
        replace(chain, sampling=cut(chain.sampling, length), complete=False)
        for chain, length in zip(result.chains, lengths, strict=True)
    ]
    return replace(result, chains=tuple(chains), complete=False)


# ---- draws


def test_draws_are_chain_draw_dim(result):
    assert result.complete
    assert result.draws.shape == (3, DRAWS, 2)
    assert result.draws.dtype == np.float64
    assert not np.array_equal(result.draws[0], result.draws[1])


def test_log_density_is_that_of_the_draws(result):
    expected = [[log_density(x) for x in chain] for chain in result.draws]
    np.testing.assert_allclose(result.log_density, expected, rtol=1e-13)


def test_log_density_of_two_parts_is_their_sum(two_parts):
    expected = [[log_likelihood(x) + log_prior(x) for x in chain] for chain in two_parts.draws]
    np.testing.assert_array_equal(two_parts.log_density, expected)


def test_recorded_parts_belong_to_the_levels(two_parts):
    for draws, chain in zip(two_parts.level_draws, two_parts.chains, strict=True):
        live = len(chain.beta)
        expected = [[log_likelihood(x) for x in row[:live]] for row in draws]
        np.testing.assert_array_equal(chain.sampling.log_density[:, :live], expected)
        np.testing.assert_array_equal(chain.sampling.log_prior, [log_prior(row[0]) for row in draws])


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts"])
def test_level_draws_are_nan_exactly_where_a_level_is_gone(run, request):
    result = request.getfixturevalue(run)
    levels = result.level_draws
    assert levels.shape == (3, DRAWS, result.n_levels_at_start, 2)
    np.testing.assert_array_equal(levels[:, :, 0], result.draws)
    gone = np.array(
        [np.arange(result.n_levels_at_start) >= chain.sampling.n_levels[:, None] for chain in result.chains]
    )
    assert gone.any(), "the run should drop levels, or this test says nothing"
    np.testing.assert_array_equal(np.isnan(levels), np.repeat(gone[..., None], 2, axis=3))


def test_levels_are_dropped_among_the_draws_too(dropping):
    for chain in dropping.chains:
        assert np.all(np.diff(chain.sampling.n_levels) <= 0)
        assert chain.sampling.n_levels[0] > chain.sampling.n_levels[-1] == len(chain.beta)


def test_level_draws_must_be_asked_for(plain_metropolis):
    with pytest.raises(tp.InvalidInputError, match="sample with keep="):
        _ = plain_metropolis.level_draws


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts", "plain_metropolis"])
def test_ladder_that_is_left(run, request):
    result = request.getfixturevalue(run)
    for n_levels, temperatures, chain in zip(
        result.n_levels, result.temperatures, result.chains, strict=True
    ):
        assert n_levels == len(temperatures) == len(chain.log_scale) == len(chain.mean)
        assert n_levels == chain.sampling.n_levels[-1]
        assert temperatures[0] == 1.0
        assert np.all(np.diff(temperatures) > 0)
        assert chain.covariance.shape == (n_levels, 2, 2)
        assert np.isinf(temperatures[-1]) == (run == "two_parts")


# ---- incomplete runs


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_largest_block_is_the_largest(lengths):
    n_chains, n_draws = largest_block(lengths)
    assert sum(length >= n_draws for length in lengths) >= n_chains >= 1
    best = max(length * sum(other >= length for other in lengths) for length in lengths)
    assert n_chains * n_draws == best


@pytest.mark.parametrize(
    ("lengths", "block"),
    [
        ([5, 5, 5], (3, 5)),
        ([100, 10, 9], (1, 100)),
        ([100, 90, 3], (2, 90)),
        ([0, 0], (2, 0)),
        ([0, 7], (1, 7)),
    ],
)
def test_largest_block_of_known_lengths(lengths, block):
    assert largest_block(lengths) == block


def test_incomplete_run_keeps_the_largest_block(result):
    part = ragged(result, [20, 250, 200])
    np.testing.assert_array_equal(part.draws, result.draws[1:, :200])
    np.testing.assert_array_equal(part.log_density, result.log_density[1:, :200])
    np.testing.assert_array_equal(part.level_draws, result.level_draws[1:, :200])
    assert [chain.n_draws for chain in part.chains] == [20, 250, 200]


@pytest.mark.parametrize("lengths", [[20, 250, 200], [0, 7, 0], [0, 1, 0], [0, 0, 0]])
def test_incomplete_run_says_so(result, lengths):
    text = str(ragged(result, lengths))
    assert text.startswith("INCOMPLETE")
    assert "INCOMPLETE" not in str(result)
    n_chains, n_draws = largest_block(lengths)
    assert re.search(rf"\b{n_chains} chains? x {n_draws} draws?\b", text)


def test_failed_density_leaves_an_incomplete_result():
    calls = iter(range(10**6))

    def failing(x):
        if next(calls) > 200:
            raise RuntimeError("enough")
        return -0.5 * float(x @ x)

    with pytest.raises(tp.DensityError) as caught:
        tp.sample(failing, initial=np.zeros(1), draws=DRAWS, tune=20, levels=2, settings=APART, **QUIET)
    left = caught.value.result
    assert not left.complete
    assert left.draws.shape[0] == 1
    assert 0 < left.draws.shape[1] < DRAWS
    assert "INCOMPLETE" in str(left)


# ---- the summary


def rows_of(text):
    """Words of each line, by the first."""
    return {line.split()[0]: line.split() for line in text.splitlines() if line.split()}


def test_summary_shows_moments_and_diagnostics(result):
    text = str(result)
    assert re.match(rf"3 chains x {DRAWS} draws in 2 dimension.*, after 400 tuning iterations", text)
    columns = ["mean", "sd", "mcse", "2.5%", "50%", "97.5%", "by", "ess", "tail", "r_hat"]
    assert rows_of(text)["mean"] == columns
    for k in range(2):
        x = result.draws[:, :, k]
        quantiles = [f"{value:.4g}" for value in np.quantile(x, [0.025, 0.5, 0.975])]
        shown = [f"{x.mean():.4g}", f"{x.std(ddof=1):.4g}", f"{mcse_mean(x):.2g}", *quantiles, "draws"]
        shown += [f"{ess_bulk(x):.0f}", f"{ess_tail(x):.0f}", f"{r_hat(x):.3f}"]
        assert rows_of(text)[f"x[{k}]"][1:] == shown


def test_summary_shows_swaps_and_the_ladder(result):
    text = str(result)
    traces = [chain.sampling for chain in result.chains]
    assert min(np.mean(trace.evaluations > 1) for trace in traces) < 0.5, "hot levels should rest"
    accepted = sum(trace.swap_accepted.sum() for trace in traces) / sum(
        trace.swap_attempts.sum() for trace in traces
    )
    touching = np.mean([trace.base_swaps[trace.evaluations > 1].mean() for trace in traces])
    assert f"swaps (equi-energy): {accepted:.3f} accepted, {touching:.3f} touch the base level each" in text
    rows = rows_of(text)
    assert rows["level"] == ["level", "chains", "temperature", "walk", "acceptance", "swaps", "with", "next"]
    for level in range(max(result.n_levels)):
        there = [chain for chain in result.chains if len(chain.beta) > level]
        walk = np.mean([np.nanmean(chain.sampling.walk_accept_prob[:, level]) for chain in there])
        temperatures = [1.0 / chain.beta[level] for chain in there]
        row = rows[str(level + 1)]
        assert row[1] == str(len(there))
        assert {f"{min(temperatures):.3g}", f"{max(temperatures):.3g}"} <= set(row)
        assert min(abs(float(cell) - walk) for cell in row[2:] if cell != "-") <= 1e-3


def test_summary_shows_levels_chain_by_chain(dropping):
    left = ", ".join(str(n_levels) for n_levels in dropping.n_levels)
    assert f"levels: 6 at the start, {left} at the end" in str(dropping)


def test_summary_of_chains_with_different_numbers_of_levels(result):
    mixed = replace(result, chains=(result.chains[0], chain_of(4), chain_of(1)))
    text = str(mixed)
    assert "levels: 5 at the start, 3, 4, 1 at the end" in text
    assert [rows_of(text)[str(level)][1] for level in (1, 2, 3, 4)] == ["3", "2", "2", "1"]


def chain_of(n_levels):
    """A chain that keeps all its levels."""
    kept = tp.sample(
        log_density,
        initial=np.zeros(2),
        draws=DRAWS,
        tune=100,
        levels=n_levels,
        settings=tp.Settings(trimming=tp.Trimming(enabled=False)),
        **{**QUIET, "chains": 1},
    )
    return kept.chains[0]


def test_summary_of_a_pinned_ladder(two_parts):
    text = str(two_parts)
    assert "inf" in rows_of(text)[str(max(two_parts.n_levels))]


def test_summary_of_plain_metropolis(plain_metropolis):
    text = str(plain_metropolis)
    assert "swaps (equi-energy): 0.000 accepted" in text
    assert "levels: 1 at the start, 1, 1, 1 at the end" in text


@pytest.mark.parametrize("draws", [0, 1, 3, 4])
def test_summary_of_hardly_any_draws(draws):
    few = tp.sample(log_density, initial=np.zeros(2), draws=draws, tune=30, levels=3, **QUIET)
    text = str(few)
    assert few.complete
    assert few.draws.shape == (3, draws, 2)
    assert few.log_density.shape == (3, draws)
    assert re.match(rf"3 chains x {draws} draws?\b", text)
    assert "levels: 3 at the start" in text
    assert ("x[0]" in text) == (draws > 0)
    assert bool(re.search(r"^x\[0\].* -$", text, re.MULTILINE)) == (0 < draws < 4)


def test_summary_of_many_dimensions_is_short():
    dim = MAX_ROWS + 2
    wide = tp.sample(log_density, initial=np.zeros(dim), draws=20, tune=20, levels=2, **QUIET)
    text = str(wide)
    assert f"x[{MAX_ROWS - 1}]" in text
    assert f"x[{MAX_ROWS}]" not in text
    assert "... 2 more" in text


def test_summary_of_a_run_that_ended_before_its_hot_levels_moved(result):
    """All that is said about swaps is unknown then, and nothing breaks."""
    resting = []
    for chain in result.chains:
        first = int(np.argmax(chain.sampling.evaluations > 1)) + 1
        columns = (column[first : first + 3] for column in chain.sampling)
        resting.append(replace(chain, sampling=type(chain.sampling)._make(columns)))
    short = replace(result, chains=tuple(resting))
    assert not any(np.any(chain.sampling.evaluations > 1) for chain in short.chains)
    assert "0.000 accepted, nan touch" not in str(short)
    assert len(short.summary().pairs) == 0
    assert all(math.isnan(rate) for rate in short.summary().levels.columns["edge_acceptance"])


# ---- how it was set up


def test_a_result_knows_how_it_was_set_up(result, dropping, two_parts):
    setup = result.setup
    assert setup.draws == DRAWS
    assert (setup.adapts_always, dropping.setup.adapts_always) == (False, True)
    assert setup.min_levels == setup.settings["trimming"]["min_levels"] == EAGER.min_levels
    assert setup.unimodal_scale == pytest.approx(0.8 * gaussian_scale(best_acceptance(2), 2))
    assert setup.settings["swaps"]["name"] == "equi-energy"
    assert setup.settings["log density"] == "log_density"
    assert setup.settings["adaptation"]["gain"]["exponent"] == tp.Gain().exponent
    assert setup.versions["numpy"] == np.__version__
    assert json.loads(json.dumps(setup.settings)) == setup.settings, "plain values only"


def test_a_ladder_that_is_not_trimmed_has_no_levels_to_spare():
    kept = tp.sample(
        log_density,
        initial=np.zeros(2),
        draws=5,
        tune=5,
        levels=4,
        settings=tp.Settings(trimming=tp.Trimming(enabled=False)),
        **QUIET,
    )
    assert kept.setup.min_levels == 4


def test_sources_that_are_not_installed_have_no_version(monkeypatch):
    def missing(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", missing)
    assert _version.__wrapped__("temperance") == "unknown"


# ---- equality


def test_what_holds_arrays_equals_itself_alone_and_can_be_a_key(result):
    """Arrays have no single answer to ==, and none to hash; a copy is another result."""
    held = [result, result.chains[0], result.modes, learnt_modes(np.zeros((1, 2)))]
    for one in held:
        other = replace(one)
        assert one == one
        assert one != other
        assert len({one, one, other}) == 2


# ---- the tables


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts", "plain_metropolis"])
def test_tables_say_what_the_chains_recorded(run, request):
    """Against the recorded columns, chain by chain and level by level."""
    result = request.getfixturevalue(run)
    summary = result.summary()
    levels, chains = summary.levels.columns, summary.chains.columns
    assert len(summary.levels) == sum(result.n_levels)
    for row, (k, level) in enumerate(zip(levels["chain"], levels["level"], strict=True)):
        chain = result.chains[k - 1]
        assert levels["beta"][row] == chain.beta[level - 1]
        assert levels["scale"][row] == pytest.approx(math.exp(chain.log_scale[level - 1]), nan_ok=True)
        walks = chain.sampling.walk_accept_prob[:, level - 1].astype(float)
        known = walks[~np.isnan(walks)]
        walk = known.mean() if len(known) else np.nan
        assert levels["walk_acceptance"][row] == pytest.approx(walk, nan_ok=True)
        assert levels["scale_over_threshold"][row] == pytest.approx(
            levels["scale"][row] / result.setup.unimodal_scale, nan_ok=True
        )
        if level < len(chain.beta):
            edge = np.nanmean(chain.sampling.adjacent_swap_accept[:, level - 1], dtype=float)
            assert levels["edge_acceptance"][row] == pytest.approx(edge)
    assert chains["levels"] == result.n_levels
    for k, chain in enumerate(result.chains):
        edges = [
            np.nanmean(chain.sampling.adjacent_swap_accept[:, e], dtype=float)
            for e in range(len(chain.beta) - 1)
        ]
        assert chains["barrier"][k] == pytest.approx(sum(1.0 - edge for edge in edges))
        assert chains["edges at 0.5"][k] == max(1, math.ceil(2 * chains["barrier"][k]))
        assert chains["edges at 0.234"][k] == max(1, math.ceil(chains["barrier"][k] / 0.766))
    assert len(summary.pairs) == max(result.n_levels) * (max(result.n_levels) - 1) // 2


def test_pairs_are_averaged_over_the_chains_that_have_them(result):
    pairs = result.summary().pairs.columns
    rates = [
        tp.diagnostics.pair_acceptance(
            c.sampling.log_density[c.sampling.evaluations > 1, : len(c.beta)], c.beta
        )
        for c in result.chains
    ]
    row = list(zip(pairs["level"], pairs["other_level"], strict=True)).index((1, 3))
    assert pairs["swap_acceptance"][row] == pytest.approx(
        np.mean([rate[0, 2] for rate in rates if len(rate) > 2])
    )


def test_modes_can_be_given_to_the_summary(result):
    summary = result.summary(modes=np.array([[-50.0, -50.0], [1.0, 1.0]]))
    assert summary.modes.columns["weight"] == [0.0, 1.0]
    assert summary.modes.columns["chain_2_share"] == [0.0, 1.0]
    assert summary.modes.columns["centre"][0] == "-50, -50", "a mode without draws is where it was said to be"
    assert summary.disagreement == 0.0
    assert str(summary).count("\n\n") >= 5


def test_a_notebook_shows_the_same_and_escapes_it(result):
    shown = result.named(["<i>", "b"])._repr_html_()
    assert result.verdict in shown
    assert "&lt;i&gt;" in shown
    assert "<i>" not in shown
    assert shown.count("<table>") == 2


def test_the_summary_is_a_table_in_a_notebook_and_escaped(result):
    summary = result.named(["<i>", "b"]).summary()
    shown = summary._repr_html_()
    assert shown.count("<table>") == 5
    assert shown.count("<details>") == 3
    assert "<b>Parameters</b>" in shown.split("<details>")[0]
    assert "&lt;i&gt;" in shown
    assert "<i>" not in shown
    assert summary.parameters._repr_html_() in shown


def test_repr_has_shape_and_verdict(result):
    chains, draws, dim = result.draws.shape
    assert repr(result).startswith(f"<Result: {chains} chains x {draws:,} draws in {dim} dimensions, ")
    assert repr(result).endswith(f"{result.verdict}>")


# ---- the story of the swaps


def whole_run(chain, column):
    return np.concatenate([getattr(trace, column) for trace in (chain.tuning, chain.sampling)])


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts", "plain_metropolis"])
def test_replicas_change_places_by_accepted_swaps_and_by_nothing_else(run, request):
    """An exchange moves two of them; dropped levels take theirs along."""
    for chain in request.getfixturevalue(run).chains:
        changed = np.diff(whole_run(chain, "replica"), axis=0) != 0
        accepted, on_base = whole_run(chain, "swap_accepted")[1:], whole_run(chain, "base_swaps")[1:]
        steady = np.diff(whole_run(chain, "n_levels")) == 0
        np.testing.assert_array_equal(changed.sum(axis=1)[steady], 2 * accepted[steady])
        np.testing.assert_array_equal(changed[steady, 0], on_base[steady] == 1)


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts", "plain_metropolis"])
def test_replicas_are_a_permutation_of_the_starts_that_remain(run, request):
    result = request.getfixturevalue(run)
    for chain in result.chains:
        for trace in (chain.tuning, chain.sampling):
            remaining = set(range(result.n_levels_at_start))
            for replica, n_levels in zip(trace.replica, trace.n_levels, strict=True):
                live = set(replica[:n_levels].tolist())
                assert len(live) == n_levels
                assert live <= remaining
                assert np.all(replica[n_levels:] == -1)
                remaining = live


@pytest.mark.parametrize("run", ["result", "dropping", "two_parts", "plain_metropolis"])
def test_swaps_are_tried_where_there_are_two_levels_awake(run, request):
    for chain in request.getfixturevalue(run).chains:
        trace = chain.sampling
        before = np.concatenate([chain.tuning.n_levels[-1:], trace.n_levels[:-1]])
        np.testing.assert_array_equal(trace.swap_attempts, (before > 1) & (trace.evaluations > 1))
        assert np.all(trace.swap_accepted <= trace.swap_attempts)
        assert np.all(trace.base_swaps <= trace.swap_accepted)


def test_a_swap_moves_the_point_with_its_replica(two_parts):
    """Where a swap with the base level was accepted, the base level holds another point."""
    traces = [chain.sampling for chain in two_parts.chains]
    assert sum(int(trace.base_swaps.sum()) for trace in traces) > 5, "or this test says nothing"
    for trace, levels in zip(traces, two_parts.level_draws, strict=True):
        touched = trace.base_swaps == 1
        changed = np.any(np.diff(levels[:, 0], axis=0) != 0.0, axis=1)
        assert np.all(changed[touched[1:]])


# ---- several runs as one


def several(**changes):
    apart = tp.Settings(jumps=tp.Jumps(share=False))
    options = {"initial": np.zeros(2), "levels": 3, "tune": 50, "draws": 30, "progress": False, **changes}
    return tp.sample(lambda x: -0.5 * float(x @ x), settings=apart, **options)


def test_runs_put_together_are_one_run_of_all_their_seeds():
    """Broken: a seed that repeats the first run alone."""
    together = tp.Result.concatenate([several(seed=1, chains=2), several(seed=2, chains=1)])
    assert together.draws.shape == (3, 30, 2)
    assert together.complete
    again = several(seed=together.seed, chains=3)
    np.testing.assert_array_equal(again.draws, together.draws)
    assert str(tp.Result.concatenate([together])) == str(again)


def test_what_is_missing_in_one_run_is_missing_in_all(tmp_path):
    stopped = replace(several(seed=1, chains=1), complete=False, ended_by="Stop")
    together = tp.Result.concatenate([several(seed=2, chains=1), stopped])
    assert (together.complete, together.ended_by) == (False, "Stop")
    path = together.save(tmp_path / "both")
    np.testing.assert_array_equal(tp.load(path).draws, together.draws)


def cut_to(result, n_draws):
    """A run that was ended after so many draws of each chain."""
    traces = [type(one.sampling)._make(column[:n_draws] for column in one.sampling) for one in result.chains]
    chains = zip(result.chains, traces, strict=True)
    return replace(result, chains=tuple(replace(one, sampling=trace) for one, trace in chains))


def test_draws_that_are_left_out_are_told():
    """Broken: runs that were ended before their first draw go without a word."""
    whole, short, none = (
        cut_to(several(seed=seed, chains=2), n_draws) for seed, n_draws in ((1, 30), (2, 10), (3, 0))
    )
    left_out = r"number 2 \(10 draws\), number 3 \(0 draws\)"
    told = rf"draws holds 60 of 80 draws.*: 2 chains of 6, cut to 30 each; .*{left_out}"
    with pytest.warns(tp.IncompleteWarning, match=told) as caught:
        together = tp.Result.concatenate([whole, short, none])
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(together.draws, whole.draws)
    assert len(together.chains) == 6


def test_what_a_run_found_out_for_itself_may_differ():
    """How long a tuning became that was left open, how many draws goals took, how many starts it had."""
    longer = several(seed=2, chains=1, tune=80, draws=40)
    setup = replace(longer.setup, until={"ess": 10}, n_starts=7)
    longer = replace(longer, setup=setup, chains=(replace(longer.chains[0], lengthened=("poor jumps",)),))
    first = several(seed=1, chains=1)
    first = replace(first, setup=replace(first.setup, until={"ess": 10}))
    told = r"draws holds 60 of 70 draws.*: 2 chains of 2, cut to 30 each$"
    with pytest.warns(tp.IncompleteWarning, match=told):
        together = tp.Result.concatenate([first, longer])
    assert together.draws.shape == (2, 30, 2)
    assert (together.n_tune, together.setup.draws, together.setup.n_starts) == (50, 30, 7)
    with pytest.warns(tp.IncompleteWarning, match=r"2 chains of 2, cut to 20 each$"):
        shorter = tp.Result.concatenate([several(seed=1, chains=1), several(seed=2, chains=1, draws=20)])
    assert shorter.draws.shape == (2, 20, 2)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 1}, "must be of different seeds"),
        ({"seed": 2, "tune": 40}, "tune is 50 in the first and 40 in number 2"),
        ({"seed": 2, "levels": 4}, "the number of levels is 3 in the first and 4"),
        ({"seed": 2, "initial": np.zeros(3)}, "the dimension is 2 in the first and 3"),
        ({"seed": 2, "adapt": "always"}, "adapt"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(other, message):
    first = several(seed=1, chains=1)
    with pytest.raises(tp.InvalidInputError, match=message):
        tp.Result.concatenate([first, several(**{"chains": 1, **other})])


def test_only_results_are_put_together():
    with pytest.raises(tp.InvalidTypeError, match="results must be a list of results"):
        tp.Result.concatenate(several(seed=1, chains=1))
    with pytest.raises(tp.InvalidInputError, match="at least one"):
        tp.Result.concatenate([])
