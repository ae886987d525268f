"""What several rules look at."""

import math
from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import diagnostics, measure
from temperance.results.warnings.policy import THRESHOLDS
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result


def chains_agree(result: "Result") -> bool:
    """Neither R-hat nor the weights of the modes tell the chains apart."""
    return (
        worst_r_hat(result)[0] <= THRESHOLDS.max_r_hat
        and not missing_chains(result)
        and disagreement(result) <= allowed_disagreement(result)
    )


def worst_r_hat(result: "Result") -> tuple[float, str]:
    """The largest R-hat and of what; one when there is nothing to compare."""
    values: FloatArray = np.array(result.estimates["r_hat"], dtype=np.float64)
    if result.draws.shape[0] < 2 or np.all(np.isnan(values)):
        return 1.0, ""
    worst = int(np.nanargmax(values))
    return float(values[worst]), result.parameters.labels[worst]


def worst_ess(result: "Result") -> tuple[float, str]:
    """The smallest effective sample size, in the bulk or in a tail, and of what; NaN without any."""
    sizes = np.minimum(result.estimates["ess_bulk"], result.estimates["ess_tail"])
    if np.all(np.isnan(sizes)):
        return float("nan"), ""
    worst = int(np.nanargmin(sizes))
    return float(sizes[worst]), result.parameters.labels[worst]


def missing_chains(result: "Result") -> list[int]:
    """Chains without a single draw in a mode that has some weight in another.

    Not in the mean of all: where one of many chains found a mode, that is small whatever the mode holds.
    """
    modes = result.modes
    heavy = modes.share.max(axis=0) >= THRESHOLDS.missed_share
    return [int(k) for k in np.flatnonzero(np.any(modes.share[:, heavy] == 0.0, axis=1))]


def passing_chains(result: "Result") -> list[int]:
    """Chains that never came into a lighter mode, though by the visits of the others that is no chance."""
    visits, modes = result.modes.visits, result.modes
    if len(visits) < 2 or not len(modes):
        return []
    expected = (visits.sum(axis=0) - visits) / (len(visits) - 1.0)  # by each chain, from those of the others
    # e^−expected is the chance of none.
    surprising = expected > math.log(visits.size / THRESHOLDS.false_alarm)
    return [int(k) for k in np.flatnonzero(np.any((visits == 0) & surprising, axis=1))]


def disagreement(result: "Result") -> float:
    """How much of the mass two chains put into different modes."""
    return diagnostics.disagreement(result.modes.share) if len(result.modes) else 0.0


def allowed_disagreement(result: "Result") -> float:
    """How much may be: a fixed share, or what chance explains where there are many modes.

    Two shares from n looks differ by √(4 p (1 − p) / π n) in the mean. A stay in a mode is half a look, since
    stays differ in length; but no chain is excused for having had fewer looks than it should have draws.
    """
    modes = result.modes
    if not len(modes):
        return THRESHOLDS.max_disagreement
    looks = max(float(modes.visits.sum(axis=1).min()) / 2.0, THRESHOLDS.min_ess)
    by_chance = float(np.sqrt(modes.draw_weight * (1.0 - modes.draw_weight) / (math.pi * looks)).sum())
    return max(THRESHOLDS.max_disagreement, THRESHOLDS.beyond_chance * by_chance)


def jumps_carry(chain: ChainRecord) -> bool:
    """Whether jumps bring news to the base level, so that it does not wait for the ladder."""
    return measure.jump_rate(chain) >= THRESHOLDS.min_jump_rate


def short_chains(result: "Result") -> list[int]:
    """Chains whose ladder is too short: none, unless it is half of them and the chains do not agree."""
    short = [k for k, chain in enumerate(result.chains) if _too_short(chain, result.setup.unimodal_scale)]
    many = 2 * len(short) >= len(result.chains)
    return short if many and result.draws.size and not chains_agree(result) else []


def dead_edges(chain: ChainRecord) -> list[int]:
    """Edges that fewer than one position in a thousand draws crossed upwards; draws at rest do not count."""
    rates = _crossing_rates(chain)
    return [int(edge) for edge in np.flatnonzero(rates < THRESHOLDS.min_crossing_rate)]


def slowest_edge(chain: ChainRecord, n_levels: int) -> float:
    """How often the slowest edge below so many levels was crossed, beside the least for it not to be dead."""
    rates = _crossing_rates(chain)[: n_levels - 1]
    return float(rates.min() / THRESHOLDS.min_crossing_rate) if len(rates) else math.inf


def _crossing_rates(chain: ChainRecord) -> FloatArray:
    """Of each edge, a draw; none where there are too few draws to tell."""
    replicas = measure.replicas(chain)
    if len(replicas) < THRESHOLDS.min_edge_draws or len(chain.beta) < 2:
        return np.empty(0)
    rates: FloatArray = diagnostics.crossings(replicas) / len(replicas)
    return rates


def drift(chain: ChainRecord) -> float:
    """How far the log of any scale or temperature moved between the last two quarters of tuning."""
    n_levels, n_rows = len(chain.beta), len(chain.tuning.beta)
    if n_rows < 4:
        return 0.0
    free = chain.beta > 0.0  # a level pinned at zero took the place of others as they were dropped
    log_temperature = np.log(measure.temperatures(chain.tuning.beta[:, :n_levels][:, free]))
    return max(_moved(log_temperature), _moved(chain.tuning.log_scale[:, :n_levels][:, free]))


def _too_short(chain: ChainRecord, threshold: float) -> bool:
    """The last level is multimodal, and the nearest to unimodal of all; one level is always too short.

    A prior at β = 0 cannot be heated, and what lies beyond a dead edge has not settled.
    """
    if len(chain.beta) == 1:
        return True
    ratios = diagnostics.unimodality(chain.log_scale, threshold)
    multimodal = chain.beta[-1] > 0.0 and ratios[-1] < THRESHOLDS.multimodal_below
    return bool(multimodal and ratios[-1] > THRESHOLDS.rising * ratios[:-1].max() and not dead_edges(chain))


def _moved(history: FloatArray) -> float:
    half, last = len(history) // 2, 3 * len(history) // 4
    return float(np.max(np.abs(history[last:].mean(axis=0) - history[half:last].mean(axis=0)), initial=0.0))
