"""Workers change nothing: the draws are those of a run without them, whoever evaluates the log density.

Pools of this process (`Here`) show what is asked of a pool and what becomes of its answers, at the price of a
function call; real processes show that it holds with them, also when they are killed.
"""

import contextlib
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian, two_modes
from kinds import KINDS, form
from temperance.executors import cores, pickling
from temperance.executors import work as work_module
from temperance.executors.trouble import packed
from temperance.executors.work import Work, done, done_under_mpi
from temperance.executors.workers import Process, Workers
from temperance.moves.robust import ROBUST
from temperance.runs import drive
from temperance.runs.sent import Made, Order
from temperance.targets import pooled
from temperance.targets.ahead import Ahead
from temperance.targets.answers import Answer
from temperance.targets.rows import UNKNOWN, Verdict, even_parts, looked_at
from test_segments import DRAWS, SETUPS, TUNE

OPTIONS = {"initial": np.full(2, 0.5), "levels": 3, "chains": 2, "seed": 5, "progress": False}
SHORT = {**OPTIONS, "tune": 60, "draws": 40}


class Here:
    """A pool with ``map`` that has this process do the work, after ``change`` has seen the answers."""

    def __init__(self, size, change=list):
        self.size, self.change = size, change
        self.batches = []

    def map(self, function, items):
        items = list(items)
        self.batches.append(items)
        return self.change([function(item) for item in items])


def points(pool, **options):
    return tp.Pool(pool, share="points", **options)


def chains(pool, **options):
    return tp.Pool(pool, share="chains", **options)


each_share = pytest.mark.parametrize("share", [points, chains])
each_share_in_time = pytest.mark.parametrize("share", [points, pytest.param(chains, marks=pytest.mark.slow)])


def assert_same_runs(one, other):
    """All that was recorded, and all that the chains ended with, in all bits."""
    assert len(one.chains) == len(other.chains)
    for chain, twin in zip(one.chains, other.chains, strict=True):
        for name in ("beta", "log_scale", "mean", "covariance", "bound_hits"):
            np.testing.assert_array_equal(getattr(chain, name), getattr(twin, name))
        for trace, same in ((chain.tuning, twin.tuning), (chain.sampling, twin.sampling)):
            for name in trace._fields:
                np.testing.assert_array_equal(getattr(trace, name), getattr(same, name))


def options_of(name):
    parts, settings, strategy = SETUPS[name]
    given = {key.replace("log_density", "model"): value for key, value in parts.items()}
    hottest = 0.0 if "log_prior" in parts else 0.05
    ladder = {"levels": None, "inverse_temperatures": (1.0, 0.6, 0.3, 0.1, hottest)}
    rows = {"vectorized": name.startswith("vectorised")}
    run = {"tune": TUNE, "draws": DRAWS, "settings": settings, "swaps": strategy}
    return {**OPTIONS, **given, **ladder, **rows, **run}


