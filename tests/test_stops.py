"""What ends a run: signals, handles, errors. The draws are kept, and everything else is as it was before."""

import itertools
import re
import signal
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

import temperance as tp
from kinds import KINDS, form
from temperance.runs.stopping import SIGNALS

PATIENCE = 20.0  # seconds; far less than the call that is not waited for
OPTIONS = {"initial": np.zeros(2), "levels": 2, "chains": 2, "seed": 1, "progress": False}

SCRIPT = """
import signal, sys, time, threading
import numpy as np
import temperance as tp

slow_at = {slow_at}
calls = [0]

def density(x):
    calls[0] += 1
    time.sleep(0.002)
    if calls[0] == slow_at:
        print("slow", flush=True)
        time.sleep(600.0)
    return -0.5 * float(x @ x)

def look(facts):
    if facts.draws > 50:
        print("under way", flush=True)

import temperance.runs.progress as shown
shown.CALL_SECONDS = 0.1
{before}
options = dict(initial=np.zeros(2), levels=2, chains=2, seed=1, tune=5, draws=100_000, progress=look)
options["cores"] = 1  # calls are counted here, not in workers
result = tp.sample(density, store={store!r}, **options)
print("ended", repr(result.ended_by), result.complete, result.draws.shape[1], flush=True)
np.save({out!r}, result.chains[0].sampling.draws)
{after}
"""


def gaussian(x):
    return -0.5 * float(x @ x)


@numba.njit
def compiled_gaussian(x):
    return -0.5 * np.sum(x**2)


def run_script(tmp_path, signals, *, store=None, slow_at=-1, before="", after=""):
    """A run that gets signals when it is under way; what it printed last, and its exit status."""
    out = str(tmp_path / "draws.npy")
    store = None if store is None else str(tmp_path / store)
    script = SCRIPT.format(slow_at=slow_at, before=before, after=after, store=store, out=out)
    command = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        waited = "slow" if slow_at > 0 else "under way"
        while process.stdout.readline().strip() != waited:
            assert process.poll() is None
        began = time.monotonic()
        for number in signals:
            process.send_signal(number)
            time.sleep(0.5)
        try:
            shown, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert time.monotonic() - began < PATIENCE
    lines = [line for line in shown.splitlines() if line not in ("under way", "slow")]
    return lines, process.returncode


@pytest.fixture(scope="module")
def beginning():
    """The first draws of the same run, never stopped."""
    result = tp.sample(gaussian, tune=5, draws=3_000, **OPTIONS)
    return result.chains[0].sampling.draws


def assert_prefix(drawn, beginning):
    assert 10 < len(drawn) <= len(beginning)
    np.testing.assert_array_equal(drawn, beginning[: len(drawn)])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("store", [None, "run"])
def test_a_signal_ends_the_run_with_its_draws(name, store, tmp_path, beginning):
    """Broken: today's, in which SIGTERM and SIGHUP take all draws with them."""
    lines, status = run_script(tmp_path, [getattr(signal, name)], store=store)
    assert status == 0
    word, reason, complete, n_draws = lines[-1].split()
    assert (word, reason, complete) == ("ended", repr(name), "False")
    assert_prefix(np.load(tmp_path / "draws.npy"), beginning)
    if store is not None:
        kept = tp.load(tmp_path / "run")
        assert kept.ended_by == name
        assert kept.draws.shape[1] == int(n_draws)
        assert_prefix(kept.chains[0].sampling.draws, beginning)


@pytest.mark.filterwarnings("ignore::temperance.IncompleteWarning")
@pytest.mark.parametrize("store", [None, "run"])
@pytest.mark.parametrize("second", ["SIGINT", "SIGTERM"])
def test_a_second_signal_does_not_wait_for_a_slow_call(store, second, tmp_path, beginning):
    """Broken: a thread that is waited for, at the end of the run or of the process."""
    lines, status = run_script(tmp_path, [signal.SIGINT, getattr(signal, second)], store=store, slow_at=400)
    assert status == 0
    assert lines[-1].startswith("ended 'SIGINT' False")
    assert_prefix(np.load(tmp_path / "draws.npy"), beginning)
    if store is not None:
        kept = tp.load(tmp_path / "run", verify=True)
        assert_prefix(kept.chains[0].sampling.draws, beginning)
        np.testing.assert_array_equal(kept.chains[0].sampling.draws, np.load(tmp_path / "draws.npy"))
        again = tp.resume(tmp_path / "run", gaussian, progress=lambda facts: None, stop=stop_after(1.5))
        assert_prefix(again.chains[0].sampling.draws[:3_000], beginning)
        assert again.draws.shape[1] > kept.draws.shape[1]


