"""A run on disk: whatever happens, what was committed is there and exact, and what is not is named."""

import contextlib
import errno
import itertools
import os
import struct
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import stored
import temperance as tp
from stored import Failing, Killed, assert_beginning, assert_whole, chains_for, write_run
from temperance.files import THE_DISK
from temperance.store import disk, layout, merging
from temperance.store.archive import read_arrays, write_arrays
from temperance.store.layout import commits_in
from temperance.store.reading import last_commit
from temperance.store.rows import alike
from temperance.stored import load_folder
from test_segments import DRAWS, SETUPS, TUNE, plan_of

COMPILED = "compiled, jumps"
N_ALL = TUNE + DRAWS
STOPS = (20, 45, 90, 100, 117)


def parts_of(name):
    """What has to be given again to go on."""
    parts, _, strategy = SETUPS[name]
    own = {"swaps": strategy} if name.startswith("own") else {}
    return {**parts, **own, "vectorized": name.startswith("vectorised")}


@pytest.fixture(scope="module")
def whole():
    """The chains of each set-up, never stopped, made once."""
    made = {}

    def get(name, n_chains=1, **changes):
        key = name, n_chains, *changes.items()
        if key not in made:
            runs = chains_for(replace(plan_of(name), **changes), n_chains)
            for run in runs:
                run.run()
            made[key] = alike([run.leave() for run in runs], max(run.now.most_levels for run in runs))
        return made[key]

    return get


@pytest.fixture
def by_hand(monkeypatch):
    stored.by_hand(monkeypatch)
    monkeypatch.setattr(merging, "FAN_IN", 3)


def resumed(folder, name=COMPILED, **options):
    return stored.resume(folder, parts_of(name), **options)


