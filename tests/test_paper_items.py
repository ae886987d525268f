"""Every table and figure of the paper through `reproduce` and the command, with a handful of short runs."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from temperance.cli import main
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.paper import ITEMS, figures, reproduce, running
from temperance.paper.experiments import CYLINDERS, STUDIES
from temperance.paper.figures import FIGURES
from temperance.paper.measure import bridge_measures, ladder_measures
from temperance.paper.printed import EXACT, TABLES
from temperance.paper.reproduce import chosen_items, needed_cells
from temperance.paper.store import load_store
from temperance.paper.study import Cell
from temperance.results.diagnostics import first_unimodal
from temperance.results.plots.canvas import pyplot
from temperance.theory import asymptotic_scale

BURN_IN, DRAWS, RUNS, SEED = 40, 120, 3, 11
SVG = "{http://www.w3.org/2000/svg}"
SUFFIXES = {"table": (".txt", ".csv"), "figure": (".svg", ".pdf")}


def shortened(study):
    """The same study with very short runs; what it measures sees them repeated to their true length."""

    def measure(record, problem):
        lengths = ((record.tuning, study.burn_in), (record.sampling, study.draws))
        tuning, sampling = (
            trace._replace(draws=np.resize(trace.draws, (n, problem.dim))) for trace, n in lengths
        )
        return study.measure(replace(record, tuning=tuning, sampling=sampling), problem)

    needs_no_length = study.measure in (bridge_measures, ladder_measures)
    own = study.measure if needs_no_length else measure
    return replace(study, burn_in=BURN_IN, draws=DRAWS, measure=own)


def shorten(monkeypatch):
    for name, study in list(STUDIES.items()):
        monkeypatch.setitem(STUDIES, name, shortened(study))


@pytest.fixture
def short(monkeypatch):
    shorten(monkeypatch)


def make(items, folder, **options):
    return reproduce(items, out=folder, **{"runs": RUNS, "seed": SEED, "progress": False, **options})


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All items, made with short runs."""
    folder = tmp_path_factory.mktemp("everything")
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        made = make(["all"], folder)
    assert made.complete
    return folder, made


def read_from(folder):
    found = load_store(folder)
    return lambda cell: found.columns(cell, RUNS)


# Items


def test_items_are_those_of_the_paper():
    numbered = [f"table{n}" for n in range(1, 8)], [f"figure{n}" for n in range(1, 7)]
    assert list(ITEMS) == [*numbered[0], "trimming", *numbered[1]]


def test_all_items_are_written(everything):
    folder, made = everything
    names = [
        f"{item}{suffix}" for item in ITEMS for suffix in SUFFIXES["figure" if item in FIGURES else "table"]
    ]
    assert [path.name for path in made.files] == names
    assert set(contents(folder)) == {*names, "run.json"}
    assert set(json.loads((folder / "run.json").read_text())["seconds"]) == {
        cell.name for cell in needed_cells(ITEMS)
    }


def test_every_cell_has_its_runs(everything):
    found = load_store(everything[0])
    for cell in needed_cells(ITEMS):
        assert list(found.read(cell)) == list(range(RUNS))


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_a_line_for_every_figure(everything, name):
    folder, made = everything
    text = (folder / f"{name}.txt").read_text()
    assert text == made.texts[list(TABLES).index(name)] + "\n"
    rows = list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text())))
    blocks = TABLES[name].blocks
    assert len(rows) == sum(len(block.rows) * len(block.columns) for block in blocks)
    for row in rows:
        assert math.isfinite(float(row["ours"]))
        assert math.isfinite(float(row["error"]))
        assert int(row["runs"]) == RUNS
        assert (row["z"] == "") == (row["printed"] == "")
    for block in blocks:
        assert text.count(f"\n{block.title}\n") == 1
    assert text.count("chance alone would give about") == len(blocks)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawings_with_words_in_them(everything, name):
    folder, _ = everything
    assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    root = ET.parse(folder / f"{name}.svg").getroot()
    assert root.tag == f"{SVG}svg"
    words = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    assert len([word for word in words if word]) >= 10
    assert (folder / f"{name}.svg").stat().st_size < 1_000_000


WORDS = {
    "figure4": ["E X1", "E X2²", "levels", "root mean square error"],
    "figure5": ["coefficient 3", "coefficient 9"],
    "figure6": ["EE", "AL", "RA", "levels left", "% of runs"],
}


