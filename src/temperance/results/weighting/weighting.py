"""What the estimates of a result are made from: draws and jump proposals together, or the draws alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics import mcse_mean
from temperance.results.weighting.bridge import Bridge, bridge_of
from temperance.results.weighting.strata import rows_of

if TYPE_CHECKING:
    from temperance.results.result import Result

WEIGHTED, DRAWS = "weighted", "draws"
MIN_PROPOSALS = 50.0  # that count, after their weights: fewer say nothing about their own error
MAX_LOG_Z_ERROR = 0.5  # beyond it, draws and proposals hardly overlap, and the error itself is a guess


class Estimate(NamedTuple):
    """A value, its standard error, and what both are by: the weighted sample, or the draws alone."""

    value: Any
    error: Any
    by: str


@dataclass(frozen=True, eq=False)
class Weighting:
    """The bridge between draws and proposals; or none, and why."""

    bridge: Bridge | None
    why_not: str = ""

    @property
    def every(self) -> int:
        """One row of the result's in so many is weighted."""
        return 1 if self.bridge is None else self.bridge.rows.every

    def estimate(self, at_draws: FloatArray, at_proposals: FloatArray | None) -> Estimate:
        """The mean of a function with these values, (chain, draw), by whatever has the smaller error."""
        plain, weighted = self._both(at_draws, at_proposals)
        return plain if weighted is None or not weighted.error < plain.error else weighted

    def estimates(self, at_draws: FloatArray, at_proposals: FloatArray | None) -> Estimate:
        """The same of several functions, (chain, draw, function), all by the one or all by the other."""
        pairs = [
            self._both(at_draws[:, :, k], None if at_proposals is None else at_proposals[:, :, k])
            for k in range(at_draws.shape[2])
        ]
        plain = _stacked([one for one, _ in pairs], DRAWS)
        weighted = [other for _, other in pairs if other is not None]
        if not weighted:
            return plain
        other = _stacked(weighted, WEIGHTED)
        known = np.isfinite(plain.error) & np.isfinite(other.error)
        return other if (other.error[known] ** 2).sum() < (plain.error[known] ** 2).sum() else plain

    def _both(
        self, at_draws: FloatArray, at_proposals: FloatArray | None
    ) -> tuple[Estimate, Estimate | None]:
        plain = Estimate(float(at_draws.mean()), mcse_mean(at_draws), DRAWS)
        if self.bridge is None or at_proposals is None:
            return plain, None
        rows = slice(None, None, self.every)
        value, error = self.bridge.expectation(at_draws[:, rows], at_proposals[:, rows])
        return plain, Estimate(value, error, WEIGHTED)


def _stacked(estimates: Sequence[Estimate], by: str) -> Estimate:
    return Estimate(
        np.array([one.value for one in estimates]), np.array([one.error for one in estimates]), by
    )


def weighting_of(result: "Result") -> Weighting:
    """A bridge where there is enough to build it from."""
    why_not = _missing(result)
    if why_not:
        return Weighting(None, why_not)
    bridge = bridge_of(rows_of(result))
    why_not = _weak(bridge)
    return Weighting(None if why_not else bridge, why_not)


def _missing(result: "Result") -> str:
    """What there is none of."""
    if not result.draws.size:
        return "there are no draws"
    jumped = any(np.any(chain.sampling.jump[: result.n_common] >= 0) for chain in result.kept)
    if result.keeps_statistics and not jumped:
        return "no jumps were proposed"
    if not result.keeps_proposals:
        return "proposals were not kept (keep= must have 'statistics' and 'proposals')"
    return ""


def _weak(bridge: Bridge | None) -> str:
    """Why a bridge does not carry, if it does not."""
    if bridge is None:
        return "no jump was proposed to a point of the support"
    weights = bridge.proposal_weight
    size = weights.sum() ** 2 / max(float((weights**2).sum()), np.finfo(np.float64).tiny)
    enough = size >= MIN_PROPOSALS
    if enough and not math.isfinite(bridge.log_z_error):
        return "there are too few draws to tell its error"
    if not enough or bridge.log_z_error > MAX_LOG_Z_ERROR:
        return (
            f"jump proposals and draws hardly overlap (of {bridge.rows.n_proposals:,} proposals {size:.0f} "
            f"count)"
        )
    return ""
