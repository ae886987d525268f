"""The runs behind the paper's items: kept on disk, made anew bit for bit, ended by Ctrl-C, watched."""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import temperance as tp
from temperance.errors import InvalidInputError
from temperance.paper import progress, running, store
from temperance.paper.experiments import PEAKS, STUDIES
from temperance.paper.measure import Span, mode_measures
from temperance.paper.progress import Progress
from temperance.paper.running import run_cell, run_cells, sample_cell, wanted_runs
from temperance.paper.store import Store, load_store, open_store
from temperance.paper.study import Cell

TINY = replace(
    PEAKS,
    name="tiny",
    arms=(("EE", 2), ("RA", 3)),
    burn_in=20,
    draws=30,
    runs=4,
    measure=mode_measures([Span(name="late", first=20, end=50)]),
)
EE, RA = TINY.cells
ROWS = {0: {"x": 1.0, "y": -2.5}, 1: {"x": 0.125, "y": 3e-7}}


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setitem(STUDIES, TINY.name, TINY)


def ignore(cell, n_runs):
    pass


def file_of(folder, cell):
    return folder / "cells" / f"{cell.name}.csv"


def files_of(folder):
    """The bytes of all files with runs."""
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.csv"))}


# Store


def test_a_new_folder_begins_with_its_note(tmp_path):
    made = open_store(tmp_path / "deep" / "folder", 7)
    note = json.loads((made.folder / "run.json").read_text())
    assert (note["seed"], note["seconds"]) == (7, {})
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", note["begun"])
    assert set(note["versions"]) >= {"python", "temperance", "numpy", "numba", "kernels"}
    assert made.read(EE) == {}


def test_an_empty_folder_is_as_good_as_a_new_one(tmp_path):
    assert open_store(tmp_path, 7, "continue").seed == 7
    assert load_store(tmp_path).seed == 7


def test_runs_come_back_as_they_were_kept(tmp_path):
    made = open_store(tmp_path, 1)
    made.add(EE, ROWS, 1.25)
    made.save_note()
    assert file_of(tmp_path, EE).read_text() == "run,x,y\n0,1,-2.5\n1,0.125,3e-07\n"
    found = open_store(tmp_path, 1, "continue")
    assert found.read(EE) == ROWS
    assert found.note["seconds"] == {"tiny/EE-2": 1.25}
    assert found.read(RA) == {}


def test_appended_rows_keep_what_was_there(tmp_path):
    made = open_store(tmp_path, 1)
    made.add(EE, ROWS, 1.0)
    before = file_of(tmp_path, EE).read_text()
    made.add(EE, {3: {"x": 9.0, "y": 8.0}, 2: {"x": 7.0, "y": 6.0}}, 0.5)
    assert file_of(tmp_path, EE).read_text() == before + "2,7,6\n3,9,8\n"
    assert made.note["seconds"] == {"tiny/EE-2": 1.5}


def test_nothing_to_add_leaves_no_file(tmp_path):
    open_store(tmp_path, 1).add(EE, {}, 3.0)
    assert not (tmp_path / "cells").exists()


def test_six_digits_are_kept(tmp_path, rng):
    made = open_store(tmp_path, 1)
    values = rng.normal(size=50) * 10.0 ** rng.integers(-8, 9, size=50)
    made.add(EE, {k: {"x": value} for k, value in enumerate(values)}, 1.0)
    assert made.columns(EE, 50)["x"] == pytest.approx(values, rel=5.1e-6)


def test_columns_are_the_first_runs_in_order(tmp_path):
    made = open_store(tmp_path, 1)
    for index in (2, 0, 1, 3):
        made.add(EE, {index: {"x": 10.0 * index, "y": 0.0}}, 1.0)
    columns = made.columns(EE, 3)
    assert {name: values.tolist() for name, values in columns.items()} == {"x": [0, 10, 20], "y": [0, 0, 0]}