def stop_after(seconds):
    stop = tp.Stop()
    threading.Timer(seconds, stop.set).start()
    return stop


def test_handlers_of_others_are_left_to_them(tmp_path, beginning):
    """A signal that is ignored (nohup) stays so; one with a handler of the user's calls it."""
    before = (
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, lambda number, frame: print('mine', flush=True))"
    )
    lines, status = run_script(tmp_path, [signal.SIGHUP, signal.SIGTERM, signal.SIGINT], before=before)
    assert status == 0
    assert lines[0] == "mine"
    assert lines[-1].startswith("ended 'SIGINT'")


def test_handlers_are_put_back_and_set_in_the_main_thread_only():
    before = [signal.getsignal(number) for number in SIGNALS]
    seen = []

    def look(x):
        seen.append([signal.getsignal(number) for number in SIGNALS])
        return gaussian(x)

    tp.sample(look, tune=5, draws=5, **OPTIONS)
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert all(now != then for now, then in zip(seen[-1], before, strict=True))
    seen.clear()
    thread = threading.Thread(target=lambda: tp.sample(look, tune=5, draws=5, **OPTIONS))
    thread.start()
    thread.join()
    assert seen[-1] == before
    with pytest.raises(tp.DensityError):
        tp.sample(lambda x: gaussian(x) if x[0] == 0.0 else float("nan"), tune=5, draws=5, **OPTIONS)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_handle_ends_a_run_from_another_thread():
    stop = stop_after(0.3)
    with pytest.warns(tp.IncompleteWarning, match="the run was stopped; the result holds what was drawn"):
        result = tp.sample(compiled_gaussian, tune=5, draws=2_000_000, stop=stop, **OPTIONS)
    assert result.ended_by == "Stop"
    assert stop.is_set()
    whole = tp.sample(compiled_gaussian, tune=5, draws=2_000, **OPTIONS)
    n_common = min(result.draws.shape[1], 2_000)
    np.testing.assert_array_equal(result.draws[:, :n_common], whole.draws[:, :n_common])
    with pytest.raises(tp.InvalidTypeError, match=r"stop must be a temperance\.Stop, got bool"):
        tp.sample(gaussian, stop=True, **OPTIONS)


def test_a_callback_that_fails_ends_the_run_with_its_draws(monkeypatch, tmp_path):
    monkeypatch.setattr("temperance.runs.progress.CALL_SECONDS", 0.1)

    def fails(facts):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        tp.sample(
            compiled_gaussian,
            tune=5,
            draws=2_000_000,
            store=tmp_path / "run",
            **{**OPTIONS, "progress": fails},
        )
    assert caught.value.result.draws.size
    np.testing.assert_array_equal(tp.load(tmp_path / "run").draws, caught.value.result.draws)


MODEL = """
import itertools, pathlib, time
calls = itertools.count()

def density(x):
    time.sleep(0.002)
    if next(calls) == 300:
        pathlib.Path("under_way").touch()
    return -0.5 * float(x @ x)
"""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_the_command_ends_as_the_signal_asks_and_goes_on_from_the_folder(name, status, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    program = [sys.executable, "-m", "temperance"]
    few = ["--initial", "0,0", "--draws", "900", "--tune", "5", "--chains", "1", "--levels", "2"]
    command = [*program, "sample", "model:density", *few, "--seed", "1", "--out", "run/"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        deadline = time.monotonic() + 60.0
        while not (tmp_path / "under_way").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(getattr(signal, name))
        out, errors = process.communicate(timeout=60)
    assert process.returncode == status, errors
    assert "INCOMPLETE RUN" in out
    assert "Traceback" not in errors
    assert "resume" in errors
    drawn = tp.load(tmp_path / "run").draws
    assert 0 < drawn.shape[1] < 900
    if name == "SIGTERM":
        done = subprocess.run([*program, "resume", "run"], cwd=tmp_path, check=True, **pipes)
        assert "1 chain x 900 draws" in done.stdout
        whole = tp.sample(
            gaussian, initial=np.zeros(2), draws=900, tune=5, chains=1, levels=2, seed=1, progress=False
        )
        np.testing.assert_array_equal(tp.load(tmp_path / "run").draws, whole.draws)


# ---- a density that fails at some call, on each path


@numba.njit
def raising(x, limit):
    if x[0] == limit[0]:
        raise ZeroDivisionError("at last")
    return -0.5 * np.sum(x**2)


@numba.njit
def not_a_number(x, limit):
    return np.nan if x[0] == limit[0] else -0.5 * np.sum(x**2)


@numba.njit
def infinite(x, limit):
    return np.inf if x[0] == limit[0] else -0.5 * np.sum(x**2)


SETTINGS = tp.Settings(jumps=tp.Jumps(enabled=False))
SHORT = {**OPTIONS, "chains": 1, "tune": 40, "draws": 150, "settings": SETTINGS, "preflight": False}
MESSAGES = {raising: "raised an error", not_a_number: "is nan", infinite: "is inf"}


@pytest.fixture(scope="module")
def never_failed():
    """The run without a fault, and the first coordinate of each point that it asks for."""
    asked = []

    def noted(x):
        asked.append(float(x[0]))
        return raising(x, np.array([np.inf]))

    return tp.sample(noted, **SHORT).chains[0], asked


# Every so many calls; every single one is among the longer checks.
every_call = pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.slow)])


