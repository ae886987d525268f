"""The swap step on the orbit of one state: all permutations, an exact transition matrix."""

import itertools
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
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        here = _probabilities(weights, points, energies, beta, state)
        for (i, j), p in here.items():
            if p == 0.0:
                continue
            swapped = exchanged(state, i, j)
            back = _probabilities(weights, points, energies, beta, swapped).get((i, j), 0.0)
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


def adjacent(points, energies, beta) -> dict[tuple[int, int], float]:
    return {(i, i + 1): 1.0 for i in range(len(beta) - 1)}


def uniform(points, energies, beta) -> dict[tuple[int, int], float]:
    return dict.fromkeys(itertools.combinations(range(len(beta)), 2), 1.0)


def equi_energy(points, energies, beta) -> dict[tuple[int, int], float]:
    return naive.equi_energy_weights(energies)


def from_log_weight(log_weight: Callable[..., float]) -> Weights:
    def weights(points, energies, beta) -> dict[tuple[int, int], float]:
        pairs = list(itertools.combinations(range(len(beta)), 2))
        logs = np.array([log_weight(i, j, points, energies, beta) for i, j in pairs])
        return dict(zip(pairs, np.exp(logs - logs.max()), strict=True))

    return weights
