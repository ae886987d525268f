"""Simulation-based calibration: parameters from the prior, data from them, and where the fit puts them.

A posterior that is right puts the truth at a rank that is uniform among its draws (Talts et al. 2018). Ranked
are both parameters and the log likelihood of the data, which tells a posterior from a prior that has seen
no data (Modrák et al. 2023). The model has two modes of different weights, as the data know only the size of
``place``; and a bound, so that a Jacobian is in it.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from numba.core import event
from scipy import stats

import temperance as tp
from judge import FALSE_ALARM, Verdict

CENTRE, WIDTH, LARGEST = 0.5, 2.0, 1.0  # place ~ normal(0.5, 2), scale ~ half-normal(1)
N_DATA, N_FITS, N_RANKED = 3, 200, 99
QUANTITIES = ("place", "scale", "log likelihood")
N_MOMENTS = 3
SHORT = {"levels": 4, "chains": 1, "tune": 1_000, "draws": 10 * N_RANKED, "thin": 10, "progress": False}
PRIORS = {"place": tp.priors.normal(CENTRE, WIDTH), "scale": tp.priors.half_normal(LARGEST)}

Draws = dict[str, np.ndarray]
Fit = Callable[[np.ndarray, int], Draws]  # from data and a seed to draws by name


def log_likelihood(place: Any, scale: Any, data: np.ndarray) -> Any:
    return stats.norm.logpdf(data, np.abs(place)[..., None], np.asarray(scale)[..., None]).sum(axis=-1)


@numba.njit
def compiled_log_likelihood(x, data):
    total = -len(data) * np.log(x[1])
    for y in data:
        total -= 0.5 * ((y - abs(x[0])) / x[1]) ** 2
    return total


def simulated(rng: np.random.Generator) -> tuple[float, float, np.ndarray]:
    """A truth and its data."""
    place, scale = rng.normal(CENTRE, WIDTH), abs(rng.normal(0.0, LARGEST))
    return place, scale, rng.normal(abs(place), scale, size=N_DATA)


def ranks(fit: Fit, rng: np.random.Generator, n_fits: int = N_FITS) -> np.ndarray:
    """Where the truth lies among the draws of each fit, (fit, quantity), from 0 to the number of draws."""
    rows = []
    for k in range(n_fits):
        place, scale, data = simulated(rng)
        drawn = fit(data, 1_000_000 + k)
        made = [drawn["place"], drawn["scale"], log_likelihood(drawn["place"], drawn["scale"], data)]
        truth = [place, scale, log_likelihood(place, scale, data)]
        assert made[0].shape == (N_RANKED,)
        rows.append([int(np.sum(values < one)) for values, one in zip(made, truth, strict=True)])
    return np.array(rows)


def judge_ranks(found: np.ndarray, rng: np.random.Generator, n_ranked: int = N_RANKED) -> Verdict:
    """Are ranks uniform? Neyman's smooth test for each quantity, false alarm 1e-4 for all of them together.

    Its components are Legendre polynomials of the ranks, made continuous by uniform numbers: of order one
    for a shift, two for a spread, three for a skew.
    """
    unit = 2.0 * (found + rng.random(found.shape)) / (n_ranked + 1) - 1.0
    moments = [np.sqrt(2 * k + 1) * np.polynomial.Legendre.basis(k)(unit) for k in range(1, N_MOMENTS + 1)]
    z = np.sum(moments, axis=1) / np.sqrt(len(found))
    p_values = stats.chi2.sf(np.sum(z**2, axis=0), N_MOMENTS)
    shown = ", ".join(f"{name} p = {p:.2g} (z = {np.round(each, 1)})" for name, p, each in
                      zip(QUANTITIES, p_values, z.T, strict=True))  # fmt: skip
    return Verdict(bool(np.all(p_values > FALSE_ALARM / found.shape[1])), shown)


def kept(result: tp.Result) -> Draws:
    """The draws of the only chain."""
    return {name: result[name][0] for name in ("place", "scale")}


@contextlib.contextmanager
def nothing_compiled_by_numba() -> Iterator[None]:
    with event.install_recorder("numba:compile") as recorder:
        yield
    assert not recorder.buffer, f"{len(recorder.buffer)} compilations, the first {recorder.buffer[0]}"
