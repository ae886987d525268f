"""The store against the system itself: killed at every system call, on a full disk, with many draws."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import temperance as tp
from stored import assert_beginning, assert_whole, chains_for
from temperance.store.layout import commits_in
from test_segments import plan_of
from test_store import COMPILED, STOPS, parts_of

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parent

WRITER = """
import sys
from pathlib import Path
sys.dont_write_bytecode = True
import stored
from temperance.store import disk, merging
from test_segments import plan_of
from test_store import COMPILED, STOPS

disk.FLUSH_SECONDS, merging.FAN_IN = stored.NEVER, 3
plan = plan_of(COMPILED)
for run in stored.chains_for(plan, 1):
    run.advance(1)  # all that is compiled and cached is there now
open(sys.argv[2], "w").close()
stored.write_run(Path(sys.argv[1]), plan, STOPS)
"""
CALLS = ("write", "rename", "fsync", "unlink", "ftruncate", "mkdir")


def strace_works():
    """Whether there is a strace that may trace here."""
    if shutil.which("strace") is None:
        return False
    command = ["strace", "-o", os.devnull, "-e", "inject=write:signal=SIGKILL:when=9999", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not strace_works(), reason="needs strace, and leave to trace")
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_every_system_call_leaves_a_run_that_is_exact_and_goes_on(call, tmp_path):
    """SIGKILL at the N-th write, rename, sync or removal, for every N that there is."""
    whole = chains_for(plan_of(COMPILED), 1)
    for run in whole:
        run.run()
    whole = [run.leave() for run in whole]
    n_begun = 0
    for at in range(1, 10_000):
        folder, begun = tmp_path / str(at), tmp_path / f"{at}.begun"
        inject = f"inject={call}:signal=SIGKILL:when={at}"
        command = ["strace", "-o", os.devnull, "-e", f"trace={call}", "-e", inject]
        made = subprocess.run(
            [*command, sys.executable, "-c", WRITER, str(folder), str(begun)], cwd=TESTS, check=False
        )
        if begun.exists() and folder.is_dir() and commits_in(os.listdir(folder)):
            n_begun += 1
            assert_beginning(tp.load(folder, verify=True), whole)
            parts = {name: part for name, part in parts_of(COMPILED).items() if name == "log_density"}
            assert_whole(tp.resume(folder, parts["log_density"], progress=False), whole)
        if made.returncode == 0:
            break
    assert made.returncode == 0
    if call in ("write", "rename", "fsync", "unlink"):  # the others come but once or twice
        assert n_begun > len(STOPS)


@pytest.fixture
def small_disk(tmp_path):
    """Two megabytes of memory as a disk."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.name == "nt" or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs leave to mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_full_keeps_what_was_committed_and_with_more_room_the_run_goes_on(small_disk):
    options = {"initial": np.zeros(2), "tune": 200, "draws": 60_000, "chains": 2, "levels": 3, "seed": 1}
    target = parts_of(COMPILED)["log_density"]
    whole = tp.sample(target, progress=False, **options)
    with pytest.raises(tp.StoreError, match="No space left on device"):
        tp.sample(target, progress=False, store=small_disk / "run", **options)
    kept = tp.load(small_disk / "run", verify=True)
    assert_beginning(kept, whole.chains)
    again = ["mount", "-o", "remount,size=64m", str(small_disk)]
    subprocess.run(again, check=True)
    assert_whole(tp.resume(small_disk / "run", target, progress=False), whole.chains)


MEMORY = """
import resource, sys
import numba, numpy as np
import temperance as tp

@numba.njit
def gaussian(x):
    return -0.5 * (x[0] * x[0] + x[1] * x[1])

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

options = dict(initial=np.zeros(2), tune=500, levels=2, seed=1, progress=False)
tp.sample(gaussian, draws=1000, chains=1, **options)
before = most()
if sys.argv[1] == "store":
    result = tp.sample(gaussian, draws=int(sys.argv[2]), chains=1, store=sys.argv[3], **options)
    print(most() - before, result.chains[0].n_draws)
else:
    result = tp.sample(gaussian, draws=int(sys.argv[2]), chains=4, keep="draws", **options)
    print(most() - before, result.draws.nbytes)
"""


def memory_of(*arguments):
    command = [sys.executable, "-c", MEMORY, *map(str, arguments)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(word) for word in shown.stdout.split()]


def test_with_a_store_memory_does_not_grow_with_the_draws(tmp_path):
    """Ten million draws take no more than three million: the traces are a window.

    Both may take nothing beyond what compiling took before, which is what `MEMORY` begins with.
    """
    some, _ = memory_of("store", 3_000_000, tmp_path / "some")
    many, n_draws = memory_of("store", 10_000_000, tmp_path / "many")
    assert n_draws == 10_000_000
    assert many <= 1.3 * some + 2**20
    assert many < 400 * 2**20
    assert len(os.listdir(tmp_path / "many")) < 40


def test_draws_alone_take_at_most_twice_their_size():
    taken, draws = memory_of("memory", 10_000_000)
    assert draws == 4 * 10_000_000 * 2 * 8
    assert taken < 2 * draws
