"""The page about jumps is made from the committed measurements."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parent.parent


def load_tool():
    spec = importlib.util.spec_from_file_location("jumps_page", ROOT / "tools" / "jumps_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def cell(mean, error, runs=100):
    columns = ("mean", "variance", "weight", "occupancy", "found", "coefficient", "near", "cpu_seconds")
    numbers = {name: {"mean": mean, "error": error} for name in columns}
    return {"runs": runs, "first_seed": 1, "date": "2026-01-01", "versions": "any", **numbers}


def test_the_page_is_made_from_the_committed_cells() -> None:
    tool = load_tool()
    cells = json.loads((ROOT / "docs" / "jumps" / "cells.json").read_text(encoding="utf-8"))
    assert tool.page(cells, tool.compared()) == (ROOT / "docs" / "jumps.md").read_text(encoding="utf-8")


def test_another_cell_would_change_the_page() -> None:
    tool = load_tool()
    cells = json.loads((ROOT / "docs" / "jumps" / "cells.json").read_text(encoding="utf-8"))
    cells["two_modes-100000 | the defaults, one chain"]["weight"]["mean"] *= 4.0
    assert tool.page(cells, tool.compared()) != (ROOT / "docs" / "jumps.md").read_text(encoding="utf-8")


def test_what_is_worse_beyond_doubt_is_bold() -> None:
    tool = load_tool()
    row = tool.zoo_row("a problem", 10, "mean", cell(4.0, 0.01), cell(1.0, 0.01))
    assert "**2.00 [" in row
    doubtful = tool.zoo_row("a problem", 10, "mean", cell(4.0, 2.0), cell(1.0, 0.5))
    assert "**" not in doubtful
    assert "2.00 [" in doubtful


def test_problems_that_got_worse_beyond_doubt_are_bold_and_missing_ones_are_named() -> None:
    tool = load_tool()
    row = {"new": 2.0, "old": 1.0, "ratio": 2.0, "low": 1.5, "high": 2.5, "runs": 400, "against": "abc"}
    row |= {"first_seed": 1, "versions": "any", "date": "2026-01-01"}
    table = tool.against_table({"funnel": row, "banana": {**row, "low": 1.0}})
    assert "| funnel | 2 | 1 | **2.00 [1.50, 2.50]** |" in table
    assert "| banana | 2 | 1 | 2.00 [1.00, 2.50] |" in table
    assert "Not measured yet: twenty_peaks-37500, " in table
    assert tool.against_table({}) == "Not measured yet."
