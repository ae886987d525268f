"""The page about weighted estimates is made from the committed measurements."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("weights_page", ROOT / "tools" / "weights_page.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def measured():
    folder = ROOT / "docs" / "weights"
    return [
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("intervals", "evidence", "cpu")
    ]


def committed():
    return (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")


def test_the_page_is_made_from_the_committed_measurements(tool, measured) -> None:
    assert tool.page(*measured) == committed()


def test_another_measurement_would_change_the_page(tool, measured) -> None:
    intervals = measured[0]
    intervals["twenty peaks"]["evidence"]["coverage"] = 0.5
    assert tool.page(*measured) != committed()
    assert "**50.0" in tool.page(*measured)
    assert "twenty peaks (log evidence)" in tool.outside(intervals)


def found(coverage, error):
    return {"coverage": coverage, "coverage_error": error}


def test_what_is_outside_beyond_doubt(tool) -> None:
    assert tool.is_outside(found(0.90, 0.01))
    assert not tool.is_outside(found(0.92, 0.01))
    assert not tool.is_outside(found(0.95, 0.001))
    assert tool.is_outside(found(0.99, 0.005))


def run(value, error, *, agree=None, serious=(), others=None):
    return {
        "truth": 0.0, "value": value, "error": error, "evaluations": 10, "cpu_seconds": 1.0, "agree": agree,
        "serious": list(serious), "others": others or {},
    }  # fmt: skip


def test_runs_are_counted(tool) -> None:
    rows = [run(0.1, 0.1), run(0.3, 0.1), run(0.5, 0.1), run(None, None)]
    assert tool.evidence_row(rows) == "4 | 0.34 | 0.1 | 1 of 3 | 1 | 10 | 1"
    assert "– |" in tool.evidence_row(rows[3:])


def test_runs_that_are_far_off_must_say_so(tool) -> None:
    others = {"stepping stones": [0.1, 0.1]}
    rows = [
        run(0.0, 0.1, agree=True, others=others),
        run(9.0, 0.1, agree=False, others=others),
        run(9.0, 0.1),
    ]
    rows.append(run(9.0, 0.1, serious=["missed_mode"]))
    text = tool.opinions({"a | temperance": {"rows": rows}})
    assert "Of our 4 runs 2 had a second opinion" in text
    assert "agreed with the bridge in 1 runs. 3 runs were far off, and 2 of them said so" in text


def test_what_was_not_run_is_said(tool, measured) -> None:
    intervals, evidence, _ = measured
    del intervals["twenty peaks"]
    del evidence["shells, 2-d | temperance"]
    assert "twenty peaks" in tool.outside(intervals).split("Not run yet: ")[1]
    assert "shells, 2-d by temperance" in tool.opinions(evidence).split("Not run yet: ")[1]
