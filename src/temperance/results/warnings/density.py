"""Rules about the log density: whether its digits suffice, and whether the draws are where it is high."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.signs import longer_tuning
from temperance.results.warnings.warning import ResultWarning, listed_kept
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def rounding(result: "Result") -> ResultWarning | None:
    """The log density is so large that doubles near it lie too far apart."""
    parts = {
        "density": [chain.sampling.log_density[:, 0] for chain in result.kept],
        "prior": [chain.sampling.log_prior for chain in result.kept],
    }
    sizes = {part: max(map(_typical_size, columns)) for part, columns in parts.items()}
    part = max(sizes, key=lambda name: sizes[name])
    spacing = float(np.spacing(sizes[part]))
    if not spacing > THRESHOLDS.max_rounding:
        return None
    return ResultWarning(
        name="rounding",
        message=f"the log {part} of the draws is about {sizes[part]:.1g} in size, where numbers of double "
        f"precision lie {spacing:.2g} apart: chance in the last digit decides what is accepted",
        cure=_fewer_digits(part, np.concatenate(parts[part]) / sizes[part]),
        serious=True,
    )


def lost_mode(result: "Result") -> ResultWarning | None:
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
    return ResultWarning(
        name="lost mode",
        message=f"while tuning, {listed_kept(result, lost)} came to a log density of {max(peaks):.4g}, and "
        f"in all draws since to no more than {result.log_density[lost].max():.4g}: a high and narrow mode "
        "was left and not found again, which may hold most of the mass",
        cure=f"tune={longer_tuning(result)}, with a start at "
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
    most = np.mean(result.log_density > limit, axis=1).max()
    return bool(highest > everywhere or most >= THRESHOLDS.missed_share)


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
        peak = log_density.mean() + np.maximum(THRESHOLDS.variances * log_density.var(), dim)
        tail = np.quantile(log_density, THRESHOLDS.tail) - np.median(log_density)
        return float(np.maximum(peak, log_density.max() + tail)) + THRESHOLDS.far_above


def _fewer_digits(part: str, relative: FloatArray) -> str:
    """A cure: far from the mass draws differ in their log density, beside a huge constant they do not."""
    if np.ptp(relative) > THRESHOLDS.constant:
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
