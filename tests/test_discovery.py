"""Modes that are found: nothing given is forgotten, and no evaluated point."""

import numba
import numpy as np
import pytest

import temperance as tp
from temperance.runs import events

FAR, NARROW, BROAD, RARITY = 400.0, 0.1, 1_000.0, 12.0


@numba.njit
def far_pair(x):
    """Two normals of equal mass, one narrow, on a very wide one that hot levels wander off in."""
    wide, narrow = 0.0, -x.shape[0] * np.log(NARROW)
    broad = -x.shape[0] * np.log(BROAD) - RARITY
    for i in range(x.shape[0]):
        wide -= 0.5 * x[i] ** 2
        narrow -= 0.5 * ((x[i] - FAR) / NARROW) ** 2
        broad -= 0.5 * (x[i] / BROAD) ** 2
    largest = max(wide, narrow)
    return np.logaddexp(largest + np.log(np.exp(wide - largest) + np.exp(narrow - largest)), broad)


def starts_in_both(n_levels, dim=3):
    """The hottest level starts on the slope of the narrow mode, which it leaves at once."""
    starts = np.zeros((n_levels, dim))
    starts[-1] = FAR + 4.0 * NARROW
    return starts


SHORT = {"draws": 500, "tune": 2_000, "levels": 4, "progress": False}


def share_of_the_far_mode(chains, seed):
    result = tp.sample(far_pair, initial=starts_in_both(4), chains=chains, seed=seed, **SHORT)
    known = [(np.abs(chain.modes.centre[:-1] - FAR).max(axis=1) < 1.0).any() for chain in result.chains]
    return float((result.draws[..., 0] > 0.5 * FAR).mean()), known


@pytest.mark.parametrize("chains", [1, 3])
def test_a_mode_that_a_user_gave_is_not_forgotten(chains, seed) -> None:
    """Neither by a chain alone nor by chains that learn together."""
    share, known = share_of_the_far_mode(chains, seed)
    assert all(known)
    assert share > 0.1


def test_without_scouts_from_starts_it_is_forgotten(seed, monkeypatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(events, "next_start", lambda learner, plan: None)
    share, known = share_of_the_far_mode(1, seed)
    assert share == 0.0
    assert not any(known)
