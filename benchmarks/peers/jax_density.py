"""The zoo's log densities in JAX, checked against the zoo before they are used."""

from typing import Any

import numpy as np

from peers.density import Density
from peers.tasks import Task

AGREEMENT, CHECKED_POINTS, CHECK_SEED = 1e-9, 1_000, 1


def log_density(task: Task) -> Any:
    """A JAX function of one point that agrees with the zoo's, or an error."""
    import jax

    function = _FORMULAS[task.key](task)
    density = Density(task)
    density.count = -CHECKED_POINTS  # a check is not part of a run
    points = density.from_unit(np.random.default_rng(CHECK_SEED).random((CHECKED_POINTS, task.dim)))
    ours, theirs = density.rows(points), np.asarray(jax.vmap(function)(points))
    worst = np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(ours)))
    if not worst < AGREEMENT:
        raise ValueError(
            f"{task.key} in JAX differs from the zoo by {worst:.3g}, at most {AGREEMENT:g} is allowed"
        )
    return function


def _peaks(_task: Task) -> Any:
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    from temperance.zoo.peaks import CENTRES, PEAK_SD

    centres = jnp.asarray(CENTRES)
    constant = -np.log(len(CENTRES) * 2.0 * np.pi * PEAK_SD**2)

    def formula(x: Any) -> Any:
        squares = jnp.sum((x[:2] - centres) ** 2, axis=-1)
        return constant + logsumexp(-0.5 * squares / PEAK_SD**2)

    return formula


def _cylinders(task: Task) -> Any:
    import jax.numpy as jnp

    plane = _peaks(task)
    return lambda x: plane(x) - 0.5 * jnp.sum(x[2:] ** 2)


def _pair(task: Task) -> Any:
    import jax.numpy as jnp

    centres, log_weights = jnp.asarray(task.problem.modes), jnp.log(jnp.asarray(task.problem.mode_weights))
    width = jnp.asarray(task.width)

    def formula(x: Any) -> Any:
        return jnp.logaddexp(*(log_weights - 0.5 * jnp.sum(((x - centres) / width) ** 2, axis=-1)))

    return formula


def _bridge(task: Task) -> Any:
    import jax.numpy as jnp

    gram, projection, constants = (jnp.asarray(array) for array in task.problem.data)
    n_data, squares, penalty, power, variance_power = constants

    def formula(x: Any) -> Any:
        coefficients, log_variance = x[:-1], x[-1]
        residual = squares + coefficients @ (gram @ coefficients - 2.0 * projection)
        likelihood = -0.5 * n_data * log_variance - 0.5 * residual * jnp.exp(-log_variance)
        prior = -penalty * jnp.sum(jnp.abs(coefficients) ** power)
        return likelihood + prior - (variance_power - 1.0) * log_variance

    return formula


_FORMULAS = {
    "twenty_peaks": _peaks,
    "twenty_cylinders": _cylinders,
    "two_modes": _pair,
    "bridge": _bridge,
}
