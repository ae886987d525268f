"""From draws to the numbers of one row."""

import numpy as np

from peers.contract import FloatArray, Outcome
from peers.tasks import Task

HALF_A_DRAW = 0.5


def measure(task: Task, outcome: Outcome) -> dict[str, float]:
    """Missing modes, occupancy error and estimated moments of one repetition."""
    draws, weights = _checked(task, outcome)
    size = effective_size(weights)
    row: dict[str, float] = {"n_draws": len(draws), "effective_size": size}
    if task.problem.modes is not None:
        share = shares(task, draws, weights)
        row["missing"] = int((share * size < HALF_A_DRAW).sum())
        row["occupancy_error"] = float(np.abs(share / task.problem.mode_weights - 1.0).mean())
    return row | {name: moment(task, name, draws, weights) for name in task.moments}


def effective_size(weights: FloatArray) -> float:
    """Kish's number of equally weighted draws that weigh as much."""
    return float(1.0 / np.sum(weights**2))


def shares(task: Task, draws: FloatArray, weights: FloatArray) -> FloatArray:
    """Mass of the draws nearest to each mode."""
    nearest = task.problem.nearest_mode(draws)
    return np.bincount(nearest, weights=weights, minlength=len(task.problem.mode_weights))


def moment(task: Task, name: str, draws: FloatArray, weights: FloatArray) -> float:
    """An estimate: ``mean_k`` and ``square_k`` of coordinate k, ``weight_k`` of mode k, counted from 1."""
    kind, _, number = name.partition("_")
    index = int(number) - 1
    if kind == "weight":
        return float(shares(task, draws, weights)[index])
    powers = {"mean": 1, "square": 2}
    return float(weights @ draws[:, index] ** powers[kind])


def _checked(task: Task, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
    draws = np.asarray(outcome.draws, dtype=np.float64)
    if draws.ndim != 2 or draws.shape[1] != task.dim or not len(draws):
        raise ValueError(f"draws must have shape (n, {task.dim}) with n > 0, got {draws.shape}")
    if not np.all(np.isfinite(draws)):
        raise ValueError("draws must be finite, got NaN or inf")
    if outcome.weights is None:
        return draws, np.full(len(draws), 1.0 / len(draws))
    weights = np.asarray(outcome.weights, dtype=np.float64)
    if weights.shape != (len(draws),) or not np.all(weights >= 0.0) or not weights.sum() > 0.0:
        raise ValueError(f"weights must be {len(draws)} numbers from 0 on, not all 0; got {weights.shape}")
    return draws, weights / weights.sum()
