"""Engines of others, on this machine: a Dask cluster with processes of its own, and MPI."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from test_pool import SHORT, assert_same_runs, plain_gaussian
from test_pool_learning import IN_PARENT, assert_same, going_on, gone_on, made, stopped_halfway

pytestmark = pytest.mark.slow
MPIEXEC = shutil.which("mpiexec.openmpi")
MPI_SCRIPT = """
import sys
import numpy as np
import temperance as tp
from mpi4py.futures import MPIPoolExecutor

def density(x):
    return -0.5 * float(x @ x)

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        result = tp.sample(density, initial=np.full(2, 0.5), levels=3, chains=2, seed=5, progress=False,
                           tune=60, draws=40, pool=pool)
    np.save(sys.argv[1], result.draws)
"""
MPI_STORED = """
import sys, time
import numpy as np
import temperance as tp
from mpi4py.futures import MPIPoolExecutor

def density(x):
    time.sleep(0.004)
    return -0.5 * float(x @ x)

def told(facts):
    print("draws" if facts.draws > 20 else "before", flush=True)

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        tp.sample(density, initial=np.full(2, 0.5), levels=3, chains=2, seed=5, progress=told, tune=60,
                  draws=5_000, pool=tp.Pool(pool, share=sys.argv[2]), store=sys.argv[1])
"""
MPI_LEARNING = """
import sys
sys.path.insert(0, {tests!r})
import temperance as tp
from mpi4py.futures import MPIPoolExecutor
from test_pool_learning import IN_PARENT, going_on, made

if __name__ == "__main__":
    going_on()
    with MPIPoolExecutor() as pool:
        for share in ("points", "chains"):
            for k, name in enumerate(IN_PARENT):
                made(name, pool=tp.Pool(pool, share=share)).save(sys.argv[1] + f"/{{share}}{{k}}")
