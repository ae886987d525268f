"""Workers that nobody asked for: only where they pay, and the draws are the same whatever comes of it."""

import multiprocessing
import subprocess
import sys
import threading
import time

import pytest

import densities
import temperance as tp
from densities import two_modes
from kinds import form
from temperance import automatic
from temperance.executors import pickling, pool, worker, workers
from test_pool import SHORT, assert_same_runs

plain = form("plain", two_modes)


@pytest.fixture
def begun(monkeypatch):
    """Every run is long enough for two cores; the workers that were begun."""
    made = []

    class Noted(workers.Workers):
        def __init__(self, n_workers, **options):
            super().__init__(n_workers, **options)
            made.append(self)

    monkeypatch.setattr(pool, "Workers", Noted)
    monkeypatch.setattr(automatic, "LONG", 0.0)
    monkeypatch.setattr(automatic, "cores_here", lambda: 2)
    return made


def said(capsys):
    return capsys.readouterr().err


def test_long_runs_of_python_densities_have_workers(begun, capsys):
    """They end with the run."""
    expected = tp.sample(plain, cores=1, **SHORT)
    assert begun == []
    assert_same_runs(tp.sample(plain, **{**SHORT, "progress": "log"}), expected)
    assert "2 worker processes evaluate the log density; cores=1 keeps it in this one" in said(capsys)
    assert len(begun) == 1
    assert not any(thread.is_alive() for thread in begun[0]._threads)


@pytest.mark.parametrize("preflight", [True, False])
def test_runs_with_goals_have_workers_and_look_at_the_same_places(preflight, begun):
    """What a point takes is known from the starts, also where nothing is asked for before the run."""
    goals = {**SHORT, "until": tp.Until(ess=10**6, draws=70), "preflight": preflight}
    expected = tp.sample(plain, cores=1, **goals)
    made = tp.sample(plain, **goals)
    assert len(begun) == 1
    assert made.draws.shape[1] == 70
    assert made.setup.n_preflight == expected.setup.n_preflight == (11 if preflight else 0)
    assert_same_runs(made, expected)


@pytest.mark.slow
def test_a_stored_run_goes_on_with_workers(begun, capsys, tmp_path):
    tp.sample(plain, store=tmp_path / "run", cores=1, **SHORT)
    more = tp.resume(tmp_path / "run", plain, draws=60, progress=False)
    assert len(begun) == 1
    assert_same_runs(more, tp.sample(plain, cores=1, **{**SHORT, "draws": 60}))
    assert said(capsys) == "", "nothing is said where nothing is shown"


@pytest.mark.slow
def test_one_chain_with_a_dear_density_has_workers_for_its_points(begun, monkeypatch):
    monkeypatch.setattr(automatic, "WORTH_ASKING", 0.0)  # whatever a point takes
    one = {**SHORT, "chains": 1}
    assert_same_runs(tp.sample(plain, **one), tp.sample(plain, cores=1, **one))
    assert len(begun) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"cores": 1},
        {"cores": 2},
        {"chains": 1},
        {"model": two_modes},
        {"model": form("vectorized", two_modes)},
    ],
    ids=["one core", "two cores", "one chain of a cheap density", "compiled", "vectorised"],
)
def test_others_have_none(options, begun, monkeypatch):
    monkeypatch.setattr(automatic, "WORTH_ASKING", 1e9)  # whatever a point takes, it is cheap
    rows = {"vectorized": options.get("model") not in (None, two_modes)}
    tp.sample(**{**SHORT, "model": plain, **rows, "tune": 5, "draws": 5, **options})
    assert begun == []


def test_short_runs_have_none(begun, monkeypatch):
    monkeypatch.setattr(automatic, "LONG", 1e6)
    tp.sample(plain, **SHORT)
    assert begun == []


def test_a_density_that_keeps_cores_busy_by_itself_has_none(begun, monkeypatch):
    monkeypatch.setattr(time, "process_time", lambda: 3.0 * time.perf_counter())
    tp.sample(plain, **SHORT)
    assert begun == []


