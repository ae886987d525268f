"""Algorithm 1 in plain NumPy, written from the paper's text and not from the kernels.

Full covariance matrices, explicit temperatures, all pairs enumerated; levels count from 0.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass
class NaiveState:
    x: np.ndarray
    log_pi: np.ndarray
    log_prior: np.ndarray
    temperature: np.ndarray  # infinite at a pinned level
    mu: np.ndarray
    sigma: np.ndarray
    theta: np.ndarray
    n: int


def gain(n: int, scale: float, exponent: float, delay: float) -> float:
    return scale * (n + 1 + delay) ** (-exponent)


def beta_of(temperature: np.ndarray) -> np.ndarray:
    return np.array([0.0 if np.isinf(t) else 1.0 / t for t in temperature])


def proposals(state: NaiveState, z: np.ndarray) -> np.ndarray:
    return np.array(
        [
            x + np.exp(theta) * np.linalg.cholesky(sigma) @ normal
            for x, theta, sigma, normal in zip(state.x, state.theta, state.sigma, z, strict=True)
        ]
    )


def walk_accept(beta, log_pi_new, log_pi_old, log_prior_new, log_prior_old) -> float:
    """η: the ratio of prior · likelihood^β at the proposal and at the state, at most one."""
    if log_prior_new == -np.inf or (beta > 0 and log_pi_new == -np.inf):
        return 0.0
    power = 0.0 if beta == 0 else beta * (log_pi_new - log_pi_old)
    return float(min(1.0, np.exp(min(0.0, power + log_prior_new - log_prior_old))))


def covariance_step(sigma: np.ndarray, mu: np.ndarray, x: np.ndarray, g: float) -> np.ndarray:
    deviation = x - mu
    return (1 - g) * sigma + g * np.outer(deviation, deviation)


def swap_accept(log_pi_i, log_pi_j, beta_i, beta_j, p_there: float, p_here: float) -> float:
    """Eq. (3), as printed."""
    with np.errstate(over="ignore"):
        return float(min(1.0, (p_there / p_here) * np.exp((beta_j - beta_i) * (log_pi_i - log_pi_j))))


def pair_probabilities(weights: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    total = sum(weights.values())
    return {pair: weight / total for pair, weight in weights.items()}


def equi_energy_weights(log_pi: np.ndarray) -> dict[tuple[int, int], float]:
    """Eq. (6), shifted so that the closest pair has weight one."""
    pairs = list(itertools.combinations(range(len(log_pi)), 2))
    distance = {(i, j): abs(log_pi[i] - log_pi[j]) for i, j in pairs}
    finite = [d for d in distance.values() if np.isfinite(d)]
    closest = min(finite) if finite else 0.0
    return {pair: float(np.exp(closest - d)) if np.isfinite(d) else 0.0 for pair, d in distance.items()}


def choose_equi_energy(log_pi: np.ndarray, u: float, v: float) -> tuple[int, int]:
    """The upper of the two energies by inverse transform, then its partner from the nearest down."""
    weights = equi_energy_weights(log_pi)
    order = np.argsort(log_pi, kind="stable")
    weight = lambda a, b: weights[min(a, b), max(a, b)]  # noqa: E731
    sums = [sum(weight(order[k], order[m]) for m in range(k)) for k in range(len(order))]
    upper = int(np.searchsorted(np.cumsum(sums), u * sum(sums), side="right"))
    below = [weight(order[upper], order[m]) for m in range(upper - 1, -1, -1)]
    steps = int(np.searchsorted(np.cumsum(below), v * sum(below), side="right"))
    lower = upper - 1 - steps
    return tuple(sorted((int(order[upper]), int(order[lower]))))


def choose_adjacent(n_levels: int, u: float) -> tuple[int, int]:
    i = int(np.floor(u * (n_levels - 1)))
    return i, i + 1


def choose_uniform(n_levels: int, u: float, v: float) -> tuple[int, int]:
    first = int(np.floor(u * n_levels))
    others = [level for level in range(n_levels) if level != first]
    return tuple(sorted((first, others[int(np.floor(v * (n_levels - 1)))])))


def temperature_step(state: NaiveState, log_pi: np.ndarray, g: float, target: float) -> np.ndarray:
    """Phase 4: new positions, old β; a pinned last level stays."""
    beta = beta_of(state.temperature)
    new = [1.0]
    for level in range(len(beta) - 1):
        if np.isinf(state.temperature[level + 1]):
            new.append(np.inf)
            continue
        xi = min(1.0, np.exp(min(0.0, (beta[level + 1] - beta[level]) * (log_pi[level] - log_pi[level + 1]))))
        gap = np.log(state.temperature[level + 1] - state.temperature[level]) + g * (xi - target)
        new.append(new[-1] + np.exp(gap))
    return np.array(new)


def number_of_levels(
    theta: np.ndarray, threshold: float, epsilon: float, min_levels: int, all_hotter: bool
) -> int:
    """Eq. (11) and the Remark, unchanged when no level qualifies; or the stricter rule of the package."""
    scales = np.exp(theta)
    if epsilon > 0:
        threshold = min(threshold, (1 - epsilon) * scales.max())
    for level in range(1, len(scales) + 1):
        candidates = scales[level - 1 :] if all_hotter else scales[level - 1 : level]
        if np.all(candidates >= threshold):
            return max(level, min(min_levels, len(theta)))
    return len(theta)


def robust_step(sigma: np.ndarray, z: np.ndarray, eta: float, g: float, wanted: float) -> np.ndarray:
    """Vihola 2012, Eq. (1): S (I + γ (η − wanted) z zᵀ / |z|²) Sᵀ with S the lower factor of Σ."""
    root = np.linalg.cholesky(sigma)
    return root @ (np.eye(len(z)) + g * (eta - wanted) * np.outer(z, z) / np.dot(z, z)) @ root.T


def t_mixture_log_density(x: np.ndarray, weights, centres, covariances, dof: float) -> float:
    """Log of a weighted sum of multivariate Student densities, each from SciPy."""
    densities = [stats.multivariate_t(c, s, df=dof).pdf(x) for c, s in zip(centres, covariances, strict=True)]
    return float(np.log(np.dot(weights, densities)))


def t_draw(weights, centre, covariance, dof: int, uniforms: np.ndarray, z: np.ndarray):
    """The component by inverse transform, and a Student vector: a normal one over √(χ²/ν)."""
    component = int(np.searchsorted(np.cumsum(weights) / np.sum(weights), uniforms[1], side="right"))
    chi_square = -2.0 * np.log(1.0 - uniforms[2:]).sum()  # each adds two degrees of freedom
    root = np.linalg.cholesky(covariance[component])
    return component, centre[component] + root @ z / np.sqrt(chi_square / dof)


def responsibilities(x: np.ndarray, weights, centres, covariances, dof: float) -> np.ndarray:
    """Share of each component in the density at a point."""
    parts = [
        w * stats.multivariate_t(c, s, df=dof).pdf(x)
        for w, c, s in zip(weights, centres, covariances, strict=True)
    ]
    return np.array(parts) / np.sum(parts)


def corresponding_point(x: np.ndarray, i: int, j: int, centres, covariances) -> np.ndarray:
    """y = c_j + L_j L_i⁻¹ (x − c_i), with lower factors."""
    root_i, root_j = np.linalg.cholesky(covariances[i]), np.linalg.cholesky(covariances[j])
    return centres[j] + root_j @ np.linalg.inv(root_i) @ (x - centres[i])


def leap_log_ratio(x, y, i: int, j: int, weights, centres, covariances, dof: float) -> float:
    """Log of |L_j| r_j(y) w_i / (1 − w_j) over |L_i| r_i(x) w_j / (1 − w_i)."""
    det = [math.sqrt(np.linalg.det(covariance)) for covariance in covariances]
    here, there = (responsibilities(point, weights, centres, covariances, dof) for point in (x, y))
    back = det[j] * there[j] * weights[i] / (1 - weights[j])
    return math.log(back / (det[i] * here[i] * weights[j] / (1 - weights[i])))


def link(points: np.ndarray, log_density: np.ndarray, reach: np.ndarray, stretch: float) -> list[set[int]]:
    """Density peaks, state by state: join the nearest of higher density, or start a cluster."""
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    clusters: list[set[int]] = []
    for a in np.argsort(-log_density, kind="stable"):
        above = [b for cluster in clusters for b in cluster]
        others = np.sort(np.delete(distance[a], a))
        spacing = others[4] if len(others) > 4 else np.inf
        nearest = min(above, key=lambda b: distance[a, b], default=None)
        near = nearest is not None and distance[a, nearest] < min(
            max(reach[a], reach[nearest]), stretch**2 * spacing
        )
        if near:
            next(cluster for cluster in clusters if nearest in cluster).add(int(a))
        else:
            clusters.append({int(a)})
    return clusters


def apparent_scale(theta: float, squares: list[float], stride: int, first: int) -> float:
    """The scale over the root of a mean of (x − μ)ᵀΣ⁻¹(x − μ)/d, from the history of all of them.

    The mean is over the states since half the last power of two, of which every ``stride``-th counts; before
    the first such time it is unknown.
    """
    n = len(squares)
    begun = 2 ** int(np.floor(np.log2(n))) // 2
    if begun < first:
        return np.nan
    measured = [squares[k - 1] for k in range(begun + 1, n + 1) if k % stride == 0]
    return float(np.exp(theta) / np.sqrt(np.mean(measured)))


def slice_step(log_f, width: float, u: np.ndarray, max_steps: int, budget: int) -> tuple[float, int]:
    """Neal 2003, Figures 3 and 5, along a line from t = 0, where log_f is zero: the new t, and the calls.

    ``u`` has the uniforms in the order of the figures, the height first. Who would call log_f more often than
    the budget allows stays at zero.
    """
    calls = 0

    def inside(t: float) -> bool:
        nonlocal calls
        calls += 1
        if calls > budget:
            raise OverflowError
        return log_f(t) >= np.log(1.0 - u[0])

    left = -width * u[1]
    right = left + width
    steps_left = int(np.floor(max_steps * u[2]))
    steps_right = max_steps - 1 - steps_left
    try:
        while steps_left > 0 and inside(left):
            left, steps_left = left - width, steps_left - 1
        while steps_right > 0 and inside(right):
            right, steps_right = right + width, steps_right - 1
        for uniform in u[3:]:
            point = left + uniform * (right - left)
            if inside(point):
                return point, calls
            left, right = (point, right) if point < 0.0 else (left, point)
    except OverflowError:
        return 0.0, budget
    return 0.0, calls


def bridge(log_ratio_draws, log_ratio_proposals, worth):
    """Bridge sampling as the notes have it: log Z by bisection, weights of draws and of proposals.

    With r = ℓ/D, the two sides are Σ_y r/(Z + n r) and Σ_c (n_c/n) mean_x Z/(Z + n r).
    """
    n = sum(worth)

    def left_less_right(log_z):
        left = sum(1.0 / (np.exp(log_z - r) + n) for r in log_ratio_proposals)
        right = sum(
            n_c / n * sum(1.0 / (1.0 + n * np.exp(r - log_z)) for r in chain) / len(chain)
            for n_c, chain in zip(worth, log_ratio_draws, strict=True)
        )
        return left - right

    low, high = -700.0, 700.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left_less_right(middle) > 0 else (low, middle)
    of_draws = [
        [n_c / len(chain) / (np.exp(low - r) + n) for r in chain]
        for n_c, chain in zip(worth, log_ratio_draws, strict=True)
    ]
    return low, np.array(of_draws), np.array([1.0 / (np.exp(low - r) + n) for r in log_ratio_proposals])


def variance_of_sum(variance_of_draws, drawn, proposed, lags):
    """Of all draws and proposals: a proposal goes with the draws of its row and of the next ones."""
    total = variance_of_draws
    for of_draws, of_proposals in zip(drawn, proposed, strict=True):
        for t, value in enumerate(of_proposals):
            total += value**2
            for later in range(t, min(t + lags, len(of_draws))):
                total += 2.0 * value * of_draws[later]
    return total


def quadratic_peak(points, log_density, centre, covariance, *, reach, lowest, prior_sd, least):
    """Centre and covariance of the quadratic that log densities follow, by least squares on a longer table.

    Written with a row for each coefficient that is drawn to zero, where the package adds to a diagonal.
    """
    dim = len(centre)
    inverse_root = np.linalg.inv(np.linalg.cholesky(covariance))
    rows, values, weights = [], [], []
    highest = max(
        value
        for x, value in zip(points, log_density, strict=True)
        if np.sum((inverse_root @ (x - centre)) ** 2) < reach
    )
    for x, value in zip(points, log_density, strict=True):
        z = inverse_root @ (x - centre)
        square = float(z @ z)
        if square < reach and value > highest - lowest:
            pairs = [z[i] * z[j] for i in range(dim) for j in range(i, dim)]
            rows.append([1.0, *z, *pairs])
            values.append(value + 0.5 * square)
            weights.append(1.0 / (1.0 + max(square - dim, 0.0) / dim))
    table, total = np.array(rows), sum(weights)
    n, p = table.shape

    def solved(penalty):
        drawn = np.sqrt(penalty) * np.eye(p)[1:]
        root = np.sqrt(weights)
        return np.linalg.lstsq(
            np.vstack([table * root[:, None], drawn]), np.append(root * values, np.zeros(p - 1)), rcond=None
        )[0]

    first = solved(least * total)
    squares = sum(w * (v - row @ first) ** 2 for w, v, row in zip(weights, values, table, strict=True))
    variance = squares / total * n / max(n - p, 1)
    found = solved(max(variance / prior_sd**2, least * total))
    curvature, place = np.zeros((dim, dim)), dim + 1
    for i in range(dim):
        for j in range(i, dim):
            curvature[i, j] += 0.5 * found[place]
            curvature[j, i] += 0.5 * found[place]
            place += 1
    inverse = np.linalg.inv(np.eye(dim) - 2.0 * curvature)
    root = np.linalg.inv(inverse_root)
    return centre + root @ inverse @ found[1 : dim + 1], root @ inverse @ root.T


def most_surprising(points, log_target, level, centres, covariances, log_peaks, dof, tightness, margin):
    """Of each level, the point whose log density is farthest above what any one mode predicts there."""
    found = {}
    for x, value, one in zip(points, log_target, level, strict=True):
        predicted = -np.inf
        for centre, covariance, peak in zip(centres, covariances, log_peaks, strict=True):
            square = (x - centre) @ np.linalg.inv(covariance) @ (x - centre)
            fall = 0.5 * (dof + len(x)) * np.log1p(tightness * square / dof)
            predicted = max(predicted, peak - fall)
        surprise = value - predicted
        if surprise > margin and surprise > found.get(one, (-np.inf,))[0]:
            found[one] = surprise, value, x
    return found
