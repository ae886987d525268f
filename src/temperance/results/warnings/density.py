"""Rules about the log density: whether its digits suffice, and whether the draws are where it is high."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.warnings.policy import THRESHOLDS
from temperance.results.warnings.signs import chains_agree
from temperance.results.warnings.warning import ResultWarning, listed_kept
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def not_repeatable(result: "Result") -> ResultWarning | None:
    """The preflight found two values at one point."""
    if not result.setup.preflight.get("varies") or not result.draws.size:
        return None
    return ResultWarning(
        name="not repeatable",
        message="before the run the log density gave two values at one point: what is accepted depends on "
        "chance, and the draws are not of the density",
        serious=True,
    )


def does_not_fall_off(result: "Result") -> ResultWarning | None:
    """The preflight found a ray along which there is no integral.

    Serious where draws went as far as that was seen, or where the chains do not agree.
    """
    tail = result.setup.preflight.get("tail")
    if tail is None or tail > result.dim or not result.draws.size:
        return None
    near = result.setup.preflight["near"]
    return ResultWarning(
        name="does not fall off",
        message=f"beyond {near:g} from the start the density falls as the power {max(tail, 0.0):.3g} of the "
        f"distance along a ray, and in {result.dim} dimensions it has no integral unless that is above "
        f"{result.dim}",
        serious=bool(np.max(np.abs(result.draws)) >= near or not chains_agree(result)),
    )


def rounding(result: "Result") -> ResultWarning | None:
    """The log density is so large that doubles near it lie too far apart."""
    part, size, _ = rounded_part(result)
    spacing = float(np.spacing(size))
    if not spacing > THRESHOLDS.max_rounding:
        return None
    return ResultWarning(
        name="rounding",
        message=f"the log {part} of the draws is about {size:.1g} in size, where numbers of double "
        f"precision lie {spacing:.2g} apart: chance in the last digit decides what is accepted",
        serious=True,
    )


def rounded_part(result: "Result") -> tuple[str, float, FloatArray]:
    """The larger part of the log density, "density" or "prior", its size, and its draws over that size."""
    parts = {
        "density": [chain.sampling.log_density[:, 0] for chain in result.kept],
        "prior": [chain.sampling.log_prior for chain in result.kept],
    }
    sizes = {part: max(map(_typical_size, columns)) for part, columns in parts.items()}
    part = max(sizes, key=lambda name: sizes[name])
    return part, sizes[part], np.concatenate(parts[part]) / max(sizes[part], 1.0)


def lost_mode(result: "Result") -> ResultWarning | None:
    """A chain was at a log density, while tuning, that is far above that of all its draws."""
    lost = _losing(result)
    if not lost:
        return None
    _, _, peak, since = peak_of(result)
    return ResultWarning(
        name="lost mode",
        message=f"while tuning, {listed_kept(result, lost)} came to a log density of {peak:.4g}, and "
        f"in all draws since to no more than {since:.4g}: a high and narrow mode "
        "was left and not found again, which may hold most of the mass",
        serious=True,
    )


def peak_of(result: "Result") -> tuple[int, int, float, float]:
    """Chain and row of tuning at the highest point that was lost; its height, and that of all draws."""
    lost = _losing(result)
    peaks = [float(_while_tuning(result.kept[k]).max()) for k in lost]
    first = lost[int(np.argmax(peaks))]
    row = int(np.argmax(_while_tuning(result.kept[first])))
    return result.kept_numbers[first], row, max(peaks), float(result.log_density[lost].max())


def _losing(result: "Result") -> list[int]:
    """Chains that lost a mode."""
    if not result.log_density.size:
        return []
    everywhere = _limit(result.log_density, result.dim)
    if not math.isfinite(everywhere):
        return []
    return [k for k in range(len(result.kept)) if _lost(result, k, everywhere)]


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


def _typical_size(values: FloatArray) -> float:
    return float(np.median(np.abs(values))) if len(values) else 0.0


def _while_tuning(chain: ChainRecord) -> FloatArray:
    """Log density of the base level, likelihood and prior together."""
    values: FloatArray = chain.tuning.log_density[:, 0] + chain.tuning.log_prior
    return values