@every_call
@pytest.mark.parametrize("function", MESSAGES, ids=lambda function: function.py_func.__name__)
def test_a_density_that_fails_leaves_the_same_beginning_on_every_path(function, step, never_failed, tmp_path):
    """Message, place and draws, in memory and on disk, compiled or not; mended, the run goes on."""
    whole, asked = never_failed
    for at in range(2, len(asked), step):
        n_done = asked.index(asked[at]) // 2 - 1  # of two levels, after the starts
        if n_done < 0:
            continue
        wanted = (
            rf"{MESSAGES[function]} in chain 1, level ., iteration {n_done + 1}, at the point \[{asked[at]},"
        )
        for kind in KINDS:
            folder = tmp_path / f"{at}-{kind}"
            error = failed(function, kind, asked[at], folder)
            assert re.search(wanted, str(error))
            assert f"temperance.resume({str(folder)!r}, ...) goes on from there" in str(error)
            assert (type(error.__cause__) is ZeroDivisionError) == (function is raising)
            for record in (error.result.chains[0], tp.load(folder).chains[0]):
                assert_beginning_of(record, whole, n_done)
    again = tp.resume(folder, raising, data=np.array([np.inf]), progress=False).chains[0]
    assert_beginning_of(again, whole, SHORT["tune"] + SHORT["draws"])


def failed(function, kind, place, folder):
    """The error of a run whose density fails in one place."""
    options = {**SHORT, "data": np.array([place]), "vectorized": kind == "vectorized", "store": folder}
    with pytest.raises(tp.DensityError) as caught:
        tp.sample(form(kind, function), **options)
    return caught.value


def assert_beginning_of(record, whole, n_done):
    assert len(record.tuning.draws) + record.n_draws == n_done
    np.testing.assert_array_equal(record.tuning.draws, whole.tuning.draws[: len(record.tuning.draws)])
    np.testing.assert_array_equal(record.sampling.draws, whole.sampling.draws[: record.n_draws])


WRONG = {"None": None, "a word": "many", "a matrix": np.zeros((2, 7)), "complex": 1j}


@every_call
@pytest.mark.parametrize("vectorized", [False, True], ids=["plain", "vectorized"])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_type_at_any_call_leaves_the_same_beginning(what, vectorized, step):
    """The error names the place, and its cause the type."""

    def density_until(at):
        calls = itertools.count()

        def density(x):
            value = -0.5 * np.sum(np.atleast_2d(x) ** 2, axis=1)
            if next(calls) == at:
                return WRONG[what]
            return value if vectorized else float(value[0])

        return density

    whole = tp.sample(density_until(-1), vectorized=vectorized, **SHORT).chains[0]
    per_iteration = 1 if vectorized else 2
    for at in range(4, 180 * per_iteration, step):
        with pytest.raises(tp.DensityError, match="raised an error in chain 1, level") as caught:
            tp.sample(density_until(at), vectorized=vectorized, **SHORT)
        assert isinstance(caught.value.__cause__, TypeError)
        n_done = at // per_iteration - 1  # after the starts
        assert_beginning_of(caught.value.result.chains[0], whole, n_done)
