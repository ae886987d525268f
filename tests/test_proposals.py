"""What the base level proposed, as it is recorded: it is what was evaluated, however the run is made."""

from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from densities import two_modes
from harness import HandTarget, make_plan
from temperance.runs.keep import DEFAULT
from temperance.runs.memory import needed

QUICK = {"tune": 300, "draws": 200, "chains": 1, "seed": 3, "progress": False}


class Noting:
    """A density in plain Python that notes its points and what it said of them."""

    def __init__(self, *, bad=False):
        self.points, self.values, self._bad = [], [], bad

    def __call__(self, x):
        left, right = -0.5 * np.sum((x + 3.0) ** 2), -0.5 * np.sum((x - 3.0) ** 2)
        value = float(np.logaddexp(left, right))
        if self._bad and abs(x[0]) > 4.0:
            value = float("nan")
        self.points.append(x.copy())
        self.values.append(value)
        return value


def first_of_each(noted, evaluations):
    """The places of the first point of each draw: the base level asks first."""
    return len(noted) - np.cumsum(evaluations[::-1])[::-1]


@pytest.mark.parametrize("levels", [1, 4])
@pytest.mark.parametrize("walk", ["robust", "slice"])
def test_what_is_recorded_was_evaluated(walk, levels) -> None:
    """Of a slice, which asks several times, the first point; jumps and rejected steps included."""
    noting = Noting()
    settings = tp.Settings(adaptation=tp.Adaptation(walk=walk))
    result = tp.sample(noting, initial=np.full(2, 3.0), levels=levels, settings=settings, **QUICK)
    trace = result.chains[0].sampling
    places = first_of_each(noting.points, trace.evaluations)
    np.testing.assert_array_equal(trace.proposal, np.array(noting.points)[places])
    np.testing.assert_array_equal(trace.proposal_log_density, np.array(noting.values)[places])
    assert np.count_nonzero(trace.jump >= 0) > 20, "or jumps are not looked at"
    moved = np.any(np.diff(result.draws[0], axis=0) != 0.0, axis=1)
    assert np.mean(moved) < 0.95 or walk == "slice", "or rejected ones are not"


def test_of_thinned_draws_the_proposal_is_that_of_the_draw() -> None:
    whole, thinned = (
        tp.sample(Noting(), initial=np.full(2, 3.0), levels=3, thin=thin, **QUICK).chains[0].sampling
        for thin in (1, 5)
    )
    for name in ("draws", "jump", "proposal", "proposal_log_density"):
        np.testing.assert_array_equal(getattr(thinned, name), getattr(whole, name)[4::5])


def test_a_refused_point_has_no_density() -> None:
    noting = Noting(bad=True)
    settings = tp.Settings(bad_density="reject")
    result = tp.sample(noting, initial=np.full(2, 3.0), levels=3, settings=settings, **QUICK)
    trace = result.chains[0].sampling
    refused = np.abs(trace.proposal[:, 0]) > 4.0
    assert np.any(refused & (trace.jump >= 0))
    np.testing.assert_array_equal(trace.proposal_log_density == -np.inf, refused)
    assert np.all(result.weighting.bridge is None or result.weighted.points[:, 0] <= 4.0)


def same(one, other):
    for first, second in zip(one.chains, other.chains, strict=True):
        for name in ("proposal", "proposal_log_density", "jump"):
            np.testing.assert_array_equal(getattr(first.sampling, name), getattr(second.sampling, name))


def test_they_are_the_same_however_the_run_is_made(tmp_path) -> None:
    """On threads, in a folder, stopped and gone on with, from a file."""
    options = {**QUICK, "chains": 2, "levels": 3}
    whole = tp.sample(two_modes, initial=np.zeros(2), cores=1, **options)
    assert len(whole.chains[0].sampling.proposal) == 200
    same(whole, tp.sample(two_modes, initial=np.zeros(2), cores=2, **options))
    tp.sample(two_modes, initial=np.zeros(2), store=tmp_path / "run", **{**options, "draws": 70})
    same(whole, tp.resume(tmp_path / "run", two_modes, draws=200, progress=False))
    same(whole, tp.load(tmp_path / "run"))
    same(whole, tp.load(whole.save(tmp_path / "run.npz")))


@pytest.mark.parametrize(
    ("keep", "jumps", "kept"),
    [
        (None, True, True),
        (None, False, False),
        (("draws", "statistics"), True, False),
        (("statistics", "draws", "proposals"), False, True),
        ("draws", True, False),
    ],
)
def test_keep_says_whether_they_are_kept(keep, jumps, kept) -> None:
    """By default where there are jumps; draws and jumps do not depend on it."""
    settings = tp.Settings(jumps=tp.Jumps(enabled=jumps))
    result = tp.sample(two_modes, initial=np.zeros(2), levels=3, keep=keep, settings=settings, **QUICK)
    assert result.keeps_proposals == kept
    assert (
        len(result.chains[0].sampling.proposal)
        == len(result.chains[0].sampling.proposal_log_density)
        == (200 if kept else 0)
    )
    usual = tp.sample(two_modes, initial=np.zeros(2), levels=3, settings=settings, **QUICK)
    np.testing.assert_array_equal(result.draws, usual.draws)


def test_proposals_without_statistics_are_refused() -> None:
    with pytest.raises(tp.InvalidInputError, match="keep must have 'statistics' beside 'proposals'"):
        tp.sample(two_modes, initial=np.zeros(2), keep=("draws", "proposals"), **QUICK)
    with pytest.raises(tp.InvalidInputError, match=r"keep must be .*'proposals'"):
        tp.sample(two_modes, initial=np.zeros(2), keep=("draws", "proposal"), **QUICK)


def test_the_rule_about_memory_knows_them() -> None:
    """A point and its density for each draw."""
    plan = make_plan(HandTarget(two_modes), [1.0, 0.5], 7, draws=1_000)

    def draws(keep):
        return needed(replace(plan, keep=keep), 3, stored=False)["draws"]

    assert draws(DEFAULT) - draws(("draws", "statistics")) == 3 * 1_000 * (7 + 1) * 8
