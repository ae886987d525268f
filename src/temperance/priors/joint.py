"""Priors whose values hang together: shares, ranks, correlated normals."""

import math
from typing import Any

import numpy as np

from temperance.checks import instance_of, whole_number, within
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.priors.kernels.maps import AS_IT_IS, EXP
from temperance.priors.kernels.table import JOINT_NORMAL, ORDERED, SIMPLEX, Block
from temperance.priors.positive import log_gamma_draws
from temperance.priors.prior import Prior
from temperance.priors.scalars import Scalar, constants_of, finite, positive

SUM_TOLERANCE = 1e-6  # by which shares that a user wrote down may miss one


@within("priors.dirichlet")
def dirichlet(a: Any) -> Prior:
    """Dirichlet's law of shares that sum to one; a whole number k stands for the even law of k shares."""
    powers = np.ones(whole_number("a", a, least=2)) if np.ndim(a) == 0 else positive("a", finite("a", a))
    if powers.ndim != 1 or len(powers) < 2:
        raise InvalidInputError(f"a must be a number of shares or a list of powers, got shape {powers.shape}")
    size, total = len(powers), float(powers.sum())
    log_norm = math.lgamma(total) - sum(math.lgamma(power) for power in powers) + 0.5 * math.log(size)
    return Prior(
        text=f"dirichlet({size} shares)",
        shape=(size,),
        blocks=(
            Block(
                kind=SIMPLEX,
                size=size,
                n_coordinates=size - 1,
                constants=np.array([*powers, total, log_norm]),
            ),
        ),
        unconstrain=_along_basis,
        draw=lambda generator: basis_coordinates(log_gamma_draws(generator, powers, size)),
    )


@within("priors.ordered")
def ordered(prior: Prior, n: Any) -> Prior:
    """The law of ``n`` independent values of a prior, in rising order."""
    scalar, n = base_of("ordered", prior), whole_number("n", n, least=2)
    noise = scalar.noise
    if noise is None or (scalar.map == EXP and scalar.of_map[1] < 0.0):
        raise InvalidInputError(f"prior must be one that can be drawn from, got {prior.text}")
    block = Block(
        kind=ORDERED,
        size=n,
        n_coordinates=n,
        constants=constants_of(scalar, ()),
        law=scalar.law,
        map=scalar.map,
        cut=scalar.cut,
    )
    return Prior(
        text=f"ordered({prior.text}, {n})",
        shape=(n,),
        blocks=(block,),
        unconstrain=lambda value: _steps(scalar.coordinates(value)),
        draw=lambda generator: _steps(np.sort(noise(generator, (n,)))),
    )


@within("priors.multivariate_normal")
def multivariate_normal(mu: Any, cov: Any) -> Prior:
    """The normal law of a vector with this mean and covariance."""
    mean, covariance = finite("mu", mu), finite("cov", cov)
    size = len(covariance) if covariance.ndim == 2 else 0
    if not size or covariance.shape != (size, size) or mean.shape not in ((), (size,)):
        raise InvalidInputError(
            f"mu and cov must have shapes (n,) and (n, n), got {mean.shape} and {covariance.shape}"
        )
    if not np.allclose(covariance, covariance.T):
        raise InvalidInputError("cov must be symmetric")
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise InvalidInputError("cov must be positive definite") from error
    centre = np.broadcast_to(mean, (size,))
    return Prior(
        text=f"multivariate_normal of {size} values",
        shape=(size,),
        blocks=(
            Block(
                kind=JOINT_NORMAL,
                size=size,
                n_coordinates=size,
                constants=np.concatenate([centre, factor.ravel()]),
            ),
        ),
        unconstrain=lambda value: np.linalg.solve(factor, value - centre),
        draw=lambda generator: generator.standard_normal(size),
    )


def basis_coordinates(log_shares: FloatArray) -> FloatArray:
    """Coordinates along the basis that `table` uses: each share against the mean of those before it."""
    before = np.cumsum(log_shares)[:-1]
    k = np.arange(1, len(log_shares))
    return np.asarray((before - k * log_shares[1:]) / np.sqrt(k * (k + 1.0)))


def _along_basis(shares: FloatArray) -> FloatArray:
    """The coordinates of shares; not finite where they are none."""
    if abs(shares.sum() - 1.0) > SUM_TOLERANCE:
        return np.full(len(shares) - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return basis_coordinates(np.log(shares))


def _steps(rising: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.append(rising[:1], np.log(np.diff(rising)))


def base_of(name: str, prior: Any) -> Scalar:
    """The law of a single value, for a prior that is made of it."""
    instance_of("prior", prior, Prior, "a prior such as temperance.priors.normal(0, 1)")
    simple = isinstance(prior.scalar, Scalar) and prior.shape == () and prior.log_density is None
    if not simple or prior.scalar.cut != AS_IT_IS:
        raise InvalidInputError(
            f"prior must be of a single value and of a plain kind for {name}, got {prior.text}"
        )
    scalar: Scalar = prior.scalar
    return scalar
