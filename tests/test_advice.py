"""Causes told apart, and advice that a program can follow; beside each rule what it must not fire on."""

import importlib.util
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from records import THRESHOLD, jumping, learnt_modes, make_result, with_chains, with_draws, with_sampling
from temperance.results.causes import CAUSES
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.warnings.explained import CAUSES as EXPLAINED_CAUSES
from temperance.results.warnings.explained import EXPLAINED
from test_warnings import (
    FAR,
    FAULTS,
    apart,
    assert_consistent,
    chains_differ,
    dead_edge,
    few_levels,
    flat_top,
    goals_missed,
    jumps,
    low_ess,
    many_levels,
    missed_mode,
    never_moved,
    no_tuning,
    not_learnt,
    still_adapting,
    unequal_weights,
)


def causes(result):
    return [one.cause for one in result.advice]


def first(result, cause):
    (found,) = [one for one in result.advice if one.cause == cause]
    return found


def tuned(result, n_tune=5_000):
    """The same, had it been tuned for as long as is usual."""
    return replace(result, n_tune=n_tune)


def with_setup(result, **facts):
    return replace(result, setup=replace(result.setup, **facts))


def with_settings(result, **parts):
    return with_setup(result, settings={**result.setup.settings, **parts})


@pytest.fixture
def healthy(rng):
    return tuned(make_result(rng))


def test_every_cause_has_a_rule_and_words():
    assert len(CAUSES) == len(set(CAUSES))
    assert not set(EXPLAINED_CAUSES) & {"", None}
    assert all(shows.endswith(".") and cure.endswith(".") for shows, cure in EXPLAINED_CAUSES.values())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_every_cause_of_every_fault_is_explained(fault, healthy, rng):
    """A cause that is named and not explained, or a warning without a cause, would fail here."""
    result = fault(healthy, rng)
    assert_consistent(result)
    assert set(causes(result)) <= {*EXPLAINED_CAUSES, *EXPLAINED}
    assert "a cause that no rule tells" not in causes(result)


# ---- the density


def test_what_has_no_integral_is_all_that_is_told(healthy, rng):
    """Levels, draws and tuning are no cure of it, and neither is what was asked for before."""
    flat = with_setup(apart(healthy, rng), preflight={"tail": 0.0, "near": 1e3})
    assert causes(flat) == ["a density that does not fall off"]
    assert not flat.changes
    assert "too few levels" in flat.advice[0].warnings or "chains differ" in flat.advice[0].warnings
    falls = with_setup(apart(healthy, rng), preflight={"tail": 2.1, "near": 1e3})
    assert "a density that does not fall off" not in causes(falls)


def test_it_is_serious_where_draws_went_there(healthy):
    remark = with_setup(healthy, preflight={"tail": 1.0, "near": 1e3})
    assert not remark.warnings[0].serious
    gone = with_draws(remark, remark.draws * 1e4)
    assert gone.doubts[0] == "does not fall off"


def test_chance_comes_before_everything(healthy, rng):
    noisy = with_setup(chains_differ(healthy, rng), preflight={"varies": 1.0})
    assert causes(noisy) == ["a density of chance"]


def test_a_density_that_is_improper_when_heated_gets_no_hotter(healthy, rng):
    """Tails of power 6 in two dimensions have no integral from temperature 3 on; the ladder ends at 512."""
    hard = with_setup(dead_edge(healthy, rng), preflight={"tail": 6.0, "near": 1e3})
    one = first(hard, "improper when heated")
    assert "temperature 3 on" in one.seen
    assert one.changes == {"levels": 2}
    assert "dead edge" not in causes(hard)
    light = with_setup(dead_edge(healthy, rng), preflight={"tail": 6e6, "near": 1e3})
    assert "improper when heated" not in causes(light)
    likelihood_alone = with_chains(
        hard, lambda k, chain: with_sampling(chain, log_prior=chain.sampling.log_prior - 1.0)
    )
    assert "improper when heated" not in causes(likelihood_alone), "the prior is not heated"


def test_walls_are_blamed_where_steps_end_outside(healthy, rng):
    walled = with_setup(low_ess(healthy, rng), preflight={"walls": 4.0})
    assert "hard walls" not in causes(walled), "steps are accepted as they should be"
    refused = with_chains(
        walled,
        lambda k, chain: with_sampling(chain, walk_accept_prob=0.1 * chain.sampling.walk_accept_prob),
    )
    assert first(refused, "hard walls").rework == "parametrisation"
    open_plain = with_setup(refused, preflight={})
    assert "hard walls" not in causes(open_plain)
    with_priors = with_setup(refused, priors={"x": "normal(0, 1)"})
    assert "hard walls" not in causes(with_priors), "coordinates of a model with priors have no edges"


