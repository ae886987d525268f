"""The gallery: a picture for each plot and each problem, small, and a page that says how they were made."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from matplotlib.lines import Line2D

import temperance as tp

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "images" / "gallery"
MAX_BYTES = 1_500_000


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def facts():
    return json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


def test_there_is_a_picture_of_each_plot_and_of_each_problem(facts):
    """A plot or a problem that is added asks for a new gallery."""
    assert sorted(facts["plots"]) == sorted(tp.plots.__all__)
    assert sorted(facts["zoo"]) == tp.zoo.names()


def test_all_pictures_are_there_and_no_others(facts):
    named = {one["file"] for part in ("plots", "zoo") for one in facts[part].values()}
    assert {path.name for path in FOLDER.iterdir()} == {*named, "facts.json"}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MAX_BYTES


def test_the_page_is_made_from_what_was_drawn(tool, facts):
    assert PAGE.read_text(encoding="utf-8") == tool.page(facts)


def test_the_page_says_seed_versions_and_date(facts):
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert re.search(r"seed \d+, 2,000 draws a chain", text)
    assert re.search(r"Python [\d.]+, temperance \S+, numpy .*; \d{4}-\d\d-\d\d\.", text)
    assert "Nothing was drawn" not in text


def test_the_smaller_of_two_formats_is_kept(tool, tmp_path, monkeypatch):
    """Lines are smaller as SVG, clouds of dots as PNG; what was there before goes."""
    pyplot = tool.pyplot()
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    (tmp_path / "one.svg").write_text("old")
    figure, ax = pyplot.subplots(figsize=(2, 2))
    ax.scatter(range(2_000), [7 * k % 2_000 for k in range(2_000)])
    assert tool.saved(figure, "one", 50) == "one.png"
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]
    lines = pyplot.figure(figsize=(6, 6))
    for k in range(3):
        lines.add_artist(Line2D([0.0, 1.0], [0.05 * k, 1.0 - 0.03 * k]))
    assert tool.saved(lines, "two", 400) == "two.svg"
