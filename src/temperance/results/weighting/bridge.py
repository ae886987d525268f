"""Draws and jump proposals weighted as one sample of the target: a bridge between the two.

Proposals y come from strata whose normalised densities t_k are known, n_k from each, whether they were
accepted or not; draws x come from the target ℓ/Z, of which Z is not known. With D = Σ n_k t_k and draws that
are worth n of themselves, Z is the root of

    Σ_y ℓ / (D Z + n ℓ) = Σ_c (n_c / n) mean_x D Z / (D Z + n ℓ),

c being the chains: bridge sampling (Meng & Wong 1996), with the balance heuristic (Veach & Guibas 1995) for
the strata. Proposals then weigh ℓ / (D Z + n ℓ), draws of chain c that times n_c over their number; these add
up to one. Where no stratum reaches, draws keep their usual weight: whatever the mixture misses, the estimate
is consistent. What is left of the noise of how often each mode was visited is that of the draws alone.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.diagnostics import ess_mean
from temperance.results.weighting.errors import standard_error
from temperance.results.weighting.strata import NO_STRATUM, Rows

# The draws count for as much less as proposals know the masses of the modes better; not for nothing, since a
# single proposal where the mixture is thin may weigh as much as one draw in so many that count.
LEAST_SHARE = 0.02
STEPS = 100
LONGEST_STEP = 10.0  # in log Z
PRECISION = 1e-11  # likewise
LEAST_SLOPE = 1e-12  # where draws and proposals do not overlap at all, and the error is to be without measure


@dataclass(frozen=True, eq=False)
class Bridge:
    """Weights of the draws and of the proposals, (chain, row) each, and the log of Z."""

    rows: Rows
    n_effective: FloatArray  # (chain,) what its draws are worth
    log_z: float

    @property
    def n_draws(self) -> int:
        """Rows of a chain."""
        return int(self.rows.log_density.shape[1])

    @cached_property
    def _part(self) -> FloatArray:
        """The chance that a point at the place of each draw is a draw: n ℓ / (D Z + n ℓ)."""
        return chance_of_draw(self.rows.log_density - self.rows.log_mixture, self._shift)

    @cached_property
    def _proposal_part(self) -> FloatArray:
        ratio = self.rows.proposal_log_density - self.rows.proposal_log_mixture
        return np.where(self.rows.stratum == NO_STRATUM, 0.0, chance_of_draw(ratio, self._shift))

    @property
    def _shift(self) -> float:
        return math.log(self.n_effective.sum()) - self.log_z

    @property
    def _share(self) -> FloatArray:
        """What a draw of each chain counts for among all draws, (chain, 1); they add up to one."""
        share: FloatArray = self.n_effective[:, None] / (self.n_effective.sum() * self.n_draws)
        return share

    @cached_property
    def weight(self) -> FloatArray:
        """Of the draws."""
        weights: FloatArray = self._share * self._part
        return weights

    @cached_property
    def proposal_weight(self) -> FloatArray:
        """Of the proposals; zero where there is none."""
        weights: FloatArray = self._proposal_part / self.n_effective.sum()
        return weights

    @cached_property
    def effective_size(self) -> float:
        """1 / Σ w² (Kish 1965): what the weights alone say; draws that repeat each other count as several."""
        return float(1.0 / ((self.weight**2).sum() + (self.proposal_weight**2).sum()))

    @cached_property
    def influence(self) -> tuple[FloatArray, FloatArray]:
        """What each draw and each proposal does to log Z, (chain, row) each."""
        slope = (self.weight * (1.0 - self._part)).sum()
        slope += (self.proposal_weight * (1.0 - self._proposal_part)).sum()
        per_slope = 1.0 / max(slope, LEAST_SLOPE)
        drawn, proposed = self._among_draws(self._part), self._within_strata(self.proposal_weight)
        return per_slope * drawn, per_slope * proposed

    @cached_property
    def log_z_error(self) -> float:
        """Standard error of log Z."""
        return standard_error(*self.influence)

    def expectation(self, at_draws: FloatArray, at_proposals: FloatArray) -> tuple[float, float]:
        """Value and standard error of the mean of a function, from its values at each row."""
        at_proposals = np.where(self.proposal_weight > 0.0, at_proposals, 0.0)
        value = float((self.weight * at_draws).sum() + (self.proposal_weight * at_proposals).sum())
        drawn = self._part * (at_draws - value)
        proposed = self.proposal_weight * (at_proposals - value)
        by_log_z = (self._share * drawn * (1.0 - self._part)).sum()
        by_log_z += (proposed * (1.0 - self._proposal_part)).sum()
        of_draws = self._among_draws(drawn) - by_log_z * self.influence[0]
        of_proposals = self._within_strata(proposed) - by_log_z * self.influence[1]
        return value, standard_error(of_draws, of_proposals)

    def _among_draws(self, values: FloatArray) -> FloatArray:
        """Values at draws less their mean over all of them, each for what it counts."""
        centred: FloatArray = self._share * (values - (self._share * values).sum())
        return centred

    def _within_strata(self, values: FloatArray) -> FloatArray:
        """Values at proposals less the mean of their stratum: how many came from it is no accident.

        They are stretched by what that takes from their variance; one alone stays as it is.
        """
        chosen = self.rows.stratum != NO_STRATUM
        stratum, some = self.rows.stratum[chosen], values[chosen]
        size = np.bincount(stratum, minlength=self.rows.n_strata)
        mean = np.bincount(stratum, some, self.rows.n_strata) / np.maximum(size, 1)
        stretch = np.sqrt(size / np.maximum(size - 1, 1))
        centred = np.zeros(values.shape)
        centred[chosen] = stretch[stratum] * (some - np.where(size > 1, mean, 0.0)[stratum])
        return centred


def bridge_of(rows: Rows) -> Bridge | None:
    """Weights for these rows; None where no proposal lies in the support."""
    ratio = rows.proposal_log_density - rows.proposal_log_mixture
    proposed = ratio[(rows.stratum != NO_STRATUM) & np.isfinite(ratio)]
    if not len(proposed):
        return None
    drawn = rows.log_density - rows.log_mixture
    worth = np.array([_worth_of_draws(chain) for chain in drawn])
    worth *= _share_of_draws(rows, drawn, worth)
    return Bridge(rows, worth, log_root(drawn, proposed, worth))


def chance_of_draw(ratio: FloatArray, shift: float) -> FloatArray:
    """1 / (1 + e^−(ratio + shift)), ratio being log ℓ/D."""
    with np.errstate(over="ignore"):
        chance: FloatArray = 1.0 / (1.0 + np.exp(-(ratio + shift)))
    return chance


def log_root(drawn: FloatArray, proposed: FloatArray, worth: FloatArray) -> float:
    """Log Z from log ℓ/D at the draws (chain, row) and at the proposals, by Newton's method in a bracket.

    The two sides of the equation cross once: one falls with Z and the other rises. Their logarithms are
    compared, which are straight lines where draws and proposals are far apart.
    """
    total = worth.sum()
    share = worth / (total * drawn.shape[1])
    largest = proposed.max()
    log_z = float(largest + np.log(np.exp(proposed - largest).sum()))
    low, high = -math.inf, math.inf
    for _ in range(STEPS):
        excess, slope = _excess(drawn, proposed, share, math.log(total) - log_z, total)
        low, high = (log_z, high) if excess > 0.0 else (low, log_z)
        longest = math.copysign(LONGEST_STEP, excess)
        step = excess / slope if abs(excess) < LONGEST_STEP * slope else longest
        if not low < log_z + step < high and abs(step) > PRECISION:
            step = 0.5 * (low + high) - log_z
        log_z += step
        if abs(step) <= PRECISION:
            break
    return log_z


def _excess(
    drawn: FloatArray, proposed: FloatArray, share: FloatArray, shift: float, total: float
) -> tuple[float, float]:
    """Log of the left side of the equation over the right, and how fast that falls with log Z."""
    of_proposals, of_draws = chance_of_draw(proposed, shift), chance_of_draw(drawn, shift)
    not_of_draws = chance_of_draw(-drawn, -shift)  # one less the chance, to the last digit
    left, right = of_proposals.sum() / total, (share * not_of_draws.sum(axis=1)).sum()
    if left == 0.0 or right == 0.0:  # both are too small to be numbers: nothing overlaps
        return (math.inf if left > 0.0 else -math.inf if right > 0.0 else 0.0), 0.0
    slope = (of_proposals * (1.0 - of_proposals)).sum() / (total * left)
    slope += (share * (of_draws * not_of_draws).sum(axis=1)).sum() / right
    return math.log(left / right), float(slope)


def _worth_of_draws(ratio: FloatArray) -> float:
    """What the draws of a chain are worth, by the autocorrelation of log ℓ/D; a chain that stays, one."""
    size = ess_mean(ratio)
    return 1.0 if math.isnan(size) else min(max(size, 1.0), float(len(ratio)))


def _share_of_draws(rows: Rows, drawn: FloatArray, worth: FloatArray) -> float:
    """How much of their worth draws get beside proposals: N times the relative variance of Σ_y ℓ/D.

    N proposals tell masses as N over that number of independent draws would. Where the mixture is thin,
    proposals do not come and do not see that variance, but draws do: Σ_y (ℓ/D)² is expected to be Σ_y ℓ/D
    times the mean of ℓ/D over draws. The larger of the two counts.
    """
    chosen = rows.stratum != NO_STRATUM
    ratio, stratum = (rows.proposal_log_density - rows.proposal_log_mixture)[chosen], rows.stratum[chosen]
    largest = ratio.max()
    value = np.exp(ratio - largest)
    with np.errstate(over="ignore"):  # where no stratum reaches
        by_draws = value.sum() * np.average(np.exp(drawn - largest).mean(axis=1), weights=worth)
    size = np.bincount(stratum, minlength=rows.n_strata)
    between = (np.bincount(stratum, value, rows.n_strata) ** 2 / np.maximum(size, 1)).sum()
    variance = (max((value**2).sum(), by_draws) - between) / value.sum() ** 2
    return float(np.clip(len(value) * variance, LEAST_SHARE, 1.0))