def test_columns_name_what_is_lacking(tmp_path):
    made = open_store(tmp_path, 1)
    made.add(EE, {0: ROWS[0], 3: ROWS[1]}, 1.0)
    with pytest.raises(InvalidInputError, match=r"lacks 3 of 5 runs of tiny/EE-2") as caught:
        made.columns(EE, 5)
    assert str(tmp_path) in str(caught.value)


def test_a_folder_with_runs_is_refused_unless_told(tmp_path):
    open_store(tmp_path, 7).add(EE, ROWS, 1.0)
    with pytest.raises(InvalidInputError, match="holds a run with seed 7, begun") as caught:
        open_store(tmp_path, 7)
    assert "--continue" in str(caught.value)
    assert "--overwrite" in str(caught.value)
    assert load_store(tmp_path).read(EE) == ROWS


def test_overwriting_throws_the_runs_away_and_nothing_else(tmp_path):
    open_store(tmp_path, 7).add(EE, ROWS, 1.0)
    (tmp_path / "notes.txt").write_text("mine")
    made = open_store(tmp_path, 8, "overwrite")
    assert made.read(EE) == {}
    assert load_store(tmp_path).seed == 8
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("existing", ["refuse", "continue", "overwrite"])
def test_a_folder_with_other_files_is_left_alone(tmp_path, existing):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "biology.csv").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds other files and no run; choose a new or empty folder"):
        open_store(tmp_path, 7, existing)
    assert [path.name for path in tmp_path.iterdir()] == ["cells"]
    assert (tmp_path / "cells" / "biology.csv").read_text() == "mine"


def test_another_seed_does_not_go_on(tmp_path):
    open_store(tmp_path, 7).add(EE, ROWS, 1.0)
    with pytest.raises(InvalidInputError, match="was begun with seed 7, got 8; give the same seed"):
        open_store(tmp_path, 8, "continue")
    assert load_store(tmp_path).read(EE) == ROWS


@pytest.mark.parametrize("name", ["python", "temperance", "numpy", "numba", "kernels"])
def test_other_versions_do_not_go_on(tmp_path, monkeypatch, name):
    open_store(tmp_path, 7).add(EE, ROWS, 1.0)
    old = store.versions()
    monkeypatch.setattr(store, "versions", lambda: {**old, name: "99.9"})
    with pytest.raises(InvalidInputError, match="begun with other versions") as caught:
        open_store(tmp_path, 7, "continue")
    assert f"({name} {old[name]} -> 99.9)" in str(caught.value)
    assert open_store(tmp_path, 7, "overwrite").note["versions"][name] == "99.9"


def test_existing_is_one_of_three_words(tmp_path):
    with pytest.raises(InvalidInputError, match="existing must be one of 'refuse', 'continue', 'overwrite'"):
        open_store(tmp_path, 7, "resume")


@pytest.mark.parametrize("text", [b"seed 7", b"\xff\xfe\x00", b"{}", b"[]", b"null"], ids=repr)
@pytest.mark.parametrize("existing", ["refuse", "continue"])
def test_a_broken_note_is_refused(tmp_path, text, existing):
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(InvalidInputError, match=r"run\.json is not the note of a run"):
        open_store(tmp_path, 7, existing)
    assert (tmp_path / "run.json").read_bytes() == text


def test_a_broken_note_may_be_overwritten(tmp_path):
    (tmp_path / "run.json").write_text("seed 7")
    assert open_store(tmp_path, 7, "overwrite").seed == 7


def test_a_folder_without_a_note_cannot_be_loaded(tmp_path):
    with pytest.raises(InvalidInputError, match=r"run\.json is not the note of a run"):
        load_store(tmp_path)


