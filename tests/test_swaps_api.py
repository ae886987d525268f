"""Swaps as a user meets them: every strategy on every kind of target, own weights, check(), rings, sweeps."""

import dataclasses
import functools
import itertools
import math
import re

import numba
import numpy as np
import pytest

import temperance as tp
from densities import two_modes
from harness import PLAIN
from kinds import KINDS, form
from temperance.core.iteration import compiled_loop
from temperance.moves import moves_with, records_of
from temperance.runs import noise

QUICK = {
    "initial": [0.5, -0.5],
    "draws": 40,
    "tune": 40,
    "chains": 2,
    "levels": 4,
    "seed": 5,
    "progress": False,
    "settings": PLAIN,
}
SYMMETRIC = ("adjacent", "uniform", "equi_energy", "energy_rings", "heat_bath")
BAD_VALUES = (-2.5, math.nan, math.inf)  # of ladders with three, four and five levels


@numba.njit
def box(x):
    """Flat inside, so that every exchange is accepted."""
    return 0.0 if abs(x[0]) < 1.0 and abs(x[1]) < 1.0 else -math.inf


@numba.njit
def city_block(one, two):
    return abs(one[0] - two[0]) + abs(one[1] - two[1])


@numba.njit
def lopsided(i, j, x, log_density, beta):
    return (1.0 + i) * abs(x[i, 0] - x[j, 1]) + 0.1 * j + beta[j] / (1.0 + abs(log_density[i]))


@numba.njit
def log_weight(i, j, x, log_density, beta):
    return -abs(log_density[i] - log_density[j]) * beta[j] + 0.3 * i


@numba.njit
def turns_bad(i, j, x, log_density, beta):
    """A bad value at the last pair once some level has gone far; exchanges do not change that."""
    if i == len(beta) - 2 and np.max(np.abs(x)) > 15.0:
        return BAD_VALUES[len(beta) - 3]
    return 1.0


def exp_weight(i, j, x, log_density, beta):
    return math.exp(log_weight.py_func(i, j, x, log_density, beta))


def one(i, j, x, log_density, beta):
    return 1.0


def nothing(i, j, x, log_density, beta):
    return 0.0


STRATEGIES = {
    "equi_energy": tp.swaps.equi_energy,
    "adjacent": tp.swaps.adjacent,
    "uniform": tp.swaps.uniform,
    "energy_rings": lambda: tp.swaps.energy_rings([-4.0, -1.5]),
    "energy_rings learnt": lambda: tp.swaps.energy_rings(3),
    "scaled_energy": tp.swaps.scaled_energy,
    "big_jumps": tp.swaps.big_jumps,
    "big_jumps manhattan": lambda: tp.swaps.big_jumps(metric="manhattan"),
    "big_jumps chebyshev": lambda: tp.swaps.big_jumps(metric="chebyshev"),
    "big_jumps njit": lambda: tp.swaps.big_jumps(metric=city_block),
    "big_jumps python": lambda: tp.swaps.big_jumps(metric=city_block.py_func),
    "uphill": tp.swaps.uphill,
    "cold_energy": tp.swaps.cold_energy,
    "equi_energy thrice": lambda: tp.swaps.equi_energy(repeats=3),
    "scaled_energy thrice": lambda: tp.swaps.scaled_energy(repeats=3),
    "even_odd": tp.swaps.even_odd,
    "stochastic_even_odd": tp.swaps.stochastic_even_odd,
    "heat_bath": tp.swaps.heat_bath,
    "custom njit": lambda: tp.swaps.custom(lopsided),
    "custom python": lambda: tp.swaps.custom(lopsided.py_func),
    "custom log": lambda: tp.swaps.custom(log_weight, log=True),
    "custom python log": lambda: tp.swaps.custom(log_weight.py_func, log=True),
    "custom exp": lambda: tp.swaps.custom(exp_weight),
}
BUILT_IN = [name for name in STRATEGIES if " " not in name]
OTHERS = {"turns bad": lambda: tp.swaps.custom(turns_bad)}


@functools.cache
def strategy(name):
    """Compiled once for all tests."""
    return {**STRATEGIES, **OTHERS}[name]()


@functools.cache
def finished(name):
    return tp.sample(two_modes, swaps=strategy(name), **QUICK)


