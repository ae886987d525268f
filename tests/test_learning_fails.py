"""Learning that fails goes back to what was known, says so, and loses no draw."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian
from records import make_result
from temperance.execution import _warn_of_setbacks
from temperance.runs import events, fitting, learn, learner
from temperance.runs.chain import ChainRun

PEAKS = tp.zoo.two_modes(2)
SHORT = {
    "initial": np.full(2, -3.0),
    "draws": 400,
    "tune": 1_500,
    "levels": 4,
    "chains": 2,
    "progress": False,
}


@numba.njit
def narrow_and_far(x):
    return -0.5 * np.sum((x / 1e-3) ** 2)


@numba.njit
def steep(x):
    return 1e100 * gaussian(x)


@numba.njit
def lifted(x):
    return gaussian(x) + 1e17


@pytest.mark.parametrize(
    ("density", "start"), [(narrow_and_far, 1e6), (steep, 1.0), (steep, 1e10), (lifted, 0.0)]
)
@pytest.mark.filterwarnings("ignore::temperance.BoundWarning")
def test_huge_log_densities_end_with_all_draws(density, start, seed) -> None:
    """Beside 1e17 a difference of twenty is nothing, and no mode was left."""
    result = tp.sample(density, seed=seed, **(SHORT | {"initial": np.full(2, start)}))
    assert result.complete
    assert result.draws.shape == (2, 400, 2)
    assert all(chain.setbacks == () for chain in result.chains)


def failing(function, first):
    """The function, but from its ``first`` call on it raises."""
    calls = [0]

    def fails(*arguments, **options):
        calls[0] += 1
        if calls[0] >= first:
            raise np.linalg.LinAlgError("not to be had")
        return function(*arguments, **options)

    return fails


PLACES = [
    (fitting, "fit_modes"),
    (fitting, "make_mixture"),
    (fitting, "efficiency"),
    (learner, "whitened_squares"),
    (learn, "rest_every"),
    (learn, "jump_chance"),
    (events, "coordinate_every"),
    (events, "own_component"),
]


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize(("module", "name"), PLACES, ids=[name for _, name in PLACES])
def test_whatever_fails_in_learning_the_run_goes_on_and_says_so(
    module, name, first, seed, monkeypatch
) -> None:
    monkeypatch.setattr(module, name, failing(getattr(module, name), first))
    if name == "own_component":  # is asked for only where the hottest level has one mode
        monkeypatch.setattr(events, "unimodal_scale", lambda plan: 0.0)
    with pytest.warns(tp.LearningWarning, match="went back to what was known; .*not to be had") as caught:
        result = tp.sample(PEAKS, seed=seed, **SHORT)
    assert {one.filename for one in caught} == {__file__}, "the line that samples"
    assert result.complete
    assert result.draws.shape == (2, 400, 2)
    assert any("not to be had" in setback for chain in result.chains for setback in chain.setbacks)
    assert "learning failed" in [warning.name for warning in result.warnings]


def test_what_was_learnt_before_a_failure_stays_as_it_was(seed, monkeypatch) -> None:
    """Every fit but the first fails: the mixture of the draws is that of a run without later fits."""
    alone = {**SHORT, "chains": 1, "settings": tp.Settings(jumps=tp.Jumps(scout_share=0.0))}
    mixtures = []
    make = fitting.make_mixture
    monkeypatch.setattr(fitting, "make_mixture", lambda *parts: mixtures.append(make(*parts)) or mixtures[-1])
    monkeypatch.setattr(fitting, "fit_modes", failing(fitting.fit_modes, 2))
    with pytest.warns(tp.LearningWarning):
        result = tp.sample(PEAKS.log_density, seed=seed, **alone)
    assert len(mixtures) == 1
    np.testing.assert_array_equal(result.chains[0].modes.centre, mixtures[0].centre)
    assert len(result.chains[0].setbacks) < 20, "tried again now and then, not after every iteration"


def test_a_scout_that_fails_does_not_undo_the_fit(seed, monkeypatch) -> None:
    monkeypatch.setattr(events, "explore", failing(events.explore, 1))
    with pytest.warns(tp.LearningWarning, match="scouts, after iteration"):
        result = tp.sample(PEAKS.log_density, seed=seed, **SHORT)
    assert all(chain.modes is not None and chain.modes.n_scouts == 0 for chain in result.chains)


def test_an_error_of_our_own_keeps_the_draws(seed, monkeypatch) -> None:
    run_block = ChainRun._run_block

    def breaks(self, end):
        if self.n_done >= 1_600:
            raise MemoryError("no room")
        run_block(self, min(end, self.n_done + 100, 1_600))

    monkeypatch.setattr(ChainRun, "_run_block", breaks)
    with pytest.raises(tp.RunError, match=r"chain \d failed in iteration 1601: MemoryError") as raised:
        tp.sample(PEAKS.log_density, seed=seed, **SHORT)
    assert isinstance(raised.value.__cause__, MemoryError)
    assert max(chain.n_draws for chain in raised.value.result.chains) == 100


@pytest.mark.parametrize(("n_failures", "words"), [(1, "failed 1 time and"), (3, "failed 3 times and")])
def test_failures_are_counted_in_words(n_failures, words, rng) -> None:
    result = make_result(rng, n_chains=1)
    chain = replace(result.chains[0], setbacks=("modes, after iteration 7: ValueError()",) * n_failures)
    with pytest.warns(tp.LearningWarning, match=words):
        _warn_of_setbacks(replace(result, chains=(chain,)))


def test_setbacks_are_saved(seed, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(fitting, "fit_modes", failing(fitting.fit_modes, 2))
    with pytest.warns(tp.LearningWarning):
        result = tp.sample(PEAKS.log_density, seed=seed, **SHORT)
    loaded = tp.load(result.save(tmp_path / "run.npz"))
    assert [chain.setbacks for chain in loaded.chains] == [chain.setbacks for chain in result.chains]