# ---- exact resume


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETUPS)
def test_a_run_that_was_left_after_any_iteration_goes_on_as_if_it_had_not(
    name, step, whole, by_hand, tmp_path
):
    """Tuning, fits, trimming, scouts, draws; every iteration among the longer checks."""
    some = {*range(0, N_ALL + 1, step), TUNE // 2, TUNE - 1, TUNE, TUNE + 1}
    for k in sorted(some):
        folder = tmp_path / str(k)
        write_run(folder, plan_of(name), [k], n_chains=2)
        assert_beginning(tp.load(folder), whole(name, 2))
        assert_whole(resumed(folder, name), whole(name, 2))
        assert_whole(tp.load(folder), whole(name, 2))


CONTINUE = """
import sys
from pathlib import Path
import stored
from test_store import SETUPS, parts_of

for number, name in enumerate(SETUPS):
    for folder in Path(sys.argv[1]).glob(f"{number}-*"):
        stored.resume(folder, parts_of(name), cores=3)
"""


def check_in_a_new_process(names, stops, n_chains, whole, tmp_path):
    """Leave runs after each of these iterations, and let one new process go on with all of them."""
    folders = {
        (name, k): tmp_path / f"{number}-{k}"
        for number, name in enumerate(SETUPS)
        for k in stops
        if name in names
    }
    for (name, k), folder in folders.items():
        write_run(folder, plan_of(name), [k // 2, k], n_chains=n_chains)
    command = [sys.executable, "-W", "error", "-c", CONTINUE, str(tmp_path)]
    subprocess.run(command, check=True, cwd=Path(__file__).parent, timeout=600)
    for (name, _), folder in folders.items():
        assert_whole(tp.load(folder), whole(name, n_chains))


def test_it_goes_on_in_a_new_process_on_another_number_of_cores(whole, by_hand, tmp_path):
    check_in_a_new_process(SETUPS, (0, 19, 46, 90, 101, 130), 2, whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("n_chains", [1, 2])
@pytest.mark.parametrize("name", SETUPS)
def test_it_goes_on_in_a_new_process_after_any_iteration(name, n_chains, whole, by_hand, tmp_path):
    check_in_a_new_process([name], range(N_ALL + 1), n_chains, whole, tmp_path)


def test_a_finished_run_can_have_more_draws(whole, by_hand, tmp_path):
    write_run(tmp_path / "run", replace(plan_of(COMPILED), draws=11), [TUNE + 11])
    assert tp.load(tmp_path / "run").complete
    assert_whole(resumed(tmp_path / "run", draws=DRAWS), whole(COMPILED))
    with pytest.raises(tp.InvalidInputError, match="draws must not be fewer than the 40 a chain"):
        resumed(tmp_path / "run", draws=39)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.filterwarnings("ignore::temperance.IncompleteWarning", "ignore::temperance.LearningWarning")
def test_a_run_that_ended_at_any_call_of_the_density_goes_on_from_disk(error, tmp_path):
    """During walks, while scouts are out, and between. An error that a scout meets ends that scout alone.

    Broken: a row that is final before its scouts are back, or that counts those that were sent in vain.
    """
    n_ended = n_went_on = 0
    target = SETUPS["plain Python, jumps"][0]["log_density"]
    options = {"initial": np.full(2, 0.5), "tune": TUNE, "draws": 20, "chains": 2, "levels": 4, "seed": 5}
    whole = tp.sample(target, progress=False, **options).chains
    assert any(chain.modes is not None and chain.modes.n_scouts for chain in whole)
    n_calls = int(sum(trace.evaluations.sum() for chain in whole for trace in (chain.tuning, chain.sampling)))
    for at in range(30, n_calls, 41):
        calls = itertools.count()

        def density(x, at=at, calls=calls):
            if next(calls) == at:
                raise error
            return target(x)

        with contextlib.suppress(tp.DensityError):
            tp.sample(density, store=tmp_path / str(at), progress=False, **options)
        left = tp.load(tmp_path / str(at))
        if left.complete:
            assert error is ZeroDivisionError
            assert "scouts" in str([chain.setbacks for chain in left.chains])
            n_went_on += 1
            continue
        n_ended += 1
        assert_whole(tp.resume(tmp_path / str(at), target, progress=False), whole)
        assert_whole(tp.load(tmp_path / str(at)), whole)
    assert n_ended >= 5, n_went_on


@pytest.mark.parametrize("thin", [3, 7])
def test_thinned_rows_do_not_depend_on_where_a_run_was_stopped(thin, whole, by_hand, tmp_path):
    """Broken: rows of a group that is not whole are lost with the process."""
    every = whole(COMPILED)[0].sampling
    plan = replace(plan_of(COMPILED), thin=thin)
    write_run(tmp_path / "whole", plan, [N_ALL])
    kept = tp.load(tmp_path / "whole")
    n_kept = DRAWS // thin
    np.testing.assert_array_equal(kept.draws[0], every.draws[thin - 1 :: thin])
    sums = every.evaluations[: n_kept * thin].reshape(n_kept, thin).sum(axis=1)
    np.testing.assert_array_equal(kept.chains[0].sampling.evaluations, sums)
    for k in range(TUNE - 1, N_ALL):
        write_run(tmp_path / str(k), plan, [k - 2, k])
        assert_whole(resumed(tmp_path / str(k)), kept.chains)


def test_a_window_of_rows_makes_the_same_run(whole, by_hand, tmp_path):
    for window in (4, 9, 31):
        folder = tmp_path / str(window)
        write_run(folder, plan_of(COMPILED), [*STOPS, N_ALL], n_chains=2, window=window)
        assert_beginning(tp.load(folder), whole(COMPILED, 2))
        assert tp.load(folder).chains[1].n_draws == DRAWS - 1
        assert_whole(resumed(folder), whole(COMPILED, 2))


# ---- crashes


@pytest.mark.parametrize("power", [False, True], ids=["killed", "power lost"])
def test_a_crash_at_every_operation_leaves_a_run_that_is_exact_and_goes_on(power, whole, by_hand, tmp_path):
    """At every write (in its middle), rename, sync and removal, with merging.

    Broken versions that it catches: a record before its chunk; chunks removed before the record that has no
    need of them; a name that is given before the content is on the disk.
    """
    system = Failing()
    write_run(tmp_path / "counted", plan_of(COMPILED), STOPS, system=system)
    assert any("-00000004" in path.name for path in (tmp_path / "counted").glob("rows-00000002-*"))  # merged
    n_begun = 0
    for at in range(1, system.n_steps + 1):
        folder, noted, failing = tmp_path / f"{at}", [], Failing(at, power=power)
        with pytest.raises(Killed):
            write_run(folder, plan_of(COMPILED), STOPS, system=failing, noted=noted)
        if power and folder.is_dir():
            failing.lose_power(folder)
        if not folder.is_dir() or not commits_in(os.listdir(folder)):
            assert not noted
            continue
        n_begun += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            part = load_folder(folder, thorough=True)
            assert_beginning(part, whole(COMPILED))
            made = len(part.chains[0].tuning.draws) + part.chains[0].n_draws
            assert made >= (noted[-1][0] if noted else 0)
            assert_whole(resumed(folder), whole(COMPILED))
        assert_whole(tp.load(folder, verify=True), whole(COMPILED))
        assert not list(folder.glob("*.partial"))
    assert n_begun > 0.8 * system.n_steps


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["full", "broken"])
def test_a_disk_that_fails_ends_the_run_with_all_draws_and_can_be_gone_on_with(
    code, whole, by_hand, tmp_path
):
    """Broken: an error of the writing thread that nobody hears of."""
    counted = Failing()
    write_run(tmp_path / "counted", plan_of(COMPILED), STOPS, system=counted)
    for at in range(20, counted.n_steps, 5):
        folder = tmp_path / str(at)
        error = OSError(code, os.strerror(code))
        with pytest.raises(OSError, match=os.strerror(code)):
            write_run(folder, plan_of(COMPILED), STOPS, system=Failing(at, error))
        assert_beginning(load_folder(folder, thorough=True), whole(COMPILED))
        assert_whole(resumed(folder), whole(COMPILED))


def test_a_full_disk_is_a_store_error_with_what_was_drawn(monkeypatch, tmp_path):
    plan_options = {"initial": np.zeros(2), "seed": 3, "levels": 2, "chains": 2, "progress": False}
    target = SETUPS[COMPILED][0]["log_density"]
    whole = tp.sample(target, draws=300, tune=100, **plan_options)
    monkeypatch.setattr(disk, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(disk, "LARGEST_SHARE", 1.0)
    genuine, calls = THE_DISK.sync, []

    def fills_up(file):
        calls.append(1)
        if len(calls) > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        genuine(file)

    monkeypatch.setattr(THE_DISK, "sync", fills_up)
    with pytest.raises(
        tp.StoreError, match=r"could not be written to .*run: .*No space left.*resume"
    ) as caught:
        tp.sample(target, draws=1_000_000, tune=100, store=tmp_path / "run", **plan_options)
    assert isinstance(caught.value, OSError)
    result = caught.value.result
    assert not result.complete
    for part, full in zip(result.chains, whole.chains, strict=True):
        drawn = part.sampling.draws[:300]
        np.testing.assert_array_equal(drawn, full.sampling.draws[: len(drawn)])
    assert_beginning(tp.load(tmp_path / "run"), result.chains)


# ---- damage


def damaged(content, checked, rng, n_flips, n_lengths):
    """Contents with a flipped bit or without an end, and whether that must be told.

    It must where a byte of ``checked`` is hit, and where the length is another.
    """
    for bit in rng.integers(0, 8 * len(content), n_flips):
        broken = bytearray(content)
        broken[bit // 8] ^= 1 << bit % 8
        yield bytes(broken), bit // 8 in checked
    for length in rng.integers(0, len(content), n_lengths):
        yield content[:length], True


def checked_bytes(path):
    """Of a commit record all; of a chunk the arrays: of the headers around them some bits mean nothing."""
    if path.name.startswith("commit-"):
        return range(path.stat().st_size)
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        places = set()
        for entry in archive.infolist():
            file.seek(entry.header_offset)
            name_size, extra_size = struct.unpack("<26xHH", file.read(30))
            start = entry.header_offset + 30 + name_size + extra_size
            places.update(range(start, start + entry.file_size))
    return places


@pytest.mark.parametrize(("n_flips", "n_lengths"), [(40, 4), pytest.param(300, 300, marks=pytest.mark.slow)])
def test_damage_never_gives_a_wrong_draw_and_is_always_named(
    n_flips, n_lengths, whole, by_hand, tmp_path, rng
):
    """Bits and lengths of every file. Broken: a chunk whose checksum nobody looks at."""
    folder = tmp_path / "run"
    write_run(folder, plan_of(COMPILED), STOPS)
    spare = min(folder.glob("commit-*"))  # the record before the last, which nobody asks
    for path in sorted(path for path in folder.iterdir() if path.name != "lock"):
        good = path.read_bytes()
        for bad, must_be_told in damaged(good, checked_bytes(path), rng, n_flips, n_lengths):
            path.write_bytes(bad)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                result = tp.load(folder, verify=True)
                assert_beginning(result, whole(COMPILED))
            told = [str(one.message) for one in said if issubclass(one.category, tp.DamageWarning)]
            assert all(path.name in text for text in told)
            if path == spare:
                assert not told
            elif must_be_told:
                assert told
            short = len(result.chains[0].tuning.draws) + result.chains[0].n_draws < STOPS[-1]
            assert told or not short, "what is missing is said"
            read_at_a_glance(folder, path, whole(COMPILED))
        path.write_bytes(good)
    assert_whole(resumed(folder), whole(COMPILED))


def test_every_single_bit_of_an_archive(tmp_path):
    """Whichever is wrong, all arrays come back as they were or the file is refused.

    Broken: a directory whose entries were swallowed by a comment that is not there.
    """
    arrays = {f"0.tuning.{name}": np.arange(3.0) for name in ("draws", "jump")}
    path = tmp_path / "rows.npz"
    with path.open("wb") as file:
        write_arrays(file, arrays)
    good = path.read_bytes()
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bad)
        with contextlib.suppress(tp.DamagedFileError):
            found = read_arrays(path)
            assert found.keys() == arrays.keys()
            assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


def read_at_a_glance(folder, path, whole):
    """Without looking at everything first: an error that names the file, or what is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert_beginning(tp.load(folder), whole)
        except tp.DamagedFileError as error:
            assert path.name in str(error)  # noqa: PT017  others are failures


def test_a_damaged_record_falls_back_on_the_one_before_and_the_run_goes_on(whole, by_hand, tmp_path):
    folder = tmp_path / "run"
    write_run(folder, plan_of(COMPILED), STOPS)
    (_, last), (_, before) = commits_in(os.listdir(folder))
    (folder / last).write_bytes(b"")
    with pytest.warns(tp.DamageWarning, match=last):
        assert_beginning(tp.load(folder), whole(COMPILED))
    with pytest.warns(tp.DamageWarning, match=last):
        assert_whole(resumed(folder), whole(COMPILED))
    (folder / before).unlink(missing_ok=True)


def test_a_run_with_lost_draws_is_read_up_to_them_and_not_gone_on_with(whole, by_hand, tmp_path):
    folder = tmp_path / "run"
    write_run(folder, plan_of(COMPILED), STOPS)
    lost = sorted(folder.glob("rows-*"))[-1]
    lost.unlink()
    with pytest.warns(tp.DamageWarning, match=rf"{lost.name} is gone; missing are sampling rows from 11 on"):
        part = tp.load(folder)
    assert_beginning(part, whole(COMPILED))
    assert part.chains[0].n_draws == 10
    with pytest.raises(tp.DamagedFileError, match=rf"cannot go on, since draws are lost: .*{lost.name}"):
        resumed(folder)


# ---- one writer, and no run is replaced by accident


def test_a_run_is_not_replaced_without_leave(tmp_path):
    options = {"initial": np.zeros(2), "tune": 5, "chains": 1, "levels": 2, "seed": 1, "progress": False}
    target, calls = SETUPS[COMPILED][0]["log_density"], []
    tp.sample(target, draws=7, store=tmp_path / "run", **options)

    def counted(x):
        calls.append(1)
        return 0.0

    with pytest.raises(tp.InvalidInputError, match=r"store: .*run holds a run; .*overwrite=True"):
        tp.sample(counted, draws=9, store=tmp_path / "run", **options)
    assert tp.load(tmp_path / "run").draws.shape == (1, 7, 2)
    tp.sample(target, draws=9, store=tmp_path / "run", overwrite=True, **options)
    assert tp.load(tmp_path / "run").draws.shape == (1, 9, 2)
    assert not calls


def test_a_start_that_fails_leaves_the_old_run(tmp_path):
    """Broken: a folder that is emptied before it is known whether the new run can begin."""
    options = {"tune": 5, "draws": 6, "chains": 1, "levels": 2, "seed": 1, "progress": False}
    target = SETUPS[COMPILED][0]["log_density"]
    tp.sample(target, store=tmp_path / "run", initial=np.zeros(2), **options)
    for place in ("run", "new"):
        with pytest.raises(tp.StartError):
            tp.sample(
                lambda x: -np.inf, initial=np.zeros(2), store=tmp_path / place, overwrite=True, **options
            )
    assert tp.load(tmp_path / "run").complete
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing/run", r"the folder .*missing does not exist"),
        ("file", r"file is a file, not a folder"),
        ("full", r"full is not empty and holds no run"),
        ("/proc/run", r"/proc/run cannot be written"),
        ("n" * 300, r"cannot be written: .*too long"),
    ],
)
def test_a_place_that_will_not_do_is_found_before_the_first_evaluation(tmp_path, place, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")

    def never(x):
        raise AssertionError

    with pytest.raises(tp.InvalidInputError, match=f"^store: .*{message}"):
        tp.sample(never, initial=np.zeros(2), store=tmp_path / place, progress=False)
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


WRITER = """
import os, sys, time
import numpy as np
import temperance as tp

def slow(x):
    time.sleep(0.01)
    return -0.5 * float(x @ x)

tp.sample(slow, initial=np.zeros(2), levels=2, chains=1, tune=10, draws=100_000, seed=1,
          store=sys.argv[1], progress=lambda facts: print(facts.draws, flush=True))
"""


def test_two_writers_are_refused_a_crash_frees_the_run_and_readers_may_look(tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as process:
        while int(process.stdout.readline()) < 100:
            pass
        deadline = time.monotonic() + 30.0
        while tp.load(folder).draws.shape[1] < 50 and time.monotonic() < deadline:
            time.sleep(0.1)
        read = tp.load(folder)
        assert not read.complete
        assert read.draws.shape[1] >= 50
        with pytest.raises(tp.InvalidInputError, match=rf"is written to by process {process.pid}"):
            tp.resume(folder, lambda x: -0.5 * float(x @ x), progress=False)
        process.kill()
    assert not tp.load(folder).complete
    done = len(tp.load(folder).chains[0].sampling.draws)
    stop = tp.Stop()
    stop.set()
    with pytest.warns(tp.IncompleteWarning, match="the run was stopped"):
        again = tp.resume(folder, lambda x: -0.5 * float(x @ x), progress=False, stop=stop)
    assert again.draws.shape[1] == done
    np.testing.assert_array_equal(again.draws[:, :50], read.draws[:, :50])


# ---- the rest


def test_another_target_is_refused_with_the_difference(by_hand, tmp_path):
    write_run(tmp_path / "run", plan_of(COMPILED), [100])
    target = SETUPS[COMPILED][0]["log_density"]
    refused = {
        "another density": (
            lambda x: target(x) + 1e-6,
            r"log density of <lambda> at the point \[.* is .* was",
        ),
        "another dimension": (lambda x: float(x[2]), r"raised an error at the point \[.*test_store.py:\d+"),
    }
    for density, message in refused.values():
        with pytest.raises(tp.InvalidInputError, match=f"target: .*{message}"):
            tp.resume(tmp_path / "run", density, progress=False)
    with pytest.raises(tp.InvalidInputError, match="the run was made with log_density, got log_likelihood"):
        tp.resume(tmp_path / "run", log_likelihood=target, log_prior=target, progress=False)
    with pytest.raises(tp.InvalidInputError, match="model must be given again, since functions are never"):
        tp.resume(tmp_path / "run")
    with pytest.raises(tp.InvalidInputError, match=r"swaps must be the strategy even_odd.*got equi_energy"):
        tp.resume(tmp_path / "run", target, swaps=tp.swaps.equi_energy())


def test_another_version_goes_on_and_says_that_bits_may_differ(by_hand, tmp_path, monkeypatch):
    monkeypatch.setattr("temperance.runs.describe.versions", lambda: {"numpy": "1.0"})
    write_run(tmp_path / "run", plan_of(COMPILED), [100])
    monkeypatch.undo()
    with pytest.warns(tp.ExactnessWarning, match=r"not promised to be the same in all bits.*numpy 1\.0 -> "):
        resumed(tmp_path / "run")


def test_targets_of_the_zoo_are_known_by_name(tmp_path):
    options = {"tune": 50, "chains": 2, "levels": 3, "seed": 1, "progress": False}
    problem = tp.zoo.get("bridge")
    whole = tp.sample(problem, draws=60, **options)
    tp.sample(problem, draws=20, store=tmp_path / "run", **options)
    again = tp.resume(tmp_path / "run", draws=60, progress=False)
    np.testing.assert_array_equal(again.draws, whole.draws)
    assert again.parameters == whole.parameters == tp.load(tmp_path / "run").parameters


def test_a_newer_format_is_refused_by_number(by_hand, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "FORMAT", 99)
    write_run(tmp_path / "run", plan_of(COMPILED), [5])
    with pytest.raises(
        tp.InvalidInputError, match=rf"commit-.* has format 99, this version reads {layout.FORMAT}"
    ):
        tp.load(tmp_path / "run")


def test_small_chunks_become_large_ones(by_hand, tmp_path):
    """A day's run is hundreds of files: with groups of three, the number grows like a logarithm."""
    write_run(tmp_path / "run", plan_of(COMPILED), range(1, N_ALL + 1))
    n_files = len(list((tmp_path / "run").glob("rows-*")))
    assert n_files < 20
    assert len(list((tmp_path / "run").glob("commit-*"))) == disk.RECORDS


def test_whoever_reads_while_chunks_are_merged_gets_the_same_rows(whole, by_hand, tmp_path):
    """Broken: a reader that knows files by name only."""
    early = []
    plan, folder = plan_of(COMPILED), tmp_path / "run"

    class Looking(list):
        def append(self, noted):
            early.append(tp.load(folder))

    write_run(folder, plan, STOPS, noted=Looking())
    assert len(early) == len(STOPS)
    for result in early:
        assert_beginning(result, whole(COMPILED))
    assert [len(one.chains[0].tuning.draws) + one.chains[0].n_draws for one in early] == list(STOPS)


def test_draws_are_read_when_they_are_asked_for(by_hand, tmp_path, monkeypatch):
    write_run(tmp_path / "run", plan_of(COMPILED), [N_ALL])
    read = []
    kept = tp.load(tmp_path / "run")
    from temperance.store import reading

    genuine = reading.read_array
    monkeypatch.setattr(reading, "read_array", lambda path, name: read.append(name) or genuine(path, name))
    assert kept.chains[0].n_draws == DRAWS
    assert kept.complete
    assert read == []
    assert kept.draws.shape == (1, DRAWS, 2)
    assert read == ["0.sampling.draws"]


def test_no_pickle_is_ever_loaded(by_hand, tmp_path):
    write_run(tmp_path / "run", plan_of(COMPILED), [10])
    for path in (tmp_path / "run").glob("*.npz"):
        with np.load(path, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype.kind in "fiubU" for name in arrays.files)


def test_the_writer_writes_by_itself_and_waits_for_nobody(monkeypatch, tmp_path):
    """While the run goes on, a second or so after they were drawn, draws are on the disk."""
    monkeypatch.setattr(disk, "FLUSH_SECONDS", 0.05)
    seen = []

    def slow(x):
        time.sleep(0.001)
        return -0.5 * float(x @ x)

    def look(facts):
        seen.append((facts.draws, len(tp.load(tmp_path / "run").chains[0].sampling.draws)))

    monkeypatch.setattr("temperance.runs.progress.CALL_SECONDS", 0.2)
    tp.sample(
        slow, initial=np.zeros(2), tune=5, draws=600, chains=1, levels=2, seed=1,
        store=tmp_path / "run", progress=look,
    )  # fmt: skip
    assert seen[-1][0] == 600
    assert any(0 < committed < 600 for _, committed in seen)
    assert "temperance-store" not in [thread.name for thread in threading.enumerate()]


def test_a_run_that_was_ended_before_its_first_record_begins_again(tmp_path):
    """Killed while its compiler was at work: its folder says so, and takes the same call once more."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("lock", ".probe", ".0123abcd.partial"):
        (folder / name).write_bytes(b"")
    assert not tp.holds_run(folder)
    told = r"holds no draws yet: .* same call of sample .* begins it again"
    with pytest.raises(tp.InvalidInputError, match=told):
        tp.resume(folder, lambda x: 0.0)
    few = {"tune": 5, "draws": 20, "chains": 1, "levels": 2, "seed": 1, "progress": False}
    made = tp.sample(lambda x: -0.5 * float(x @ x), initial=np.zeros(2), store=folder, **few)
    assert tp.holds_run(folder)
    assert made.draws.shape == (1, 20, 2)
    assert not list(folder.glob("*.partial"))
    assert not tp.holds_run(tmp_path)
    assert not tp.holds_run(tmp_path / "nowhere")


def test_last_commit_of_an_empty_folder_is_none(tmp_path):
    with pytest.raises(tp.InvalidInputError, match="holds no run of temperance"):
        last_commit(tmp_path)
    with pytest.raises(tp.InvalidInputError, match="cannot be read"):
        tp.resume(tmp_path / "absent")