def assert_same(first, second) -> None:
    np.testing.assert_array_equal(first.draws, second.draws)
    for one_chain, other in zip(first.chains, second.chains, strict=True):
        for phase in ("tuning", "sampling"):
            here, there = getattr(one_chain, phase), getattr(other, phase)
            np.testing.assert_array_equal(here.draws, there.draws)
            np.testing.assert_array_equal(here.swap_attempts, there.swap_attempts)
            np.testing.assert_array_equal(here.replica, there.replica)


def whole(chain, column):
    """Tuning and draws, one after the other."""
    return np.concatenate([getattr(chain.tuning, column), getattr(chain.sampling, column)])


# Every strategy, every kind of target


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_kind_of_target_gives_the_same_draws(name, kind) -> None:
    density = form(kind, two_modes)
    result = tp.sample(density, vectorized=kind == "vectorized", swaps=strategy(name), **QUICK)
    assert result.complete
    assert_same(result, finished(name))
    assert sum(int(chain.sampling.swap_accepted.sum()) for chain in result.chains) > 0


def test_strategies_differ() -> None:
    assert not np.array_equal(finished("uniform").draws, finished("adjacent").draws)
    assert not np.array_equal(finished("big_jumps").draws, finished("big_jumps chebyshev").draws)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("custom njit", "custom python"),
        ("custom log", "custom python log"),
        ("custom log", "custom exp"),
        ("big_jumps njit", "big_jumps python"),
        ("big_jumps njit", "big_jumps manhattan"),
    ],
)
def test_two_ways_to_say_the_same_weights(name, other) -> None:
    assert_same(finished(name), finished(other))


# The user's own weights


@pytest.mark.parametrize("wrap", [numba.njit, lambda function: function], ids=["njit", "python"])
def test_wrong_signature_is_refused_by_name(wrap) -> None:
    def two_levels(i, j):
        return 1.0

    expected = r"^two_levels must be a function weight\(i, j, x, log_density, beta\)"
    with pytest.raises(tp.InvalidTypeError, match=expected):
        tp.swaps.custom(wrap(two_levels))
    with pytest.raises(tp.InvalidTypeError, match=expected):
        tp.swaps.check(wrap(two_levels))


@pytest.mark.parametrize("weight", [None, 3.0, "far_apart", np.ones((4, 4))])
def test_what_is_no_function_is_refused(weight) -> None:
    with pytest.raises(tp.InvalidTypeError, match=r"weight must be a function weight\(i, j, .* got "):
        tp.swaps.custom(weight)


def test_compiled_weight_must_return_one_number() -> None:
    @numba.njit
    def difference(i, j, x, log_density, beta):
        return x[i] - x[j]

    with pytest.raises(tp.InvalidTypeError, match=r"^difference must return one number, got array"):
        tp.swaps.custom(difference)


def test_weight_that_does_not_compile_is_named() -> None:
    @numba.njit
    def misspelt(i, j, x, log_density, beta):
        return x.energy

    with pytest.raises(tp.InvalidTypeError, match=r"^misspelt does not compile as weight\(i, j, x,"):
        tp.swaps.custom(misspelt)


def test_bare_function_is_not_a_strategy() -> None:
    with pytest.raises(tp.InvalidTypeError, match="swaps must be a strategy"):
        tp.sample(two_modes, swaps=one, **QUICK)


@pytest.mark.parametrize("wrap", ["njit", "python"])
@pytest.mark.parametrize("levels", [3, 4, 5])
def test_bad_weights_stop_the_run_and_lose_nothing(levels, wrap) -> None:
    """Pair, value, chain and iteration are named; the draws so far are those of a good run."""
    plan = {**QUICK, "levels": levels, "chains": 1, "tune": 100, "draws": 100}
    swaps = strategy("turns bad") if wrap == "njit" else tp.swaps.custom(turns_bad.py_func)
    with pytest.raises(tp.SwapWeightError) as caught:
        tp.sample(two_modes, swaps=swaps, **plan)
    good = tp.sample(two_modes, swaps=tp.swaps.custom(one), **plan).chains[0]
    partial = caught.value.result
    kept = whole(partial.chains[0], "draws")
    assert not partial.complete
    assert 0 < len(kept) < 200
    np.testing.assert_array_equal(kept, whole(good, "draws")[: len(kept)])
    text = str(caught.value)
    assert text.startswith("the swap weight turns_bad must be finite and not negative")
    assert f"got {BAD_VALUES[levels - 3]}" in text
    assert f"levels {levels - 1} and {levels}, in chain 1, iteration {len(kept) + 1};" in text
    assert isinstance(caught.value, tp.RunError)


