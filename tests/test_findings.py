"""Warnings: each rule fires on a run with that fault, and on no run without."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from records import THRESHOLD, make_result, with_chains, with_draws, with_sampling
from temperance.results.findings import RULES, evidence, mixing, verdict
from temperance.results.findings.finding import listed, round_up


@pytest.fixture
def healthy(rng):
    return make_result(rng)


def names(result):
    return {finding.name for finding in result.warnings}


def the(result, name):
    (found,) = [finding for finding in result.warnings if finding.name == name]
    return found


def numbers_to_try(finding, what):
    return [int(number) for number in re.findall(rf"\b{what}=(\d+)", finding.cure)]


# ---- faults, each put into a run that has none


def no_draws(result, rng):
    return with_chains(result, lambda k, chain: replace(chain, sampling=cut(chain.sampling, 0)))


def cut(trace, length):
    return type(trace)._make(column[:length] for column in trace)


def never_moved(result, rng):
    draws = result.draws.copy()
    draws[:, :, 1] = 3.0
    return with_draws(result, draws)


def apart(result, rng):
    """Chains around different points, as if each had found its own mode."""
    return with_draws(result, result.draws + 20.0 * np.arange(len(result.chains))[:, None, None])


def few_levels(result, rng):
    """Scales that rise along the ladder and do not reach the threshold; chains that differ."""
    scales = THRESHOLD * np.array([0.1, 0.2, 0.35, 0.55])
    return with_chains(apart(result, rng), lambda k, chain: replace(chain, log_scale=np.log(scales)))


def many_levels(result, rng):
    """Eight levels at the start, all dropped that may be."""
    kept = with_chains(result, lambda k, chain: first_levels(chain, 2))
    return replace(kept, n_levels_at_start=8)


def first_levels(chain, n_levels):
    ends = ("beta", "log_scale", "mean", "covariance")
    replica = np.full_like(chain.sampling.replica, -1)
    replica[:, :n_levels] = np.arange(len(replica))[:, None] // 3 % 2  # two that change places
    replica[:, 1] = 1 - replica[:, 0]
    left = replace(chain, **{name: getattr(chain, name)[:n_levels] for name in ends})
    return with_sampling(left, replica=replica, n_levels=np.full(len(replica), n_levels, dtype=np.int16))


def flat_top(result, rng):
    """A hottest temperature at its bound."""
    beta = np.array([1.0, 0.1, 0.01, 1e-9])
    return with_chains(result, lambda k, chain: replace(chain, beta=beta))


def dead_edge(result, rng):
    """Two pairs of levels that never exchange a position."""

    def broken(k, chain):
        replica = chain.sampling.replica.copy()
        for pair in (slice(0, 2), slice(2, 4)):
            flip = rng.random(len(replica)) < 0.5
            replica[:, pair] = np.where(flip[:, None], [[0, 1]], [[1, 0]]) + pair.start
        return with_sampling(chain, replica=replica)

    return with_chains(result, broken)


def no_round_trips(result, rng):
    """One slow drift through the ladder, each replica up and none back."""

    def drifting(k, chain):
        shift = np.arange(chain.n_draws) * 4 // chain.n_draws
        return with_sampling(chain, replica=((np.arange(4)[None, :] - shift[:, None]) % 4).astype(np.int16))

    return with_chains(result, lambda k, chain: crossing_often(drifting(k, chain)))


def crossing_often(chain):
    """The same, with enough coming and going between the middle levels that no edge is dead."""
    replica = chain.sampling.replica.copy()
    for edge in (0, 1, 2):
        rows = slice(edge, None, 50)
        replica[rows, edge], replica[rows, edge + 1] = (
            replica[rows, edge + 1].copy(),
            replica[rows, edge].copy(),
        )
    return with_sampling(chain, replica=replica[: len(replica) // 4])


def missed_mode(result, rng):
    """Two far modes, one of which the last chain has not seen; the others give it a third."""
    mode = rng.random(result.draws.shape[:2]) < 1 / 3
    mode[-1] = False
    return with_draws(result, result.draws + 30.0 * mode[:, :, None])


def unequal_weights(result, rng):
    """All chains see both modes, with weights from a tenth to a half."""
    share = np.linspace(0.1, 0.5, len(result.chains))[:, None]
    mode = rng.random(result.draws.shape[:2]) < share
    return with_draws(result, result.draws + 30.0 * mode[:, :, None])


def chains_differ(result, rng):
    shift = 0.5 * np.arange(len(result.chains))[:, None, None]
    return with_draws(result, result.draws + shift)


def low_ess(result, rng):
    """Each draw forty times."""
    return with_draws(result, np.repeat(result.draws[:, ::40], 40, axis=1))


def still_adapting(result, rng):
    def climbing(k, chain):
        history = chain.tuning.log_scale + np.linspace(-4.0, 0.0, len(chain.tuning.log_scale))[:, None]
        return replace(chain, tuning=chain.tuning._replace(log_scale=history))

    return with_chains(result, climbing)


def moving_ladder(result, rng):
    def heating(k, chain):
        heat = np.exp(np.linspace(4.0, 0.0, len(chain.tuning.beta)))[:, None] ** (chain.beta < 1.0)
        return replace(chain, tuning=chain.tuning._replace(beta=chain.tuning.beta * heat))

    return with_chains(result, heating)


def no_tuning(result, rng):
    return replace(result, n_tune=0)


def bound_hit(result, rng):
    return with_chains(result, lambda k, chain: replace(chain, bound_hits=np.array([0, 7 * (k == 1), 0])))


def one_chain(result, rng):
    return replace(result, chains=result.chains[:1])


def incomplete(result, rng):
    return replace(result, complete=False)


FAULTS = {
    no_draws: "no draws",
    never_moved: "never moved",
    few_levels: "too few levels",
    many_levels: "too many levels",
    flat_top: "too many levels",
    dead_edge: "dead edge",
    no_round_trips: "no round trips",
    missed_mode: "missed mode",
    unequal_weights: "missed mode",
    chains_differ: "chains differ",
    low_ess: "low ESS",
    still_adapting: "still adapting",
    moving_ladder: "still adapting",
    no_tuning: "still adapting",
    bound_hit: "bound hit",
    one_chain: "one chain",
    incomplete: "incomplete run",
}
# What comes along of itself: chains in different modes differ in R-hat too, and are worth little.
ALONG = {
    few_levels: {"missed mode", "chains differ", "low ESS"},
    missed_mode: {"chains differ", "low ESS"},
    unequal_weights: {"chains differ", "low ESS"},
    chains_differ: {"low ESS"},
    low_ess: {"chains differ"},
    no_round_trips: set(),
}
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)


@pytest.mark.parametrize(("strategy", "advised"), [("equi-energy", True), ("even-odd", False)])
def test_nobody_is_told_to_use_the_sweeps_that_he_uses(healthy, rng, strategy, advised):
    faulty = replace(no_round_trips(healthy, rng), swap_strategy=strategy)
    (finding,) = [found for found in faulty.warnings if found.name == "no round trips"]
    assert ("even_odd()" in finding.cure) == advised


def test_a_healthy_run_has_no_warnings(healthy):
    assert names(healthy) == set()
    assert healthy.verdict == "No sign of trouble."


@pytest.mark.parametrize(
    "options", [{"dim": 1}, {"dim": 20}, {"n_levels": 1}, {"n_levels": 9, "n_draws": 4_000}]
)
def test_healthy_runs_of_other_shapes_have_no_warnings(rng, options):
    assert names(make_result(rng, **options)) == set()


@each_fault
def test_each_fault_is_found_and_nothing_else(fault, healthy, rng):
    """A rule that never fired, or one that fired on other faults too, would fail here."""
    found = names(fault(healthy, rng))
    assert FAULTS[fault] in found
    assert found - {FAULTS[fault]} <= ALONG.get(fault, set())


def test_every_rule_has_a_fault_of_its_own():
    assert len(set(FAULTS.values())) == len(RULES)


@each_fault
def test_every_warning_has_words_and_a_cure(fault, healthy, rng):
    result = fault(healthy, rng)
    finding = the(result, FAULTS[fault])
    assert finding.message
    assert finding.cure
    assert str(finding) == f"{finding.name}: {finding.message}. Try: {finding.cure}."
    flat = " ".join(str(result).split())
    assert str(finding) in flat
    assert "nan" not in str(finding)


@pytest.mark.parametrize(
    ("fault", "what", "now"),
    [
        (few_levels, "levels", 4),
        (dead_edge, "levels", 4),
        (dead_edge, "tune", 400),
        (no_round_trips, "draws", 250),
        (missed_mode, "draws", 1_000),
        (chains_differ, "draws", 1_000),
        (low_ess, "draws", 1_000),
        (still_adapting, "tune", 400),
        (no_tuning, "tune", 0),
        (one_chain, "chains", 1),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_number_to_try_is_more_than_there_was(fault, what, now, healthy, rng):
    (number,) = numbers_to_try(the(fault(healthy, rng), FAULTS[fault]), what)
    assert now < number <= 100 * max(now, 5_000)


@pytest.mark.parametrize("fault", [many_levels, flat_top], ids=["trimmed", "at the bound"])
def test_fewer_levels_are_proposed_where_there_are_too_many(fault, healthy, rng):
    result = fault(healthy, rng)
    assert numbers_to_try(the(result, "too many levels"), "levels")[0] < result.n_levels_at_start


def test_the_draws_to_try_would_give_the_effective_draws_wanted(healthy, rng):
    result = low_ess(healthy, rng)
    size = min(*result.estimates["ess_bulk"], *result.estimates["ess_tail"])
    (number,) = numbers_to_try(the(result, "low ESS"), "draws")
    assert 400 <= size * number / 1_000 <= 450


def test_missing_levels_are_extrapolated(healthy, rng):
    """From 0.35 to 0.55 is a factor 1.57; to get from 0.55 to 1 takes two more of them."""
    assert numbers_to_try(the(few_levels(healthy, rng), "too few levels"), "levels") == [6]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda chain: replace(chain, log_scale=np.log(THRESHOLD * np.array([0.1, 0.2, 0.35, 0.9]))),
        lambda chain: replace(chain, log_scale=np.log(THRESHOLD * np.array([0.1, 0.5, 0.5, 0.5]))),
        lambda chain: replace(chain, beta=np.array([1.0, 0.3, 0.1, 0.0])),
    ],
    ids=["the last level is unimodal", "more heat does not help", "the last level is the prior"],
)
def test_levels_are_enough_when(spoil, healthy, rng):
    short = few_levels(healthy, rng)
    assert "too few levels" in names(short)
    assert "too few levels" not in names(with_chains(short, lambda k, chain: spoil(chain)))


def test_levels_are_enough_when_the_chains_agree(healthy, rng):
    """A funnel is no Gaussian at any temperature; where the chains agree, that is no fault."""
    scales = np.log(THRESHOLD * np.array([0.1, 0.2, 0.35, 0.55]))
    agreeing = with_chains(healthy, lambda k, chain: replace(chain, log_scale=scales))
    assert "too few levels" not in names(agreeing)


def test_one_level_is_too_few_when_chains_differ(rng):
    result = apart(make_result(rng, n_levels=1), rng)
    assert numbers_to_try(the(result, "too few levels"), "levels")[0] > 1


def test_chains_that_were_cut_down_are_told_to_keep_their_levels(healthy, rng):
    """Each chain sits in its own mode, looks unimodal there, and loses its hot levels."""
    result = apart(many_levels(healthy, rng), rng)
    assert "Trimming(min_levels=16)" in the(result, "missed mode").cure


def test_a_rare_mode_may_be_passed_over(healthy, rng):
    """A mode that holds one draw in two hundred says nothing against a chain without it."""
    mode = np.zeros(healthy.draws.shape[:2], dtype=bool)
    mode[0, :20] = True
    assert names(with_draws(healthy, healthy.draws + 30.0 * mode[:, :, None])) == set()


@pytest.mark.parametrize("cause", [few_levels, dead_edge, still_adapting], ids=lambda cause: cause.__name__)
def test_more_draws_come_after_the_cures_of_causes(cause, healthy, rng):
    """Drawing longer from a broken ladder is no cure."""
    differing = chains_differ(healthy, rng)
    assert the(differing, "chains differ").cure.startswith("draws=")
    assert the(cause(differing, rng), "chains differ").cure.startswith(
        "the cures of the other warnings first"
    )


def test_verdicts(healthy, rng):
    assert verdict(incomplete(healthy, rng).warnings).startswith("No sign that the draws are wrong, but")
    assert verdict(apart(healthy, rng).warnings).startswith("Do not rely on these draws yet: missed mode")
    assert verdict(no_draws(healthy, rng).warnings) == "Nothing was drawn."


def test_warnings_use_the_names_given(healthy, rng):
    result = chains_differ(healthy, rng).named(["alpha", "beta"])
    assert re.search(r"R-hat of (alpha|beta) is", the(result, "chains differ").message)


@pytest.mark.parametrize(
    ("number", "rounded"), [(0.2, 1), (7.2, 8), (10, 10), (101, 110), (4_321, 4_400), (99_001, 100_000)]
)
def test_numbers_to_try_have_two_digits(number, rounded):
    assert round_up(number) == rounded


def test_lists_of_chains():
    assert listed([1], "chain") == "chain 2"
    assert listed([0, 2, 3], "chain") == "chains 1, 3 and 4"


# ---- real runs


TWO_MODES = tp.zoo.two_modes(2, separation=5.0)


def sample_two_modes(seed, **options):
    """Half of the chains start in one mode, half in the other."""
    starts = np.repeat(TWO_MODES.modes, 2, axis=0)[:, None, :]
    starts = np.tile(starts, (1, options["levels"], 1))
    return tp.sample(TWO_MODES.log_density, initial=starts, tune=5_000, seed=seed, progress=False, **options)


def test_a_long_run_of_two_modes_is_not_accused(seed):
    """False alarms on a real run that is as it should be."""
    result = sample_two_modes(seed, levels=5, draws=20_000)
    assert not [finding for finding in result.warnings if finding.serious], str(result)


def test_chains_without_a_ladder_are_accused(seed):
    """Plain Metropolis never crosses: the missed-mode warning must say so."""
    result = sample_two_modes(seed, levels=1, draws=2_000)
    assert {"missed mode", "chains differ", "too few levels"} <= names(result)


# ---- the page that states the rules


def test_the_page_states_every_rule_with_its_numbers():
    """A rule that is added, renamed or given another threshold must be told to its readers."""
    page = (Path(__file__).parent.parent / "docs" / "results.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w ]+?) \| (.+) \|$", page, re.MULTILINE))
    assert set(FAULTS.values()) <= set(rows)
    stated = {
        "too few levels": [f"{evidence.MULTIMODAL_BELOW:g}", f"{evidence.RISING - 1:.0%}".replace("%", " %")],
        "dead edge": [str(evidence.MIN_EDGE_DRAWS), f"{1 / evidence.MIN_CROSSING_RATE:,.0f}"],
        "missed mode": [f"{evidence.MISSED_SHARE:.0%}".replace("%", " %"), f"{evidence.MAX_DISAGREEMENT:g}"],
        "chains differ": [f"{evidence.MAX_R_HAT:g}", f"{mixing.SERIOUS_R_HAT:g}"],
        "low ESS": [f"{evidence.MIN_ESS:g}"],
        "still adapting": [f"{evidence.MAX_DRIFT:g}"],
    }
    for name, numbers in stated.items():
        assert all(number in rows[name] for number in numbers), (name, numbers)