@pytest.mark.parametrize("cut", [1, 3, 6, 12])
def test_a_line_cut_off_is_dropped_and_written_again(tmp_path, cut):
    made = open_store(tmp_path, 1)
    made.add(EE, ROWS, 1.0)
    file, whole = file_of(tmp_path, EE), "run,x,y\n0,1,-2.5\n1,0.125,3e-07\n"
    file.write_text(whole[:-cut])
    made = load_store(tmp_path)
    assert made.read(EE) == {0: ROWS[0]}
    made.add(EE, {1: ROWS[1]}, 1.0)
    assert file.read_text() == whole


@pytest.mark.parametrize("left", ["", "run", "run,x,y"])
def test_a_header_cut_off_is_written_again(tmp_path, left):
    made = open_store(tmp_path, 1)
    file_of(tmp_path, EE).parent.mkdir(parents=True)
    file_of(tmp_path, EE).write_text(left)
    assert made.read(EE) == {}
    made.add(EE, ROWS, 1.0)
    assert made.read(EE) == ROWS


# Running


def make(folder, *, runs, cores=1, cells=(EE, RA), existing="continue", seed=5):
    made = open_store(folder, seed, existing)
    assert run_cells(cells, made, runs=runs, cores=cores, watch=ignore)
    return files_of(folder)


def test_a_cell_is_the_algorithm_with_the_settings_of_its_study():
    problem = tp.zoo.twenty_peaks()
    for cell, swaps in ((EE, tp.swaps.equi_energy()), (RA, tp.swaps.uniform())):
        settings = replace(tp.paper_settings(exponent=TINY.exponent, trim=False), swaps=swaps)
        twin = tp.sample(
            problem.log_density, initial=problem.start, temperatures=np.arange(1.0, cell.levels + 1.0),
            draws=30, tune=20, chains=2, progress=False, settings=settings,
            seed=[running._run_seed(cell, 5, index) for index in (0, 3)],
        )  # fmt: skip
        result = sample_cell(cell, 5, [0, 3], cores=1)
        assert np.array_equal(result.draws, twin.draws)
        assert result.swap_strategy == swaps.name


@pytest.mark.parametrize(
    ("arm", "name"), [("EE", "equi_energy"), ("AL", "adjacent"), ("RA", "uniform"), ("RWM", "equi_energy")]
)
def test_strategies_by_the_names_of_the_paper(arm, name):
    assert running.SWAPS[arm]().name == getattr(tp.swaps, name)().name


def test_a_study_says_whether_levels_are_trimmed():
    trimmed = {name for name, study in STUDIES.items() if study.trimming.enabled}
    assert trimmed == {name for name in STUDIES if name.startswith("trimming-")}
    for name in trimmed:
        trimming = running._settings(STUDIES[name], "EE").trimming
        assert trimming.every == (1_000 if "bridge" in name else 1)
        assert (trimming.rule, trimming.threshold, trimming.after) == ("first", "asymptotic", None)


def test_runs_of_a_cell_are_as_many_as_in_the_paper_when_nothing_is_said():
    assert wanted_runs(EE, None) == 4
    assert wanted_runs(EE, 7) == 7
    assert {name: wanted_runs(study.cells[0], None) for name, study in STUDIES.items()}["peaks"] == 500


def test_stored_rows_are_the_measures_of_the_runs(tmp_path):
    make(tmp_path, runs=3, cells=[EE])
    result = sample_cell(EE, 5, [0, 1, 2], cores=1)
    rows = load_store(tmp_path).read(EE)
    for index, record in enumerate(result.chains):
        twin = TINY.measure(record, tp.zoo.twenty_peaks())
        assert rows[index] == pytest.approx(twin, rel=5.1e-6)
    assert rows[0] != rows[1]


def test_every_run_of_every_cell_has_a_seed_of_its_own():
    cells = [cell for study in STUDIES.values() for cell in study.cells]
    seeds = [running._run_seed(cell, seed, index) for cell in cells for seed in (0, 1) for index in range(20)]
    assert len({tuple(seed.generate_state(4)) for seed in seeds}) == len(seeds)


