"""T8: neither the size of a block nor the number of threads changes a single bit."""

import numpy as np
import pytest

import temperance as tp
from temperance.runs import noise

PEAKS = tp.zoo.twenty_peaks()
PLAN = {
    "levels": 5,
    "draws": 1_000,
    "tune": 1_500,
    "chains": 3,
    "seed": 7,
    "keep": ("draws", "statistics", "levels"),
    "progress": False,
    "settings": tp.Settings(trimming=tp.Trimming(every=10, slack=0.5)),
}


@pytest.fixture(scope="module")
def reference():
    return tp.sample(PEAKS, **PLAN)


def assert_same(one, two) -> None:
    for first, second in zip(one.chains, two.chains, strict=True):
        for name in first.sampling._fields:
            for phase in ("tuning", "sampling"):
                np.testing.assert_array_equal(
                    getattr(getattr(first, phase), name), getattr(getattr(second, phase), name), err_msg=name
                )
        np.testing.assert_array_equal(first.covariance, second.covariance)
        np.testing.assert_array_equal(first.beta, second.beta)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_block_size_changes_nothing(block, reference, monkeypatch) -> None:
    assert min(reference.n_levels) < 5, "levels must be dropped in the middle of a block"
    monkeypatch.setattr(noise, "MAX_BLOCK", block)
    assert_same(reference, tp.sample(PEAKS, **PLAN))


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_number_of_threads_changes_nothing(cores, reference) -> None:
    assert_same(reference, tp.sample(PEAKS, **PLAN, cores=cores))


def test_another_seed_changes_everything(reference) -> None:
    other = tp.sample(PEAKS, **{**PLAN, "seed": 8})
    assert not np.any(reference.draws == other.draws)