@pytest.mark.parametrize("name", WORDS)
def test_figures_say_what_they_show(everything, name):
    root = ET.parse(everything[0] / f"{name}.svg").getroot()
    words = {"".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")}
    assert set(WORDS[name]) <= words


COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")


def tinted(drawing):
    """The colours of a drawing that are no shade of grey."""
    return {code for code in COLOUR.findall(drawing) if not code[:2] == code[2:4] == code[4:]}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_grey(everything, name):
    drawing = (everything[0] / f"{name}.svg").read_text()
    assert COLOUR.search(drawing)
    assert not tinted(drawing)
    assert not re.search(r"(fill|stroke): *(?!none|#|url)[a-z]+", drawing)  # nor named
    assert tinted(drawing + '<path style="stroke: #1f77b4"/>') == {"1f77b4"}


def test_making_them_again_gives_the_same_bytes(everything, short):
    folder, _ = everything
    before = contents(folder)
    make([*TABLES, "figure1", "figure2", "figure4", "figure6"], folder, existing="continue", cores=1)
    after = contents(folder)
    assert {name for name in before if before[name] != after[name]} <= {"run.json"}


def test_an_item_alone_is_the_item_among_all(everything, tmp_path, short):
    make(["trimming", "table2", "trimming"], tmp_path, cores=1)
    together, alone = contents(everything[0]), contents(tmp_path)
    assert len(alone) == 5
    assert all(alone[name] == together[name] for name in alone if name != "run.json")


def test_fewer_runs_take_the_first_of_them(everything, tmp_path, short):
    make(["table6"], tmp_path, runs=2)
    few = contents(tmp_path)["table6.csv"]
    make(["table6"], tmp_path, runs=3, existing="continue")
    assert contents(tmp_path)["table6.csv"] == contents(everything[0])["table6.csv"] != few
    make(["table6"], tmp_path, runs=2, existing="continue")
    assert contents(tmp_path)["table6.csv"] == few


def test_needed_cells_are_named_once():
    cells = needed_cells(["table1", "table2", "figure4", "table6"])
    assert len(set(cells)) == len(cells)
    assert needed_cells(["figure1", "figure2"]) == []
    assert {cell.study for cell in needed_cells(["table1"])} == {"peaks"}


@pytest.mark.slow
def test_everything_at_its_true_length(tmp_path):
    made = make(["all"], tmp_path, runs=2)
    assert made.complete
    assert all(path.stat().st_size for path in made.files)
    assert len(made.texts) == len(TABLES)


# What the figures show


@pytest.fixture
def drawn(everything):
    """Draws a figure from the runs of all items."""
    plt = pyplot()
    yield lambda name, seed=SEED: FIGURES[name].draw(read_from(everything[0]), seed)
    plt.close("all")


def test_figure_4_shows_the_errors_with_two_standard_errors(everything, drawn):
    axes = drawn("figure4").axes
    read = read_from(everything[0])
    for axis, moments in zip(axes, (("x1", "x2"), ("x1_sq", "x2_sq")), strict=True):
        for bars, moment in zip(axis.containers, moments, strict=True):
            line, _, (segments,) = bars.lines
            assert line.get_xdata().tolist() == list(range(3, 10))
            for levels, height, segment in zip(
                range(3, 10), line.get_ydata(), segments.get_segments(), strict=True
            ):
                cell = read(Cell(CYLINDERS.name, "EE", levels))
                twin = math.sqrt(np.mean((cell[f"{moment}_10000"] - EXACT[moment]) ** 2))
                assert height == pytest.approx(twin)
                error = figures.rmse(f"{moment}_10000", EXACT[moment])([cell]).error
                assert segment[1, 1] - segment[0, 1] == pytest.approx(4.0 * error)


def test_lines_of_figure_4_differ_in_shape(drawn):
    for axis in drawn("figure4").axes:
        lines = [bars.lines[0] for bars in axis.containers]
        assert len({line.get_marker() for line in lines}) == 2
        assert len({line.get_linestyle() for line in lines}) == 2
        assert [text.get_text() for text in axis.get_legend().get_texts()] == [
            bars.get_label() for bars in axis.containers
        ]


def test_figure_6_shows_percentages_of_runs(everything, drawn):
    axes = drawn("figure6").axes
    read = read_from(everything[0])
    cells = iter(FIGURES["figure6"].cells)
    assert len(axes) == 8
    for axis in axes:
        assert len(axis.containers) == 3
        for bars in axis.containers:
            left = read(next(cells))["n_levels"].tolist()
            twin = [100.0 * left.count(n) / RUNS for n in range(1, 10)]
            assert [bar.get_height() for bar in bars] == pytest.approx(twin)
            assert sum(twin) == pytest.approx(100.0)


def test_bars_of_figure_6_differ_in_shade_and_hatching(drawn):
    for axis in drawn("figure6").axes:
        kinds = [bars.patches[0] for bars in axis.containers]
        shades = sorted(bar.get_facecolor()[0] for bar in kinds)
        assert min(np.diff(shades)) > 0.3
        assert [bool(bar.get_hatch()) for bar in kinds] == [False, False, True]
        assert all(bar.get_edgecolor()[:3] == (0.0, 0.0, 0.0) for bar in kinds)


def test_panels_of_one_run_are_its_levels(drawn, short):
    panels = [axis for axis in drawn("figure3").axes if axis.axison]
    assert len(panels) == 9
    result = running.sample_cell(
        Cell("cylinders", "EE", 9), SEED, [0], cores=1, keep=("draws", "statistics", "levels")
    )
    scales = np.exp(result.chains[0].log_scale)
    for level, axis in enumerate(panels):
        (points,) = axis.lines
        assert np.array_equal(points.get_xydata(), result.level_draws[0, :, level, :2])
        assert axis.get_title().startswith(f"{level + 1}: T = {result.temperatures[0][level]:.3g}\n")
        assert axis.get_title().endswith(f"{scales[level]:.2f}")
        cut_off = any(scales[:level] >= 2.38 / math.sqrt(8))
        assert points.get_color() == ("0.65" if cut_off else "black")


def test_the_run_of_a_figure_depends_on_the_seed(drawn, short):
    one, same, other = (drawn("figure2", seed).axes[0].lines[0].get_xydata() for seed in (SEED, SEED, 12))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("scales", "dim", "last"),
    [([0.1, 0.5, 1.7, 1.6], 2, 2), ([0.1, 0.5, 1.6, 1.6], 2, 4), ([2.0, 0.1], 2, 0), ([0.8, 0.85], 8, 1)],
)
def test_the_level_at_which_equation_11_ends_a_ladder(scales, dim, last):
    assert first_unimodal(np.array(scales), asymptotic_scale(dim), "first") == last


