"""Rules about the log density: whether its digits suffice, and whether the draws are where it is high."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.findings.finding import Finding, listed, round_up
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_ROUNDING = 0.1  # in a log density: acceptance is then off by a tenth
FAR_ABOVE = 5.0  # in a log density, beyond all that is explained: by more than a factor of a hundred
VARIANCES = 3.0  # of the log density that its peak may lie above its mean; of a Gaussian it is one
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
        cure=f"leave constants out of the log {part} from the start; taken off at the end they have cost the "
        "digits already",
        serious=True,
    )


def lost_mode(result: "Result") -> Finding | None:
    """A chain was at a log density, while tuning, that is far above that of any draw.

    A start at the peak is no such place, however far a peak lies above its mode's draws in many dimensions:
    of a log-concave density by no more than the dimension in the mean (Bobkov and Madiman 2011), of
    e^−H with H homogeneous by the variance of H.
    """
    if not result.log_density.size:
        return None
    draws = result.log_density
    explained = float(draws.mean() + max(VARIANCES * draws.var(), result.dim))
    limit = max(explained, float(draws.max())) + FAR_ABOVE
    highest = [float(np.max(_while_tuning(chain), initial=-np.inf)) for chain in result.chains]
    lost = [k for k, value in enumerate(highest) if value > limit]
    if not lost:
        return None
    first = max(lost, key=lambda k: highest[k])
    row = int(np.argmax(_while_tuning(result.chains[first])))
    return Finding(
        name="lost mode",
        message=f"while tuning, {listed(lost, 'chain')} came to a log density of {highest[first]:.4g}, and "
        f"no draw of any chain has more than {draws.max():.4g}: a high and narrow mode was left and not "
        "found again, which may hold most of the mass",
        cure=f"tune={round_up(LONGER * result.n_tune)}, with a start at "
        f"result.chains[{first}].tuning.draws[{row}] for some chains and not for others; nothing, if it is "
        "known that hardly any mass is there",
        serious=True,
    )


def _typical_size(values: FloatArray) -> float:
    return float(np.median(np.abs(values))) if len(values) else 0.0


def _while_tuning(chain: ChainRecord) -> FloatArray:
    """Log density of the base level, likelihood and prior together."""
    values: FloatArray = chain.tuning.log_density[:, 0] + chain.tuning.log_prior
    return values
