"""The swap step on the orbit of one state: all permutations of its positions, an exact matrix."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from temperance.core.numeric import capped_log_prob, heat_bath_prob
from temperance.core.state import FloatArray
from temperance.core.swap import swap_log_ratio
from temperance.swaps.strategy import Definition

Permutation = tuple[int, ...]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Ladder:
    """A state to permute: positions, their log densities, and the levels' inverse temperatures."""

    position: FloatArray
    log_density: FloatArray
    beta: FloatArray

    @property
    def states(self) -> list[Permutation]:
        """All ways to lay the positions on the levels."""
        return list(itertools.permutations(range(len(self.beta))))

    def law(self) -> FloatArray:
        """The probability of each permutation under the tempered product."""
        tempered = np.array([[self._power(beta, k) for k in range(len(self.beta))] for beta in self.beta])
        levels = range(len(self.beta))
        logs = np.array([sum(tempered[level, state[level]] for level in levels) for state in self.states])
        weights = np.exp(logs - logs.max())
        law: FloatArray = weights / weights.sum()
        return law

    def _power(self, beta: float, k: int) -> float:
        return 0.0 if beta == 0.0 else float(beta * self.log_density[k])


def pair_probabilities(definition: Definition, ladder: Ladder, state: Permutation) -> FloatArray:
    """Normalised log p_ij at a permuted state; all -inf when no pair has any weight."""
    order = list(state)
    logs = definition(ladder.position[order], ladder.log_density[order], ladder.beta)
    logs = np.where(np.triu(np.ones_like(logs), 1) > 0.0, logs, -np.inf)
    largest = logs.max()
    if largest == -np.inf:
        return logs
    result: FloatArray = logs - largest - math.log(np.exp(logs - largest).sum())
    return result


def exchanged(state: Permutation, pair: Pair) -> Permutation:
    """T_ij of a permutation."""
    new = list(state)
    new[pair[0]], new[pair[1]] = new[pair[1]], new[pair[0]]
    return tuple(new)


def accept_prob(ladder: Ladder, state: Permutation, pair: Pair, log_weights: float, heat_bath: bool) -> float:
    """The acceptance of one exchange, by the loop's own formula."""
    i, j = pair
    energies = ladder.log_density
    ratio = swap_log_ratio(
        energies[state[i]], energies[state[j]], ladder.beta[i], ladder.beta[j], log_weights
    )
    return heat_bath_prob(ratio) if heat_bath else math.exp(capped_log_prob(ratio))


def weighted_matrix(definition: Definition, ladder: Ladder, *, heat_bath: bool) -> FloatArray:
    """The kernel of Eq. (2) for one attempt of a strategy with these weights."""
    states = ladder.states
    place = {state: k for k, state in enumerate(states)}
    log_probs = {state: pair_probabilities(definition, ladder, state) for state in states}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for i, j in itertools.combinations(range(len(state)), 2):
            forward, target = log_probs[state][i, j], exchanged(state, (i, j))
            if forward > -math.inf:
                ratio = log_probs[target][i, j] - forward
                moved = math.exp(forward) * accept_prob(ladder, state, (i, j), ratio, heat_bath)
                matrix[place[state], place[target]] += moved
    return _with_staying(matrix)


def sweep_matrix(pairs: Iterable[Pair], ladder: Ladder, *, heat_bath: bool) -> FloatArray:
    """The kernel of several exchanges, one after the other."""
    states = ladder.states
    place = {state: k for k, state in enumerate(states)}
    product = np.eye(len(states))
    for pair in pairs:
        matrix = np.zeros_like(product)
        for state in states:
            moved = accept_prob(ladder, state, pair, 0.0, heat_bath)
            matrix[place[state], place[exchanged(state, pair)]] = moved
        product = product @ _with_staying(matrix)
    return product


def stationarity_error(matrix: FloatArray, law: FloatArray) -> float:
    """How far the law is from being left as it is; infinite for a matrix that is none."""
    if not np.all(np.isfinite(matrix)) or np.abs(matrix.sum(axis=1) - 1.0).max() > 1e-9:
        return math.inf
    return float(np.abs(law @ matrix - law).max())


def balance_error(matrix: FloatArray, law: FloatArray) -> float:
    """How far the flow there is from the flow back."""
    flow = law[:, None] * matrix
    return float(np.abs(flow - flow.T).max())


def _with_staying(matrix: FloatArray) -> FloatArray:
    matrix[np.diag_indices(len(matrix))] += 1.0 - matrix.sum(axis=1)
    return matrix
