"""What a run shows of itself while it goes on, and what can be seen of it from elsewhere."""

import json
import logging
import math
import re
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from click.testing import CliRunner

import temperance as tp
from temperance.cli import main
from temperance.results.diagnostics import ess_bulk
from temperance.runs import progress
from temperance.runs.sketch import MOST, Sketch, together
from temperance.text import duration

OPTIONS = {"initial": np.zeros(2), "tune": 20, "draws": 150, "chains": 2, "levels": 2, "seed": 1}
LINE = (
    r"0:00:0\d, [\d,]+ of 300 draws, \d+% of all iterations, [\d,]+/s, 0:00:\d\d left, levels 2 2, "
    r"accepted [\d.-]+ [\d.-]+, swaps [\d.-]+ [\d.-]+"
)


def slow_gaussian(x):
    time.sleep(0.001)
    return -0.5 * float(x @ x)


@pytest.fixture
def often(monkeypatch):
    """Lines and calls come ten times a second."""
    monkeypatch.setattr(progress, "FIRST_LINE", 0.1)
    monkeypatch.setattr(progress, "LAST_LINE", 0.1)
    monkeypatch.setattr(progress, "CALL_SECONDS", 0.1)


def test_a_function_gets_the_facts_as_data(often):
    seen = []
    result = tp.sample(slow_gaussian, progress=seen.append, **OPTIONS)
    assert len(seen) > 2
    assert all(isinstance(facts, tp.Progress) for facts in seen)
    last = seen[-1]
    assert (last.draws, last.draws_wanted, last.iterations, last.iterations_wanted) == (300, 300, 340, 340)
    assert last.seconds_left == 0.0
    assert last.rate == pytest.approx(340 / last.seconds)
    assert last.ess == pytest.approx(min(ess_bulk(result.draws[:, :149, k]) for k in range(2)), rel=0.2)
    assert [chain.levels for chain in last.chains] == result.n_levels
    assert {chain.phase for chain in last.chains} == {"draw"}
    assert all(0.0 <= chain.swap_acceptance <= 1.0 for chain in last.chains)
    iterations = [facts.iterations for facts in seen]
    assert iterations == sorted(iterations)
    assert np.array_equal(result.draws, tp.sample(slow_gaussian, progress=False, **OPTIONS).draws)


def test_without_a_terminal_there_is_a_line_now_and_then(often, capfd):
    tp.sample(slow_gaussian, progress=True, **OPTIONS)
    shown = capfd.readouterr()
    assert shown.out == ""
    *lines, last = shown.err.splitlines()
    assert len(lines) > 1
    for line in lines:
        assert re.fullmatch(rf"\d\d:\d\d:\d\d {LINE}(, ESS [\d,]+)?", line), line
    assert re.fullmatch(r"\d\d:\d\d:\d\d 2 chains finished: 340 iterations in \d\.\d s, levels 2, 2", last)


def test_lines_go_through_logging_where_that_is_set_up(often, capfd, caplog):
    with caplog.at_level(logging.INFO, logger="temperance"):
        tp.sample(slow_gaussian, progress="log", **OPTIONS)
    assert capfd.readouterr().err == ""
    assert all(record.name == "temperance" for record in caplog.records)
    assert re.match(LINE, caplog.records[0].getMessage())


def test_in_a_notebook_there_is_one_bar_that_is_renewed(often, monkeypatch, capfd):
    """Broken: a bar that needs more than IPython, or one that fills the page."""
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: type("ZMQInteractiveShell", (), {})()
    notebook.display = types.ModuleType("IPython.display")
    notebook.display.HTML = str
    notebook.display.display = lambda html, display_id: Handle()
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook.display)
    tp.sample(slow_gaussian, progress=True, **OPTIONS)
    assert len(shown) > 2
    assert re.fullmatch(rf'<progress value="340" max="340"></progress> {LINE}, ESS \d+', shown[-1])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bad", ["bar", 3, None])
def test_what_progress_may_be_is_said(bad):
    with pytest.raises(tp.InvalidTypeError, match="progress must be True, False, 'log' or a function of a"):
        tp.sample(slow_gaussian, progress=bad, **OPTIONS)


def test_a_sketch_has_evenly_spaced_draws_and_never_grows(rng):
    draws = rng.normal(size=(3 * MOST + 5, 2))
    sketches = [Sketch(2), Sketch(2)]
    for first in range(0, len(draws), 700):
        sketches[0].add(draws[max(0, first - 50) : first + 700], max(0, first - 50))  # some are seen twice
    sketches[1].add(draws[:900], 0)
    assert sketches[0].stride == 4
    np.testing.assert_array_equal(together(sketches)[0], draws[::4][:225])
    np.testing.assert_array_equal(together(sketches)[1], draws[:900:4])


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00:00"), (61.0, "0:01:01"), (90_000.0, "25:00:00"), (math.inf, "-")]
)
def test_durations_are_in_hours_minutes_and_seconds(seconds, text):
    assert duration(seconds) == text


