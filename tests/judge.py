"""Statistical verdicts with stated error rates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-4


@dataclass(frozen=True)
class Verdict:
    passed: bool
    detail: str


def judge_means(replicates: np.ndarray, truth: np.ndarray, visible_bias: np.ndarray) -> Verdict:
    """Do independent replicates (rows) have these means? Student's t with Bonferroni, false alarm 1e-4.

    A bias of ``visible_bias`` must be seen with probability 0.99 or more, or the test refuses to pass.
    """
    replicates, truth = np.atleast_2d(replicates), np.atleast_1d(truth)
    n, m = replicates.shape
    error = replicates.std(axis=0, ddof=1) / np.sqrt(n)
    limit = stats.t.ppf(1.0 - FALSE_ALARM / (2 * m), n - 1)
    needed = (limit + stats.t.ppf(0.99, n - 1)) * error
    t = (replicates.mean(axis=0) - truth) / error
    detail = f"mean {replicates.mean(axis=0)}, truth {truth}, t {t}, limit {limit:.2f}, sees {needed}"
    if np.any(needed > visible_bias):
        return Verdict(False, f"no power: {detail}, wanted {visible_bias}")
    return Verdict(bool(np.all(np.abs(t) <= limit)), detail)


def judge_sequentially(
    p_values: Callable[[int, np.random.Generator], np.ndarray],
    rng: np.random.Generator,
    *,
    n_first: int,
    false_alarm: float = 1e-5,
    stages: int = 7,
    growth: int = 4,
) -> Verdict:
    """Gandy & Scott 2020: retry with more data while undecided, within one false-alarm rate."""
    beta = false_alarm / stages
    gamma = beta ** (1.0 / stages)
    n = n_first
    for _ in range(stages):
        values = p_values(n, rng)
        smallest = float(len(values) * np.min(values))
        if smallest <= beta:
            return Verdict(False, f"n = {n}, smallest corrected p = {smallest:.3g}")
        if smallest > gamma + beta:
            return Verdict(True, f"n = {n}, smallest corrected p = {smallest:.3g}")
        beta /= gamma
        n *= growth
    return Verdict(True, f"undecided at n = {n}")