@pytest.fixture(scope="module")
def serial():
    """Runs without workers, each made once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = tp.sample(**options_of(name))
        return made[name]

    return get


@pytest.fixture(scope="module")
def processes():
    """Processes that stay for all tests of this file."""
    with tp.Pool(2) as pool:
        yield pool


@pytest.fixture(params=["points", "chains"])
def workers(request, processes):
    """The same, sharing points or chains."""
    pool = replace(processes, share=request.param)
    pool._open.extend(processes._open)
    return pool


# ---- the same draws


@pytest.mark.parametrize("size", [3, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 2, 7))])
@pytest.mark.parametrize("name", SETUPS)
def test_rows_by_worker_make_the_same_run(name, size, serial):
    """Trimming, jumps, scouts, slices, priors, sweeps; compiled, plain and vectorised densities."""
    assert_same_runs(tp.sample(pool=points(Here(size)), **options_of(name)), serial(name))


@pytest.mark.parametrize("name", SETUPS)
def test_chains_by_worker_make_the_same_run(name, serial, monkeypatch):
    """In short segments, so that learning and freezing come at their ends."""
    monkeypatch.setattr(drive, "SENT_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(drive, "FIRST_SEGMENT", 7)
    pool = Here(2)
    assert_same_runs(tp.sample(pool=chains(pool), **options_of(name)), serial(name))
    assert orders(pool) > 20


def test_answers_to_other_questions_would_be_seen(serial):
    """Broken: answers in another order than the questions."""
    mixed = tp.sample(
        pool=points(Here(5, lambda answers: answers[::-1])), **options_of("plain Python, jumps")
    )
    with pytest.raises(AssertionError):
        assert_same_runs(mixed, serial("plain Python, jumps"))


@pytest.mark.parametrize("kind", KINDS)
def test_processes_make_the_same_run(kind, workers):
    function = form(kind, two_modes)
    rows = {"vectorized": kind == "vectorized"}
    assert_same_runs(tp.sample(function, pool=workers, **rows, **SHORT), tp.sample(function, **rows, **SHORT))


def test_a_model_with_priors_and_data_goes_to_workers(workers):
    def likelihood(parameters, data):
        return -0.5 * float(np.sum((data - parameters["mu"]) ** 2)) / parameters["sigma"] ** 2

    priors = {"mu": tp.priors.normal(0.0, 3.0, shape=(2,)), "sigma": tp.priors.half_normal(1.0)}
    model = tp.Model(likelihood, parameters=priors, data=np.array([1.0, -1.0]))
    options = {**SHORT, "initial": None}
    assert_same_runs(tp.sample(model, pool=workers, **options), tp.sample(model, **options))


@pytest.mark.slow
def test_a_compiled_model_goes_to_workers(workers):
    at = tp.offsets({"mu": tp.priors.normal(0.0, 3.0)})

    @numba.njit
    def likelihood(x):
        return -0.5 * (x[at.mu] - 1.0) ** 2

    model = tp.Model(likelihood, parameters={"mu": tp.priors.normal(0.0, 3.0)})
    options = {**SHORT, "initial": None, "chains": 1}
    assert_same_runs(tp.sample(model, pool=workers, **options), tp.sample(model, **options))


def test_threads_of_others_make_the_same_run(serial):
    """And nothing need be pickled."""
    lock = threading.Lock()
    function = form("plain", two_modes)

    def locked(x):
        with lock:
            return function(x)

    with ThreadPoolExecutor(3) as threads:
        made = tp.sample(locked, pool=threads, **SHORT)
    assert_same_runs(made, tp.sample(function, **SHORT))


@each_share
def test_a_run_on_disk_goes_on_with_workers_and_without(share, tmp_path, serial, monkeypatch):
    """Broken: anything of the pool in the folder or in the value of a chain."""
    monkeypatch.setattr(drive, "SENT_SEGMENT_SECONDS", 1e-9)
    name = "plain Python, jumps"
    options = options_of(name)
    model = options.pop("model")
    stop = tp.Stop()
    calls = itertools.count()

    def stopping(answers):
        if next(calls) == (150 if share is points else 20):
            stop.set()
            time.sleep(0.2)  # until the run has seen it
        return answers

    with pytest.warns(tp.IncompleteWarning):
        tp.sample(model, pool=share(Here(2, stopping)), store=tmp_path / "run", stop=stop, **options)
    assert not tp.load(tmp_path / "run").complete
    with pytest.warns(tp.IncompleteWarning):
        tp.resume(tmp_path / "run", model, progress=False, stop=_set())
    again = tp.resume(tmp_path / "run", model, pool=share(Here(3)), progress=False)
    assert_same_runs(again, serial(name))


def _set():
    stop = tp.Stop()
    stop.set()
    return stop


def orders(pool):
    return sum(isinstance(item[2], Order) for batch in pool.batches for item in batch)


def test_cheap_densities_go_to_workers_by_chains_and_dear_ones_by_points():
    cheap, dear, alone, own = Here(2), Here(2), Here(2), Here(2)
    few = {**OPTIONS, "tune": 5, "draws": 5}
    tp.sample(plain_gaussian, pool=cheap, **few)
    tp.sample(lambda x: time.sleep(0.008) or 0.0, pool=dear, **few)
    tp.sample(plain_gaussian, pool=alone, **{**few, "chains": 1})
    handmade = replace(tp.swaps.adjacent(), name="by hand")
    tp.sample(plain_gaussian, pool=own, swaps=handmade, **few)
    assert [orders(pool) > 0 for pool in (cheap, dear, alone, own)] == [True, False, False, False]


@pytest.mark.parametrize("n_rows", range(1, 9))
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 100])
def test_parts_are_all_rows_once_and_even(n_rows, n_parts):
    parts = even_parts(n_rows, n_parts)
    assert [row for part in parts for row in range(n_rows)[part]] == list(range(n_rows))
    sizes = [part.stop - part.start for part in parts]
    assert len(parts) == min(n_rows, n_parts)
    assert max(sizes) - min(sizes) <= 1 <= min(sizes)


def slowly(answers):
    time.sleep(0.05)
    return answers


def test_starts_of_all_chains_are_asked_for_at_once():
    """And a start that fails is that of the first chain that it fails in."""
    pool = Here(1, slowly)
    tp.sample(form("plain", gaussian), pool=pool, **{**SHORT, "chains": 4, "tune": 0, "draws": 0})
    assert max(len(batch) for batch in pool.batches[:5]) >= 2
    starts = np.full((4, 3, 2), 0.5)
    starts[2:, 1] = 100.0
    far = {**SHORT, "chains": 4, "initial": starts}
    with pytest.raises(tp.StartError, match="chain 3, level 2"):
        tp.sample(lambda x: gaussian(x) if abs(x[0]) < 50 else -math.inf, pool=Here(2), **far)


# ---- rows of vectorised densities

TOGETHER = {**SHORT, "tune": 300, "draws": 200, "vectorized": True}


def crowded(points):
    """Last bits that depend on the number of rows, as those of a matrix product may."""
    return form("vectorized", two_modes)(points) * (1.0 + 2.0**-50 * len(points))


def product(points):
    return -0.5 * np.sum((points @ np.array([[1.0, 0.3], [0.1, 0.7]])) ** 2, axis=1)


@pytest.mark.parametrize("name", ["over rows", "crowded", "product"])
def test_rows_are_asked_for_ahead_only_where_they_stand_alone(name, hits):
    density = {"over rows": form("vectorized", two_modes), "crowded": crowded, "product": product}[name]
    made = tp.sample(density, pool=points(Here(3)), **TOGETHER)
    assert_same_runs(made, tp.sample(density, **TOGETHER))
    if name == "over rows":
        assert n_jumps(made) > 50
        assert len(hits) == n_ahead(made)
    if name == "crowded":
        assert hits == []


def test_rows_shared_out_that_do_not_stand_alone_would_be_seen(monkeypatch):
    """Broken: a look that takes all rows to stand alone. Those that do are shared out as others are."""
    monkeypatch.setattr(pooled, "looked_at", lambda *_: Verdict(stand_alone=True, split_pays=True))
    density, pool = form("vectorized", two_modes), Here(3)
    assert_same_runs(tp.sample(density, pool=points(pool), **TOGETHER), tp.sample(density, **TOGETHER))
    sizes = [len(item[2][0]) for batch in pool.batches for item in batch]
    assert sizes.count(1) > 0.9 * len(sizes)
    with pytest.raises(AssertionError):
        assert_same_runs(tp.sample(crowded, pool=points(Here(3)), **TOGETHER), tp.sample(crowded, **TOGETHER))


def answered(values, seconds=0.0, trouble=None):
    future = Future()
    future.set_result(Answer(np.column_stack([values, np.zeros_like(values)]), seconds, 0, trouble))
    return future


@pytest.mark.parametrize(
    ("value", "stands"),
    [
        (lambda x: x[:, 0], True),
        (lambda x: x[:, 0] * (1.0 + 2.0**-50 * (len(x) % 2)), False),
        (lambda x: np.where(np.arange(len(x)) < 20, x[:, 0], -math.inf), False),
        (lambda x: x[:, 0] + math.nan, False),
    ],
    ids=["alone", "odd sizes", "position and support", "nowhere known"],
)
def test_rows_that_depend_on_others_are_seen(value, stands):
    seen = looked_at(lambda x: answered(value(x), seconds=float(len(x))), np.zeros((4, 3)), 0.0, None)
    assert seen.stand_alone == stands
    assert seen.split_pays
    flat = looked_at(lambda x: answered(value(x), seconds=1.0), np.zeros((4, 3)), 0.0, None)
    assert not flat.split_pays


def test_rows_that_fail_are_left_to_the_run():
    broken = Future()
    broken.set_exception(tp.PoolError("gone"))
    assert looked_at(lambda _: broken, np.zeros((4, 3)), 1.0, None) == UNKNOWN
    trouble = packed(ValueError("there"))
    assert looked_at(lambda x: answered(x[:, 0], trouble=trouble), np.zeros((4, 3)), 1.0, None) == UNKNOWN
    assert looked_at(lambda _: Future(), np.zeros((4, 3)), 1.0, 0.01) == UNKNOWN


# ---- jumps and hot levels ahead of time

JUMPY = {**OPTIONS, "tune": 1_500, "draws": 400}
FIVE = {**JUMPY, "levels": 5, "chains": 1, "settings": tp.Settings(trimming=tp.Trimming(enabled=False))}


@pytest.fixture(scope="module")
def jumpy():
    return tp.sample(form("plain", two_modes), **JUMPY)


@pytest.fixture
def hits(monkeypatch):
    """How many points had been evaluated before they were asked for."""
    found = []
    taken = Ahead.taken

    def noted(self, point):
        future = taken(self, point)
        found.extend([] if future is None else [1])
        return future

    monkeypatch.setattr(Ahead, "taken", noted)
    return found


def n_jumps(result):
    return sum(int(np.sum(chain.sampling.jump >= 0)) for chain in result.chains)


def n_hot(result):
    """Moves of hot levels after a rest: those of the first draw come before anything was looked at."""
    moved = [chain.sampling.n_moved[1:].astype(int) for chain in result.chains]
    return sum(int(np.sum(levels[levels > 1] - 1)) for levels in moved)


def n_early(result):
    """Jumps of the tuning, which are known from one lesson to the next."""
    return sum(int(np.sum(chain.tuning.jump >= 0)) for chain in result.chains)


def n_ahead(result):
    """Points that could be known before they were asked for."""
    return n_early(result) + n_jumps(result) + n_hot(result)


@pytest.mark.parametrize("size", [1, 3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 7))])
def test_every_jump_is_evaluated_ahead(size, jumpy, hits):
    """And every move of hot levels that have rested.

    Broken: a look at other random numbers than those of the loop, or at where hot levels were before their
    last swap, which changes no draw and is no use.
    """
    assert_same_runs(tp.sample(form("plain", two_modes), pool=points(Here(size)), **JUMPY), jumpy)
    assert n_jumps(jumpy) > 300
    assert n_early(jumpy) > 100
    assert n_hot(jumpy) > 50
    assert len(hits) == n_ahead(jumpy)


def adapting(**options):
    return {"settings": replace(FIVE["settings"], adaptation=tp.Adaptation(**options))}


HOT = {
    "short segments": {},
    "single coordinates": adapting(coordinate_every=3),
    "many swaps, the paper's walk": {**adapting(walk="covariance"), "swaps": tp.swaps.heat_bath()},
    "fresh proposals at the prior": {
        "inverse_temperatures": (1.0, 0.5, 0.2, 0.0),
        "levels": None,
        "log_prior": lambda x: -0.005 * float(x @ x),
    },
}


@pytest.mark.parametrize("name", HOT)
def test_moves_of_hot_levels_are_known_ahead_whatever_they_are(name, hits, monkeypatch):
    """In segments that end anywhere in a rest.

    Broken: random numbers of other iterations; answers in the order in which they were asked for; a
    covariance that takes in once more, while somebody looks ahead, what it had yet to learn.
    """
    monkeypatch.setattr(drive, "SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(drive, "FIRST_SEGMENT", 1)
    options = {**FIVE, "tune": 600, "draws": 200, **HOT[name]}
    density = {"log_likelihood" if "log_prior" in options else "model": form("plain", two_modes)}
    made = tp.sample(**density, pool=points(Here(3)), **options)
    assert_same_runs(made, tp.sample(**density, **options))
    assert n_hot(made) > 10
    assert len(hits) == n_ahead(made)


@pytest.mark.parametrize(
    "kind", ["slices", pytest.param("a move of one's own", marks=pytest.mark.slow), "always adapting"]
)
def test_moves_that_cannot_be_known_are_waited_for(kind, hits):
    """Those that ask for several points, whose code is not ours, or whose scales still change."""
    chosen = {
        "slices": {"walk": "slice"},
        "a move of one's own": {"walk": replace(ROBUST, name="mine")},
        "always adapting": {"when": "always"},
    }[kind]
    options = {**FIVE, "tune": 300, "draws": 100, **adapting(**chosen)}
    made = tp.sample(form("plain", two_modes), pool=points(Here(3)), **options)
    assert_same_runs(made, tp.sample(form("plain", two_modes), **options))
    assert len(hits) == n_early(made) + n_jumps(made)
    assert n_jumps(made) > 10


def test_jumps_ahead_of_time_go_on_from_disk(jumpy, tmp_path, hits):
    stop, model, folder = tp.Stop(), form("plain", two_modes), tmp_path / "run"

    def stopping(answers):
        if len(hits) > 200:
            stop.set()
            time.sleep(0.2)
        return answers

    with pytest.warns(tp.IncompleteWarning, match=r"\d evaluations? ahead of time had no use"):
        tp.sample(model, pool=points(Here(2, stopping)), store=folder, stop=stop, **JUMPY)
    assert_same_runs(tp.resume(folder, model, pool=points(Here(2)), progress=False), jumpy)
    # One iteration of each chain may be made again, and what comes first is known to nobody.
    assert abs(len(hits) - n_ahead(jumpy)) <= 2 * OPTIONS["levels"]


def test_processes_evaluate_jumps_ahead(jumpy, workers, hits):
    assert_same_runs(tp.sample(form("plain", two_modes), pool=workers, **JUMPY), jumpy)
    assert len(hits) == (n_ahead(jumpy) if workers.share == "points" else 0)


@pytest.mark.parametrize("value", [math.nan, ValueError("not there")])
def test_what_a_jump_ahead_meets_takes_effect_when_its_turn_comes(value, jumpy, hits):
    """Broken: an error that ends the run when it is met."""
    options = {**JUMPY, "chains": 1, "seed": jumpy.seed}
    rows = tp.sample(form("plain", two_modes), **options).chains[0].sampling
    jumps = np.flatnonzero(rows.jump >= 0)
    bad = rows.proposal[jumps[len(jumps) // 2]]

    def density(x):
        if np.array_equal(x, bad):
            if isinstance(value, Exception):
                raise value
            return value
        return float(two_modes(x))

    ended, twin = same_end(density, points(Here(2)), **options)
    assert f"iteration {1_500 + jumps[len(jumps) // 2] + 1}" in str(ended)
    np.testing.assert_array_equal(ended.result.draws, twin.result.draws)
    assert ended.result.draws.shape[1] == jumps[len(jumps) // 2]
    assert len(hits) > 50


@pytest.mark.parametrize("value", [math.nan, ValueError("not there")])
def test_what_a_hot_level_meets_ahead_takes_effect_when_its_turn_comes(value, hits):
    """Broken: an error that ends the run when it is met, or one that is told of another level."""
    calls = []
    options = {**FIVE, "tune": 600, "draws": 200}
    rows = tp.sample(lambda x: calls.append(x) or float(two_modes(x)), cores=1, **options).chains[0].sampling
    turns = np.flatnonzero(rows.n_moved > 1)
    turn = turns[len(turns) // 2]
    hot = int(rows.evaluations[turn:].sum()) - 2  # the third point of that draw, by calls from the end
    bad = calls[-hot]

    def density(x):
        if np.array_equal(x, bad):
            if isinstance(value, Exception):
                raise value
            return value
        return float(two_modes(x))

    ended, twin = same_end(density, points(Here(2)), **options)
    assert "level 3" in str(ended)
    assert f"iteration {600 + turn + 1}" in str(ended)
    np.testing.assert_array_equal(ended.result.draws, twin.result.draws)
    assert ended.result.draws.shape[1] == turn
    assert len(hits) > 50


def test_points_that_come_to_be_known_are_asked_for_beside_the_others():
    """Broken: hot levels that leave no room for jumps, or that nobody counts as wasted."""
    asked, found = [], [np.array([[7.0, 7.0], [8.0, 8.0], [9.0, 9.0]])]

    def ask(point):
        asked.append((point[0].tolist(), Future()))
        return asked[-1][1]

    ahead = Ahead(ask, 1)
    ahead.look()
    ahead.expect(iter(np.arange(8.0).reshape(4, 2)), lambda: found.pop() if found else ())
    ahead.look()
    ahead.look()
    assert [point for point, _ in asked] == [[0.0, 1.0], [7.0, 7.0], [8.0, 8.0], [9.0, 9.0]]
    assert ahead.taken(np.array([8.0, 8.0])) is asked[2][1]
    assert len(asked) == 4
    assert ahead.taken(np.array([0.0, 1.0])) is asked[0][1]
    ahead.look()
    assert [point for point, _ in asked][4:] == [[2.0, 3.0]]
    asked[1][1].set_result(None)
    assert ahead.forget() == 1
    assert asked[3][1].cancelled()
    found.append(np.zeros((1, 2)))
    ahead.look()
    assert len(asked) == 5


def test_only_so_many_points_are_asked_for_ahead():
    asked = []

    def ask(point):
        asked.append((point[0].tolist(), Future()))
        return asked[-1][1]

    ahead = Ahead(ask, 2)
    assert not ahead.expects
    ahead.expect(iter(np.arange(8.0).reshape(4, 2)))
    assert ahead.expects
    assert [point for point, _ in asked] == [[0.0, 1.0], [2.0, 3.0]]
    assert ahead.taken(np.array([9.0, 9.0])) is None
    assert len(asked) == 2
    assert ahead.taken(np.array([0.0, 1.0])) is asked[0][1]
    assert ahead.taken(np.array([0.0, 1.0])) is None
    assert len(asked) == 2, "what is needed now is asked for first"
    ahead.look()
    assert [point for point, _ in asked][2:] == [[4.0, 5.0]]
    asked[2][1].set_result(None)
    assert ahead.forget() == 1
    assert asked[1][1].cancelled()
    assert ahead.taken(np.array([2.0, 3.0])) is None
    assert len(asked) == 3


# ---- what fails in a density


def same_end(function, pool, kind=tp.DensityError, **options):
    """The error of a run with workers and that of one without; their results are the same, too."""
    with pytest.raises(kind) as with_workers:
        tp.sample(function, pool=pool, **{**SHORT, **options})
    with pytest.raises(kind) as without:
        tp.sample(function, **{**SHORT, **options})
    assert str(with_workers.value) == str(without.value)
    return with_workers.value, without.value


class OddError(Exception):
    """Cannot be read back: it wants two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize("error", [lambda: ValueError("far"), lambda: OddError(1, 2), ZeroDivisionError])
