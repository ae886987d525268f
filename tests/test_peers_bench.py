"""The comparison with peers: its cheap parts, and that its page is made from the committed rows."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from peers import ours, summary
from peers.contract import OURS, PEERS, Outcome, load_adapter
from peers.density import BudgetError, Density
from peers.measures import effective_size, measure
from peers.store import DONE, FAILED, Store, columns
from peers.summary import Cell
from peers.tasks import TASKS, get_task
from peers.worker import repetition

ROOT = Path(__file__).parent.parent
PEAKS = get_task("twenty_peaks-37500")
PAIR = get_task("two_modes-100000")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


def page_maker():
    spec = importlib.util.spec_from_file_location("peers_page", ROOT / "tools" / "peers_page.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker


def test_exact_draws_measure_as_expected() -> None:
    n = 20_000
    row = measure(PEAKS, Outcome(draws=PEAKS.problem.draw(n, seed=1), settings=""))
    assert row["missing"] == 0
    expected = np.sqrt(2.0 / np.pi * 19.0 / n)  # mean absolute deviation of a binomial share of 1/20
    assert row["occupancy_error"] == pytest.approx(expected, rel=0.5)
    assert row["mean_1"] == pytest.approx(PEAKS.problem.mean[0], abs=0.1)
    assert row["square_2"] == pytest.approx(PEAKS.problem.second_moments[1], abs=1.0)


def test_a_mode_without_draws_is_missing() -> None:
    row = measure(PAIR, Outcome(draws=np.full((10, PAIR.dim), -3.0), settings=""))
    assert row["missing"] == 1
    assert row["occupancy_error"] == pytest.approx(0.5 * (2.0 + 1.0))
    assert row["weight_2"] == 0.0


def test_weights_count_and_a_negligible_one_does_not_find_a_mode() -> None:
    draws = np.vstack([np.full((100, PAIR.dim), -3.0), np.full((1, PAIR.dim), 3.0)])
    light = Outcome(draws=draws, settings="", weights=np.append(np.ones(100), 1e-6))
    heavy = replace(light, weights=np.append(np.ones(100), 200.0))
    assert measure(PAIR, light)["missing"] == 1
    assert measure(PAIR, heavy)["missing"] == 0
    assert measure(PAIR, heavy)["weight_2"] == pytest.approx(2.0 / 3.0)


def test_equal_weights_change_nothing() -> None:
    draws = PEAKS.problem.draw(500, seed=2)
    plain = measure(PEAKS, Outcome(draws=draws, settings=""))
    weighted = measure(PEAKS, Outcome(draws=draws, settings="", weights=np.full(500, 7.0)))
    assert plain == pytest.approx(weighted)
    assert effective_size(np.full(500, 1.0 / 500)) == pytest.approx(500)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Outcome(draws=np.zeros((0, 2)), settings=""), "with n > 0"),
        (Outcome(draws=np.zeros((3, 5)), settings=""), r"\(3, 5\)"),
        (Outcome(draws=np.full((3, 2), np.nan), settings=""), "finite"),
        (Outcome(draws=np.zeros((3, 2)), settings="", weights=np.zeros(3)), "not all 0"),
    ],
)
def test_unusable_draws_are_refused(outcome, message) -> None:
    with pytest.raises(ValueError, match=message):
        measure(PEAKS, outcome)


def test_every_point_is_counted_and_the_budget_ends_a_run() -> None:
    density = Density(replace(PEAKS, budget=100))
    points = np.zeros((60, 2))
    assert density.rows(points) == pytest.approx([density(point) for point in points[:1]] * 60)
    assert density.count == 61
    with pytest.raises(BudgetError, match="must not exceed 102"):
        density.rows(points)


def test_the_density_is_the_zoos_with_and_without_data(rng) -> None:
    for task in TASKS.values():
        points = Density(task).from_unit(rng.random((5, task.dim)))
        problem = task.problem
        extra = () if problem.data is None else (problem.data,)
        expected = [problem.log_density(point, *extra) for point in points]
        assert Density(task).rows(points) == pytest.approx(expected)


def test_starts_lie_in_the_box_and_the_box_holds_the_mass() -> None:
    for task in TASKS.values():
        density = Density(task)
        assert density.log_box(task.start) == 0.0
        if task.problem.sampler is not None:
            draws = task.problem.draw(100_000, seed=3)  # at most 2e-8 of the mass is outside
            assert np.all((draws >= task.box[:, 0]) & (draws <= task.box[:, 1]))


def test_rows_are_resumed(store) -> None:
    assert store.missing_seeds(PAIR, "emcee", range(1, 4)) == [1, 2, 3]
    store.append(PAIR, "emcee", {"seed": 2, "status": DONE, "weight_2": 1.0 / 3.0})
    store.append(PAIR, "emcee", {"seed": 3, "status": FAILED, "message": "too, bad"})
    assert store.missing_seeds(PAIR, "emcee", range(1, 4)) == [1]
    first, second = store.rows(PAIR, "emcee")
    assert float(first["weight_2"]) == pytest.approx(1.0 / 3.0, rel=1e-6)
    assert second["message"] == "too, bad"
    store.forget(PAIR, "emcee")
    assert store.rows(PAIR, "emcee") == []


def test_a_file_with_other_columns_is_refused(store) -> None:
    path = store.path(PAIR, "emcee")
    path.parent.mkdir()
    path.write_text("seed,status\n1,done\n")
    with pytest.raises(
        ValueError, match=r"emcee\.csv of two_modes-100000 must have the columns seed, status,"
    ):
        store.rows(PAIR, "emcee")


def test_a_failure_is_a_row_with_its_message() -> None:
    def broken(_seed: int) -> Outcome:
        raise RuntimeError("too bad\nand a long trace")

    row = repetition(PEAKS, Density(PEAKS), broken, 1)[0]
    assert row["status"] == FAILED
    assert row["message"] == "RuntimeError: too bad"


def test_a_stated_number_beyond_the_budget_is_a_failure() -> None:
    stated = Outcome(draws=np.zeros((3, 2)), settings="", evaluations=2 * PEAKS.budget)
    row = repetition(PEAKS, Density(PEAKS), lambda _seed: stated, 1)[0]
    assert row["status"] == FAILED
    assert str(row["message"]).startswith("BudgetError: evaluations must not exceed 38,250")


def test_our_runs_meet_the_budget_and_are_judged_in_both_ways() -> None:
    task = replace(PEAKS, budget=4_000)
    sampler = ours.sampler(task, weighted=True, chains=2, levels=4)
    outcome = sampler(1)
    assert 4_000 - 8 < outcome.evaluations <= 4_000
    by_draws, by_weights = repetition(task, Density(task), sampler, 1)
    assert by_draws["evaluations"] == by_weights["evaluations"]
    assert by_weights["n_draws"] > by_draws["n_draws"]
    assert len(repetition(task, Density(task), ours.sampler(task, chains=1, levels=4), 1)) == 1


def test_our_evaluations_are_those_that_are_made() -> None:
    calls = []

    def counted(x: np.ndarray) -> float:
        calls.append(1)
        return PEAKS.problem.log_density(x)

    trimming = tp.Settings(trimming=tp.Trimming(after=50, every=10, slack=0.9))
    run = tp.sample(
        counted, initial=PEAKS.start, tune=200, draws=70, chains=2, cores=1, levels=6, seed=1,
        progress=False, settings=trimming,
    )  # fmt: skip
    assert min(run.n_levels) < 6
    assert ours.evaluations(run) == len(calls)


def cell(values: list[float], seconds: float = 1.0) -> Cell:
    n = len(values)
    numbers = {"seed": np.arange(n), "occupancy_error": np.array(values), "cpu_seconds": np.full(n, seconds)}
    return Cell(PEAKS, "emcee", numbers, (), (), (), ())


def test_intervals() -> None:
    assert summary.mean(np.array([1.0, 2.0, 3.0])) == pytest.approx((2.0, -0.4841, 4.4841), abs=1e-3)
    assert summary.share(np.ones(20)) == pytest.approx((1.0, 0.8389, 1.0), abs=1e-3)
    estimate = summary.rmse(np.array([1.0, -1.0, 1.0, -1.0]), 0.0)
    assert estimate == pytest.approx((1.0, 1.0, 1.0))
    assert np.isnan(summary.mean(np.array([1.0])).low)


def test_a_slower_and_better_peer_wins_per_evaluation_and_loses_per_second(rng) -> None:
    fast, slow = cell(list(rng.uniform(0.2, 0.3, 50))), cell(list(rng.uniform(0.1, 0.15, 50)), seconds=100.0)
    assert summary.log_ratio(fast, slow, per_second=False).low > 0.0
    assert summary.log_ratio(fast, slow, per_second=True).high < 0.0
    same = summary.log_ratio(fast, fast, per_second=True)
    assert same.low < 0.0 < same.high


@pytest.mark.parametrize("name", [*PEERS, *OURS])
def test_every_adapter_can_be_read_where_its_peer_is_not_installed(name) -> None:
    peer = load_adapter(name).PEER
    assert bool(peer.packages) == (name in PEERS)
    assert peer.title
    assert peer.notes


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="peer must be one of emcee, "):
        load_adapter("nobody")
    with pytest.raises(ValueError, match="task must be one of twenty_peaks-37500, "):
        get_task("nothing")


def test_committed_rows_are_whole_and_within_their_budget() -> None:
    store = page_maker().Store(page_maker().RESULTS)
    for task in TASKS.values():
        for name in (*PEERS, *OURS):
            rows = store.rows(task, name)
            assert len({row["seed"] for row in rows}) == len(rows)
            done = [row for row in rows if row["status"] == DONE]
            assert all(int(row["evaluations"]) <= 1.02 * task.budget for row in done)
            assert all(row[column] for row in done for column in columns(task) if column != "message")


def test_the_page_is_made_from_the_committed_rows() -> None:
    maker = page_maker()
    assert maker.PAGE.read_text(encoding="utf-8") == maker.render(maker.Store(maker.RESULTS))
