"""Rules about the draws: whether the chains agree, and what they are worth."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import diagnostics
from temperance.results.diagnostics.chains import MIN_DRAWS
from temperance.results.findings.finding import Finding, listed, round_up

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_R_HAT = 1.01  # Vehtari et al. 2021
MIN_ESS = 100.0  # a chain; Vehtari et al. 2021
MAX_DISAGREEMENT = 0.2  # of the mass of the modes, between two chains
MISSED_SHARE = 0.02  # of all draws; a mode that holds less may be passed over by chance
MAX_FACTOR = 100.0  # times as many draws are proposed at most
MORE_DRAWS = 4  # times as many halve the error


def chains_agree(result: "Result") -> bool:
    """Neither R-hat nor the weights of the modes tell the chains apart."""
    return _worst_r_hat(result)[0] <= MAX_R_HAT and not _missed(result) and _disagreement(result) is None


def missed_mode(result: "Result") -> Finding | None:
    """A chain never saw a mode that others did, or two chains give the modes different weights."""
    missed, distance = _missed(result), _disagreement(result)
    if not missed and distance is None:
        return None
    if missed:
        message = f"{listed(missed, 'chain')} never visited a mode that other chains did"
    else:
        message = f"two chains put {distance:.0%} of the mass into different modes"
    return Finding(
        name="missed mode",
        message=f"{message}: the weights of the modes cannot be trusted, and there may be modes that no "
        "chain has seen",
        cure=f"draws={round_up(MORE_DRAWS * result.draws.shape[1])}{_more_levels(result)}",
        serious=True,
    )


def _more_levels(result: "Result") -> str:
    """Chains that sit in one mode each look unimodal, and their ladders are cut down to nothing."""
    if min(result.n_levels) > result.setup.min_levels or result.n_levels_at_start == 1:
        return ""
    wanted = 2 * result.n_levels_at_start
    return f", and levels={wanted} kept by Trimming(min_levels={wanted})"


def chains_differ(result: "Result") -> Finding | None:
    """R-hat is too large."""
    value, label = _worst_r_hat(result)
    if value <= MAX_R_HAT:
        return None
    return Finding(
        name="chains differ",
        message=f"R-hat of {label} is {value:.3f}, above {MAX_R_HAT}",
        cure=f"draws={round_up(MORE_DRAWS * result.draws.shape[1])}, after the causes above if there are any",
        serious=True,
    )


def low_ess(result: "Result") -> Finding | None:
    """Fewer effective draws than a hundred for each chain, in the bulk or in a tail."""
    sizes = np.minimum(result.estimates["ess_bulk"], result.estimates["ess_tail"])
    wanted = MIN_ESS * result.draws.shape[0]
    if np.all(np.isnan(sizes)) or np.nanmin(sizes) >= wanted:
        return None
    worst, n_draws = int(np.nanargmin(sizes)), result.draws.shape[1]
    factor = min(MAX_FACTOR, wanted / max(float(sizes[worst]), 1.0))
    return Finding(
        name="low ESS",
        message=f"{result.draws.shape[0] * n_draws:,} draws of {result.parameters.labels[worst]} are worth "
        f"{sizes[worst]:.0f} independent ones, below {wanted:.0f}",
        cure=f"draws={round_up(factor * n_draws)}",
        serious=True,
    )


def never_moved(result: "Result") -> Finding | None:
    """A coordinate has one and the same value in all draws."""
    if result.draws.shape[1] < MIN_DRAWS:
        return None
    still = np.flatnonzero(np.ptp(result.draws, axis=(0, 1)) == 0.0)
    if not len(still):
        return None
    labels = [result.parameters.labels[k] for k in still[:3]]
    more = f" and {len(still) - 3} more" if len(still) > 3 else ""
    return Finding(
        name="never moved",
        message=f"{', '.join(labels)}{more} kept one value in all draws",
        cure="another start, or a density without that coordinate",
        serious=True,
    )


def _worst_r_hat(result: "Result") -> tuple[float, str]:
    """One when there is nothing to compare."""
    values: FloatArray = np.array(result.estimates["r_hat"], dtype=np.float64)
    if result.draws.shape[0] < 2 or np.all(np.isnan(values)):
        return 1.0, ""
    worst = int(np.nanargmax(values))
    return float(values[worst]), result.parameters.labels[worst]


def _missed(result: "Result") -> list[int]:
    """Chains without a single draw in a mode of some weight."""
    if not result.draws.size:
        return []
    shares = result.occupancy()
    heavy = shares.mean(axis=0) >= MISSED_SHARE
    return [int(k) for k in np.flatnonzero(np.any(shares[:, heavy] == 0.0, axis=1))]


def _disagreement(result: "Result") -> float | None:
    if not result.draws.size:
        return None
    distance = diagnostics.disagreement(result.occupancy())
    return distance if distance > MAX_DISAGREEMENT else None