"""


def slow_gaussian(x):
    time.sleep(0.004)
    return -0.5 * float(x @ x)


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("distributed")
    made = distributed.Client(cluster)
    yield made
    with contextlib.suppress(Exception):  # of a cluster that is gone
        made.close()


@pytest.mark.filterwarnings("ignore")
def test_dask_makes_the_same_run_also_when_a_worker_is_killed(cluster, client):
    expected = tp.sample(plain_gaussian, **SHORT)
    points = tp.Pool(client, share="points")
    assert_same_runs(tp.sample(plain_gaussian, pool=points, **SHORT), expected)
    victim = next(iter(cluster.workers.values())).pid
    answered = itertools.count()

    def kill_one(facts):
        if next(answered) == 0:
            os.kill(victim, signal.SIGKILL)

    assert_same_runs(tp.sample(slow_gaussian, pool=points, **{**SHORT, "progress": kill_one}), expected)
    assert next(answered) > 0


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_vanishes_ends_the_run_with_its_draws(cluster, client):
    """It closes when some draws were made."""

    def vanish(facts):
        if facts.draws > 20 and not closing:
            closing.append(threading.Thread(target=cluster.close))
            closing[0].start()

    closing = []
    options = {**SHORT, "tune": 0, "draws": 100_000, "progress": vanish}
    with pytest.raises(tp.PoolError, match="the pool failed") as ended:
        tp.sample(slow_gaussian, pool=tp.Pool(client, timeout=60.0, share="points"), **options)
    drawn = ended.value.result.chains[0].sampling.draws
    whole = tp.sample(plain_gaussian, **{**options, "draws": len(drawn)})
    np.testing.assert_array_equal(drawn, whole.chains[0].sampling.draws)


@pytest.mark.skipif(MPIEXEC is None, reason="OpenMPI is not installed")
def test_mpi_makes_the_same_run(tmp_path):
    pytest.importorskip("mpi4py")
    script, out = tmp_path / "run.py", tmp_path / "draws.npy"
    script.write_text(MPI_SCRIPT)
    launch = [MPIEXEC, "-n", "3", "--oversubscribe", "--allow-run-as-root", sys.executable]
    subprocess.run([*launch, "-m", "mpi4py.futures", str(script), str(out)], check=True, timeout=200)
    np.testing.assert_array_equal(np.load(out), tp.sample(plain_gaussian, **SHORT).draws)


@pytest.mark.skipif(MPIEXEC is None, reason="OpenMPI is not installed")
def test_mpi_changes_nothing_in_what_chains_learn(tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    script = tmp_path / "run.py"
    script.write_text(MPI_LEARNING.format(tests=str(Path(__file__).parent)))
    launch = [MPIEXEC, "-n", "3", "--oversubscribe", "--allow-run-as-root", sys.executable]
    subprocess.run([*launch, "-m", "mpi4py.futures", str(script), str(tmp_path)], check=True, timeout=400)
    going_on(monkeypatch.setattr)
    for k, name in enumerate(IN_PARENT):
        expected = made(name)
        for share in ("points", "chains"):
            assert_same(tp.load(tmp_path / f"{share}{k}.npz"), expected)


@pytest.mark.skipif(MPIEXEC is None, reason="OpenMPI is not installed")
@pytest.mark.parametrize("share", ["points", "chains"])
def test_a_launcher_that_is_told_to_end_leaves_a_run_that_goes_on(share, tmp_path):
    """As a scheduler does before the time of a job is up; mpiexec passes the signal to workers first.

    Broken: workers that end by it, and the run with them, which then cannot write what it has.
    """
    pytest.importorskip("mpi4py")
    script = tmp_path / "run.py"
    script.write_text(MPI_STORED)
    launch = [MPIEXEC, "-n", "3", "--oversubscribe", "--allow-run-as-root", sys.executable]
    command = [*launch, "-m", "mpi4py.futures", str(script), str(tmp_path / "run"), share]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        while (line := process.stdout.readline()) != "draws\n":
            assert line
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    drawn = tp.load(tmp_path / "run")
    assert (drawn.complete, drawn.ended_by) == (False, "SIGTERM")
    assert drawn.draws.shape[1] > 0
    again = tp.resume(tmp_path / "run", plain_gaussian, progress=False)
    assert_same_runs(again, tp.sample(plain_gaussian, **{**SHORT, "draws": 5_000}))


@pytest.mark.skipif(MPIEXEC is None, reason="OpenMPI is not installed")
def test_mpi_under_the_launcher_of_another_is_refused(tmp_path):
    """What processes see that were started by a launcher that their MPI knows nothing of."""
    pytest.importorskip("mpi4py")
    script = tmp_path / "run.py"
    script.write_text(MPI_SCRIPT.replace("MPIPoolExecutor()", "MPIPoolExecutor(1)"))
    told = {**os.environ, "PMI_SIZE": "3"}
    command = [sys.executable, str(script), str(tmp_path / "draws.npy")]
    ended = subprocess.run(command, env=told, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 1
    assert "the launcher says that there are 3 processes (PMI_SIZE), but MPI knows of one" in ended.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", ["points", "chains"])
def test_dask_changes_nothing_in_what_chains_learn(share, client, monkeypatch):
    going_on(monkeypatch.setattr)
    for name in IN_PARENT if share == "chains" else ("together", "longer"):
        assert_same(made(name, pool=tp.Pool(client, share=share)), made(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", ["points", "chains"])
@pytest.mark.parametrize("name", ["together", "together, vectorised", "trimmed, sweeps"])
def test_dask_goes_on_with_what_others_began_and_others_with_that(name, share, client, tmp_path, monkeypatch):
    going_on(monkeypatch.setattr)
    alone, shared = {"cores": 1}, {"pool": tp.Pool(client, share=share)}
    for folder, before, after in (("to", alone, shared), ("from", shared, alone)):
        stopped_halfway(name, tmp_path / folder, **before)
        assert_same(*gone_on(name, tmp_path / folder, **after))


@pytest.mark.filterwarnings("ignore")
def test_loky_makes_the_same_run():
    loky = pytest.importorskip("joblib.externals.loky")
    executor = loky.get_reusable_executor(max_workers=2)
    try:
        made = tp.sample(plain_gaussian, pool=executor, **SHORT)
    finally:
        executor.shutdown()
    assert_same_runs(made, tp.sample(plain_gaussian, **SHORT))


@pytest.mark.filterwarnings("ignore")
def test_the_command_line_finds_a_scheduler(cluster, tmp_path):
    """The module of the density is in a folder that workers do not look into."""
    (tmp_path / "mine.py").write_text("def density(x):\n    return -0.5 * float(x @ x)\n")
    given = ["mine:density", "--initial", "0.5,0.5", "--levels", "3", "--chains", "2", "--seed", "5"]
    few = ["--tune", "60", "--draws", "40", "--out", "file"]
    command = [
        sys.executable,
        "-m",
        "temperance",
        "sample",
        *given,
        *few,
        "--dask",
        cluster.scheduler_address,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    expected = tp.sample(plain_gaussian, **SHORT)
    np.testing.assert_array_equal(tp.load(tmp_path / "file.npz").draws, expected.draws)


@pytest.mark.filterwarnings("ignore")
def test_dask_makes_whole_chains_also_when_a_worker_is_killed(cluster, client):
    options = {**SHORT, "tune": 2_000, "draws": 6_000}
    victim = next(iter(cluster.workers.values())).pid
    threading.Timer(1.5, os.kill, (victim, signal.SIGKILL)).start()
    made = tp.sample(plain_gaussian, pool=tp.Pool(client, share="chains"), **options)
    assert_same_runs(made, tp.sample(plain_gaussian, **options))