def test_no_width_is_not_told_of_a_run_that_was_hardly_tuned(healthy, rng):
    assert causes(never_moved(healthy, rng)) == ["a support without width"]
    assert causes(tuned(never_moved(healthy, rng), 20))[0] == "too short a tuning"


# ---- shapes


def test_tied_coordinates_are_told_by_their_condition_number(healthy, rng):
    """A correlation of 0.9999 has the condition number 20,000; one of 0.99 has 200."""
    for closeness, told in ((0.9999, True), (0.99, False)):
        slow = low_ess(healthy, rng)
        draws = slow.draws.copy()
        draws[:, :, 1] = closeness * draws[:, :, 0] + np.sqrt(1.0 - closeness**2) * draws[:, :, 1]
        assert ("tied coordinates" in causes(with_draws(slow, draws))) == told
    assert "tied coordinates" not in causes(low_ess(healthy, rng))


def test_a_funnel_is_told_by_a_width_that_goes_with_another_coordinate(rng):
    """Of 200 draws that differ, the correlation has a standard error of 0.05; it is 0.67."""
    slow = low_ess(tuned(make_result(rng, n_draws=2_000)), rng)
    draws = slow.draws.copy()
    draws[:, :, 1] *= np.exp(draws[:, :, 0])
    shaped = with_draws(slow, draws)
    assert first(shaped, "a funnel").changes["settings.adaptation.walk"] == "slice"
    assert "a funnel" not in causes(slow)
    sliced = with_settings(shaped, adaptation={"walk": "slice"})
    assert "a funnel" not in causes(sliced), "it was tried already"