def test_an_error_is_the_same_as_without_workers(error, workers):
    """The words, the place in the user's code, and the draws before it; one chain, as others go on."""

    def density(x):
        if x[0] > 2.5:
            raise error()
        return -0.5 * float(x @ x)

    ended, twin = same_end(density, workers, chains=1)
    assert "test_pool.py:" in str(ended)
    np.testing.assert_array_equal(ended.result.draws, twin.result.draws)
    said = str(ended.__cause__)
    assert str(error()) in said
    assert "raise error()" in str(ended.__cause__.__cause__)  # the worker's own traceback


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "text"])
def test_an_odd_value_is_told_as_without_workers(value, workers):
    same_end(lambda x: value if x[0] > 2.5 else -0.5 * float(x @ x), workers, chains=1)


def test_an_exit_of_the_density_is_one_of_the_run(workers):
    def density(x):
        if x[0] > 2.5:
            sys.exit(3)
        return -0.5 * float(x @ x)

    with pytest.raises(SystemExit) as ended:
        tp.sample(density, pool=workers, **SHORT)
    assert ended.value.code == 3
    assert ended.value.result.draws.shape[0] == 2


def test_the_level_of_an_error_is_that_of_its_row(workers):
    """Broken: the row within what one worker was asked for."""
    starts = np.zeros((3, 2))
    starts[2] = 100.0

    def density(x):
        if x[0] > 50.0:
            raise ValueError
        return 0.0

    with pytest.raises(tp.DensityError, match="level 3"):
        tp.sample(density, pool=workers, **{**SHORT, "initial": starts})


