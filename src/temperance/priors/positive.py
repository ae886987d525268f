"""Priors of positive parameters, which are sampled by their logarithm."""

import math
from typing import Any

import numpy as np

from temperance.checks import within
from temperance.core.state import FloatArray
from temperance.priors.kernels.laws import GAMMA, HALF_NORMAL, HALF_STUDENT, NORMAL
from temperance.priors.kernels.maps import EXP, EXP_AFFINE
from temperance.priors.prior import Prior
from temperance.priors.real import stats, student_log_norm
from temperance.priors.scalars import Scalar, arguments, positive, prior_of, written


@within("priors.half_normal")
def half_normal(sigma: Any = 1.0, shape: Any = None) -> Prior:
    """The absolute value of a normal with mean zero and standard deviation sigma."""
    given, shape = arguments(shape, sigma=sigma)
    scale = positive("sigma", given["sigma"])
    scalar = Scalar(
        law=HALF_NORMAL,
        map=EXP,
        noise=lambda generator, size: np.log(np.abs(generator.standard_normal(size))),
        of_map=(0.0, scale),
        scipy=lambda: stats().halfnorm(0.0, scale),
    )
    return prior_of(scalar, written("half_normal", given), shape)


@within("priors.half_cauchy")
def half_cauchy(beta: Any = 1.0, shape: Any = None) -> Prior:
    """The absolute value of a Cauchy variable with median zero and scale beta."""
    given, shape = arguments(shape, beta=beta)
    scale = positive("beta", given["beta"])
    scalar = Scalar(
        law=HALF_STUDENT,
        map=EXP,
        noise=lambda generator, size: np.log(np.abs(generator.standard_cauchy(size))),
        of_law=(1.0, student_log_norm(1.0)),
        of_map=(0.0, scale),
        scipy=lambda: stats().halfcauchy(0.0, scale),
    )
    return prior_of(scalar, written("half_cauchy", given), shape)


@within("priors.log_normal")
def log_normal(mu: Any = 0.0, sigma: Any = 1.0, shape: Any = None) -> Prior:
    """The law of a parameter whose natural logarithm is normal with mean mu and standard deviation sigma."""
    given, shape = arguments(shape, mu=mu, sigma=sigma)
    positive("sigma", given["sigma"])
    scalar = Scalar(
        law=NORMAL,
        map=EXP_AFFINE,
        noise=lambda generator, size: generator.standard_normal(size),
        of_map=(given["mu"], given["sigma"]),
        scipy=lambda: stats().lognorm(given["sigma"], 0.0, np.exp(given["mu"])),
    )
    return prior_of(scalar, written("log_normal", given), shape)


@within("priors.gamma")
def gamma(alpha: Any, beta: Any = 1.0, shape: Any = None) -> Prior:
    """The gamma law with shape alpha and rate beta: mean alpha / beta."""
    given, shape = arguments(shape, alpha=alpha, beta=beta)
    positive("beta", given["beta"])
    return prior_of(_gamma(positive("alpha", given["alpha"]), given["beta"]), written("gamma", given), shape)


@within("priors.exponential")
def exponential(lam: Any = 1.0, shape: Any = None) -> Prior:
    """The exponential law with rate lam: mean 1 / lam."""
    given, shape = arguments(shape, lam=lam)
    return prior_of(
        _gamma(np.asarray(1.0), positive("lam", given["lam"])), written("exponential", given), shape
    )


def log_gamma_draws(generator: np.random.Generator, alpha: FloatArray, size: Any) -> FloatArray:
    """Logarithms of gamma variables, exact also where the variables are too small for a double."""
    larger = np.log(generator.standard_gamma(alpha + 1.0, size))
    return np.asarray(larger - generator.standard_exponential(size) / alpha)


def _gamma(alpha: FloatArray, rate: FloatArray) -> Scalar:
    return Scalar(
        law=GAMMA,
        map=EXP,
        noise=lambda generator, size: log_gamma_draws(generator, alpha, size),
        of_law=(alpha, np.vectorize(math.lgamma, otypes=[float])(alpha)),
        of_map=(0.0, 1.0 / rate),
        scipy=lambda: stats().gamma(alpha, 0.0, 1.0 / rate),
    )