def test_numbers_depend_on_the_seed(tmp_path):
    assert make(tmp_path / "a", runs=2) != make(tmp_path / "b", runs=2, seed=6)


@pytest.mark.parametrize("cores", [2, 3])
def test_numbers_do_not_depend_on_the_cores(tmp_path, cores):
    assert make(tmp_path / "one", runs=5) == make(tmp_path / "many", runs=5, cores=cores)


@pytest.mark.parametrize("cores", [1, 2])
def test_runs_made_in_two_goes_are_those_made_in_one(tmp_path, cores):
    first = make(tmp_path / "two goes", runs=5, cores=cores)
    both = make(tmp_path / "two goes", runs=12, cores=cores)
    assert both == make(tmp_path / "one go", runs=12, cores=cores)
    assert all(both[name].startswith(text) for name, text in first.items())


def test_numbers_do_not_depend_on_what_is_made_together(tmp_path):
    together = make(tmp_path / "together", runs=3)
    swapped = make(tmp_path / "swapped", runs=3, cells=[RA, EE])
    alone = make(tmp_path / "alone", runs=3, cells=[RA])
    assert together == swapped
    assert alone.items() <= together.items()


def test_seeds_that_depend_on_the_batch_would_be_seen(tmp_path, monkeypatch):
    """Broken on purpose: a seed from the place in its batch instead of the index of the run."""
    honest = running._run_seed
    calls = []

    def by_place(cell, seed, index):
        calls.append(index)
        return honest(cell, seed, len(calls) % 2)

    monkeypatch.setattr(running, "_run_seed", by_place)
    one = make(tmp_path / "one", runs=4, cells=[EE])
    calls.append(0)
    assert one != make(tmp_path / "many", runs=4, cores=2, cells=[EE])


@pytest.mark.parametrize(
    "change",
    [{"exponent": 0.8}, {"draws": 31}, {"measure": mode_measures([Span(name="early", first=0, end=20)])}],
    ids=lambda change: next(iter(change)),
)
def test_a_study_that_was_changed_does_not_go_on(tmp_path, monkeypatch, change):
    """Else one file would hold runs of two experiments."""
    before = make(tmp_path, runs=2)
    monkeypatch.setitem(STUDIES, TINY.name, replace(TINY, **change))
    with pytest.raises(InvalidInputError, match="tiny"):
        make(tmp_path, runs=3)
    assert files_of(tmp_path) == before


def test_no_run_is_made_twice(tmp_path, monkeypatch):
    make(tmp_path, runs=4)
    monkeypatch.setattr(running, "sample", None)
    assert make(tmp_path, runs=4) == make(tmp_path, runs=3)


def test_a_run_whose_line_was_cut_off_is_made_again(tmp_path):
    whole = make(tmp_path, runs=3)
    text = file_of(tmp_path, EE).read_bytes()
    file_of(tmp_path, EE).write_bytes(text[:-5])
    assert make(tmp_path, runs=3) == whole


def test_the_watch_is_told_what_was_found_and_what_was_made(tmp_path):
    make(tmp_path, runs=3, cells=[EE])
    told = []
    made = open_store(tmp_path, 5, "continue")
    assert run_cells([EE, RA], made, runs=5, cores=2, watch=lambda cell, n: told.append((cell.strategy, n)))
    assert told == [("EE", 3), ("RA", 0), ("EE", 2), ("RA", 2), ("RA", 2), ("RA", 1)]


def test_runs_beyond_the_wanted_ones_are_not_counted(tmp_path):
    make(tmp_path, runs=4, cells=[EE])
    told = []
    made = open_store(tmp_path, 5, "continue")
    assert run_cells([EE], made, runs=2, cores=1, watch=lambda cell, n: told.append(n))
    assert told == [2]


# Ctrl-C


