"""The how-to about clusters: its jobs run as they stand there, ended by a signal and gone on with."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import temperance as tp
from test_docs import ROOT, blocks

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")
# What a batch system does, as far as a job sees it.
STUBS = {
    "srun": 'echo $$ > step; exec "$@"',
    "sbatch": 'echo "$@" >> submitted',
    "temperance": f'exec {sys.executable} -m temperance "$@"',
}
LONG = 600.0  # seconds, after which something hangs, also on a machine that does much else


@pytest.fixture
def place(tmp_path):
    """A folder with the files of the page, and the programs of a cluster."""
    (tmp_path / "bin").mkdir()
    for name, text in STUBS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "lines.py").write_text(next(b.code for b in blocks(PAGE) if b.language == "python"))
    jobs = [b.code for b in blocks(PAGE) if b.language == "sh"]
    names = ["job.sh", "look.sh", "array.sh", "combine.sh"]
    for name, text in zip(names, jobs, strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path


def started(place, job, **told):
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **told}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(["bash", job], cwd=place, env=environment, **pipes)


def ended(process):
    shown, errors = process.communicate(timeout=LONG)
    return process.returncode, shown, errors


def test_a_job_that_is_told_to_end_goes_on_with_itself(place):
    told = {"SLURM_CPUS_PER_TASK": "2"}
    process = started(place, "job.sh", **told)
    until = time.monotonic() + LONG
    while not tp.holds_run(place / "run") and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1.0)
    os.kill(int((place / "step").read_text()), signal.SIGTERM)
    status, shown, errors = ended(process)
    assert status == 143, errors
    assert "INCOMPLETE RUN" in shown
    assert (place / "submitted").read_text() == "job.sh\n"
    status, shown, errors = ended(started(place, "job.sh", **told))
    assert status == 0, errors
    assert "4 chains x 20,000 draws" in shown
    assert (place / "submitted").read_text() == "job.sh\n"
    namespace: dict[str, object] = {}
    exec(compile((place / "lines.py").read_text(), "lines.py", "exec"), namespace)
    whole = tp.sample(namespace["model"], draws=20_000, seed=1, progress=False)
    np.testing.assert_array_equal(tp.load(place / "run").draws, whole.draws)
    status, shown, errors = ended(started(place, "look.sh"))
    assert status == 0, errors
    assert "run: complete" in shown
    assert (place / "run.html").exists()


def test_jobs_of_an_array_are_put_together(place):
    for task in "123":
        status, _, errors = ended(started(place, "array.sh", SLURM_ARRAY_TASK_ID=task))
        assert status == 0, errors
    status, shown, errors = ended(started(place, "combine.sh"))
    assert status == 0, errors
    assert "12 chains x 5,000 draws" in shown
    assert tp.load(place / "all.npz").draws.shape[:2] == (12, 5_000)
    assert (place / "all.html").exists()
