"""Priors on the whole line."""

import math
from typing import Any

import numpy as np

from temperance.checks import within
from temperance.core.state import FloatArray
from temperance.extras import needed
from temperance.priors.kernels.laws import NORMAL, STUDENT
from temperance.priors.kernels.maps import AFFINE
from temperance.priors.prior import Prior
from temperance.priors.scalars import Scalar, arguments, positive, prior_of, written


@within("priors.normal")
def normal(mu: Any = 0.0, sigma: Any = 1.0, shape: Any = None) -> Prior:
    """The normal law with this mean and standard deviation."""
    given, shape = arguments(shape, mu=mu, sigma=sigma)
    positive("sigma", given["sigma"])
    scalar = Scalar(
        law=NORMAL,
        map=AFFINE,
        noise=lambda generator, size: generator.standard_normal(size),
        of_map=(given["mu"], given["sigma"]),
        scipy=lambda: stats().norm(given["mu"], given["sigma"]),
    )
    return prior_of(scalar, written("normal", given), shape)


@within("priors.student_t")
def student_t(nu: Any, mu: Any = 0.0, sigma: Any = 1.0, shape: Any = None) -> Prior:
    """Student's law with nu degrees of freedom, about mu, with scale sigma."""
    given, shape = arguments(shape, nu=nu, mu=mu, sigma=sigma)
    freedom = positive("nu", given["nu"])
    positive("sigma", given["sigma"])
    scalar = Scalar(
        law=STUDENT,
        map=AFFINE,
        noise=lambda generator, size: generator.standard_t(freedom, size),
        of_law=(freedom, student_log_norm(freedom)),
        of_map=(given["mu"], given["sigma"]),
        scipy=lambda: stats().t(freedom, given["mu"], given["sigma"]),
    )
    return prior_of(scalar, written("student_t", given), shape)


@within("priors.cauchy")
def cauchy(alpha: Any = 0.0, beta: Any = 1.0, shape: Any = None) -> Prior:
    """Cauchy's law with median alpha and scale beta."""
    given, shape = arguments(shape, alpha=alpha, beta=beta)
    positive("beta", given["beta"])
    scalar = Scalar(
        law=STUDENT,
        map=AFFINE,
        noise=lambda generator, size: generator.standard_cauchy(size),
        of_law=(1.0, student_log_norm(1.0)),
        of_map=(given["alpha"], given["beta"]),
        scipy=lambda: stats().cauchy(given["alpha"], given["beta"]),
    )
    return prior_of(scalar, written("cauchy", given), shape)


def student_log_norm(freedom: Any) -> FloatArray:
    """Log of the constant of Student's density."""
    half = np.vectorize(math.lgamma, otypes=[float])
    ratio = half((np.asarray(freedom) + 1.0) / 2.0) - half(np.asarray(freedom) / 2.0)
    return np.asarray(ratio - 0.5 * np.log(np.asarray(freedom) * math.pi))


def stats() -> Any:
    """SciPy's laws, for what they alone can do."""
    return needed("this prior needs", "scipy.stats")[0]