@pytest.mark.parametrize("how", ["thread", "our worker", "multiprocessing", "MPI", "frozen", "one core"])
def test_where_workers_would_surprise_there_are_none(how, begun, monkeypatch):
    if how == "thread":
        thread = threading.Thread(target=tp.sample, args=(plain,), kwargs={**SHORT, "tune": 5, "draws": 5})
        thread.start()
        thread.join()
    else:
        {
            "our worker": lambda: monkeypatch.setenv(worker.WORKER, "1"),
            "multiprocessing": lambda: monkeypatch.setattr(multiprocessing, "parent_process", lambda: 1),
            "MPI": lambda: monkeypatch.setenv("PMI_SIZE", "4"),
            "frozen": lambda: monkeypatch.setattr(sys, "frozen", True, raising=False),
            "one core": lambda: monkeypatch.setattr(automatic, "cores_here", lambda: 1),
        }[how]()
        tp.sample(plain, **{**SHORT, "tune": 5, "draws": 5})
    assert begun == []


def test_a_frozen_program_has_no_workers_of_its_own(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(tp.InvalidInputError, match="pool: 2 workers cannot be started by a frozen program"):
        tp.sample(plain, pool=2, **SHORT)


def test_what_cannot_be_sent_runs_here_with_a_note(begun, capsys, monkeypatch):
    lock = threading.Lock()

    def locked(x):
        with lock:
            return plain(x)

    expected = tp.sample(plain, cores=1, **SHORT)
    shown = {**SHORT, "progress": "log"}
    assert_same_runs(tp.sample(locked, **shown), expected)
    assert "one core is used, since pool: locked cannot be sent to workers" in said(capsys)
    monkeypatch.setattr(automatic, "LARGEST", 10)
    assert_same_runs(tp.sample(plain, **shown), expected)
    assert "bytes with its data; cores=1 says that this is meant" in said(capsys)
    monkeypatch.setattr(pickling, "has_cloudpickle", lambda: False)  # as functions of a prompt without it
    assert_same_runs(tp.sample(plain, **shown), expected)
    assert "pip install cloudpickle" in said(capsys)


def shifted(x):
    return densities.two_modes(x) if densities.DISTANCE == 2.0 else -0.5 * float(x @ x)


def test_a_density_that_is_another_in_a_worker_runs_here_with_a_note(begun, capsys, monkeypatch):
    """Broken: a function whose module was changed since it was imported, sent by its name."""
    monkeypatch.setattr(densities, "DISTANCE", 1.0)
    expected = tp.sample(shifted, cores=1, **SHORT)
    assert_same_runs(tp.sample(shifted, **{**SHORT, "progress": "log"}), expected)
    assert "one core is used, since shifted has other values in a worker" in said(capsys)
    assert len(begun) == 1


SCRIPT = """
import numpy as np
import temperance as tp
from temperance import automatic
automatic.LONG, automatic.cores_here = 0.0, lambda: 2

def density(x):
    return -0.5 * float(x @ x)

few = {"levels": 3, "chains": 2, "seed": 5, "tune": 60, "draws": 40}
made = tp.sample(density, initial=np.full(2, 0.5), progress="log", **few)
print(repr(float(made.draws.sum())))
"""


@pytest.mark.slow
def test_a_notebook_has_workers():
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(part) for part in SCRIPT.split("\n\n")]
    book = nbformat.v4.new_notebook(cells=cells)
    client.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = "".join(one.get("text", "") for cell in book.cells for one in cell.outputs)
    expected = tp.sample(lambda x: -0.5 * float(x @ x), **SHORT)
    assert f"{float(expected.draws.sum())!r}\n" in shown
    assert "2 worker processes evaluate the log density" in shown


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "stdin", "command", "prompt"])
def test_scripts_and_prompts_have_workers_without_a_main_guard(way, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    command = {"file": [str(script)], "stdin": ["-"], "command": ["-c", SCRIPT], "prompt": ["-i", "-q"]}[way]
    given = SCRIPT if way in ("stdin", "prompt") else None
    shown = subprocess.run(
        [sys.executable, *command], input=given, capture_output=True, text=True, check=True, timeout=120
    )
    expected = tp.sample(lambda x: -0.5 * float(x @ x), **SHORT)
    assert f"{float(expected.draws.sum())!r}\n" in shown.stdout
    assert "2 worker processes evaluate the log density" in shown.stderr