# ---- what fails in a pool


def once(marker, act):
    """A density that does something when it is called for the first time by anybody, and never again."""

    def density(x):
        if x[0] > 1.0:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                act()
        return -0.5 * float(x @ x)

    return density


def plain_gaussian(x):
    return -0.5 * float(x @ x)


def test_a_killed_worker_is_replaced_and_the_draws_are_the_same(workers, tmp_path):
    """Row 54."""
    marker = str(tmp_path / "killed")
    made = tp.sample(once(marker, lambda: os.kill(os.getpid(), signal.SIGKILL)), pool=workers, **SHORT)
    assert Path(marker).exists()
    assert_same_runs(made, tp.sample(plain_gaussian, **SHORT))


@each_share_in_time
def test_points_that_workers_die_over_end_the_run_with_all_draws(share, tmp_path):
    def density(x):
        if x[0] > 2.5:
            os._exit(7)
        return -0.5 * float(x @ x)

    with pytest.raises(
        tp.PoolError, match=r"2 workers, .*each ended with exit code 7; in chain \d, "
    ) as ended:
        tp.sample(density, pool=share(1, retries=1), store=tmp_path / "run", **SHORT)
    assert "temperance.resume" in str(ended.value)
    whole = tp.sample(plain_gaussian, **SHORT)
    for chain, full in zip(ended.value.result.chains, whole.chains, strict=True):
        np.testing.assert_array_equal(chain.tuning.draws, full.tuning.draws[: len(chain.tuning.draws)])
    assert_same_runs(tp.resume(tmp_path / "run", plain_gaussian, progress=False), whole)


