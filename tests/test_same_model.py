"""One model written in our own ways has the density of its definition; test_frontends.py has the others'."""

import math

import numba
import numpy as np
import pytest

import temperance as tp
from mixture import DATA, log_likelihood_of_values, log_prior_of_values
from temperance.models.read import model_spec

PRIORS = {
    "share": tp.priors.uniform(0, 1),
    "place": tp.priors.normal(0, 3, shape=2),
    "scale": tp.priors.half_normal(2, shape=2),
}
STEP = 1e-5  # of differences; their error is of its square


def plain(p, data):
    return log_likelihood_of_values(p["share"], p["place"], p["scale"], data)


@numba.njit
def compiled(x, data):
    total = -0.1 * (x[1] + x[2]) ** 2
    for y in data:
        one = math.exp(-0.5 * ((y - x[1]) / x[3]) ** 2) / x[3]
        two = math.exp(-0.5 * ((y - x[2]) / x[4]) ** 2) / x[4]
        total += math.log((x[0] * one + (1 - x[0]) * two) / math.sqrt(2 * math.pi))
    return total


def volume(spec, z):
    """Log of the volume that the values of a model take in the coordinates, by differences."""
    moved = spec.points(np.concatenate([z + STEP * np.eye(5), z - STEP * np.eye(5)]))
    return np.linalg.slogdet((moved[:5] - moved[5:]) / (2 * STEP))[1]


@pytest.mark.parametrize("function", [plain, compiled], ids=["plain", "numba"])
def test_a_model_of_ours_has_the_density_of_the_definition(function):
    """Broken: a prior without a Jacobian, or one that is tempered."""
    spec = model_spec(tp.Model(function, parameters=PRIORS, data=DATA))
    run = tp.sample(
        tp.Model(function, parameters=PRIORS, data=DATA),
        draws=6,
        tune=0,
        levels=2,
        chains=1,
        progress=False,
        seed=1,
    )
    trace = run.chains[0].sampling
    for z, likelihood, prior in zip(trace.draws, trace.log_density[:, 0], trace.log_prior, strict=True):
        row = spec.points(z[None])[0]
        values = row[0], row[1:3], row[3:]
        np.testing.assert_allclose(likelihood, log_likelihood_of_values(*values), rtol=1e-6)
        np.testing.assert_allclose(prior, log_prior_of_values(*values) + volume(spec, z), rtol=1e-6)
