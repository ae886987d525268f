"""Ctrl-C, and what a run shows of itself."""

import itertools
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

import temperance as tp
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import NOTE
from temperance.runs.facts import chain_progress
from temperance.runs.plan import Plan
from temperance.runs.progress import status_line, tell
from temperance.runs.starts import Starts
from temperance.targets import gather, make_target

PATIENCE = 2.0  # seconds; the promise is 0.2, the machine is noisy
LONG = 100_000
TINY = {"draws": 20, "tune": 20, "chains": 2, "levels": 2, "seed": 1, "progress": False}

COMPILED = """
@numba.njit
def log_density(x):
    total = 0.0
    for k in range(2_000):
        total += np.sin(k + x[0]) ** 2
    return -0.5 * np.sum(x**2) - 1e-9 * total
"""
SLEEPING = """
def log_density(x):
    time.sleep(0.02)
    return -0.5 * float(x @ x)
"""
# What was started in the background of a shell, this suite perhaps, has an interrupt ignored.
HEEDING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COUNTING = """
import itertools, pathlib, time
calls = itertools.count()

def log_density(x):
    time.sleep(0.005)
    if next(calls) == 100:
        pathlib.Path("under_way").touch()
    return -0.5 * float(x @ x)
"""
SCRIPT = (
    f"{HEEDING}\n"
    """
import threading, time, warnings
import numba
import numpy as np
import temperance as tp
from temperance.runs.chain import ChainRun
{density}
runs, begin = [], ChainRun.__init__


def noted(run, *arguments, **rows):
    begin(run, *arguments, **rows)
    runs.append(run)


def tell():
    while not any(run.n_done >= 5 for run in runs):  # chains are made again where workers take over
        time.sleep(0.01)
    print("under way", flush=True)


ChainRun.__init__ = noted
threading.Thread(target=tell, daemon=True).start()
options = dict(initial=np.zeros(2), levels=2, chains={chains}, seed=1, progress=False)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = tp.sample(log_density, tune={tune}, draws={draws}, **options)
print(time.time(), result.complete, result.draws.shape[1], len(result.chains[0].tuning.draws))
print(caught[0].category.__name__, caught[0].message)
print(result)
"""
)

BARS = f"""
import time
import temperance as tp
{SLEEPING.replace("0.02", "0.01 / LEVELS")}
tp.sample(log_density, initial=[0.0, 0.0], tune=40, draws=40, levels=LEVELS, chains=2, seed=1)
"""


def end_of(process):
    """What a process says at last; one that goes on all the same does not outlive its test."""
    try:
        return process.communicate(timeout=60)
    finally:
        process.kill()


def interrupted(density, *, chains=2, tune=2, draws=LONG):
    script = SCRIPT.format(density=density, chains=chains, tune=tune, draws=draws)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGINT)
        sent = time.time()
        out, _ = end_of(process)
    assert process.returncode == 0
    first, warning, summary = out.split("\n", 2)
    ended, complete, n_draws, n_tuned = first.split()
    assert float(ended) - sent < PATIENCE
    return complete, int(n_draws), int(n_tuned), warning, summary


@pytest.mark.parametrize("density", [COMPILED, SLEEPING], ids=["njit", "plain"])
def test_interrupt_returns_what_was_drawn(density):
    complete, n_draws, n_tuned, warning, summary = interrupted(density)
    assert complete == "False"
    assert 0 < n_draws < LONG
    assert n_tuned == 2
    assert warning == "IncompleteWarning the run was interrupted; the result holds what was drawn"
    assert summary.startswith("INCOMPLETE RUN")


def test_interrupt_while_tuning_returns_no_draws_but_keeps_the_tuning():
    complete, n_draws, n_tuned, _, summary = interrupted(COMPILED, tune=LONG, draws=10)
    assert complete == "False"
    assert n_draws == 0
    assert 0 < n_tuned < LONG
    assert summary.startswith("INCOMPLETE RUN")


def test_interrupt_before_a_waiting_chain_began():
    complete, n_draws, _, _, _ = interrupted(SLEEPING, chains=4)
    assert complete == "False"
    assert n_draws > 0


