"""Priors between two bounds, sampled by the log odds of the place between them."""

import math
from typing import Any

import numpy as np

from temperance.checks import within
from temperance.core.state import FloatArray
from temperance.priors.kernels.laws import BETA, LOGISTIC
from temperance.priors.kernels.maps import EXP_LOGIT, LOGIT
from temperance.priors.positive import log_gamma_draws
from temperance.priors.prior import Prior
from temperance.priors.real import stats
from temperance.priors.scalars import Scalar, arguments, below, positive, prior_of, written


@within("priors.uniform")
def uniform(lower: Any = 0.0, upper: Any = 1.0, shape: Any = None) -> Prior:
    """The uniform law between two bounds."""
    given, shape = arguments(shape, lower=lower, upper=upper)
    low, high = given["lower"], given["upper"]
    below("lower", low, "upper", high)
    scalar = Scalar(
        law=LOGISTIC,
        map=LOGIT,
        noise=_logistic,
        of_map=(low, high - low),
        scipy=lambda: stats().uniform(low, high - low),
    )
    return prior_of(scalar, written("uniform", given), shape)


@within("priors.log_uniform")
def log_uniform(lower: Any, upper: Any, shape: Any = None) -> Prior:
    """The law of a positive parameter whose logarithm is uniform between those of two bounds."""
    given, shape = arguments(shape, lower=lower, upper=upper)
    low, high = positive("lower", given["lower"]), given["upper"]
    below("lower", low, "upper", high)
    scalar = Scalar(
        law=LOGISTIC,
        map=EXP_LOGIT,
        noise=_logistic,
        of_map=(np.log(low), np.log(high) - np.log(low)),
        scipy=lambda: stats().loguniform(low, high),
    )
    return prior_of(scalar, written("log_uniform", given), shape)


@within("priors.beta")
def beta(alpha: Any, beta: Any, shape: Any = None) -> Prior:
    """The beta law between 0 and 1."""
    given, shape = arguments(shape, alpha=alpha, beta=beta)
    a, b = positive("alpha", given["alpha"]), positive("beta", given["beta"])
    log_gamma = np.vectorize(math.lgamma, otypes=[float])

    def log_odds(generator: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        return log_gamma_draws(generator, a, size) - log_gamma_draws(generator, b, size)

    scalar = Scalar(
        law=BETA,
        map=LOGIT,
        noise=log_odds,
        of_law=(a, b, log_gamma(a) + log_gamma(b) - log_gamma(a + b)),
        scipy=lambda: stats().beta(a, b),
    )
    return prior_of(scalar, written("beta", given), shape)


def _logistic(generator: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    return np.asarray(generator.logistic(size=size))
