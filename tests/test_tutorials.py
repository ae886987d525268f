"""The tutorials: notebooks that are shipped with their output run, and print what they show."""

import contextlib
import io
import json
import re
import warnings
from pathlib import Path

import pytest

from test_docs import ABSOLUTE_PATH, LINK, words

FOLDER = Path(__file__).parent.parent / "docs" / "tutorial"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def code(path):
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def shown(cell):
    """What a cell printed when it was run, without figures."""
    streams = [output for output in cell["outputs"] if output["output_type"] == "stream"]
    return "".join("".join(output["text"]) for output in streams if output["name"] == "stdout")


def test_they_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["first", "paper"]


@each_notebook
def test_they_were_run_from_the_first_cell_to_the_last(path):
    counts = [cell["execution_count"] for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [output for cell in code(path) for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@each_notebook
def test_their_links_lead_somewhere(path):
    texts = ["".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "markdown"]
    links = [link.split("#")[0] for text in texts for link in LINK.findall(text)]
    assert not [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert not ABSOLUTE_PATH.findall(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@each_notebook
def test_they_print_what_they_show(path, tmp_path, monkeypatch):
    """As a script, in their order; numbers may differ with versions, words may not."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__tutorial__"}
    for number, cell in enumerate(code(path), start=1):
        printed = io.StringIO()
        source = re.sub(r";\s*$", "", "".join(cell["source"]))
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            exec(compile(source, f"{path.name}, cell {number}", "exec"), namespace)
        assert words(printed.getvalue()) == words(shown(cell)), f"cell {number}"
    pyplot.close("all")