def test_interrupted_command_exits_with_130(tmp_path):
    (tmp_path / "model.py").write_text(COUNTING)
    options = ["--initial", "0,0", "--draws", str(LONG), "--tune", "2", "--chains", "1", "--out", "draws.npz"]
    program = [sys.executable, "-c", f"{HEEDING}\nfrom temperance.cli import main; main()"]
    command = [*program, "sample", "model:log_density", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        wait_until((tmp_path / "under_way").exists)
        process.send_signal(signal.SIGINT)
        out, errors = end_of(process)
    assert process.returncode == 130
    assert "INCOMPLETE RUN" in out
    assert "Traceback" not in errors
    with np.load(tmp_path / "draws.npz") as saved:
        assert 0 < saved["draws"].shape[1] < LONG


@numba.njit
def slow_gaussian(x):
    total = 0.0
    for k in range(1_000):
        total += np.sin(k + x[0]) ** 2
    return -0.5 * np.sum(x**2) - 1e-9 * total


def sleeping_gaussian(x):
    time.sleep(0.01)
    return -0.5 * float(x @ x)


def chain_run(function, *, tune, draws, vectorized=False):
    plan = Plan(
        target=make_target(gather(function), vectorized=vectorized),
        settings=tp.Settings(swaps=tp.swaps.adjacent(), growth=tp.Growth(enabled=False)),
        betas=np.array([1.0, 0.5]),
        dim=1,
        draws=draws,
        tune=tune,
    )
    return ChainRun(plan, 0, Starts(np.zeros(1), np.random.default_rng(1)), np.random.SeedSequence(1))


def sleeping_rows(points):
    time.sleep(0.01)
    return -0.5 * np.sum(points**2, axis=1)


@pytest.mark.parametrize(
    ("function", "vectorized"),
    [(slow_gaussian, False), (sleeping_gaussian, False), (sleeping_rows, True)],
    ids=["njit", "plain", "vectorized"],
)
@pytest.mark.parametrize(("tune", "draws"), [(LONG, 5), (0, LONG)], ids=["tuning", "drawing"])
def test_a_chain_told_to_stop_ends_in_the_middle(function, vectorized, tune, draws):
    run = chain_run(function, tune=tune, draws=draws, vectorized=vectorized)
    thread = threading.Thread(target=run.run)
    thread.start()
    wait_until(lambda: run.n_done > 2)
    run.stop()
    thread.join(timeout=PATIENCE)
    assert not thread.is_alive()
    assert not run.finished
    assert run.failure is None
    record = run.leave()
    assert not record.complete
    assert len(record.tuning.draws) + record.n_draws == run.n_done
    assert np.all(np.isfinite(record.tuning.log_density))
    assert np.all(np.isfinite(record.sampling.log_density))


def wait_until(condition):
    deadline = time.monotonic() + 60.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_an_interrupted_chain_holds_the_beginning_of_the_whole_one():
    whole = chain_run(slow_gaussian, tune=0, draws=50)
    whole.run()
    part = chain_run(slow_gaussian, tune=0, draws=LONG)
    thread = threading.Thread(target=part.run)
    thread.start()
    wait_until(lambda: part.n_done > 2)
    part.stop()
    thread.join(timeout=PATIENCE)
    n_common = min(part.n_done, 50)
    assert np.array_equal(part.leave().sampling.draws[:n_common], whole.leave().sampling.draws[:n_common])


def plain_gaussian(x):
    return -0.5 * float(x @ x)


def gaussian_rows(points):
    return -0.5 * np.sum(points**2, axis=1)


def even_weight(i, j, x, log_density, beta):
    return 1.0


def raising_at_last(function, error):
    """The function, until it is called once more than a hundred times."""
    calls = itertools.count()

    def raises(*arguments):
        if next(calls) == 100:
            raise error
        return function(*arguments)

    return raises


def run_until(error, place):
    """A run in which a density or a weight raises, and the same without that."""
    functions = {"plain": plain_gaussian, "vectorized": gaussian_rows, "weight": even_weight}
    broken = raising_at_last(functions[place], error) if error else functions[place]
    density = plain_gaussian if place == "weight" else broken
    swaps = tp.swaps.custom(broken if place == "weight" else even_weight)
    settings = tp.Settings(swaps=swaps, jumps=tp.Jumps(enabled=False))  # scouts would call it in the tuning
    options = {**TINY, "draws": 200, "vectorized": place == "vectorized", "settings": settings}
    return tp.sample(density, initial=np.zeros(2), **options)


each_place = pytest.mark.parametrize("place", ["plain", "vectorized", "weight"])


def assert_beginning(part, place):
    """What an error left is the beginning of the run that nothing ended."""
    whole = run_until(None, place)
    assert not part.complete
    drawn = part.chains[0].sampling.draws
    assert 0 < len(drawn) < 200
    np.testing.assert_array_equal(drawn, whole.chains[0].sampling.draws[: len(drawn)])


@each_place
def test_a_keyboard_interrupt_of_a_users_function_is_a_ctrl_c(place):
    with pytest.warns(tp.IncompleteWarning, match="the run was interrupted") as caught:
        part = run_until(KeyboardInterrupt(), place)
    assert {one.filename for one in caught} == {__file__}, "the line that samples"
    assert_beginning(part, place)


@each_place
def test_a_system_exit_of_a_users_function_passes_with_the_draws(place):
    with pytest.raises(SystemExit) as caught:
        run_until(SystemExit(7), place)
    assert caught.value.code == 7
    assert_beginning(caught.value.result, place)


class Closed:
    """A standard error that nobody reads any more."""

    def isatty(self):
        raise ValueError("I/O operation on closed file")

    def write(self, text):
        raise BrokenPipeError

    def flush(self):
        raise BrokenPipeError


@pytest.mark.parametrize("stderr", [None, Closed()], ids=["none", "closed"])
def test_without_a_standard_error_nothing_is_lost(monkeypatch, stderr):
    """Broken: a display that writes to whatever ``sys.stderr`` is."""
    monkeypatch.setattr(sys, "stderr", stderr)
    tell(NOTE)
    result = tp.sample(plain_gaussian, initial=[0.0, 0.0], **{**TINY, "progress": True})
    assert result.complete


def test_without_a_terminal_there_is_one_line(capfd):
    tp.sample(sleeping_gaussian, initial=[0.0], **{**TINY, "progress": True, "draws": 5, "tune": 5})
    out, errors = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d 2 chains finished: 20 iterations in \d+\.\d s, levels 2, 2\n", errors
    )


