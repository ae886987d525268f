"""One model for all front-ends: a mixture of two normals, by its definition."""

import math

import numpy as np
from scipy import stats

DATA = np.concatenate(
    [np.random.default_rng(1).normal(-2, 1, 20), np.random.default_rng(2).normal(2, 0.5, 25)]
)
# In coordinates that PyMC, NumPyro and Stan share: the logit of the share, two places, logs of two scales.
POINTS = np.random.default_rng(3).normal(size=(6, 5))


def values_at(z):
    return 1 / (1 + math.exp(-z[0])), z[1:3], np.exp(z[3:5])


def log_prior_of_values(share, place, scale):
    return stats.norm(0, 3).logpdf(place).sum() + stats.halfnorm(0, 2).logpdf(scale).sum()


def log_likelihood_of_values(share, place, scale, data=DATA):
    """With a factor beside the data, which belongs to it."""
    each = stats.norm(place[:, None], scale[:, None]).pdf(data)
    return np.log(share * each[0] + (1 - share) * each[1]).sum() - 0.1 * place.sum() ** 2


def naive_prior(z):
    """With the Jacobian of the coordinates."""
    share, place, scale = values_at(z)
    return log_prior_of_values(share, place, scale) + math.log(share * (1 - share)) + np.log(scale).sum()


def naive_likelihood(z, data=DATA):
    return log_likelihood_of_values(*values_at(z), data)