# Bad input


@pytest.mark.parametrize(
    ("items", "came"),
    [(["table8"], "'table8'"), ([], "nothing"), (["table1", "tabel2", "x"], "'tabel2', 'x'")],
)
def test_an_unknown_item_is_answered_with_those_there_are(tmp_path, items, came):
    with pytest.raises(InvalidInputError, match=f"or all; got {came}$") as caught:
        make(items, tmp_path / "new")
    assert "item must be one of table1, table2" in str(caught.value)
    assert all(item in str(caught.value) for item in ITEMS)
    assert not (tmp_path / "new").exists()


def test_items_are_made_once_and_all_means_all():
    assert chosen_items(["table2", "table1", "table2"]) == ["table2", "table1"]
    assert chosen_items(["table2", "all"]) == list(ITEMS)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"runs": 1}, InvalidInputError, "runs must be at least 2, got 1"),
        ({"runs": 0}, InvalidInputError, "runs must be at least 2, got 0"),
        ({"runs": 2.0}, InvalidTypeError, "runs must be a whole number, got float: 2.0"),
        ({"cores": 0}, InvalidInputError, "cores must be at least 1, got 0"),
        ({"seed": -1}, InvalidInputError, "seed must be at least 0, got -1"),
        ({"existing": "yes"}, InvalidInputError, "existing must be one of 'refuse', 'continue', 'overwrite'"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(tmp_path, options, error, text):
    with pytest.raises(error, match=re.escape(text)):
        make(["table1"], tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


def test_a_bad_flag_does_not_cost_the_runs(tmp_path, short):
    make(["table6"], tmp_path)
    before = contents(tmp_path / "cells" / "cylinders")
    with pytest.raises(InvalidTypeError, match="progress must be True or False"):
        make(["table6"], tmp_path, existing="overwrite", progress="no")
    assert contents(tmp_path / "cells" / "cylinders") == before


def interrupted(*arguments, **options):
    """`sample`, ended by Ctrl-C before the first chain was finished."""
    result = SAMPLE(*arguments, **options)
    chains = tuple(replace(record, complete=False) for record in result.chains)
    return replace(result, chains=chains, complete=False)


SAMPLE = running.sample


def test_after_ctrl_c_nothing_is_made_of_the_runs(tmp_path, short, monkeypatch):
    monkeypatch.setattr(running, "sample", interrupted)
    made = make(["table6", "figure1"], tmp_path)
    assert (made.complete, made.texts, made.files) == (False, (), ())
    assert list(contents(tmp_path)) == ["run.json"]


def test_ctrl_c_while_the_run_of_a_figure_is_made(tmp_path, short, monkeypatch):
    monkeypatch.setattr(running, "sample", interrupted)
    made = make(["figure2"], tmp_path)
    assert not made.complete
    assert list(contents(tmp_path)) == ["run.json"]


# The command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["reproduce", *arguments])


def assert_one_line(result, text, code=1):
    assert result.exit_code == code
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert text in errors[0]
    assert result.stderr.rstrip().endswith(errors[0])


FEW = ["--runs", str(RUNS), "--seed", str(SEED), "--cores", "1"]


def test_the_command_prints_tables_and_names_files(everything, folder, short):
    result = run("table6", "figure4", *FEW)
    assert result.exit_code == 0, result.output
    made = folder / "out" / "table6-figure4"
    whole = contents(everything[0])
    for name in ("table6.txt", "table6.csv", "figure4.svg", "figure4.pdf"):
        assert (made / name).read_bytes() == whole[name]
        assert f"wrote out/table6-figure4/{name}\n" in result.stdout
    assert result.stdout.startswith(whole["table6.txt"].decode())


def test_the_command_tells_the_time_left_on_the_standard_error(folder, short):
    result = run("trimming", *FEW)
    assert "left" not in re.sub("levels left|Levels left", "", result.stdout)
    lines = result.stderr.splitlines()
    assert len(lines) == len(TABLES["trimming"].cells)
    for line in lines:
        shown = r"trimming-\S+: 3 of 3 runs, \d:\d\d:\d\d so far, \d:\d\d:\d\d left"
        assert re.fullmatch(shown, line)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["table8"], "got 'table8'"),
        ([], "got nothing"),
        (["table1", "--runs", "1"], "runs must be at least 2, got 1"),
        (["table1", "--runs", "0"], "runs must be at least 2, got 0"),
        (["table1", "--cores", "0"], "cores must be at least 1, got 0"),
        (["table1", "--seed", "-1"], "seed must be at least 0, got -1"),
    ],
)
def test_bad_arguments_are_one_line(folder, arguments, text):
    assert_one_line(run(*arguments), text)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--continue", "--overwrite"], "--continue and --overwrite exclude each other"),
        (["--runs", "many"], "'many' is not a valid integer"),
        (["--out", "taken"], "'taken' is a file"),
    ],
)
def test_misuse_is_one_line(folder, arguments, text):
    (folder / "taken").write_text("mine")
    assert_one_line(run("table1", *arguments), text, code=2)
    assert contents(folder) == {"taken": b"mine"}


