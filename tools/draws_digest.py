"""Digests of the draws of eleven set-ups, to hold one version of the sources against another.

``python tools/draws_digest.py`` prints a line for each; run it with two trees on ``PYTHONPATH`` in turn and
compare. Two versions that promise the same draws print the same.
"""

import hashlib
import sys
from typing import Any

import numba
import numpy as np

import temperance as tp

SHARED = {"draws": 700, "tune": 1_500, "chains": 2, "seed": 20_261_118, "progress": False}


@numba.njit
def two_modes(x: Any) -> float:
    """Two bumps on a slope, in any dimension."""
    return np.logaddexp(-0.5 * np.sum((x - 3.0) ** 2), -0.5 * np.sum((x + 3.0) ** 2) - 0.7)


@numba.njit
def likelihood(x: Any) -> float:
    """The same, narrower."""
    return 2.0 * two_modes(x)


@numba.njit
def prior(x: Any) -> float:
    """A wide normal."""
    return -0.02 * np.sum(x**2)


def favourite(i: int, j: int, x: Any, log_density: Any, beta: Any) -> float:  # noqa: ARG001
    """A weight that is not symmetric."""
    return float(np.exp(-abs(log_density[i] - log_density[j]) * (beta[i] - beta[j])) * (1.0 + 0.1 * i))


def plain(function: Any) -> Any:
    """A compiled function called from Python."""
    return lambda x: function(x)


def over_rows(function: Any) -> Any:
    """A compiled function called for each row."""
    return lambda rows: np.array([function(row) for row in rows])


TWO_PARTS = {"log_likelihood": likelihood, "log_prior": prior}
ALWAYS = tp.Settings(adaptation=tp.Adaptation(when="always"))
COVARIANCE = tp.Settings(
    adaptation=tp.Adaptation(walk="covariance", coordinate_every=3), jumps=tp.Jumps(enabled=False)
)
SETUPS: dict[str, dict[str, Any]] = {
    "defaults": {"model": two_modes, "dim": 2},
    "defaults, 7-d, plain Python": {"model": plain(two_modes), "dim": 7},
    "vectorised": {"model": over_rows(two_modes), "dim": 3, "vectorized": True},
    "two parts": {**TWO_PARTS, "dim": 3, "levels": 6},
    "two parts, plain Python, equi-energy": {
        "log_likelihood": plain(likelihood),
        "log_prior": plain(prior),
        "dim": 2,
        "levels": 5,
        "swaps": tp.swaps.equi_energy(),
    },
    "the paper": {"model": two_modes, "dim": 2, "levels": 7, "settings": tp.paper_settings()},
    "covariance walks, single coordinates, no jumps": {
        "model": two_modes,
        "dim": 4,
        "settings": COVARIANCE,
    },
    "everlasting adaptation with jumps, rings": {
        "model": two_modes,
        "dim": 2,
        "settings": ALWAYS,
        "swaps": tp.swaps.energy_rings(),
    },
    "custom weights, compiled": {
        "model": two_modes,
        "dim": 2,
        "levels": 6,
        "swaps": tp.swaps.custom(numba.njit(favourite)),
    },
    "custom weights, plain Python; heat": {
        "model": two_modes,
        "dim": 1,
        "levels": 9,
        "swaps": tp.swaps.custom(favourite),
    },
    "heat bath": {"model": two_modes, "dim": 5, "levels": 9, "swaps": tp.swaps.heat_bath()},
}


def digest(result: tp.Result) -> str:
    """Of the draws and log densities of tuning and sampling, and of what was adapted."""
    total = hashlib.sha256()
    for chain in result.chains:
        for trace in (chain.tuning, chain.sampling):
            for column in (trace.draws, trace.log_density, trace.replica, trace.beta, trace.log_scale):
                total.update(np.ascontiguousarray(column).tobytes())
        for array in (chain.beta, chain.log_scale, chain.mean, chain.covariance):
            total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def main() -> None:
    """Print a digest for each set-up."""
    for name, setup in SETUPS.items():
        options = {**setup}
        dim = options.pop("dim")
        result = tp.sample(**options, initial=np.full(dim, 0.5), **SHARED)
        levels = "/".join(str(n_levels) for n_levels in result.n_levels)
        sys.stdout.write(f"{digest(result)}  {name} (levels {levels})\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