def interrupted_sample(at_call, finished):
    """`sample`, whose call number ``at_call`` ends early: only these of its chains get to their end."""
    honest, calls = running.sample, []

    def sample(*arguments, **options):
        calls.append(1)
        result = honest(*arguments, **options)
        if len(calls) != at_call:
            return result
        records = enumerate(result.chains)
        chains = tuple(replace(record, complete=place in finished) for place, record in records)
        return replace(result, chains=chains, complete=False)

    return sample


def interrupt(folder, monkeypatch, *, runs, cores, at_call, finished):
    with monkeypatch.context() as patch:
        patch.setattr(running, "sample", interrupted_sample(at_call, finished))
        made = open_store(folder, 5)
        assert not run_cells([EE, RA], made, runs=runs, cores=cores, watch=ignore)
    return load_store(folder)


@pytest.mark.parametrize("at_call", [1, 3, 4, 7])
def test_what_was_finished_before_ctrl_c_is_kept_and_the_rest_made_later(tmp_path, monkeypatch, at_call):
    left = interrupt(tmp_path / "cut", monkeypatch, runs=4, cores=1, at_call=at_call, finished=())
    assert len(left.read(EE)) + len(left.read(RA)) == at_call - 1
    assert make(tmp_path / "cut", runs=4) == make(tmp_path / "whole", runs=4)


def interrupted_in_the_middle_of_a_batch(folder, monkeypatch):
    left = interrupt(folder / "cut", monkeypatch, runs=5, cores=3, at_call=1, finished=(1,))
    assert list(left.read(EE)) == [1]
    make(folder / "cut", runs=5, cores=3)
    make(folder / "whole", runs=5, cores=3)
    return load_store(folder / "cut"), load_store(folder / "whole")


def test_the_finished_runs_of_an_interrupted_batch_are_kept(tmp_path, monkeypatch):
    cut, whole = interrupted_in_the_middle_of_a_batch(tmp_path, monkeypatch)
    for cell in (EE, RA):
        assert cut.read(cell) == whole.read(cell)
        for name, values in cut.columns(cell, 5).items():
            assert np.array_equal(values, whole.columns(cell, 5)[name])


def test_files_of_an_interrupted_batch_end_as_those_of_a_whole_one(tmp_path, monkeypatch):
    cut, whole = interrupted_in_the_middle_of_a_batch(tmp_path, monkeypatch)
    assert files_of(cut.folder) == files_of(whole.folder)


@pytest.mark.parametrize("where", ["measure", "sample", "note"])
def test_ctrl_c_between_two_runs_ends_it_as_well(tmp_path, monkeypatch, where):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    made = open_store(tmp_path, 5)
    assert run_cell(EE, made, runs=2, cores=1, watch=ignore)
    if where == "measure":
        monkeypatch.setattr(running, "_measured", stop)
    elif where == "sample":  # while the loop is compiled
        monkeypatch.setattr(running, "sample", stop)
    else:
        monkeypatch.setattr(Store, "save_note", stop)
    try:
        complete = run_cells([EE], made, runs=4, cores=1, watch=ignore)
    except KeyboardInterrupt:
        pytest.fail("an interrupt got through")
    assert not complete
    assert set(made.read(EE)) >= {0, 1}


SCRIPT = """
from dataclasses import replace
from temperance.cli import main
from temperance.paper.experiments import PEAKS, STUDIES
STUDIES["peaks"] = replace(PEAKS, draws=60_000)  # long enough to be met in the middle
main()
"""


def command(folder, *options):
    arguments = ["reproduce", "table1", "--runs", "3", "--cores", "1", "--out", str(folder), *options]
    return [sys.executable, "-c", SCRIPT, *arguments]


def wait_until(condition):
    deadline = time.monotonic() + 120.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


