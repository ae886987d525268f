"""The check of the committed reproduction: it passes what is the same, and sees what is not."""

import importlib.util
import json

import numpy as np
import pytest

from environments import ROOT


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check", ROOT / "tools" / "check_reproduction.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_score_is_welchs(tool, rng):
    from scipy import stats

    ours, theirs = rng.standard_normal((70, 3)), 2.0 * rng.standard_normal((40, 3)) + 0.3
    expected = np.abs(stats.ttest_ind(ours, theirs, equal_var=False).statistic)
    np.testing.assert_allclose(tool.welch(ours, theirs), expected, rtol=1e-12)


@pytest.mark.parametrize("change", [lambda x: x + 0.6, lambda x: 2.0 * x], ids=["mean", "spread"])
def test_a_difference_is_seen_and_none_is_made_up(tool, change, rng):
    """A shift of 0.6 is what 200 and 200 runs show at nearly every try; 26 columns as in a real cell."""
    ours, theirs = rng.standard_normal((2, 200, 26))
    limit = tool.limiting_score(52, [(ours, theirs)])
    assert tool.visible_shift(limit, [(ours, theirs)]) < 0.6
    assert tool.scores(ours, theirs).max() < limit
    assert tool.scores(np.column_stack([ours[:, 1:], change(ours[:, 0])]), theirs).max() > limit


def test_constants_are_the_same_or_not(tool):
    fives = np.full((30, 1), 5.0)
    assert tool.welch(fives, fives) == 0.0
    assert tool.welch(fives, fives + 1.0) == np.inf


def test_relabelling_tells_how_many_scores_are_usual(tool, rng, monkeypatch):
    monkeypatch.setattr(tool, "N_RELABELLED", 200)
    column = rng.standard_normal((120, 1))
    tied = np.tile(column, (1, 20))  # twenty columns that are one
    same = (tied[:60], tied[60:])
    assert tool.relabelled([same], 0) == 1.0
    assert 0.0 < tool.relabelled([same], 20) < 0.2, "all of them at once, about one time in twenty"
    assert tool.relabelled([same], 40) < 0.05, "means and spreads at once, about one time in four hundred"


def test_the_committed_check_is_of_these_cells_and_found_nothing(tool):
    outcome = json.loads(tool.REPORT.read_text(encoding="utf-8"))
    assert outcome["runs"] == {cell.name: runs for cell, runs in tool.WANTED.items()}
    assert outcome["seed"] == tool.SEED
    assert outcome["different"] == outcome["controls_missed"] == []
    assert outcome["largest"] < outcome["limit"]