# ---- workers of our own, asked directly


@pytest.fixture
def started():
    """A way to begin workers, which end with the test."""
    with contextlib.ExitStack() as stack:

        def begin(n, **options):
            made = Workers(n, **{"timeout": None, "retries": 0, **options})
            stack.callback(made.close)
            return made

        yield begin


def napping(seconds):
    time.sleep(seconds)
    return os.getpid()


SOON = 60.0  # seconds for what takes none on a machine that is not busy


def test_who_asks_writes_to_a_worker_that_is_free(started, monkeypatch):
    """Broken: a thread between them, for which a core has to be found while workers compute on all."""
    pool, work, seen = started(2), Work(napping, "napping"), []
    send = Process.send

    def noted(process, task):
        seen.append(threading.current_thread())
        send(process, task)

    monkeypatch.setattr(Process, "send", noted)
    first = [pool.ask(work, 0.2) for _ in range(2)]
    assert len({answer.result(SOON) for answer in first}) == 2
    assert threading.current_thread() not in seen, "processes are begun by others"
    while len(pool._free) < 2:
        time.sleep(0.001)
    seen.clear()
    again = [pool.ask(work, 0.2) for _ in range(3)]
    assert seen[:2] == [threading.current_thread()] * 2
    assert {answer.result(SOON) for answer in again} == {answer.result(SOON) for answer in first}
    assert len(seen) == 3
    assert seen[2] is not threading.current_thread(), "all were busy"


def test_what_somebody_waits_for_comes_first(started):
    pool, work, order = started(1), Work(napping, "napping"), []
    pool.ask(work, 0.0).result(SOON)
    busy = pool.ask(work, 0.3)
    asked = {name: pool.ask(work, 0.0, name != "now") for name in ("later", "still later", "now")}
    for name, answer in asked.items():
        answer.add_done_callback(lambda _, name=name: order.append(name))
    for answer in (busy, *asked.values()):
        answer.result(SOON)
    assert order == ["now", "later", "still later"]


def test_a_worker_that_dies_while_it_is_free_is_replaced(started):
    """Nobody's question is lost, and none of its tries."""
    pool, work = started(1), Work(napping, "napping")
    first = pool.ask(work, 0.0).result(SOON)
    while not pool._free:
        time.sleep(0.001)
    os.kill(first, signal.SIGKILL)
    while pool._free:
        time.sleep(0.001)
    assert pool.ask(work, 0.0).result(SOON) != first