@pytest.mark.parametrize("kind", KINDS)
def test_error_of_a_python_weight_is_the_cause(kind) -> None:
    def fragile(i, j, x, log_density, beta):
        if np.abs(x).max() > 15.0:
            raise KeyError("no such place")
        return 1.0

    density = form(kind, two_modes)
    with pytest.raises(tp.SwapWeightError, match="swap weight fragile raised an error") as caught:
        tp.sample(
            density, vectorized=kind == "vectorized", swaps=tp.swaps.custom(fragile), **{**QUICK, "tune": 200}
        )
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.args == ("no such place",)
    assert len(caught.value.result.chains[0].tuning.draws) > 0


@pytest.mark.parametrize(("value", "what"), [("1", "str: '1'"), (None, "NoneType"), (1j, "complex")])
def test_a_python_weight_that_is_no_number_is_refused_by_name(value, what) -> None:
    def wordy(i, j, x, log_density, beta):
        return value

    with pytest.raises(tp.SwapWeightError, match="swap weight wordy raised an error") as caught:
        tp.sample(two_modes, swaps=tp.swaps.custom(wordy), **QUICK)
    assert f"wordy must return one number, got {what}" in str(caught.value.__cause__)
    with pytest.raises(tp.InvalidTypeError, match=f"wordy must return one number, got {what}"):
        tp.swaps.check(tp.swaps.custom(wordy))


@pytest.mark.parametrize("kind", [bool, np.bool_, int, np.float32])
def test_python_weights_are_numbers_of_any_kind(kind) -> None:
    def neighbours(i, j, x, log_density, beta):
        return kind(j == i + 1)

    result = tp.sample(two_modes, swaps=tp.swaps.custom(neighbours), **QUICK)
    twin = tp.sample(two_modes, swaps=tp.swaps.custom(lambda i, j, *_: float(j == i + 1)), **QUICK)
    np.testing.assert_array_equal(result.draws, twin.draws)


@pytest.mark.parametrize("position", [0, 1, 2], ids=["x", "log_density", "beta"])
def test_python_weights_cannot_change_the_state(position) -> None:
    def greedy(i, j, *arrays):
        arrays[position][:] = 0.0
        return 1.0

    with pytest.raises(tp.SwapWeightError, match="greedy raised an error") as caught:
        tp.sample(two_modes, swaps=tp.swaps.custom(greedy), **QUICK)
    assert "read-only" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    "swaps", [tp.swaps.custom(nothing), tp.swaps.custom(lambda *_: -math.inf, log=True)], ids=["zero", "log"]
)
def test_all_weights_zero_means_no_swap_and_the_run_goes_on(swaps) -> None:
    result = tp.sample(two_modes, swaps=swaps, **QUICK)
    assert result.complete
    for chain in result.chains:
        for column in ("swap_attempts", "swap_accepted", "base_swaps"):
            assert not np.any(whole(chain, column)), column
        assert np.all(whole(chain, "replica") == np.arange(4))
    assert "0.000 accepted" in str(result)


def test_weights_see_live_levels_only() -> None:
    seen = []

    def watching(i, j, x, log_density, beta):
        assert 0 <= i < j < len(beta)
        seen.append((len(x), len(log_density), len(beta)))
        return 1.0

    trimming = tp.Trimming(after=50, every=10, slack=0.5, min_levels=2)
    plan = {**QUICK, "levels": 6, "chains": 1, "tune": 300, "settings": tp.Settings(trimming=trimming)}
    chain = tp.sample(two_modes, swaps=tp.swaps.custom(watching), **plan).chains[0]
    n_levels = whole(chain, "n_levels")
    assert 2 <= n_levels[-1] < 6, "levels must be dropped on the way"
    assert all(len(set(lengths)) == 1 for lengths in seen)
    assert [length for length, _ in itertools.groupby(x for x, _, _ in seen)] == [
        int(n) for n, _ in itertools.groupby([6, *n_levels])
    ]