WRITER = """
import sys, time
import numpy as np
import temperance as tp

def slow(x):
    time.sleep(0.002)
    return -0.5 * float(x @ x)

tp.sample(slow, initial=np.zeros(2), levels=2, chains=1, tune=10, draws=1200, seed=1, store=sys.argv[1],
          progress=lambda facts: print(facts.draws, flush=True))
"""


def test_another_terminal_can_watch(tmp_path, monkeypatch):
    monkeypatch.setattr("temperance.cli.FOLLOW_SECONDS", 0.2)
    folder = str(tmp_path / "run")
    with subprocess.Popen([sys.executable, "-c", WRITER, folder], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        shown = CliRunner().invoke(main, ["info", folder, "--follow"])
        process.communicate(timeout=60)
    assert shown.exit_code == 0, shown.output
    assert f"{folder}: running, process {process.pid} on " in shown.stdout
    assert re.search(r"[\d,]+ of 1,200 draws", shown.stdout)
    assert f"{folder}: complete, last written " in shown.stdout
    again = CliRunner().invoke(main, ["info", folder])
    assert again.stdout.count("\n") == 2
    assert "1,200 of 1,200 draws" in again.stdout


def test_info_of_a_file_and_of_nothing(tmp_path):
    result = tp.sample(slow_gaussian, progress=False, **{**OPTIONS, "draws": 10})
    result.save(tmp_path / "run.npz")
    assert CliRunner().invoke(main, ["info", str(tmp_path / "run.npz")]).stdout == f"{result}\n"
    shown = CliRunner().invoke(main, ["info", str(tmp_path)])
    assert shown.exit_code == 1
    assert "holds no run of temperance" in shown.stderr


def test_a_stopped_run_says_how_it_ended(tmp_path):
    stop = tp.Stop()
    stop.set()
    with pytest.warns(tp.IncompleteWarning):
        tp.sample(slow_gaussian, progress=False, stop=stop, store=tmp_path / "run", **OPTIONS)
    shown = CliRunner().invoke(main, ["info", str(tmp_path / "run")]).stdout
    assert ": ended by Stop, last written" in shown


def test_the_facts_are_plain_values(tmp_path):
    """So that a record holds them, and a web page could."""
    seen = []
    tp.sample(slow_gaussian, progress=seen.append, **{**OPTIONS, "draws": 5})
    from dataclasses import asdict

    json.dumps(asdict(seen[-1]))


# ---- the command line


def test_the_shell_writes_to_a_folder_goes_on_and_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ["--draws", "40", "--tune", "60", "--chains", "2", "--levels", "3", "--seed", "5"]
    shown = CliRunner().invoke(main, ["sample", "zoo:twenty_peaks", *few, "--out", "run/"])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.endswith("the run: run/\n")
    twice = CliRunner().invoke(main, ["sample", "zoo:twenty_peaks", *few, "--out", "run"])
    assert twice.exit_code == 1
    assert "--out: run holds a run" in twice.stderr
    more = CliRunner().invoke(main, ["resume", "run", "--draws", "90"])
    assert more.exit_code == 0, more.output
    assert "2 chains x 90 draws" in more.stdout
    whole = tp.sample(
        tp.zoo.get("twenty_peaks"), draws=90, tune=60, chains=2, levels=3, seed=5, progress=False
    )
    np.testing.assert_array_equal(tp.load("run").draws, whole.draws)
    page = CliRunner().invoke(main, ["report", "run"])
    assert page.exit_code == 0, page.output
    assert (tmp_path / "run.html").exists()
    again = CliRunner().invoke(main, ["sample", "zoo:twenty_peaks", *few, "--out", "run/", "--overwrite"])
    assert again.exit_code == 0
    assert tp.load("run").draws.shape == (2, 40, 2)


def test_the_shell_thins_and_keeps_what_it_is_told(tmp_path):
    few = ["--draws", "40", "--tune", "20", "--chains", "1", "--levels", "2", "--seed", "5"]
    options = [*few, "--thin", "4", "--keep", "draws,levels", "--out", str(tmp_path / "run.npz")]
    shown = CliRunner().invoke(main, ["sample", "zoo:twenty_peaks", *options])
    assert shown.exit_code == 0, shown.output
    result = tp.load(tmp_path / "run.npz")
    assert result.draws.shape == (1, 10, 2)
    assert result.level_draws.shape == (1, 10, 2, 2)
    assert [warning.name for warning in result.warnings].count("no statistics") == 1


def test_a_run_of_the_shell_needs_its_functions_again(tmp_path):
    def local(x):
        return -0.5 * float(x @ x)

    tp.sample(local, progress=False, store=tmp_path / "run", **{**OPTIONS, "draws": 5})
    shown = CliRunner().invoke(main, ["resume", str(tmp_path / "run")])
    assert shown.exit_code == 1
    assert "model must be given again, since functions are never stored: local" in shown.stderr
