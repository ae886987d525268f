"""What is kept of one run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from temperance.runs.record import ChainRecord
from temperance.zoo import Problem

Measures = dict[str, float]
Measure = Callable[[ChainRecord, Problem], Measures]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Some iterations of a run, counted from its start, burn-in included."""

    name: str
    first: int
    end: int


def mode_measures(spans: Sequence[Span]) -> Measure:
    """Two moments of two coordinates, and how the modes were visited, in each span."""

    def measure(record: ChainRecord, problem: Problem) -> Measures:
        draws = np.concatenate([record.tuning.draws, record.sampling.draws])
        kept = ladder_measures(record, problem)
        for span in spans:
            values = _moments_and_modes(draws[span.first : span.end], problem)
            kept |= {f"{name}_{span.name}": value for name, value in values.items()}
        return kept

    return measure


def bridge_measures(record: ChainRecord, problem: Problem) -> Measures:
    """Posterior means of the coefficients and of the log variance."""
    means = record.sampling.draws.mean(axis=0)
    coefficients = {f"b{index + 1}": float(value) for index, value in enumerate(means[:-1])}
    return ladder_measures(record, problem) | coefficients | {"log_variance": float(means[-1])}


def ladder_measures(record: ChainRecord, problem: Problem) -> Measures:
    """Share of accepted swaps after burn-in, and levels left at the end."""
    trace = record.sampling
    attempts = int(trace.swap_attempts.sum())
    accepted = int(trace.swap_accepted.sum())
    return {"swaps_accepted": accepted / max(attempts, 1), "n_levels": float(len(record.beta))}


def _moments_and_modes(draws: np.ndarray, problem: Problem) -> Measures:
    share = problem.occupancy(draws)
    x1, x2 = draws[:, 0], draws[:, 1]
    return {
        "x1": float(x1.mean()),
        "x2": float(x2.mean()),
        "x1_sq": float((x1**2).mean()),
        "x2_sq": float((x2**2).mean()),
        "missing": float(np.sum(share == 0.0)),
        "occupancy_error": float(np.abs(share / np.asarray(problem.mode_weights) - 1.0).mean()),
    }
