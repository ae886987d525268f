"""Whether a target is the one that a chain was made with: it is asked again where the chain is."""

import numpy as np

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.origin import told
from temperance.runs.chain import ChainRun

TOLERANCE = 1e-9  # of a log density, between processors or libraries; more is another density


def require_same_target(run: ChainRun) -> bool:
    """Refuse a target with other values than the chain has; whether they are equal in all bits."""
    n_points = int(run.state.n_levels[0])
    stored = run.state.log_density[:n_points], run.state.log_prior[:n_points]
    came = _asked(run, n_points)
    for level in range(n_points):
        for what, old, new in zip(("density", "prior"), stored, came, strict=True):
            if not np.isclose(new[level], old[level], rtol=TOLERANCE, atol=TOLERANCE):
                raise InvalidInputError(
                    f"target: the log {what} of {run.plan.target.name} at the point "
                    f"{run.state.position[level].tolist()} is {new[level]}, and it was {old[level]} in the "
                    "run that is to go on; it must be the same function with the same data, and return the "
                    "same value each time"
                )
    return all(np.array_equal(old, new) for old, new in zip(stored, came, strict=True))


def _asked(run: ChainRun, n_points: int) -> tuple[FloatArray, FloatArray]:
    """The log densities and log priors at the points where the first levels are."""
    points = run.state.position[:n_points]
    cause = run.evaluate(points)
    if cause is not None:
        if not isinstance(cause, Exception):
            raise cause
        raise InvalidInputError(
            f"target: {run.plan.target.name} raised an error at the point {points[0].tolist()}, where it had "
            f"a value in the run that is to go on{told(cause)}"
        ) from cause
    return run.info.log_density[:n_points], run.info.log_prior[:n_points]
