"""A run is a value: however it is cut, stopped, saved and taken up again, its bits are the same."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian, two_modes
from harness import make_plan
from temperance.core import levels, schema
from temperance.core.schema import LEVEL, REPLICA
from temperance.core.state import State
from temperance.executors.threads import Threads
from temperance.moves import moves_with, records_of
from temperance.runs.allocate import cut
from temperance.runs.chain import ChainRun
from temperance.runs.drive import Barrier, Crew, drive
from temperance.runs.progress import Silent
from temperance.runs.snapshot import restored, snapshot
from temperance.runs.starts import Starts
from temperance.runs.state import RunState
from temperance.store.contract import PHASES
from temperance.store.memory import InPlace
from temperance.targets import gather, make_target

TUNE, DRAWS, DIM = 90, 40, 2
ROBUST_STATE = records_of(moves_with("robust")).state
SEED = np.random.SeedSequence(11)


@numba.njit
def wide(x):
    return 0.1 * gaussian(x)


@numba.njit
def lopsided(i, j, x, log_density, beta):
    return np.exp(-abs(log_density[i] - log_density[j])) * (1.0 + 0.2 * i)


def from_python(function):
    return lambda *arguments: function(*arguments)


def over_rows(points):
    return np.array([two_modes(point) for point in points])


TRIMMING = tp.Trimming(after=40, every=5, slack=0.9, min_levels=2)
BASE = tp.Settings(trimming=tp.Trimming(enabled=False))
COVARIANCE = replace(BASE, adaptation=tp.Adaptation(walk="covariance"), jumps=tp.Jumps(enabled=False))
SLICES = tp.Adaptation(walk="slice")
SETUPS = {
    "compiled, jumps": ({"log_density": two_modes}, BASE, None),
    "plain Python, jumps": ({"log_density": from_python(two_modes)}, BASE, None),
    "vectorised, trimmed": ({"log_density": over_rows}, replace(COVARIANCE, trimming=TRIMMING), None),
    "two parts, trimmed": (
        {"log_likelihood": two_modes, "log_prior": wide},
        replace(COVARIANCE, trimming=TRIMMING),
        tp.swaps.equi_energy(),
    ),
    "everlasting, rings": (
        {"log_density": two_modes},
        replace(COVARIANCE, adaptation=tp.Adaptation(walk="covariance", when="always")),
        tp.swaps.energy_rings(),
    ),
    "own weights": ({"log_density": two_modes}, BASE, tp.swaps.custom(lopsided)),
    "slices": ({"log_density": two_modes}, replace(BASE, adaptation=SLICES), None),
    "slices in Python, two parts": (
        {"log_likelihood": from_python(two_modes), "log_prior": from_python(wide)},
        replace(BASE, adaptation=SLICES),
        None,
    ),
    "own weights in Python": (
        {"log_density": two_modes},
        BASE,
        tp.swaps.custom(from_python(lopsided.py_func)),
    ),
}
each_setup = pytest.mark.parametrize("name", SETUPS)


def plan_of(name):
    parts, settings, strategy = SETUPS[name]
    swaps = tp.swaps.even_odd() if strategy is None else strategy
    grows = name != "two parts, trimmed"  # where a prior's ladder grows, phase 5 is off
    return plan_with(parts, settings, swaps, vectorized=name.startswith("vectorised"), grows=grows)


def plan_with(parts, settings, swaps, *, vectorized=False, grows=True):
    betas = (1.0, 0.6, 0.3, 0.1, 0.05) if "log_prior" not in parts else (1.0, 0.6, 0.3, 0.1, 0.0)
    target = make_target(gather(**parts), vectorized=vectorized)
    return make_plan(
        target,
        betas,
        DIM,
        tune=TUNE,
        draws=DRAWS,
        settings=settings,
        strategy=swaps,
        growth=tp.Growth(enabled=grows),
    )


def new_run(plan):
    return ChainRun(plan, 0, Starts(np.full(DIM, 0.5), np.random.default_rng(0)), SEED)


def rows_of(run):
    """All that the loop recorded, and the value that the chain ended with."""
    record = run.leave()
    rows = [getattr(trace, name) for trace in (record.tuning, record.sampling) for name in trace._fields]
    table = schema.fields(type(run.state))
    return [*rows, *live(snapshot(run.now), table, int(run.state.n_levels[0]))]


def live(taken, table, n_levels):
    """Without what belongs to levels that are gone."""
    for name, array in taken.items():
        axes = table[name.removeprefix("core.")][1].axes if name.startswith("core.") else ()
        if axes and axes[0] == "bundle":
            lanes = np.moveaxis(array, -1, 1).reshape(-1, array.shape[1])
            yield lanes[:n_levels]
        else:
            yield array[:n_levels] if axes and axes[0] == "level" else array


def assert_same(one, two):
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.fixture(scope="module")
def whole():
    """Each set-up in one go, made once."""
    made = {}

    def get(name):
        if name not in made:
            run = new_run(plan_of(name))
            run.run()
            assert run.finished
            made[name] = run
        return made[name]

    return get


@each_setup
def test_segments_of_any_length_make_the_same_run(name, whole, rng):
    run = new_run(plan_of(name))
    while not run.finished:
        run.advance(int(rng.integers(1, 9)))
    assert_same(rows_of(run), rows_of(whole(name)))


@each_setup
def test_a_snapshot_at_every_iteration_goes_on_as_if_nothing_had_been(name, whole):
    """Taken after each iteration, put into a new chain, which makes the next one."""
    expected = rows_of(whole(name))
    run = new_run(plan_of(name))
    run.advance(0)
    sampled = []
    while not run.finished:
        run = ChainRun.from_snapshot(run.plan, 0, SEED, run.snapshot())
        before = run.n_done
        run.advance(1)
        assert run.n_done == before + 1
        if run.n_done > TUNE:
            sampled.append(run.leave().sampling)
    n_columns = len(run.tuning)
    draws = [part.draws[-1] for part in sampled]
    np.testing.assert_array_equal(draws, whole(name).sampling.draws)
    assert_same(rows_of(run)[:n_columns], expected[:n_columns])
    assert_same(rows_of(run)[2 * n_columns :], expected[2 * n_columns :])


def test_setups_drop_levels_jump_and_send_scouts(whole):
    """What the equalities above are about does happen."""
    assert int(whole("vectorised, trimmed").state.n_levels[0]) < 5
    assert int(whole("two parts, trimmed").state.n_levels[0]) < 5
    assert whole("compiled, jumps").now.learner.n_scouts > 0
    assert np.any(whole("compiled, jumps").sampling.jump >= 0)


CONTINUE = """
import sys
import numpy as np
from test_segments import SEED, plan_of
from temperance.moves import moves_with, records_of
from temperance.runs.chain import ChainRun