def test_own_weights_leave_the_compiled_loop_alone() -> None:
    finished("uniform")
    records = records_of(moves_with("robust"))
    loop = compiled_loop(*records)
    before = list(loop.signatures), repr(loop.stats)
    for weight in (lopsided, lopsided.py_func):
        tp.sample(two_modes, swaps=tp.swaps.custom(weight), **QUICK)
    assert compiled_loop(*records) is loop
    assert (list(loop.signatures), repr(loop.stats)) == before
    assert len(loop.signatures) == 1


# check()


@pytest.mark.parametrize("name", [*BUILT_IN, "big_jumps python", "custom njit", "custom python"])
def test_check_says_in_words_what_is_fine(name) -> None:
    verdict = tp.swaps.check(strategy(name), levels=3, dim=2, ladders=12)
    assert verdict.ok, str(verdict)
    assert verdict.problems == ()
    assert verdict.reversible == (name != "even_odd")
    assert f"{strategy(name).name} is a valid swap strategy" in str(verdict)
    if name.endswith("even_odd"):
        assert verdict.symmetric is None
        return
    assert verdict.symmetric == (name in SYMMETRIC)
    assert ("negative, and symmetric" if name in SYMMETRIC else "and not symmetric") in str(verdict)
    assert "exactly reversible" in str(verdict)


def test_check_takes_a_bare_weight() -> None:
    assert tp.swaps.check(lopsided, levels=3, dim=2, ladders=4) == tp.swaps.check(
        strategy("custom njit"), levels=3, dim=2, ladders=4
    )


def test_compiled_weight_that_writes_is_refused() -> None:
    with pytest.raises(tp.InvalidTypeError, match="meddling must not change its arguments"):
        tp.swaps.custom(numba.njit(meddling))


def test_error_of_a_compiled_weight_is_the_cause() -> None:
    @numba.njit
    def explosive(i, j, x, log_density, beta):
        if np.abs(x).max() > 4.0:
            raise ValueError("too far")
        return 1.0

    with pytest.raises(tp.SwapWeightError, match="swap weight explosive raised an error") as caught:
        tp.sample(two_modes, swaps=tp.swaps.custom(explosive), **QUICK)
    assert isinstance(caught.value.__cause__, ValueError)
    assert not caught.value.result.complete


def test_a_compiled_weight_divides_as_its_author_compiled_it() -> None:
    """First compiled inside ours it would have our error model, in which a division by zero is infinity."""

    @numba.njit
    def divides(i, j, x, log_density, beta):
        return 1.0 + 1 // int(x[0, 0] < 50.0)

    tp.swaps.custom(divides)
    with pytest.raises(ZeroDivisionError):
        divides(0, 1, np.full((2, 1), 99.0), np.zeros(2), np.ones(2))


@pytest.mark.parametrize("other", ["biased", "adjacent"])
def test_check_catches_a_kernel_that_draws_with_other_probabilities(other) -> None:
    """Each returns the right ratio for a pair that may be drawn, but draws it too often."""
    honest = tp.swaps.uniform()

    def biased(view, choice, partner):
        return honest.kernel()(view, choice**3, partner)

    kernel = (lambda: biased) if other == "biased" else tp.swaps.adjacent().kernel
    verdict = tp.swaps.check(dataclasses.replace(honest, kernel=kernel), ladders=4)
    assert not verdict.ok
    assert "the kernel draws levels" in str(verdict)


@pytest.mark.parametrize("ladders", [0, 3, 1.5])
def test_check_wants_all_kinds_of_ladders(ladders) -> None:
    with pytest.raises(tp.TemperanceError, match=r"^ladders must be"):
        tp.swaps.check(tp.swaps.uniform(), ladders=ladders)


def test_check_tells_invariant_from_reversible() -> None:
    verdict = tp.swaps.check(tp.swaps.even_odd(), levels=4, ladders=12)
    assert verdict.ok
    assert not verdict.reversible
    assert "not reversible: its iterations alternate" in str(verdict)
    assert "leaves the tempered product exactly as it is" in str(verdict)
    wrong = tp.swaps.check(dataclasses.replace(tp.swaps.even_odd(), reversible=True), ladders=12)
    assert not wrong.ok
    assert "declared reversible" in str(wrong)