def test_what_a_worker_cannot_read_is_told_and_forgotten(started):
    """The answer to the question that came with it is nobody's. Broken: the next one gets it."""
    pool, good, bad = started(1), Work(napping, "napping"), Work(abs, "abs")
    bad.payload = b"not a pickle"
    for _ in range(2):
        assert pool.ask(good, 0.0).result(SOON) > 0
        with pytest.raises(tp.PoolError, match="cannot read what it was sent"):
            pool.ask(bad, 1).result(SOON)


def test_nothing_is_asked_of_workers_that_have_ended(started):
    """Those that are busy are killed, what waits is cancelled, and what comes too late is, too."""
    pool, work = started(1), Work(napping, "napping")
    pool.ask(work, 0.0).result(SOON)
    busy, waits = pool.ask(work, 600.0), pool.ask(work, 0.0)
    pool.close()
    assert isinstance(busy.exception(SOON), tp.PoolError)
    assert waits.cancelled()
    assert pool.ask(work, 0.0).cancelled()


@pytest.mark.parametrize("n_workers", [1, 3])
def test_many_ask_at_once_while_workers_die(started, n_workers, rng):
    """Each gets the answer to its own question; what was asked of the dead is asked again."""
    pool, work = started(n_workers, retries=50), Work(abs, "abs")
    wrong, n_answered, n_killed = [], itertools.count(1), []

    def asking(first):
        for k in range(first, first + 150):
            answers = [pool.ask(work, -k, k % 2 == 0), pool.ask(work, -k - 0.5)]
            if next(n_answered) % 101 == 0:
                process = pool._places[int(rng.integers(n_workers))].process
                if process is not None:
                    process.kill()
                    n_killed.append(1)
            wrong.extend(k for one, n in zip(answers, (k, k + 0.5), strict=True) if one.result(SOON) != n)

    askers = [threading.Thread(target=asking, args=(1000 * k,)) for k in range(4)]
    for thread in askers:
        thread.start()
    for thread in askers:
        thread.join()
    assert not wrong
    assert n_killed


def test_a_worker_that_hangs_is_replaced_after_the_time_out(tmp_path):
    made = tp.sample(
        once(str(tmp_path / "hung"), lambda: time.sleep(600)), pool=points(1, timeout=0.5), **SHORT
    )
    assert_same_runs(made, tp.sample(plain_gaussian, **SHORT))


def test_a_pool_of_others_that_hangs_is_given_up():
    calls = itertools.count()

    def slow(answers):
        time.sleep(3.0 if next(calls) > 100 else 0.0)
        return answers

    options = {**SHORT, "tune": 10**6, "chains": 1, "memory_limit": 8.0}
    with pytest.raises(tp.PoolError, match=r"has not answered for 0\.5 seconds") as ended:
        tp.sample(plain_gaussian, pool=tp.Pool(Here(1, slow), timeout=0.5), **options)
    assert ended.value.result is not None


def test_a_density_that_cannot_be_sent_is_refused_before_the_run(workers, monkeypatch):
    """Row 53."""
    lock = threading.Lock()

    def locked(x):
        with lock:
            return 0.0

    with pytest.raises(tp.InvalidInputError, match=r"pool: locked cannot be sent to workers.*of a module"):
        tp.sample(locked, pool=workers, **SHORT)
    monkeypatch.setattr(pickling, "has_cloudpickle", lambda: False)
    with pytest.raises(tp.InvalidInputError, match=r"<lambda> cannot be sent .*pip install cloudpickle"):
        tp.sample(lambda x: 0.0, pool=workers, **SHORT)
    assert_same_runs(tp.sample(plain_gaussian, pool=Here(2), **SHORT), tp.sample(plain_gaussian, **SHORT))
    monkeypatch.setattr(plain_gaussian, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "plain_gaussian", plain_gaussian, raising=False)
    with pytest.raises(tp.InvalidInputError, match=r"in no module that they can import; .*cloudpickle"):
        tp.sample(plain_gaussian, pool=workers, **SHORT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda answers: answers[:-1], r"map returned 0 answers to 1 questions"),
        (lambda answers: [None for _ in answers], r"must answer with \(3, 2\) numbers, got NoneType"),
        (lambda answers: [shortened(one) for one in answers], r"\(3, 2\) numbers, got \(2, 2\)"),
    ],
    ids=["too few", "nothing", "too short"],
)
def test_wrong_answers_are_refused(change, message):
    """Row 55."""
    with pytest.raises(tp.PoolError, match=message):
        tp.sample(plain_gaussian, pool=Here(1, change), **{**SHORT, "chains": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made, first: None, "must answer with a segment of a chain, got NoneType"),
        (lambda made, first: first, r"made none of the \d+ iterations"),
    ],
    ids=["nothing", "no progress"],
)
def test_wrong_segments_are_refused(change, message, monkeypatch):
    """Broken: a chain that is handed the same value again and again, for ever."""
    monkeypatch.setattr(drive, "SENT_SEGMENT_SECONDS", 1e-9)
    seen = []

    def changed(answers):
        seen.extend(one for one in answers if isinstance(one, Made))
        return [change(one, seen[0]) if isinstance(one, Made) and len(seen) > 1 else one for one in answers]

    with pytest.raises(tp.PoolError, match=message) as ended:
        tp.sample(plain_gaussian, pool=chains(Here(1, changed)), **{**SHORT, "chains": 1})
    assert len(ended.value.result.chains[0].tuning.draws) > 0


def shortened(answer):
    return type(answer)(answer.values[:-1], 0.0) if hasattr(answer, "values") else answer


