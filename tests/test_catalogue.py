"""The catalogue of bad input: each row with the error or the behaviour that it gets.

Rows are numbered as in the catalogue. Most have longer tests of their own, which begin with their number;
here is what a user sees, in one table. A row is a call that must fail in these words, or one that checks.
"""

import errno
import itertools
import math
import os
import re
import sys
import threading
import warnings
from pathlib import Path

import click.testing
import numba
import numpy as np
import pytest

import temperance as tp
from temperance.cli import main
from temperance.files import THE_DISK
from temperance.store.layout import FORMAT

FEW = {"draws": 30, "tune": 30, "chains": 1, "levels": 3, "seed": 1, "progress": False}
LATER: dict[int, str] = {}
ELSEWHERE = {  # where the library is
    67: ("test_pymc.py", "test_what_cannot_be_sampled_is_refused"),
    68: ("test_bridgestan.py", "test_data_that_are_missing_are_named_by_stan"),
    69: ("test_stan.py", "test_points_without_a_value_are_counted_and_messages_freed"),
}


def gaussian(x):
    return -0.5 * float(x @ x)


def run(density=gaussian, **options):
    return tp.sample(density, **{"initial": np.zeros(2), **FEW, **options})


def returning(value):
    """A density with an odd value everywhere but at the start."""
    return lambda x: value if np.any(x) else 0.0


def inside(x):
    return gaussian(x) if abs(x[0]) < 1.0 else -math.inf


def fails_at(k, error):
    calls = itertools.count()

    def density(x):
        if next(calls) == k:
            raise error
        return gaussian(x)

    return density


def weights(value):
    """Swaps with a weight that returns this."""
    return {"swaps": tp.swaps.custom(lambda i, j, x, log_density, beta: value)}


@numba.cfunc("float64(CPointer(float64))")
def from_c(point):
    if point[0] != 0.0:
        raise ValueError("in C")
    return 0.0


called_by_address = from_c.ctypes


@numba.njit
def through_c(x):
    return called_by_address(x.ctypes)


class Sloppy:
    """A pool that answers fewer questions than it is asked."""

    def map(self, function, items):
        return [function(item) for item in items][1:]


def locked(lock):
    """A density that holds what cannot be sent to another process."""

    def density(x):
        with lock:
            return gaussian(x)

    return density


