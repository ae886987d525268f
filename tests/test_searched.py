"""What was searched, apart from whether the draws agree: one mode from one start is not called fine."""

from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from densities import gaussian, two_modes
from records import make_result
from temperance.results.warnings import verdict

QUICK = {"levels": 2, "chains": 2, "tune": 200, "draws": 300, "seed": 1, "progress": False}
UNSEARCHED = "These draws agree with themselves, and no other mode was searched for."


def asked(result, **facts):
    return replace(result, setup=replace(result.setup, **facts))


def test_one_mode_from_one_start_is_unsearched(rng):
    result = asked(make_result(rng), n_starts=1)
    assert result.warnings == ()
    assert not result.searched.enough
    assert result.verdict == UNSEARCHED
    assert "unsearched: 1 mode from 1 start, up to temperature" in str(result)
    assert "unimodal=True" in " ".join(str(result).split())


@pytest.mark.parametrize(
    "facts", [{"n_starts": 2}, {"n_starts": 1, "unimodal": True}, {"n_starts": 0}], ids=str
)
def test_several_starts_or_the_word_of_the_user_are_enough(rng, facts):
    result = asked(make_result(rng), **facts)
    assert result.searched.enough
    assert result.verdict == "No sign of trouble."
    assert "unsearched" not in str(result)


def test_trouble_comes_before_the_search(rng):
    (found,) = asked(make_result(rng, n_chains=1), n_starts=1).warnings
    assert verdict([found], searched=False) == "No sign that the draws are wrong, but something to improve."
    assert verdict([replace(found, serious=True)], searched=False).startswith("Do not rely")


def test_a_run_knows_its_starts(tmp_path):
    one = tp.sample(gaussian, initial=np.zeros(2), **QUICK)
    assert one.searched.starts == 1
    assert not one.searched.enough
    known = tp.sample(gaussian, initial=np.zeros(2), unimodal=True, store=tmp_path / "run", **QUICK)
    assert known.searched.enough
    assert str(tp.load(tmp_path / "run").searched) == str(known.searched)
    resumed = tp.resume(tmp_path / "run", gaussian, draws=310, progress=False)
    assert (resumed.searched.starts, resumed.searched.unimodal) == (1, True)
    assert resumed.setup.n_preflight == known.setup.n_preflight > 0
    many = tp.sample(two_modes, initial=lambda rng: 5.0 * rng.normal(size=2), **QUICK)
    assert many.searched.starts == 4
    assert str(tp.load(many.save(tmp_path / "file")).searched) == str(many.searched)
    with pytest.raises(tp.InvalidTypeError, match="unimodal must be True or False, got int"):
        tp.sample(gaussian, initial=np.zeros(2), unimodal=1, **QUICK)
