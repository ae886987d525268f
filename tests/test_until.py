"""Runs that end when the answer is good enough: goals and budgets, and draws as if so many were asked for."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import numpy as np
import pytest
from click.testing import CliRunner

import temperance as tp
from densities import gaussian, two_modes
from records import make_result
from temperance.asked import tuning_of
from temperance.cli import main
from temperance.looking import MOST_GROWTH, growth
from temperance.results.reached import reached_of
from temperance.until import bounded, until_from_plain, until_from_words, until_to_plain

FIRST = 200
QUICK = {"initial": np.zeros(2), "levels": 3, "tune": 300, "chains": 2, "seed": 1, "progress": False}
GOALS = tp.Until(ess=400, weight_error=0.05)


def drawn(until, density=two_modes, **options):
    return tp.sample(density, until=until, **{**QUICK, "draws": FIRST, **options})


@pytest.fixture(scope="module")
def met():
    return drawn(GOALS)


def test_goals_are_met_with_the_draws_of_a_run_that_was_asked_for_as_many(met):
    """A mutant that counts the looks into the random numbers, or goes on after the last, would differ."""
    reached, n_draws = met.reached, met.draws.shape[1]
    assert met.complete
    assert met.ended_by == reached.ended_by == "goals"
    assert reached.met
    assert n_draws > FIRST
    assert reached.found["ess"] == min(met.estimates["ess_bulk"] + met.estimates["ess_tail"]) >= 400
    assert reached.found["weight_error"] == met.modes.weight_error.max() <= 0.05
    assert met.setup.draws == n_draws
    assert f"goals: met after {n_draws} draws" in str(met)
    one = tp.sample(two_modes, **QUICK, draws=n_draws)
    np.testing.assert_array_equal(one.draws, met.draws)
    for chain, other in zip(one.chains, met.chains, strict=True):
        np.testing.assert_array_equal(chain.sampling.evaluations, other.sampling.evaluations)
    assert one.reached is None


def test_one_core_looks_at_the_same_places(met):
    np.testing.assert_array_equal(drawn(GOALS, cores=1).draws, met.draws)


def test_workers_look_at_the_same_places(met):
    """Jumps beyond the look are evaluated ahead of time, and used after it."""
    with ThreadPoolExecutor(2) as pool:
        np.testing.assert_array_equal(drawn(GOALS, pool=pool).draws, met.draws)


@pytest.mark.slow
def test_chains_made_by_processes_look_at_the_same_places(met):
    np.testing.assert_array_equal(drawn(GOALS, pool=tp.Pool(2, share="chains")).draws, met.draws)


def test_stored_stopped_and_resumed(tmp_path):
    folder, calls, last = tmp_path / "run", [0], [math.inf]

    def density(x):
        calls[0] += 1
        if calls[0] == last[0]:
            raise KeyboardInterrupt
        return two_modes.py_func(x)

    plain = drawn(GOALS, density, cores=1)
    last[0], calls[0] = 9 * calls[0] // 10, 0
    with pytest.warns(tp.IncompleteWarning):
        part = drawn(GOALS, density, cores=1, store=folder)
    assert not part.complete
    assert part.reached.ended_by == "stopped"
    assert FIRST < max(chain.n_draws for chain in part.chains) < plain.draws.shape[1]
    for stopped in (part, tp.load(folder)):
        cure = next(one.cure for one in stopped.warnings if one.name == "incomplete run")
        assert cure.startswith(f"temperance resume {folder}")
    whole = tp.resume(folder, density, progress=False)
    np.testing.assert_array_equal(whole.draws, plain.draws)
    again = tp.load(folder)
    assert again.complete
    assert str(again.reached) == str(whole.reached) == str(plain.reached)
    np.testing.assert_array_equal(tp.resume(folder, density, progress=False).draws, whole.draws)
    more = tp.resume(folder, density, until=tp.Until(ess=2.0 * whole.reached.found["ess"]), progress=False)
    assert more.reached.met
    assert more.draws.shape[1] > whole.draws.shape[1]
    fixed = tp.resume(folder, density, draws=more.draws.shape[1] + 10, progress=False)
    assert fixed.reached is None
    assert fixed.draws.shape[1] == more.draws.shape[1] + 10
    with pytest.raises(tp.InvalidInputError, match="draws must be left out with until"):
        tp.resume(folder, density, draws=5_000, until=GOALS)


def test_goals_travel_with_files(met, tmp_path):
    again = tp.load(met.save(tmp_path / "run.npz"))
    assert str(again.reached) == str(met.reached)


@pytest.mark.parametrize(
    ("until", "ended_by", "most"),
    [
        (tp.Until(ess=1e6), "draws", 20 * FIRST),
        (tp.Until(ess=1e6, draws=450), "draws", 450),
        (tp.Until(evaluations=4_000), "evaluations", 2_000),
    ],
)
def test_a_budget_ends_it(until, ended_by, most):
    result = drawn(until, chains=2)
    assert result.complete
    assert result.ended_by == ended_by
    assert result.draws.shape[1] <= most
    missed = [warning for warning in result.warnings if warning.name == "goals missed"]
    assert bool(missed) == bool(until.goals)
    for warning in missed:
        assert not warning.serious
        assert f"Until({ended_by}=...)" in warning.cure


def test_evaluations_are_spent_to_a_twentieth():
    result = drawn(tp.Until(evaluations=20_000))
    spent = sum(result.summary().chains.columns["evaluations"])
    assert 0.93 * 20_000 <= spent <= 1.01 * 20_000
    twin = drawn(tp.Until(evaluations=20_000))
    np.testing.assert_array_equal(twin.draws, result.draws)


@pytest.mark.parametrize(
    ("tune", "until", "expected"),
    [
        (700, tp.Until(evaluations=1_000), (700, 0)),  # as told
        (None, None, (5_000, 20_000)),
        (None, tp.Until(ess=100), (5_000, 20_000)),
        (None, tp.Until(evaluations=32_000), (2_000, 2_000)),  # half of it, for 4 chains of 2 levels
        (None, tp.Until(evaluations=160_000), (5_000, 10_000)),
        (None, tp.Until(evaluations=10**7), (5_000, 20_000)),  # no more than without a budget
        (None, tp.Until(evaluations=1), (1, 1)),
    ],
)
def test_tuning_takes_half_of_a_budget_at_most(tune, until, expected):
    assert tuning_of(tune, until, dim=2, levels=2, chains=4) == expected


def test_a_budget_alone_is_shared():
    """With the default tuning of 5,000 iterations nothing would be left to draw with."""
    result = drawn(tp.Until(evaluations=24_000), tune=None, chains=2)
    tuned = sum(int(chain.tuning.evaluations.sum()) for chain in result.chains)
    assert result.n_tune == 2_000
    assert 8_000 <= tuned <= 16_000, "scouts come on top"
    assert sum(result.summary().chains.columns["evaluations"]) <= 1.01 * 24_000
    assert result.draws.shape[1] > 500
    twin = drawn(tp.Until(evaluations=24_000), tune=None, chains=2)
    np.testing.assert_array_equal(twin.draws, result.draws)


def test_seconds_end_it():
    def slow(x):
        time.sleep(1e-4)
        return gaussian.py_func(x)

    began = time.monotonic()
    result = drawn(tp.Until(seconds=1.0, draws=10**6), slow, tune=100, levels=1, draws=100)
    assert result.ended_by == "seconds"
    assert result.draws.shape[1] >= 100
    assert time.monotonic() - began < 20.0


def test_what_cannot_be_computed_is_not_waited_for():
    def still(x):
        return 0.0 if np.all(x == 0.0) else -np.inf

    result = drawn(tp.Until(ess=100), still, draws=1_000, tune=10)
    assert result.ended_by == "unknown"
    assert result.draws.shape[1] == 1_000
    assert "more draws do not help" in next(w.cure for w in result.warnings if w.name == "goals missed")


def test_one_mode_has_no_weight_error():
    result = drawn(tp.Until(weight_error=0.01), gaussian)
    assert result.reached.found["weight_error"] == 0.0
    assert result.draws.shape[1] == FIRST


@pytest.mark.parametrize("options", [{"thin": 3}, {"keep": "draws"}], ids=str)
def test_rows_that_are_not_kept_change_nothing(met, options):
    result = drawn(tp.Until(ess=200), **options)
    thin = options.get("thin", 1)
    one = tp.sample(two_modes, **QUICK, **options, draws=thin * result.draws.shape[1])
    np.testing.assert_array_equal(one.draws, result.draws)


def test_how_far_to_the_next_look():
    assert growth({"ess": 100.0}, {"ess": 120.0}) == pytest.approx(1.05 * 1.2)
    assert growth(
        {"ess": 100.0, "weight_error": 0.012}, {"ess": 90.0, "weight_error": 0.01}
    ) == pytest.approx(1.05 * 1.44)
    assert growth({"ess": 1.0}, {"ess": 1e6}) == MOST_GROWTH
    assert growth({"ess": float("nan")}, {"ess": 1e6}) == MOST_GROWTH
    assert growth({"ess": 99.9}, {"ess": 100.0}) == 1.1
    assert 1.0 < growth({"r_hat": 1.02}, {"r_hat": 1.01}) < MOST_GROWTH


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "until must have a goal or a budget: one of ess"),
        ({"ess": 0}, r"until.ess must lie in \(0, inf\), got 0"),
        ({"ess": "many"}, "until.ess must be a number, got str"),
        ({"ess": float("nan")}, "until.ess must be a number, got NaN"),
        ({"weight_error": 1.0}, r"until.weight_error must lie in \(0, 1\), got 1"),
        ({"r_hat": 1.0}, r"until.r_hat must lie in \(1, inf\), got 1"),
        ({"draws": 2.5}, "until.draws must be a whole number, got float"),
        ({"evaluations": 0}, "until.evaluations must be at least 1, got 0"),
        ({"seconds": -1}, r"until.seconds must lie in \(0, inf\), got -1"),
    ],
)
def test_bad_goals_are_refused_by_name(given, message):
    with pytest.raises(tp.TemperanceError, match=message):
        tp.Until(**given)


@pytest.mark.parametrize(
    ("until", "options", "message"),
    [
        (400, {}, "until must be a temperance.Until, got int"),
        (tp.Until(r_hat=1.01), {"chains": 1}, "until.r_hat needs chains to compare"),
        (tp.Until(ess=10), {"draws": 0}, "draws must be at least 4 with until, got 0"),
        (tp.Until(ess=10, draws=100), {}, "until.draws must not be fewer than the first 200 draws, got 100"),
        (tp.Until(evaluations=10), {}, "until.evaluations must be at least 600, one for each iteration"),
        (
            tp.Until(evaluations=10_000),
            {"keep": "draws"},
            "keep must have 'statistics' for until.evaluations",
        ),
        (tp.Until(ess=10, draws=10**15), {}, "draws"),
    ],
)
def test_goals_that_do_not_fit_the_run_are_refused(until, options, message):
    with pytest.raises(tp.TemperanceError, match=message):
        drawn(until, **options)


def test_goals_as_plain_values_and_words():
    until = bounded(tp.Until(ess=2_000, weight_error=0.01), draws=100, chains=4)
    assert until.draws == 2_000
    assert until_from_plain(until_to_plain(until)) == until
    assert until_from_words("ess=2_000, weight_error=0.01,seconds=1.5,draws=2000") == tp.Until(
        ess=2_000, weight_error=0.01, seconds=1.5, draws=2_000
    )
    for wrong in ("", "ess", "ess=", "ess=x", "es=3", "ess=3,ess=4", "draws=1.5"):
        with pytest.raises(tp.TemperanceError, match="until"):
            until_from_words(wrong)


def test_a_result_without_goals(rng):
    assert reached_of(make_result(rng)) is None
    assert asdict(make_result(rng).setup)["until"] is None


def test_from_the_shell(tmp_path):
    out = tmp_path / "run"
    options = ["--draws", "200", "--tune", "300", "--chains", "2", "--levels", "3", "--seed", "1"]
    made = CliRunner().invoke(
        main, ["sample", "zoo:twenty_peaks", *options, "--until", "ess=150", "--out", f"{out}/"]
    )
    assert made.exit_code == 0
    assert "goals: met after" in made.stdout
    again = CliRunner().invoke(main, ["resume", str(out), "--until", "ess=1e9,draws=2000"])
    assert again.exit_code == 3, "it came to its end, and not to its goals"
    assert "the budget of draws is spent" in again.stdout
    wrong = CliRunner().invoke(main, ["sample", "zoo:twenty_peaks", *options, "--until", "es=150"])
    assert wrong.exit_code == 1
    assert "until must be NAME=NUMBER" in wrong.output