def test_a_pool_that_fails_midway_ends_the_run_with_its_draws():
    calls = itertools.count()

    def failing(answers):
        if next(calls) > 150:
            raise BrokenProcessPool("somebody was killed")
        return answers

    options = {**SHORT, "tune": 300, "chains": 1, "settings": tp.Settings(jumps=tp.Jumps(enabled=False))}
    with pytest.raises(
        tp.PoolError, match=r"the pool failed \(BrokenProcessPool: .*pool=4.*in chain 1"
    ) as ended:
        tp.sample(plain_gaussian, pool=Here(1, failing), **options)
    whole = tp.sample(plain_gaussian, **options)
    rows = ended.value.result.chains[0].tuning.draws
    assert 100 < len(rows) < 300
    np.testing.assert_array_equal(rows, whole.chains[0].tuning.draws[: len(rows)])


def test_a_pool_that_was_shut_down_is_refused():
    threads = ThreadPoolExecutor(1)
    threads.shutdown()
    with pytest.raises(tp.PoolError, match="cannot schedule new futures"):
        tp.sample(plain_gaussian, pool=threads, **SHORT)


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (0, "pool must be at least 1, got 0"),
        (True, "pool must be a whole number, got bool"),
        (2.0, "pool must be a whole number, got float"),
        ("two", "pool must be a number of workers, .*got str: 'two'"),
    ],
)
def test_other_pools_are_refused(pool, message):
    with pytest.raises(tp.TemperanceError, match=message):
        tp.sample(plain_gaussian, pool=pool, **SHORT)


def test_the_options_of_a_pool_are_checked():
    with pytest.raises(tp.InvalidInputError, match="timeout must lie in"):
        tp.Pool(2, timeout=0)
    with pytest.raises(tp.InvalidInputError, match="retries must be at least 0"):
        tp.Pool(2, retries=-1)


def test_processes_that_mpi_does_not_know_of_are_refused(monkeypatch):
    """Row 56. What mpi4py does under another launcher than its own, without one."""
    world = type("World", (), {"Get_size": lambda self: 1})()
    monkeypatch.setitem(sys.modules, "mpi4py", type(sys)("mpi4py"))
    library = type(sys)("mpi4py.MPI")
    library.COMM_WORLD = world
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", library)
    kind = type("MPIPoolExecutor", (Here,), {"__module__": "mpi4py.futures.pool"})
    assert_same_runs(tp.sample(plain_gaussian, pool=kind(2), **SHORT), tp.sample(plain_gaussian, **SHORT))
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    with pytest.raises(tp.InvalidInputError, match=r"3 processes .OMPI_COMM.*, but MPI knows of one"):
        tp.sample(plain_gaussian, pool=kind(2), **SHORT)


# ---- ends


@each_share_in_time
def test_a_stop_does_not_wait_for_a_worker(share):
    """Broken: a chain that waits for what it asked, whatever happens."""
    stop = tp.Stop()
    threading.Timer(2.5, stop.set).start()
    began = time.monotonic()

    def slow(x):
        time.sleep(60.0 if np.any(x != 0.5) else 0.0)
        return 0.0

    with pytest.warns(tp.IncompleteWarning, match="was stopped"):
        result = tp.sample(slow, pool=share(2), stop=stop, **SHORT)
    assert time.monotonic() - began < 20.0
    assert result.draws.shape[1] == 0


def test_work_is_sent_to_a_worker_once():
    """Broken: the data with every question."""
    data = np.arange(1000.0)
    pool = Here(2)
    tp.sample(lambda x, data: float(-np.sum(x**2)) + data[0], data=data, pool=points(pool), **SHORT)
    with_payload = [item for batch in pool.batches for item in batch if item[1] is not None]
    assert 1 <= len(with_payload) <= 4  # what was asked before the first was answered
    assert sum(len(batch) for batch in pool.batches) > 200


def test_a_worker_forgets_old_work():
    first = Work(abs, "abs")
    assert done((first.token, first.payload, -1)) == 1
    for _ in range(8):
        another = Work(abs, "abs")
        done((another.token, another.payload))
    assert done((another.token, None, -2)) == 2
    assert done((first.token, None, -1)).name == "WORK"


def test_workers_of_mpi_leave_signals_to_the_run(monkeypatch):
    """Which mpiexec passes to them first; a worker that knows of no launcher is left as it is."""
    set_to = []
    monkeypatch.setattr(work_module.signal, "signal", lambda *given: set_to.append(given))
    first, second = Work(abs, "abs"), Work(abs, "abs")
    done((first.token, first.payload, -1))
    assert set_to == []
    assert done_under_mpi((second.token, second.payload, -1)) == 1
    assert (signal.SIGTERM, signal.SIG_IGN) in set_to


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, 6),
        ({"SLURM_CPUS_PER_TASK": "2"}, 2),
        ({"SLURM_CPUS_PER_TASK": "48"}, 6),
        ({"NSLOTS": "4", "NCPUS": "3"}, 3),
        ({"SLURM_CPUS_PER_TASK": "", "NSLOTS": "all", "NCPUS": "0"}, 6),
    ],
)
def test_cores_are_those_that_a_job_was_given(told, expected, monkeypatch):
    monkeypatch.setattr(cores, "os", SimpleNamespace(environ=told, sched_getaffinity=lambda _: range(6)))
    assert cores.cores_here() == expected
    monkeypatch.setattr(cores, "os", SimpleNamespace(environ=told, process_cpu_count=lambda: 6))
    assert cores.cores_here() == expected