def test_a_folder_that_holds_a_run_is_refused_continued_or_overwritten(folder, short):
    run("table6", *FEW, "--out", "here")
    first = contents(folder / "here")
    assert_one_line(run("table6", *FEW, "--out", "here"), "out: here holds a run with seed 11, begun")
    assert contents(folder / "here") == first
    other_seed = ["--runs", "3", "--seed", "12", "--out", "here"]
    assert_one_line(run("table6", *other_seed, "--continue"), "here was begun with seed 11, got 12")
    assert run("table6", *FEW, "--out", "here", "--continue").exit_code == 0
    assert contents(folder / "here")["table6.csv"] == first["table6.csv"]
    assert run("table6", *other_seed, "--overwrite").exit_code == 0
    assert contents(folder / "here")["table6.csv"] != first["table6.csv"]


def test_a_folder_with_other_files_is_refused(folder):
    (folder / "data.txt").write_text("mine")
    for option in ([], ["--continue"], ["--overwrite"]):
        assert_one_line(run("figure1", "--out", ".", *option), "out: . holds other files and no run")
    assert contents(folder) == {"data.txt": b"mine"}


def test_an_interrupted_command_exits_with_130_and_says_how_to_go_on(folder, short, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(running, "sample", interrupted)
        result = run("table6", *FEW)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr == "Stopped; the finished runs are in out/table6. Go on with --continue.\n"
    assert run("table6", *FEW, "--continue").exit_code == 0