def negative(i, j, x, log_density, beta):
    return -1.0 if (i, j) == (1, 2) else 1.0


def not_a_number(i, j, x, log_density, beta):
    return math.nan if (i, j) == (1, 2) else 1.0


def random_weight(i, j, x, log_density, beta):
    return np.random.default_rng().random()


def meddling(i, j, x, log_density, beta):
    x[i] = 0.0
    return 1.0


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (negative, r"the weight of levels \(2, 3\) is negative, infinite or NaN at log densities \["),
        (not_a_number, r"the weight of levels \(2, 3\) is negative, infinite or NaN at log densities \["),
        (random_weight, "the same state gives different weights"),
        (meddling, "it changes its arguments"),
    ],
)
def test_check_finds_what_is_no_weight(weight, words) -> None:
    verdict = tp.swaps.check(weight, levels=3, dim=2, ladders=4)
    assert not verdict.ok
    assert re.match(f"{weight.__name__} is not a valid swap strategy:\n- {words}", str(verdict))


@pytest.mark.parametrize("name", ["scaled_energy", "big_jumps", "uphill", "cold_energy"])
def test_check_finds_a_false_claim_of_symmetry(name) -> None:
    verdict = tp.swaps.check(dataclasses.replace(strategy(name), symmetric=True), levels=3, ladders=4)
    assert not verdict.ok
    assert "declared symmetric, but p_ij(T_ij x) differs from p_ij(x)" in str(verdict)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("adjacent", "whose weight is zero"),
        ("equi_energy", "whose weight is zero"),
        ("scaled_energy", "the kernel's ratio of weights is 0, exactly"),
        ("cold_energy", "the kernel's ratio of weights is 0, exactly"),
    ],
)
def test_check_finds_a_kernel_that_is_not_its_definition(name, words) -> None:
    wrong = dataclasses.replace(strategy(name), kernel=tp.swaps.uniform().kernel)
    verdict = tp.swaps.check(wrong, ladders=8)
    assert not verdict.ok
    assert words in str(verdict)


@pytest.mark.parametrize(("levels", "words"), [(6, "at most 5"), (1, "at least 2")])
def test_check_refuses_ladders_of_the_wrong_size(levels, words) -> None:
    with pytest.raises(tp.InvalidInputError, match=f"levels must be {words}.*got {levels}"):
        tp.swaps.check(one, levels=levels)


# Energy rings


def test_learnt_edges_are_quantiles_of_what_was_seen_and_stay() -> None:
    calls = []
    learnt = tp.swaps.energy_rings(3)

    def spying(log_density):
        calls.append(learnt.learn(log_density))
        return calls[-1]

    plan = {**QUICK, "chains": 1, "tune": 101, "draws": 200}
    swaps = dataclasses.replace(learnt, learn=spying)
    chain = tp.sample(two_modes, swaps=swaps, **plan).chains[0]
    seen = chain.tuning.log_density
    halves = (seen[:50], seen[51:])
    assert len(calls) == 2
    for edges, half in zip(calls, halves, strict=True):
        np.testing.assert_array_equal(edges, np.quantile(half, [1 / 3, 2 / 3]))
    assert in_one_ring(chain.tuning, calls[0])[50:].all()
    assert in_one_ring(chain.sampling, calls[1]).all()
    assert not in_one_ring(chain.tuning, calls[0])[:50].all(), "before that there is a single ring"


def in_one_ring(trace, edges):
    """Row by row, from the second on: whether the levels that were exchanged, if any, are in one ring."""
    rings = np.searchsorted(edges, trace.log_density, side="right")[1:]
    exchanged = np.diff(trace.replica, axis=0) != 0
    return np.array([len(np.unique(ring[pair])) < 2 for ring, pair in zip(rings, exchanged, strict=True)])