# What must fail, and in which words.
REFUSED = {
    1: (
        lambda: run(lambda x: math.nan),
        tp.StartError,
        r"chain 1, level 1 is nan, it must be finite; the point is \[0",
    ),
    2: (
        lambda: run(lambda x: -math.inf),
        tp.StartError,
        "outside the support .* function of a numpy Generator",
    ),
    3: (
        lambda: run(inside, initial=lambda rng: np.array([2.0, 0.0])),
        tp.StartError,
        "no start inside the support was found in 100 tries",
    ),
    4: (lambda: run(lambda x: math.inf), tp.StartError, "level 1 is inf, it must be finite"),
    5: (
        lambda: run(returning(math.nan)),
        tp.DensityError,
        "is nan in chain 1, level 1, iteration 1.*bad_density='reject'",
    ),
    6: (lambda: run(returning(math.inf)), tp.DensityError, "is inf in chain 1, level"),
    8: (
        lambda: run(fails_at(50, KeyError("k"))),
        tp.DensityError,
        r"raised an error in chain 1, level \d, iteration \d+, at the point \[.*test_catalogue.py:\d+",
    ),
    9: (
        lambda: run(through_c),
        tp.DensityError,
        "through_c raised an error in chain 1, .*iteration 1, at the",
    ),
    11: (
        lambda: run(lambda x: np.array([gaussian(x)])),
        tp.InvalidTypeError,
        r"one number, got an array of shape \(1,\)",
    ),
    12: (lambda: run(lambda x: None), tp.InvalidTypeError, "<lambda> must return one number, got NoneType"),
    13: (lambda: run(lambda x: 1j), tp.InvalidTypeError, "<lambda> must return one number, got complex"),
    15: (lambda: run(3), tp.InvalidTypeError, "model must be a log density .*got int: 3"),
    19: (
        lambda: run(initial=np.zeros((2, 2, 2))),
        tp.InvalidInputError,
        r"one of the shapes \(2,\), \(3, 2\), \(1, 3, 2\)",
    ),
    20: (
        lambda: run(initial=[0.0, math.nan]),
        tp.InvalidInputError,
        r"initial must be finite, got \[0.0, nan\]",
    ),
    21: (lambda: run(initial=["a", "b"]), tp.InvalidTypeError, "initial must be numbers or a function"),
    25: (lambda: run(initial=[]), tp.InvalidInputError, "initial must have at least one dimension"),
    27: (
        lambda: run(initial=np.zeros(50_000), levels=8),
        tp.InvalidInputError,
        r"need \d+\.\d GiB \(.* GiB for covariances, .* for tuning, .* for draws\), and .* of what is free",
    ),
    28: (lambda: run(levels=0), tp.InvalidInputError, "levels must be at least 1, got 0"),
    31: (
        lambda: run(levels=None, inverse_temperatures=[1.0, 0.2, 0.5]),
        tp.InvalidInputError,
        "inverse_temperatures must decrease from 1 strictly",
    ),
    32: (
        lambda: run(levels=None, temperatures=[1.0, 3.0, 3.0]),
        tp.InvalidInputError,
        "temperatures must increase from 1 strictly",
    ),
    33: (
        lambda: run(levels=None, inverse_temperatures=[1.0, 1e-320]),
        tp.InvalidInputError,
        "inverse_temperatures must not exceed what a number can hold",
    ),
    34: (
        lambda: run(levels=None, temperatures=[2.0, 3.0]),
        tp.InvalidInputError,
        "temperatures must increase from 1",
    ),
    36: (lambda: tp.Gain(exponent=0.5), tp.InvalidInputError, r"exponent must lie in \(0.5, 1\], got 0.5"),
    38: (
        lambda: run(thin=31),
        tp.InvalidInputError,
        "thin must not be more than the 30 draws that are made, got 31",
    ),
    39: (
        lambda: run(seed=1.5),
        tp.InvalidTypeError,
        "seed must be a whole number, None, a numpy SeedSequence",
    ),
    40: (lambda: run(seed=[1, 2]), tp.InvalidInputError, "one seed for each chain: 1 chains, 2 seeds"),
    41: (
        lambda: run(**weights(-1.0)),
        tp.SwapWeightError,
        "must be finite and not negative, got -1.0 for levels 1 and 2, in chain 1, iteration 1",
    ),
    42: (
        lambda: run(**weights(math.nan)),
        tp.SwapWeightError,
        "must be finite and not negative, got nan for levels 1 and 2",
    ),
    45: (lambda: run(**weights(np.ones(3))), tp.SwapWeightError, "raised an error in chain 1, iteration 1"),
    53: (
        lambda: run(locked(threading.Lock()), pool=1),
        tp.InvalidInputError,
        "density cannot be sent to workers .*; write it as a function of a module, and let it open files",
    ),
    55: (lambda: run(pool=Sloppy()), tp.PoolError, r"its map returned \d answers to \d questions"),
    57: (
        lambda: run(lambda x: 1 / 0, store="no/such/place"),
        tp.InvalidInputError,
        "store: the folder no/such does not",
    ),
    65: (lambda: run(draw=3), TypeError, "no keyword 'draw'; did you mean draws="),
    66: (lambda: run().named(["chain", "draw"]), tp.InvalidInputError, "'chain'"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused(row):
    call, kind, words = REFUSED[row]
    with pytest.raises(kind, match=f"(?s){words}"):
        call()


CHECKED = {}


def behaviour(row):
    def noted(check):
        CHECKED[row] = check
        return check

    return noted


@behaviour(7)
def minus_infinity_is_a_plain_rejection(tmp_path):
    drawn = run(inside, draws=300)
    assert np.all(np.abs(drawn.draws[..., 0]) < 1.0)
    assert drawn.chains[0].n_bad_density == 0


@behaviour(10)
def an_interrupt_returns_what_was_drawn(tmp_path):
    with pytest.warns(tp.IncompleteWarning, match="was interrupted"):
        part = run(fails_at(100, KeyboardInterrupt()))
    assert part.ended_by == "SIGINT"


@behaviour(14)
def numbers_of_all_kinds_are_cast(tmp_path):
    for kind in (np.float32, int, np.int64, float):
        assert run(lambda x, kind=kind: kind(gaussian(x))).complete


@behaviour(16)
def the_argument_is_a_private_copy(tmp_path):
    def greedy(x):
        value = gaussian(x)
        x[:] = 7.0
        return value

    np.testing.assert_array_equal(run(greedy).draws, run().draws)


@behaviour(17)
def a_density_of_chance_is_warned_of(tmp_path):
    rng = np.random.default_rng(1)
    with pytest.warns(tp.VaryingDensityWarning, match=r"gave -?\d.* and then -?\d.* at the point \[0"):
        run(lambda x: gaussian(x) + rng.normal())
    with warnings.catch_warnings():
        warnings.simplefilter("error", tp.VaryingDensityWarning)
        run()


@behaviour(18)
def prints_are_not_swallowed(tmp_path, capsys):
    run(lambda x: print("hello") or gaussian(x))  # noqa: T201
    assert "hello" in capsys.readouterr().out


@behaviour(22)
def the_same_start_for_all_levels(tmp_path):
    assert run(initial=np.zeros((3, 2))).complete


@behaviour(23)
def a_flat_dimension_is_sampled_and_warned_of(tmp_path):
    result = run(lambda x: -0.5 * x[0] ** 2, draws=500, tune=500, chains=2)
    assert np.all(np.isfinite(result.draws))
    assert result.verdict
    assert any(warning.serious for warning in result.warnings)


@behaviour(24)
def a_collinear_target_is_sampled_and_warned_of(tmp_path):
    result = run(lambda x: -0.5e12 * (x[0] - x[1]) ** 2 - 0.5 * x[0] ** 2, draws=500, tune=500, chains=2)
    assert np.all(np.isfinite(result.draws))
    assert all(np.all(np.linalg.eigvalsh(cov) > 0.0) for chain in result.chains for cov in chain.covariance)
    assert any(warning.serious for warning in result.warnings)


@behaviour(26)
def one_dimension_works(tmp_path):
    assert run(initial=np.zeros(1)).draws.shape == (1, 30, 1)


@behaviour(29)
def one_level_never_swaps(tmp_path):
    assert not np.any(run(levels=1).chains[0].sampling.swap_attempts)


@behaviour(30)
def two_levels_work_with_any_strategy(tmp_path):
    for swaps in (tp.swaps.even_odd(), tp.swaps.equi_energy(), tp.swaps.energy_rings(), tp.swaps.uniform()):
        assert run(levels=2, swaps=swaps).complete


@behaviour(35)
def temperatures_that_run_away_are_held_and_warned_of(tmp_path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", tp.BoundWarning)  # scales run away, too
        result = run(lambda x: 0.0, tune=2_500)  # the gain of the ladder is delayed
    wanted = re.compile(r"the bound on temperature_gap was hit \d+ times")
    assert any(wanted.match(str(one.message)) for one in said)
    assert np.all(np.isfinite(result.temperatures[0]))


@behaviour(37)
def no_draws_are_an_empty_result(tmp_path):
    assert run(draws=0).draws.shape == (1, 0, 2)
    with pytest.raises(tp.InvalidInputError, match="draws must be at least 0"):
        run(draws=-1)
    with pytest.raises(tp.InvalidTypeError, match="draws must be a whole number"):
        run(draws=1.5)


@behaviour(43)
def no_weight_means_no_swap(tmp_path):
    assert not np.any(run(**weights(0.0)).chains[0].sampling.swap_attempts)


@behaviour(44)
def weights_need_not_add_up_to_one(tmp_path):
    np.testing.assert_array_equal(run(**weights(0.5)).draws, run(**weights(8.0)).draws)


@behaviour(46)
def asymmetric_weights_keep_the_target(tmp_path):
    assert not tp.swaps.uphill().symmetric
    assert not tp.swaps.check(tp.swaps.uphill()).problems


@behaviour(47)
def a_swap_that_cannot_be_undone_is_never_accepted(tmp_path):
    one_way = tp.swaps.custom(lambda i, j, x, log_density, beta: float(log_density[i] > log_density[j]))
    assert not np.any(run(swaps=one_way, draws=200).chains[0].sampling.swap_accepted)


@behaviour(48)
def a_strategy_of_chance_is_found_by_its_check(tmp_path):
    rng = np.random.default_rng(1)
    verdict = tp.swaps.check(tp.swaps.custom(lambda i, j, x, log_density, beta: rng.random()))
    assert "the same state gives different weights" in str(verdict)


@behaviour(49)
def far_energies_do_not_underflow(tmp_path):
    assert run(lambda x: -1e4 * float(x @ x), swaps=tp.swaps.equi_energy()).complete


@behaviour(50)
def vanishing_densities_are_no_nan(tmp_path):
    result = run(inside, swaps=tp.swaps.equi_energy(), draws=200)
    assert np.all(np.isfinite(result.log_density))


@behaviour(51)
def min_levels_is_respected(tmp_path):
    trimming = tp.Trimming(after=0, every=1, min_levels=2, slack=0.9)
    assert run(settings=tp.Settings(trimming=trimming), tune=300, levels=5).n_levels[0] >= 2


@behaviour(52)
def nothing_is_dropped_before_its_time(tmp_path):
    trimming = tp.Trimming(after=200, every=1, min_levels=1, slack=0.9)
    trace = run(settings=tp.Settings(trimming=trimming), tune=300, levels=5).chains[0].tuning
    assert np.all(trace.n_levels[:200] == 5)


@behaviour(58)
def a_full_disk_keeps_the_last_commit(tmp_path, monkeypatch):
    genuine, calls = THE_DISK.sync, []

    def fills_up(file):
        calls.append(1)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        genuine(file)

    monkeypatch.setattr(THE_DISK, "sync", fills_up)
    with pytest.raises(tp.StoreError, match="No space left") as caught:
        run(store=tmp_path / "run")
    monkeypatch.undo()
    assert caught.value.result.complete
    again = tp.resume(tmp_path / "run", gaussian, progress=False)
    np.testing.assert_array_equal(again.draws, caught.value.result.draws)


@behaviour(59)
def a_corrupt_record_is_named_and_the_one_before_taken(tmp_path):
    whole = run(store=tmp_path / "run")
    last = sorted((tmp_path / "run").glob("commit-*"))[-1]
    last.write_bytes(last.read_bytes()[:-7])
    with pytest.warns(tp.DamageWarning, match=re.escape(last.name)):
        again = tp.resume(tmp_path / "run", gaussian, progress=False)
    np.testing.assert_array_equal(again.draws, whole.draws)


@behaviour(54)
def a_killed_worker_is_replaced_and_points_that_kill_are_given_up(tmp_path):
    marker = str(tmp_path / "killed")

    def killed_once(x):
        if x[0] > 0.5 and not os.path.exists(marker):
            os.close(os.open(marker, os.O_CREAT))
            os.kill(os.getpid(), 9)
        return -0.5 * float(x @ x)

    np.testing.assert_array_equal(run(killed_once, pool=1).draws, run().draws)
    assert os.path.exists(marker)
    with pytest.raises(tp.PoolError, match=r"a worker was killed by signal 9; in chain 1") as ended:
        run(lambda x: os.kill(os.getpid(), 9) if x[0] > 0.5 else 0.0, pool=tp.Pool(1, retries=0))
    assert ended.value.result is not None


@behaviour(56)
def processes_that_mpi_does_not_know_of_are_refused(tmp_path, monkeypatch):
    library = type(math)("mpi4py.MPI")
    library.COMM_WORLD = type("World", (), {"Get_size": lambda self: 1})()
    monkeypatch.setitem(sys.modules, "mpi4py", type(math)("mpi4py"))
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", library)
    monkeypatch.setenv("PMI_SIZE", "4")
    pool = type("MPIPool", (Sloppy,), {"__module__": "schwimmbad.mpi"})()
    with pytest.raises(tp.InvalidInputError, match=r"4 processes .PMI_SIZE., but MPI knows of one"):
        run(pool=pool)


@behaviour(60)
def a_newer_format_is_refused_by_number(tmp_path, monkeypatch):
    monkeypatch.setattr("temperance.store.disk.FORMAT", 99)
    run(store=tmp_path / "run")
    with pytest.raises(tp.InvalidInputError, match=f"has format 99, this version reads {FORMAT}"):
        tp.resume(tmp_path / "run", gaussian)


@behaviour(61)
def another_model_is_refused(tmp_path):
    run(store=tmp_path / "run")
    with pytest.raises(tp.InvalidInputError, match=r"target: the log density of .* is .*, and it was"):
        tp.resume(tmp_path / "run", lambda x: -0.25 * float(x @ x))


@behaviour(62)
def other_versions_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr("temperance.runs.describe.versions", lambda: {"numba": "0.1"})
    run(store=tmp_path / "run")
    monkeypatch.undo()
    with pytest.warns(tp.ExactnessWarning, match=r"numba 0\.1 -> "):
        tp.resume(tmp_path / "run", gaussian, progress=False)


@behaviour(63)
def a_run_is_not_replaced(tmp_path):
    run(store=tmp_path / "run")
    with pytest.raises(tp.InvalidInputError, match=r"holds a run; .*resume.*overwrite=True"):
        run(store=tmp_path / "run")


@behaviour(64)
def one_writer_a_folder(tmp_path):
    def second(x):
        second.calls += 1
        if second.calls == 50:
            with pytest.raises(tp.InvalidInputError, match=f"is written to by process {os.getpid()}"):
                tp.resume(tmp_path / "run", gaussian)
        return gaussian(x)

    second.calls = 0
    assert run(second, store=tmp_path / "run").complete
    assert second.calls > 50


@behaviour(70)
def huge_log_densities_overflow_to_a_decision(tmp_path):
    for huge in (1e308, 1e300):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tp.TemperanceWarning)
            result = run(
                lambda x, huge=huge: huge if x[0] > 0.0 else -huge, draws=200, tune=200, initial=[1.0, 0.0]
            )
        assert np.all(result.draws[..., 0] > 0.0), "nobody leaves a place that is so much better"
        assert np.all(np.isfinite(result.chains[0].sampling.base_accept_prob))


@pytest.mark.parametrize("row", sorted(CHECKED))
def test_behaviour(row, tmp_path, request):
    check = CHECKED[row]
    wanted = check.__code__.co_varnames[1 : check.__code__.co_argcount]
    check(tmp_path, **{name: request.getfixturevalue(name) for name in wanted})


@pytest.mark.parametrize("row", LATER)
def test_later(row):
    pytest.skip(f"row {row} waits for {LATER[row]}")


@pytest.mark.parametrize("row", ELSEWHERE)
def test_elsewhere(row):
    file, name = ELSEWHERE[row]
    assert f"def {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


def test_every_row_is_there_once():
    assert sorted([*REFUSED, *CHECKED, *LATER, *ELSEWHERE]) == list(range(1, 71))


def test_a_misspelt_option_of_the_shell_is_answered_with_the_right_one():
    shown = click.testing.CliRunner().invoke(main, ["sample", "m:f", "--drows", "3"])
    assert shown.exit_code == 2
    assert "Did you mean one of: '--dask', '--draws'?" in shown.stderr
    shown = click.testing.CliRunner().invoke(main, ["sample", "m:f", "--initail", "3"])
    assert "Did you mean one of: '--initial', '--until'?" in shown.stderr
