"""Priors of single parameters, for `temperance.Model`.

Names and parametrisations are PyMC's: ``normal(mu, sigma)``, ``gamma(alpha, beta)`` with a rate,
``exponential(lam)`` with a rate; ``log_uniform(lower, upper)`` is SciPy's ``loguniform``. Numbers may be
arrays, and ``shape=`` makes independent values. Each has exact draws, and all are sampled on the whole line
by a transform whose Jacobian belongs to the prior.
"""

from temperance.priors.angles import angle
from temperance.priors.cut import truncated
from temperance.priors.free import custom, flat
from temperance.priors.interval import beta, log_uniform, uniform
from temperance.priors.joint import dirichlet, multivariate_normal, ordered
from temperance.priors.positive import exponential, gamma, half_cauchy, half_normal, log_normal
from temperance.priors.prior import Prior
from temperance.priors.real import cauchy, normal, student_t

__all__ = [
    "Prior",
    "angle",
    "beta",
    "cauchy",
    "custom",
    "dirichlet",
    "exponential",
    "flat",
    "gamma",
    "half_cauchy",
    "half_normal",
    "log_normal",
    "log_uniform",
    "multivariate_normal",
    "normal",
    "ordered",
    "student_t",
    "truncated",
    "uniform",
]
