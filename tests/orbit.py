"""The swap step on the orbit of one state: all permutations, an exact transition matrix."""

import itertools
import math
from collections.abc import Callable

import numpy as np

import naive

Weights = Callable[[np.ndarray, np.ndarray, np.ndarray], dict[tuple[int, int], float]]
Accept = Callable[[float, float, float, float, float], float]


def permutations(n_levels: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(n_levels)))


def stationary(energies: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Probability of each permutation under the product of π^β."""
    with np.errstate(invalid="ignore"):
        logs = np.array(
            [
                sum(0.0 if b == 0.0 else b * energies[k] for b, k in zip(beta, order, strict=True))
                for order in permutations(len(beta))
            ]
        )
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def transition_matrix(
    weights: Weights, accept: Accept, points: np.ndarray, energies: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    """K of Eq. (2), built from the definition: pair weights, normalised, and an acceptance."""
    states = permutations(len(beta))
    place = {state: k for k, state in enumerate(states)}
    chosen = {state: _probabilities(weights, points, energies, beta, state) for state in states}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for (i, j), p in chosen[state].items():
            if p == 0.0:
                continue
            swapped = exchanged(state, i, j)
            back = chosen[swapped].get((i, j), 0.0)
            with np.errstate(divide="ignore"):
                ratio = float(np.log(back) - np.log(p))
            moved = p * accept(energies[state[i]], energies[state[j]], beta[i], beta[j], ratio)
            matrix[place[state], place[swapped]] += moved
    matrix[np.diag_indices(len(states))] += 1.0 - matrix.sum(axis=1)
    return matrix


def exchanged(state: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    new = list(state)
    new[i], new[j] = new[j], new[i]
    return tuple(new)


def _probabilities(weights, points, energies, beta, state) -> dict[tuple[int, int], float]:
    order = list(state)
    values = weights(points[order], energies[order], beta)
    return naive.pair_probabilities(values) if sum(values.values()) > 0 else {}


def edge_matrix(pair: tuple[int, int], accept: Accept, energies: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """One fixed pair, exchanged or not."""

    def only(points: np.ndarray, permuted: np.ndarray, ladder: np.ndarray) -> dict[tuple[int, int], float]:
        return {pair: 1.0}

    return transition_matrix(only, accept, np.zeros((len(beta), 1)), energies, beta)


def sweep_matrix(parity: int, accept: Accept, energies: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """All even or all odd edges, one after the other."""
    product = np.eye(math.factorial(len(beta)))
    for lower in range(parity, len(beta) - 1, 2):
        product = product @ edge_matrix((lower, lower + 1), accept, energies, beta)
    return product