folder = sys.argv[1]
for k in (1, 17, 45, 46, 90, 101):
    with np.load(f"{folder}/{k}.npz", allow_pickle=False) as arrays:
        run = ChainRun.from_snapshot(plan_of("compiled, jumps"), 0, SEED, dict(arrays))
    run.run()
    np.save(f"{folder}/{k}.npy", run.sampling.draws)
"""


def test_a_snapshot_goes_on_in_a_new_process(whole, tmp_path):
    stops = (1, 17, 45, 46, 90, 101)
    for k in stops:
        run = new_run(plan_of("compiled, jumps"))
        run.advance(k)
        np.savez(tmp_path / f"{k}.npz", **run.snapshot())
    subprocess.run(
        [sys.executable, "-c", CONTINUE, str(tmp_path)], check=True, cwd=Path(__file__).parent, timeout=300
    )
    expected = whole("compiled, jumps").sampling.draws
    for k in stops:
        rows = slice(max(0, k - TUNE), None)
        np.testing.assert_array_equal(np.load(tmp_path / f"{k}.npy")[rows], expected[rows])


class Interrupted:
    """A function that at one call does something else first."""

    def __init__(self, function, at, disturb):
        self.function, self.at, self.disturb, self.calls = function, at, disturb, 0
        self.__name__ = "interrupted"

    def __call__(self, *arguments):
        self.calls += 1
        if self.calls == self.at:
            self.disturb()
        return self.function(*arguments)


def fail():
    raise ZeroDivisionError("now")


def disturbed(name, part, at, disturb):
    """A run of a set-up in which one call of a part is disturbed, taken up again after each stop."""
    parts, settings, _ = SETUPS[name]
    function = Interrupted(lopsided.py_func if part == "weight" else parts[part], at, disturb)
    swaps = tp.swaps.custom(function) if part == "weight" else tp.swaps.even_odd()
    functions = parts if part == "weight" else {**parts, part: function}
    return function, new_run(plan_with(functions, settings, swaps))


def every_so_many_calls(name, part, disturb, step):
    """Runs disturbed at one call each, from the first calls to the last."""
    at, n_calls = 6, 7
    while at < n_calls:
        holder = []
        function, run = disturbed(name, part, at, lambda holder=holder: disturb(holder[0]))
        holder.append(run)
        run.run()
        if run.finished:  # calls that were made again were counted, too
            return
        yield run
        run.go_on()
        run.run()
        assert run.finished
        yield run
        at, n_calls = at + step, function.calls


@pytest.mark.parametrize(
    ("name", "part"),
    [("plain Python, jumps", "log_density"), ("slices in Python, two parts", "log_likelihood")],
)
@pytest.mark.parametrize("disturb", [lambda run: run.stop(), lambda run: fail()], ids=["stopped", "failed"])
def test_a_run_stopped_at_any_call_of_the_density_goes_on_as_if_it_had_not(disturb, name, part, whole):
    """During walks, in the middle of a slice, while scouts are out, and between."""
    expected = rows_of(whole(name))
    for run in every_so_many_calls(name, part, disturb, 37 if part == "log_density" else 211):
        if run.finished:
            assert_same(rows_of(run), expected)


def test_a_weight_that_fails_in_the_middle_of_an_iteration_spoils_nothing(whole):
    """Walks had moved by then: the value goes back to where the block began, and no row is lost."""
    name = "own weights in Python"
    expected = whole(name)
    for run in every_so_many_calls(name, "weight", lambda run: fail(), 311):
        if run.finished:
            assert_same(rows_of(run), rows_of(expected))
        else:
            assert isinstance(run.failure, tp.SwapWeightError)
            record = run.leave()
            n_rows = len(record.tuning.draws)
            assert n_rows >= run.n_done or record.n_draws
            np.testing.assert_array_equal(record.tuning.draws, expected.tuning.draws[:n_rows])


def test_a_snapshot_is_total_and_plain(whole):
    """Every array and number comes back; none needs a pickle."""
    for name in SETUPS:
        run = whole(name)
        taken = snapshot(run.now)
        assert all(array.dtype.kind in "fiubU" for array in taken.values())
        instead = {State: records_of(run.plan.moves).state}
        assert_same(snapshot(restored(RunState, taken, instead=instead)).values(), taken.values())
    names = {name.split(".")[0] for name in taken}
    assert names == set(RunState.__dataclass_fields__)


@pytest.mark.parametrize("spelling", [np.ndarray[tuple[int], np.dtype[np.int16]], list[np.int16]])
def test_the_numbers_of_a_field_are_known_however_numpy_spells_them(spelling):
    """Up to 2.4 as an array of a dtype, from 2.5 on by the type of number alone."""
    assert schema._dtype(spelling) == np.int16


def test_every_field_of_a_level_is_exchanged_and_moved(rng):
    """By the table alone: whatever has a row for each level."""
    n_levels, dim = 6, 3
    lengths = schema.sizes(n_levels, dim)

    def filled():
        state = schema.allocate(ROBUST_STATE, lengths)
        for column in state:
            column[...] = rng.integers(1, 1_000, column.shape)
        return state

    def row(state, name, level):
        _, field = schema.fields(ROBUST_STATE)[name]
        array = getattr(state, name)
        return array[level // 4, ..., level % 4] if field.axes[0] == "bundle" else array[level]

    table = schema.fields(ROBUST_STATE)
    of_level = {name for name, (_, field) in table.items() if field.belongs_to is not None}
    assert {
        "position",
        "log_prior",
        "cov_factor",
        "coordinate_log_scale",
        "born",
        "normal_stream",
    } <= of_level
    for name, (_, field) in schema.fields(ROBUST_STATE).items():
        assert (field.axes[0] in ("level", "bundle")) == (name in of_level)
    exchanged, moved = filled(), filled()
    before = {kind: schema.snapshot(state) for kind, state in (("exchanged", exchanged), ("moved", moved))}
    levels.exchange_levels(1, 5, exchanged)
    levels.move_level(5, 2, moved)
    for name in of_level:
        belongs_to = schema.fields(ROBUST_STATE)[name][1].belongs_to
        was = ROBUST_STATE(**before["exchanged"])
        partner = 5 if belongs_to == REPLICA else 1
        np.testing.assert_array_equal(row(exchanged, name, 1), row(was, name, partner))
        assert belongs_to in (REPLICA, LEVEL)
        np.testing.assert_array_equal(row(moved, name, 2), row(ROBUST_STATE(**before["moved"]), name, 5))
    assert {name for name in of_level if not table[name][1].inherited} >= {"spread", "n_averaged"}


class Committed(InPlace):
    """Notes what was handed over, always."""

    def __init__(self, traces):
        super().__init__(traces)
        self.snapshots = []

    def wants(self, chain):
        return True

    def append(self, chain, handed):
        self.snapshots.append((chain, handed))

    def append_all(self, handed):
        self.snapshots.extend(handed.items())


def driven(n_chains, workers, barriers=()):
    plan = plan_of("compiled, jumps")
    runs = [
        ChainRun(plan, k, Starts(np.full(DIM, 0.5), np.random.default_rng(0)), np.random.SeedSequence(k))
        for k in range(n_chains)
    ]
    store = Committed([run.sampling for run in runs])
    drive(runs, Crew(Threads(workers), store, Silent()), barriers)
    return runs, store


@pytest.mark.parametrize("workers", [1, 3])
def test_chains_meet_at_barriers_and_commit_segments(workers):
    met = []
    barriers = [Barrier(k, lambda runs: met.append([run.n_done for run in runs])) for k in (13, 70, 100)]
    runs, store = driven(4, workers, barriers)
    assert met == [[13] * 4, [70] * 4, [100] * 4]
    alone, _ = driven(4, 1)
    for run, other in zip(runs, alone, strict=True):
        assert_same(rows_of(run), rows_of(other))
    for place, (chain, handed) in list(enumerate(store.snapshots))[::3]:
        before = [one for owner, one in store.snapshots[: place + 1] if owner == chain]
        given = {phase: sum(len(one.rows[phase].draws) for one in before) for phase in PHASES}
        tuning = cut(runs[chain].tuning, given["tuning"])
        seed = np.random.SeedSequence(chain)
        again = ChainRun.from_snapshot(
            runs[chain].plan, chain, seed, handed.snapshot, tuning=tuning, given=given
        )
        first = max(0, again.n_done - TUNE)
        assert given["sampling"] == first
        again.run()
        np.testing.assert_array_equal(again.rows.drawn(DRAWS).draws, runs[chain].sampling.draws[first:])


def test_chains_of_a_python_density_advance_together():
    """Stopped on the way, all have come about as far, though they take turns in one thread."""
    calls = [0]

    def counted(x):
        calls[0] += 1
        if calls[0] == 40_000:
            raise KeyboardInterrupt
        return -0.5 * float(x @ x)

    with pytest.warns(tp.IncompleteWarning):
        result = tp.sample(
            counted, initial=np.zeros(2), draws=50_000, tune=500, chains=4, levels=2, seed=1, progress=False
        )
    made = [len(chain.tuning.draws) + chain.n_draws for chain in result.chains]
    assert min(made) > 0.4 * max(made) > 0
