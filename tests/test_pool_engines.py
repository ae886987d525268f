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

import numpy as np
import pytest

import temperance as tp
from test_pool import SHORT, assert_same_runs, plain_gaussian

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
    assert_same_runs(tp.sample(plain_gaussian, pool=client, **SHORT), expected)
    victim = next(iter(cluster.workers.values())).pid
    answered = itertools.count()

    def kill_one(facts):
        if next(answered) == 0:
            os.kill(victim, signal.SIGKILL)

    assert_same_runs(tp.sample(slow_gaussian, pool=client, **{**SHORT, "progress": kill_one}), expected)
    assert next(answered) > 0


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_vanishes_ends_the_run_with_its_draws(cluster, client):
    threading.Timer(4.0, cluster.close).start()
    options = {**SHORT, "tune": 0, "draws": 100_000}
    with pytest.raises(tp.PoolError, match="the pool failed") as ended:
        tp.sample(slow_gaussian, pool=tp.Pool(client, timeout=60.0), **options)
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
