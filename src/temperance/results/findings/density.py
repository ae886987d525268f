"""Rules about the log density: whether its digits suffice, and whether the draws are where it is high."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.findings.evidence import MISSED_SHARE
from temperance.results.findings.finding import Finding, listed_kept, round_up
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROUNDING = 0.1  # in a log density: acceptance is then off by a tenth
CONSTANT = 1e-9  # of its size that a log density varies by; a huge constant leaves its draws even less
FAR_ABOVE = 5.0  # in a log density, beyond all that is explained: by more than a factor of a hundred
VARIANCES = 3.0  # of the log density that its peak may lie above its mean; of a Gaussian it is one
TAIL = 0.999  # of the draws; a few that came near a lost mode say nothing about the others
LONGER = 2  # times as much tuning


def rounding(result: "Result") -> Finding | None:
    """The log density is so large that doubles near it lie too far apart."""
    parts = {
        "density": [chain.sampling.log_density[:, 0] for chain in result.kept],
        "prior": [chain.sampling.log_prior for chain in result.kept],
    }
    sizes = {part: max(map(_typical_size, columns)) for part, columns in parts.items()}
    part = max(sizes, key=lambda name: sizes[name])
    spacing = float(np.spacing(sizes[part]))
    if not spacing > MAX_ROUNDING:
        return None
    return Finding(
        name="rounding",
        message=f"the log {part} of the draws is about {sizes[part]:.1g} in size, where numbers of double "
        f"precision lie {spacing:.2g} apart: chance in the last digit decides what is accepted",
        cure=_fewer_digits(part, np.concatenate(parts[part]) / sizes[part]),
        serious=True,
    )


def lost_mode(result: "Result") -> Finding | None:
    """A chain was at a log density, while tuning, that is far above that of all its draws."""
    if not result.log_density.size:
        return None
    everywhere = _limit(result.log_density, result.dim)
    if not math.isfinite(everywhere):
        return None
    lost = [k for k in range(len(result.kept)) if _lost(result, k, everywhere)]
    if not lost:
        return None
    peaks = [float(_while_tuning(result.kept[k]).max()) for k in lost]
    first = lost[int(np.argmax(peaks))]
    number, row = result.kept_numbers[first], int(np.argmax(_while_tuning(result.kept[first])))
    return Finding(
        name="lost mode",
        message=f"while tuning, {listed_kept(result, lost)} came to a log density of {max(peaks):.4g}, and "
        f"in all draws since to no more than {result.log_density[lost].max():.4g}: a high and narrow mode "
        "was left and not found again, which may hold most of the mass",
        cure=f"tune={round_up(LONGER * result.n_tune)}, with a start at "
        f"result.chains[{number}].tuning.draws[{row}] for some chains and not for others; nothing, if it is "
        "known that hardly any mass is there",
        serious=True,
    )


def _lost(result: "Result", k: int, everywhere: float) -> bool:
    """Whether one chain lost a mode that no chain has drawn from, or one that has some weight in another."""
    highest = float(np.max(_while_tuning(result.kept[k]), initial=-np.inf))
    limit = _limit(result.log_density[k], result.dim)
    if not math.isfinite(limit) or highest <= min(limit, everywhere):
        return False
    return highest > everywhere or bool(np.mean(result.log_density > limit, axis=1).max() >= MISSED_SHARE)


def _limit(log_density: FloatArray, dim: int) -> float:
    """What the log density can hardly exceed where it has these values in draws.

    In many dimensions no draw comes near the peak of its mode, from which users like to start. But for a
    log-concave density f in d dimensions max log f − E log f(X) ≤ d (Bobkov and Madiman 2011, "The entropy
    per coordinate of a random vector is highly constrained under convexity conditions", IEEE Transactions on
    Information Theory 57), and for e^−H with H homogeneous it is the variance of H. A log density without a
    bound has a tail upwards, of which other states may show more than the draws. Where the variance of huge
    values overflows, the limit is not finite.
    """
    with np.errstate(all="ignore"):
        peak = log_density.mean() + np.maximum(VARIANCES * log_density.var(), dim)
        tail = np.quantile(log_density, TAIL) - np.median(log_density)
        return float(np.maximum(peak, log_density.max() + tail)) + FAR_ABOVE


def _fewer_digits(part: str, relative: FloatArray) -> str:
    """A cure: far from the mass draws differ in their log density, beside a huge constant they do not."""
    if np.ptp(relative) > CONSTANT:
        return "a start nearer the mass, from which all draws are still far away"
    return (
        f"leave constants out of the log {part} from the start; taken off at the end they have cost the "
        "digits already"
    )


def _typical_size(values: FloatArray) -> float:
    return float(np.median(np.abs(values))) if len(values) else 0.0


def _while_tuning(chain: ChainRecord) -> FloatArray:
    """Log density of the base level, likelihood and prior together."""
    values: FloatArray = chain.tuning.log_density[:, 0] + chain.tuning.log_prior
    return values