def test_hundreds_of_modes_need_draws_for_each(rng):
    result = tuned(make_result(rng, n_draws=200))
    centres = FAR * np.stack([np.arange(60) % 8, np.arange(60) // 8], axis=1)
    label = rng.integers(60, size=result.draws.shape[:2])
    half = np.where(np.arange(4)[:, None] < 2, label, label // 2)
    many = with_chains(
        with_draws(result, result.draws + centres[half]),
        lambda k, chain: jumping(chain, learnt_modes(centres)),
    )
    assert len(many.modes) >= LIMITS.hundreds
    assert first(many, "hundreds of modes").changes["draws"] >= 100 * len(many.modes)
    assert "hundreds of modes" not in causes(unequal_weights(result, rng))


# ---- what was switched off


def test_jumps_that_were_switched_off_come_first(healthy, rng):
    off = with_settings(missed_mode(healthy, rng), jumps={"enabled": False, "share": True})
    assert causes(off)[0] == "jumps are switched off"
    assert off.changes["settings.jumps.enabled"] is True
    alone = with_settings(missed_mode(healthy, rng), jumps={"enabled": True, "share": False})
    assert causes(alone)[0] == "chains that learn alone"
    assert alone.changes["settings.jumps.share"] is True
    plain = with_settings(missed_mode(healthy, rng), jumps={"enabled": True, "share": True})
    assert not {"jumps are switched off", "chains that learn alone"} & set(causes(plain))


# ---- tuning


def rising(result, by):
    """Log densities that climb from the first draw to the last."""

    def climb(k, chain):
        column = chain.sampling.log_density + np.linspace(-by, 0.0, chain.n_draws)[:, None]
        return with_sampling(chain, log_density=column)

    return with_chains(result, climb)


def test_chains_that_have_not_arrived_go_on_from_where_they_are(healthy, rng):
    result = chains_differ(healthy, rng)
    one = first(rising(result, 100.0), "chains not arrived")
    assert one.changes["initial"].shape == (4, result.n_levels_at_start, 2)
    np.testing.assert_array_equal(one.changes["initial"][:, 0], result.draws[:, -1])
    assert one.changes["tune"] == 2 * result.n_tune
    assert "chains not arrived" not in causes(rising(result, 0.5))


def test_a_short_tuning_is_one_that_still_moves_or_left_chains_stuck(healthy, rng):
    assert causes(still_adapting(healthy, rng)) == ["too short a tuning"]
    assert causes(no_tuning(healthy, rng)) == ["too short a tuning"]
    assert "too short a tuning" in causes(tuned(dead_edge(healthy, rng), 400))
    assert "too short a tuning" not in causes(dead_edge(healthy, rng))
    assert "too short a tuning" not in causes(low_ess(tuned(healthy, 400), rng)), "more draws will do"


def test_tuning_is_not_lengthened_for_ever(healthy, rng):
    """Doubled each time, it ends at 16 times the default, and what is told then is something else."""
    result, tunes = not_learnt(healthy, rng), []
    while "tune" in result.changes:
        tunes.append(result.changes["tune"])
        result = tuned(result, tunes[-1])
    assert tunes == [10_000, 20_000, 40_000, 80_000]
    assert result.advice
    assert_consistent(result)


# ---- the ladder


def test_a_dead_edge_asks_for_levels_or_for_tuning_and_never_both(healthy, rng):
    one = first(dead_edge(healthy, rng), "dead edge")
    assert set(one.changes) == {"levels"}
    assert 4 < one.changes["levels"] <= 8


def test_more_and_fewer_levels_are_not_both_advised(healthy, rng):
    """A ladder whose last level is at its bound and that has a dead edge is not made longer, nor shorter."""
    both = dead_edge(flat_top(healthy, rng), rng)
    assert {"dead edge", "too many levels"} <= {one.name for one in both.warnings}
    assert "levels" not in both.changes
    assert both.changes["tune"] == 10_000


def test_nobody_is_sent_down_a_ladder_and_up_again(healthy, rng):
    """Fewer levels are proposed only where no edge of those left is anywhere near dead."""
    assert flat_top(healthy, rng).changes["levels"] == 3
    weak = with_chains(
        flat_top(healthy, rng),
        lambda k, chain: with_sampling(chain, replica=seldom(chain.sampling.replica)),
    )
    assert {one.name for one in weak.warnings} == {"too many levels"}
    assert "levels" not in weak.changes
    assert "they do no harm" in weak.advice[0].cure


def seldom(replica):
    """The same paths, with the second edge crossed five times in a thousand draws."""
    rare = np.tile(np.arange(4, dtype=np.int16), (len(replica), 1))
    rare[::2, :2] = [1, 0]
    swapped = rare.copy()
    swapped[:, 1], swapped[:, 2] = rare[:, 2], rare[:, 1]
    places = np.arange(len(replica)) % 200 == 100
    rare[places] = swapped[places]
    rare[:, 2:] = np.where((np.arange(len(replica)) % 3 == 0)[:, None], rare[:, [3, 2]], rare[:, 2:])
    return rare


def test_levels_are_bounded(healthy, rng):
    short = few_levels(healthy, rng)
    assert 4 < short.changes["levels"] <= 8
    long = replace(short, n_levels_at_start=LIMITS.most_levels)
    assert "levels" not in long.changes
    assert_consistent(long)


def test_the_prior_apart_is_named_once_where_there_is_none_and_the_ladder_failed(healthy, rng):
    hard = few_levels(healthy, rng)
    assert causes(hard).count("a prior that should be apart") == 1
    assert first(hard, "a prior that should be apart").rework == "apart"
    with_prior = with_chains(
        hard, lambda k, chain: with_sampling(chain, log_prior=chain.sampling.log_prior - 1.0)
    )
    assert "a prior that should be apart" not in causes(with_prior)
    assert "a prior that should be apart" not in causes(low_ess(healthy, rng))
    assert "a prior that should be apart" not in causes(unequal_weights(healthy, rng)), "all know the modes"


def test_chains_that_were_cut_down_keep_their_levels(healthy, rng):
    cut = apart(many_levels(healthy, rng), rng)
    assert cut.changes["settings.trimming.min_levels"] == cut.changes["levels"] == 16


# ---- draws


def test_draws_are_asked_for_where_they_help(healthy, rng):
    assert causes(unequal_weights(healthy, rng)) == ["too few draws"]
    assert "modes that are not connected" in causes(missed_mode(healthy, rng))
    assert "modes not learnt" in causes(not_learnt(healthy, rng))


def test_draws_are_bounded_and_slow_mixing_is_called_so(healthy, rng):
    """Successive runs were sent from 80,000 draws to 150,000 and 330,000."""
    steps = rng.standard_normal(healthy.draws.shape)
    for t in range(1, steps.shape[1]):
        steps[:, t] = 0.999 * steps[:, t - 1] + np.sqrt(1.0 - 0.999**2) * steps[:, t]
    stuck = with_draws(healthy, steps)
    one = first(stuck, "slow mixing")
    assert one.changes["draws"] == LIMITS.most_draws * 1_000
    assert Case(stuck, stuck.warnings).draws_needed > LIMITS.most_draws


# ---- what a program follows


def test_changes_are_those_of_the_first_cause_that_names_a_thing(healthy, rng):
    hard = few_levels(healthy, rng)
    for name, value in hard.changes.items():
        assert next(one.changes[name] for one in hard.advice if name in one.changes) is value
    assert healthy.changes == {}


def test_a_model_is_not_given_starts_in_other_terms(healthy, rng):
    shown = rising(chains_differ(healthy, rng), 100.0)
    named = replace(shown, value_names=shown.coordinates)
    assert "initial" in shown.changes
    assert "initial" not in Case(named, shown.warnings).result.changes


# ---- numbers are not quoted while a warning is serious


def test_goals_do_not_count_as_met_under_a_serious_warning(healthy, rng):
    until = {"ess": 1.0, "weight_error": None, "r_hat": None}
    fine = replace(with_setup(healthy, until=until), ended_by="goals")
    assert fine.reached.met
    assert str(fine.reached).startswith("goals: met")
    doubted = replace(with_setup(chains_differ(healthy, rng), until=until), ended_by="goals")
    assert not doubted.reached.met
    assert doubted.reached.missed == ()
    assert "not met, since the draws are in doubt (chains differ" in " ".join(str(doubted).split())


def test_the_evidence_has_no_error_while_modes_are_in_doubt(rng):
    from temperance.results.weighting.evidence import Evidence

    known = {"value": -162.07, "error": 0.04, "by": "bridge", "others": {"stepping stones": (-161.9, 0.05)}}
    assert "-162.070 +/- 0.040" in str(Evidence(**known))
    doubted = str(Evidence(**known, doubts=("missed mode",)))
    assert "about -162.1 (bridge), about -161.9 (stepping stones)" in doubted
    assert "its error is not known (missed mode)" in doubted
    assert "+/-" not in doubted


def test_a_real_run_in_doubt_quotes_nothing(seed):
    """Both modes are given, and neither chain knows of the other's."""
    problem = tp.zoo.two_modes(2, separation=30.0)
    starts = np.tile(np.repeat(problem.modes, 2, axis=0)[:, None], (1, 2, 1))
    result = tp.sample(
        problem, initial=starts, levels=2, draws=1_000, tune=1_000, seed=seed, progress=False,
        settings=tp.Settings(jumps=tp.Jumps(share=False)),
    )  # fmt: skip
    assert "missed mode" in result.doubts
    assert result.log_evidence().doubts == result.doubts
    shown = " ".join(str(result).split())
    assert (
        "weighted errors are not to be quoted" in shown
        or "by draws alone" in shown
        or " weighted " not in shown
    )
    assert not re.search(r"log evidence: [^;]*\+/-", shown)


# ---- all problems of the zoo


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", tp.zoo.names())
@pytest.mark.parametrize("kind", ["short", "plain", "long ladder"])
def test_no_advice_contradicts_on_any_problem_of_the_zoo(name, kind, seed):
    """Short runs, set up badly in three ways: each warning is explained, each thing has one number."""
    plain, whole = (
        tp.Settings(jumps=tp.Jumps(enabled=False)),
        tp.Settings(trimming=tp.Trimming(enabled=False)),
    )
    options = {
        "short": {"tune": 150, "draws": 150},
        "plain": {"tune": 300, "draws": 300, "levels": 2, "settings": plain},
        "long ladder": {"tune": 200, "draws": 120, "levels": 12, "settings": whole},
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tp.sample(tp.zoo.get(name), chains=2, cores=1, seed=seed, progress=False, **options)
    assert_consistent(result)
    found = result.changes
    assert found.get("levels", 2) <= LIMITS.most_levels
    assert found.get("draws", 1) <= max(LIMITS.most_draws * options["draws"], 5_000, 100 * len(result.modes))
    fewer = found.get("levels", 99) < result.n_levels_at_start
    assert not (fewer and result.doubts) or "improper when heated" in causes(result)


def test_thresholds_are_used(healthy):
    """The fixtures above lie on both sides of each."""
    assert LIMITS.tied == 1e3
    assert THRESHOLD > 1.0
    assert goals_missed(healthy, None).advice[0].cause == "goals missed"
    assert jumps(healthy, np.random.default_rng(1)).advice == ()


def test_the_page_is_made_of_what_the_benchmarks_left():
    root = Path(__file__).parent.parent
    spec = importlib.util.spec_from_file_location("advice_page", root / "tools" / "advice_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (root / "docs" / "advice.md").read_text(encoding="utf-8") == tool.page()