def test_without_progress_nothing_is_written(capfd):
    tp.sample(sleeping_gaussian, initial=[0.0], **{**TINY, "draws": 5, "tune": 5})
    assert capfd.readouterr() == ("", "")


def test_a_failed_run_says_that_it_ended_early(capfd):
    def failing(x):
        return float("nan") if x[0] != 0.0 else 0.0

    with pytest.raises(tp.DensityError, match="is nan"):
        tp.sample(failing, initial=[0.0], **{**TINY, "progress": True})
    assert "2 chains ended early" in capfd.readouterr().err


def in_a_terminal(columns, levels):
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "24"}
    command = [sys.executable, "-c", f"LEVELS = {levels}\n{BARS}"]
    with subprocess.Popen(command, stderr=slave, env=environment) as process:
        os.close(slave)
        shown = read_all(master)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def read_all(master):
    pieces = []
    while select.select([master], [], [], 60.0)[0]:
        try:
            pieces.append(os.read(master, 65536))
        except OSError:  # the other end is closed
            break
        if not pieces[-1]:
            break
    os.close(master)
    return b"".join(pieces).decode()


@pytest.mark.parametrize(("columns", "levels"), [(160, 2), (80, 8)])
def test_in_a_terminal_every_chain_has_a_live_bar(columns, levels):
    lines = re.split(r"[\r\n]+", in_a_terminal(columns, levels))
    status = rf"(walk|jump) \d\.\d\d.* swap \d\.\d\d.* {levels} levels.* T 1\b"
    for chain in (1, 2):
        bars = [line for line in lines if line.startswith(f"chain {chain}")]
        assert any(re.search(f"tune.* {status}", bar) for bar in bars)
        assert any(re.search(f"draw.* {status}", bar) for bar in bars)
        assert "80/80" in bars[-1]


def test_status_tells_the_phase():
    run = chain_run(sleeping_gaussian, tune=5, draws=5)
    assert status_line(chain_progress(run)) == "starting"
    run.run()
    shown = status_line(chain_progress(run))
    assert re.fullmatch(r"draw.* (walk|jump) \d\.\d\d.* swap \d\.\d\d.* 2 levels.* T 1 [\d.e+]+", shown)