SCRIPT = """
import os, time
import numpy as np
import temperance as tp

def density(x):
    {slow}
    return -0.5 * float(x @ x)

result = tp.sample(density, initial=np.full(2, 0.5), levels=3, chains=2, seed=5, progress=False, tune=60,
                   draws=40, pool=2)
print(repr(float(result.draws.sum())))
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "stdin", "command"])
def test_a_script_needs_no_main_guard(way, tmp_path):
    """Broken: multiprocessing, whose workers begin with the script once more."""
    script = tmp_path / "run.py"
    script.write_text(SCRIPT.format(slow="pass"))
    command = {"file": [str(script)], "stdin": ["-"], "command": ["-c", script.read_text()]}[way]
    given = script.read_text() if way == "stdin" else None
    shown = subprocess.run(
        [sys.executable, *command], input=given, capture_output=True, text=True, check=True, timeout=120
    )
    assert shown.stdout == f"{float(tp.sample(plain_gaussian, **SHORT).draws.sum())!r}\n"
    assert shown.stderr == ""


@pytest.mark.slow
def test_workers_end_with_a_run_that_is_killed(tmp_path):
    """In the middle of a call that would take minutes."""
    pids = tmp_path / "pids"
    pids.mkdir()
    slow = f"open({str(pids)!r} + f'/{{os.getpid()}}', 'w').close(); time.sleep(600 if x[0] != 0.5 else 0)"
    with subprocess.Popen([sys.executable, "-c", SCRIPT.format(slow=slow)]) as process:
        while len(list(pids.iterdir())) < 2:
            time.sleep(0.1)
            assert process.poll() is None
        time.sleep(1.0)
        process.kill()
    until = time.monotonic() + 10.0
    while any(Path(f"/proc/{pid.name}").exists() for pid in pids.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="no signals")
def test_a_ctrl_c_is_for_the_run_alone(tmp_path):
    script = SCRIPT.format(slow="time.sleep(0.002)").replace("draws=40", "draws=100000")
    script = script.replace("print(", "print(result.ended_by, ").replace("progress=False", "progress=told")
    script = script.replace("def density", "def told(facts): print('under way', flush=True)\n\ndef density")
    command = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout.readline() == "under way\n"
        os.killpg(process.pid, signal.SIGINT)
        shown, errors = process.communicate(timeout=60)
    assert "SIGINT" in shown
    assert errors == ""
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_all_processes_of_a_job_is_for_the_run_alone(name):
    """As a batch system sends it at the time limit, to the workers first; broken: workers that die of it."""
    script = SCRIPT.format(slow="time.sleep(0.002)").replace("draws=40", "draws=100000")
    script = script.replace("print(", "print(result.ended_by, ").replace("progress=False", "progress=told")
    script = script.replace("def density", "def told(facts): print('under way', flush=True)\n\ndef density")
    command = [sys.executable, "-W", "ignore", "-c", script.replace("pool=2", "pool=tp.Pool(2, retries=0)")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "under way\n"
        workers = children_of(process.pid)
        assert len(workers) == 2
        for pid in workers:
            os.kill(pid, getattr(signal, name))
        time.sleep(1.0)
        os.kill(process.pid, getattr(signal, name))
        shown, errors = process.communicate(timeout=60)
    assert name in shown
    assert errors == ""
    assert process.returncode == 0


def has_rows(folder):
    try:
        return len(tp.load(folder).chains[0].tuning.draws) > 0
    except tp.TemperanceError:
        return False


@pytest.mark.slow
def test_a_stored_run_of_the_shell_is_interrupted_and_goes_on_with_other_workers(tmp_path):
    """Ctrl-C, as a terminal sends it to all of its processes: exit code 130, and all draws in the end."""
    slow = "import time\n\ndef density(x):\n    time.sleep(0.002)\n    return -0.5 * float(x @ x)\n"
    (tmp_path / "mine.py").write_text(slow)
    shell = [sys.executable, "-m", "temperance"]
    given = ["mine:density", "--initial", "0.5,0.5", "--levels", "3", "--chains", "2", "--seed", "5"]
    few = ["--tune", "60", "--draws", "2000", "--out", "run/"]
    place = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [*shell, "sample", *given, *few, "--workers", "2"]
    with subprocess.Popen(command, **place, start_new_session=True) as process:
        while not has_rows(tmp_path / "run"):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    drawn = tp.load(tmp_path / "run")
    assert not drawn.complete
    again = subprocess.run([*shell, "resume", "run", "--workers", "3"], **place, timeout=120, check=False)
    assert again.returncode == 0, again.stderr
    expected = tp.sample(plain_gaussian, **{**SHORT, "draws": 2_000})
    np.testing.assert_array_equal(tp.load(tmp_path / "run").draws, expected.draws)


@pytest.mark.slow
def test_workers_that_are_killed_at_random_times_make_the_same_run(rng):
    """kill -9 of a worker, again and again, while a run is under way; some have only begun to begin.

    Times are those of this machine as it is now: if all died before they had begun, none would answer.
    """
    began = time.perf_counter()
    tp.sample(plain_gaussian, pool=1, **{**SHORT, "tune": 0, "draws": 1})
    start = time.perf_counter() - began

    def density(x):
        time.sleep(start / 100)
        return -0.5 * float(x @ x)

    expected = tp.sample(plain_gaussian, **{**SHORT, "tune": 300, "draws": 300})
    ended = threading.Event()
    n_killed = []

    def killer():
        while not ended.wait(start * (0.5 + 2.0 * float(rng.random()))):
            children = children_of(os.getpid())
            if children:
                os.kill(int(rng.choice(children)), signal.SIGKILL)
                n_killed.append(1)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        made = tp.sample(density, pool=tp.Pool(3, retries=20), **{**SHORT, "tune": 300, "draws": 300})
    finally:
        ended.set()
        thread.join()
    assert len(n_killed) >= 2
    assert_same_runs(made, expected)


def children_of(parent):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(status.parent.name))
    return found


# ---- pools of others


@pytest.mark.slow
def test_executors_and_pools_of_processes_make_the_same_run():
    expected = tp.sample(plain_gaussian, **SHORT)
    spawn = get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as executor:
        assert_same_runs(tp.sample(plain_gaussian, pool=executor, **SHORT), expected)
        with pytest.raises(tp.PoolError, match="BrokenProcessPool"):
            tp.sample(lambda x: os._exit(1) if x[0] > 1.0 else plain_gaussian(x), pool=executor, **SHORT)
    with spawn.Pool(2) as pool:
        assert_same_runs(tp.sample(plain_gaussian, pool=pool, **SHORT), expected)