@pytest.mark.slow
def test_ctrl_c_to_the_command_and_continue(tmp_path):
    folder, whole = tmp_path / "cut", tmp_path / "whole"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command(folder), **pipes) as process:
        wait_until((folder / "cells" / "peaks" / "EE-3.csv").exists)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert errors.splitlines()[-1] == f"Stopped; the finished runs are in {folder}. Go on with --continue."
    assert "Traceback" not in errors
    kept = files_of(folder)
    assert not (folder / "table1.csv").exists()
    for arguments in (command(folder, "--continue"), command(whole)):
        subprocess.run(arguments, check=True, capture_output=True, timeout=120)
    assert files_of(folder) == files_of(whole)
    assert all(files_of(folder)[name].startswith(text) for name, text in kept.items())
    assert sum(text.count(b"\n") - 1 for text in kept.values()) < 12


# Progress


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when told."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    return now


def test_time_left_is_that_of_the_remaining_log_densities(clock):
    watch = Progress([(EE, 4), (RA, 4)], show=False)  # 100 log densities a run, and 150
    assert watch.seconds_left is None
    watch(EE, 0)
    assert watch.seconds_left is None
    clock.seconds += 10.0
    watch(EE, 1)
    assert watch.seconds_left == pytest.approx(10.0 * (300 + 600) / 100)
    clock.seconds += 10.0
    watch(EE, 3)
    watch(RA, 0)
    watch(RA, 2)
    assert watch.seconds_left == pytest.approx(20.0 * 300 / 700)
    watch(RA, 2)
    assert watch.seconds_left == 0.0


def test_runs_found_on_disk_do_not_count_into_the_pace(clock):
    watch = Progress([(EE, 10), (RA, 4)], show=False)
    watch(EE, 5)
    assert watch.seconds_left is None
    clock.seconds += 10.0
    watch(EE, 1)
    honest = 10.0 * (400 + 600) / 100
    as_if_made_now = 10.0 * (400 + 600) / 600
    assert watch.seconds_left == pytest.approx(honest)
    assert watch.seconds_left != pytest.approx(as_if_made_now)
    watch(EE, 4)
    watch(RA, 4)  # all of them found
    assert watch.seconds_left == 0.0


def test_without_a_terminal_there_is_a_line_for_each_cell(clock, capsys):
    with Progress([(EE, 4), (RA, 2)], show=True) as watch:
        watch(EE, 1)
        clock.seconds += 75.0
        watch(EE, 2)
        assert capsys.readouterr().err == ""
        watch(EE, 1)
        assert capsys.readouterr().err == "tiny/EE-2: 4 of 4 runs, 0:01:15 so far, 0:01:15 left\n"
        watch(RA, 0)
        clock.seconds += 3600.0
        watch(RA, 2)
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors == "tiny/RA-3: 2 of 2 runs, 1:01:15 so far, 0:00:00 left\n"


def test_a_cell_found_whole_says_so_without_a_time(clock, capsys):
    with Progress([(EE, 4)], show=True) as watch:
        watch(EE, 4)
    assert capsys.readouterr().err == "tiny/EE-2: 4 of 4 runs, 0:00:00 so far\n"


def test_nothing_is_shown_when_not_asked(clock, capsys):
    with Progress([(EE, 4)], show=False) as watch:
        watch(EE, 0)
        watch(EE, 4)
    assert capsys.readouterr() == ("", "")


def test_in_a_terminal_there_is_a_bar(clock, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress([(EE, 4), (RA, 4)], show=True) as watch:
        watch(EE, 0)
        clock.seconds += 10.0
        watch(EE, 2)
    out, errors = capsys.readouterr()
    assert out == ""
    assert re.search(r"tiny/EE-2.* 20%.* 0:00:40 left", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", errors))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0:00:00"), (59.6, "0:01:00"), (3_661.0, "1:01:01"), (360_000.0, "100:00:00")],
)
def test_clock(seconds, shown):
    assert progress._clock(seconds) == shown


def test_the_cost_of_a_run_is_its_log_densities():
    assert progress._cost(Cell("tiny", "RA", 3)) == 3 * 50