@pytest.mark.parametrize("block", [1, 7])
def test_learnt_edges_do_not_depend_on_the_blocks(block, monkeypatch) -> None:
    reference = finished("energy_rings learnt")
    monkeypatch.setattr(noise, "MAX_BLOCK", block)
    assert_same(tp.sample(two_modes, swaps=strategy("energy_rings learnt"), **QUICK), reference)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([2.0, 1.0], "must rise strictly"),
        ([1.0, 1.0], "must rise strictly"),
        ([math.nan], "must rise strictly and be finite"),
        ([0.0, math.inf], "must rise strictly and be finite"),
        ([], "must be a list of log densities or a whole number"),
        (5.0, "must be a list of log densities or a whole number"),
        (1, "must be at least 2, got 1"),
        (True, "must be a rising list of log densities"),
        ([True, False], "must be a rising list of log densities, or a number of rings"),
        ("wide", "must be a rising list of log densities, or a number of rings"),
    ],
)
def test_bad_edges_are_refused(edges, words) -> None:
    with pytest.raises(tp.TemperanceError, match=f"^edges {words}"):
        tp.swaps.energy_rings(edges)


# How many


@pytest.mark.parametrize("name", ["adjacent", "uniform", "equi_energy", "energy_rings", "big_jumps"])
@pytest.mark.parametrize(("repeats", "error"), [(0, tp.InvalidInputError), (1.0, tp.InvalidTypeError)])
def test_bad_repeats_are_refused(name, repeats, error) -> None:
    with pytest.raises(error, match=r"^repeats must be (at least 1|a whole number), got"):
        getattr(tp.swaps, name)(repeats=repeats)
    with pytest.raises(error, match=r"^repeats must be"):
        tp.swaps.custom(one, repeats=repeats)


@pytest.mark.parametrize(
    ("name", "attempts"),
    [
        ("uniform", 1),
        ("custom njit", 1),
        ("equi_energy thrice", 3),
        ("scaled_energy thrice", 3),
        ("heat_bath", 16),
    ],
)
def test_attempts_are_counted(name, attempts) -> None:
    for chain in finished(name).chains:
        assert np.all(whole(chain, "swap_attempts") == attempts)
        accepted = whole(chain, "swap_accepted")
        assert np.all((whole(chain, "base_swaps") <= accepted) & (accepted <= attempts))


@pytest.mark.parametrize("name", STRATEGIES)
def test_replicas_are_permuted_never_copied(name) -> None:
    for chain in finished(name).chains:
        assert np.all(np.sort(whole(chain, "replica"), axis=1) == np.arange(4))


@pytest.mark.parametrize("name", ["uniform", "adjacent", "equi_energy", "uphill", "custom njit"])
def test_base_swaps_are_those_that_move_the_base_level(name) -> None:
    for chain in finished(name).chains:
        replica = np.vstack([np.arange(4), whole(chain, "replica")])
        moved = replica[1:] != replica[:-1]
        np.testing.assert_array_equal(whole(chain, "base_swaps"), moved[:, 0])
        np.testing.assert_array_equal(whole(chain, "swap_accepted"), moved.any(axis=1))


def exchanges(chain):
    """The pairs exchanged in each iteration, from the replicas of a run in which all are accepted."""
    replica = whole(chain, "replica")
    n_levels = replica.shape[1]
    for before, after in itertools.pairwise([np.arange(n_levels), *replica]):
        yield [(i, i + 1) for i in range(n_levels - 1) if after[i] == before[i + 1]]


@pytest.mark.parametrize(
    ("name", "levels"), [("even_odd", 5), ("even_odd", 4), ("even_odd", 2), ("stochastic_even_odd", 5)]
)
def test_sweeps_take_even_or_odd_edges(name, levels) -> None:
    edges = [[(i, i + 1) for i in range(parity, levels - 1, 2)] for parity in (0, 1)]
    plan = {**QUICK, "levels": levels, "initial": [0.0, 0.0], "tune": 31}
    chains = tp.sample(box, swaps=strategy(name), **plan).chains
    taken = [edges.index(pairs) for chain in chains for pairs in exchanges(chain)]
    if name == "even_odd":
        assert taken == [n % 2 for _ in chains for n in range(71)]
    else:
        assert 30 < sum(taken) < 112, "a coin decides: 142 tosses"
    for chain in chains:
        np.testing.assert_array_equal(
            whole(chain, "swap_attempts"), [len(pairs) for pairs in exchanges(chain)]
        )
