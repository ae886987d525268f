"""Moments, quantiles, Monte Carlo errors, ESS and R-hat of each parameter, as columns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.parameters import Parameters
from temperance.results import diagnostics
from temperance.results.drawn import joined
from temperance.results.turning import turns_of, unrolled
from temperance.results.weighting.weighting import WEIGHTED, Weighting

if TYPE_CHECKING:
    from temperance.results.result import Result

QUANTILES = (0.025, 0.5, 0.975)
COLUMNS = (
    "mean", "sd", "mcse", *(f"{100 * q:g}%" for q in QUANTILES), "by", "ess_bulk", "ess_tail", "r_hat",
)  # fmt: skip
UNKNOWN = float("nan")


def estimates_of(result: "Result") -> dict[str, list[Any]]:
    """Of the parameters that are shown. Draws that turn are unrolled about their mean."""
    points, turns = result.points, turns_of(result.parameters)
    proposals = _proposals(result, lambda: result.proposal_points)
    proposals = None if proposals is None else unrolled(proposals, turns, about=points)
    return _columns(unrolled(points, turns), proposals, result.parameters.labels, result.weighting)


def derived_estimates_of(result: "Result") -> dict[str, list[Any]]:
    """Of what a model derives from its parameters."""
    names = result.derived
    shapes = {name: result.values[name].shape[2:] for name in names}
    points = joined(result.values, names) if names else np.empty((*result.draws.shape[:2], 0))
    proposals = _proposals(result, lambda: joined(result.proposal_values, names)) if names else None
    with np.errstate(over="ignore", invalid="ignore"):  # whatever a user derives is shown as it is
        return _columns(points, proposals, Parameters(shapes=shapes).labels, result.weighting)


def _proposals(result: "Result", made: Any) -> FloatArray | None:
    """Values at jump proposals, where they are of use."""
    return None if result.weighting.bridge is None else made()


def _columns(
    points: FloatArray, proposals: FloatArray | None, labels: list[str], weighting: Weighting
) -> dict[str, list[Any]]:
    rows = [
        _row(points[:, :, k], None if proposals is None else proposals[:, :, k], weighting)
        for k in range(points.shape[2])
    ]
    return {"parameter": labels, **{name: [row[k] for row in rows] for k, name in enumerate(COLUMNS)}}


def _row(draws: FloatArray, proposals: FloatArray | None, weighting: Weighting) -> list[Any]:
    """Mean, spread and quantiles by the draws or by the weighted sample; the rest is of the draws."""
    if not draws.size:
        return [UNKNOWN] * (3 + len(QUANTILES)) + ["-"] + [UNKNOWN] * 3
    found = weighting.estimate(draws, proposals)
    if found.by == WEIGHTED and proposals is not None:
        spread, quantiles = _weighted_shape(draws, proposals, found.value, weighting)
    else:
        spread = float(draws.std(ddof=1)) if draws.size > 1 else UNKNOWN
        quantiles = [float(value) for value in np.quantile(draws, QUANTILES)]
    about_draws = (diagnostics.ess_bulk(draws), diagnostics.ess_tail(draws), diagnostics.r_hat(draws))
    return [found.value, spread, found.error, *quantiles, found.by, *about_draws]


def _weighted_shape(
    draws: FloatArray, proposals: FloatArray, mean: float, weighting: Weighting
) -> tuple[float, list[float]]:
    """Standard deviation and quantiles of the weighted sample."""
    bridge, rows = weighting.bridge, slice(None, None, weighting.every)
    if bridge is None:  # which the caller has seen to
        return UNKNOWN, [UNKNOWN] * len(QUANTILES)
    some = bridge.proposal_weight > 0.0
    values = np.concatenate([draws[:, rows].ravel(), proposals[:, rows][some]])
    weights = np.concatenate([bridge.weight.ravel(), bridge.proposal_weight[some]])
    order = np.argsort(values)
    places = np.cumsum(weights[order]) - 0.5 * weights[order]
    spread = float(np.sqrt(max((weights * (values - mean) ** 2).sum(), 0.0)))
    return spread, [float(value) for value in np.interp(QUANTILES, places, values[order])]
