"""The zoo: exact answers against integrals of the density, exact draws against both."""

import itertools
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numba
import numpy as np
import pytest
from scipy import optimize, spatial, special, stats
from sklearn.datasets import load_diabetes

import temperance as tp
from harness import PLAIN
from judge import judge_means
from temperance.zoo import Problem, labels, oriented, regression

REPLICATES, DRAWS = 64, 2_000
VISIBLE = 0.1  # a bias that the tests of draws promise to see, in standard deviations or as a factor

PEAKS = tp.zoo.twenty_peaks()
NORMAL_CYLINDERS = tp.zoo.twenty_cylinders()
UNIFORM_CYLINDERS = tp.zoo.twenty_cylinders("uniform")
GAUSSIAN = tp.zoo.gaussian(4, mean=1.5, sd=0.7)
UNEVEN_GAUSSIAN = tp.zoo.gaussian(3, mean=[1.0, -2.0, 0.5], sd=[0.1, 1.0, 30.0])
PAIR = tp.zoo.two_modes()
SMALL_PAIR = tp.zoo.two_modes(1, separation=2.5, sd=0.6, right_weight=0.7)
BANANA = tp.zoo.banana(4)
FUNNEL = tp.zoo.funnel()
TAME_FUNNEL = tp.zoo.funnel(3, sd=0.5)  # its second moments can be seen in draws
LABELS = {k: tp.zoo.label_switching(k) for k in (2, 3, 4)}
BRIDGE = tp.zoo.bridge()
WIDTHS = tp.zoo.unequal_widths()
RARE = tp.zoo.rare_mode(5)
BANANAS = tp.zoo.two_bananas(3)
RINGS = tp.zoo.rings()
THICK_RINGS = tp.zoo.rings(3, radius=0.8, thickness=0.6, right_weight=0.4)  # their holes are not empty
STUDENTS = tp.zoo.student_modes()
TAME_STUDENTS = tp.zoo.student_modes(3, dof=15.0, n_modes=3)  # their second moments can be seen in draws
SHELLS = tp.zoo.gaussian_shells(2)
SKEWED = tp.zoo.skew_modes()
ORIENTED = tp.zoo.oriented_modes()
DISTANT = tp.zoo.distant_modes(3, distance=12.0)
SPIKE, STEEP_SPIKE = tp.zoo.spike(2, ratio=4.0, mass=0.6), tp.zoo.spike()
BOX = tp.zoo.flat_box(3)
MANY = tp.zoo.many_modes()
SCATTERED = tp.zoo.many_modes(30, 2)
FAR = {shape: tp.zoo.far_pair(2, shape=shape) for shape in ("round", "correlated", "unrelated")}
WELLS = tp.zoo.many_well(2)
EXACT = {
    "peaks": PEAKS, "normal cylinders": NORMAL_CYLINDERS, "uniform cylinders": UNIFORM_CYLINDERS,
    "gaussian": GAUSSIAN, "uneven gaussian": UNEVEN_GAUSSIAN, "pair": PAIR, "small pair": SMALL_PAIR,
    "banana": BANANA, "funnel": FUNNEL, "tame funnel": TAME_FUNNEL,
    **{f"labels {k}": problem for k, problem in LABELS.items()},
    "widths": WIDTHS, "rare": RARE, "bananas": BANANAS, "rings": RINGS, "thick rings": THICK_RINGS,
    "students": STUDENTS, "tame students": TAME_STUDENTS, "many": MANY, "scattered": SCATTERED,
    **{f"far {shape}": problem for shape, problem in FAR.items()},
    "wells": WELLS,
    "shells": SHELLS, "skewed": SKEWED, "oriented": ORIENTED,
    "distant": DISTANT, "spike": SPIKE, "steep spike": STEEP_SPIKE, "box": BOX,
}  # fmt: skip
HEAVY = ("funnel", "students", "steep spike")  # averages of their squares do not settle


@numba.njit
def _many(log_density, points):
    values = np.empty(points.shape[0])
    for k in range(points.shape[0]):
        values[k] = log_density(points[k])
    return values


def log_values(problem: Problem, points: np.ndarray) -> np.ndarray:
    """The compiled log density at every row."""
    return _many(problem.log_density, np.ascontiguousarray(points))


# Integrals of the density


class Integrals(NamedTuple):
    log_mass: float
    mean: np.ndarray
    covariance: np.ndarray


class Nodes(NamedTuple):
    """A quadrature rule: rows of points, and a weight for each."""

    points: np.ndarray
    weights: np.ndarray


def steps(low: float, high: float, step: float) -> Nodes:
    """Equal steps: spectrally accurate for what is smooth and vanishes at both ends."""
    points = np.arange(low, high + step, step)
    return Nodes(points[:, None], np.full(len(points), step))


def walled(low: float, high: float) -> Nodes:
    """Gauss and Legendre, for what ends at a wall."""
    points, weights = np.polynomial.legendre.leggauss(8)
    half = 0.5 * (high - low)
    return Nodes((low + half * (points + 1.0))[:, None], half * weights)


def grid(*axes: Nodes) -> Nodes:
    points = np.meshgrid(*[axis.points[:, 0] for axis in axes], indexing="ij")
    weights = np.meshgrid(*[axis.weights for axis in axes], indexing="ij")
    return Nodes(np.stack([axis.ravel() for axis in points], axis=1), np.prod(weights, axis=0).ravel())


def integrals(points: np.ndarray, log_mass: np.ndarray) -> Integrals:
    """Log of the total, mean and covariance of masses at points."""
    total = special.logsumexp(log_mass)
    share = np.exp(log_mass - total)
    mean = share @ points
    return Integrals(total, mean, (share[:, None] * (points - mean)).T @ (points - mean))


def integrate_product(
    problem: Problem, origin: np.ndarray, blocks: dict[tuple[int, ...], Nodes], basis: np.ndarray
) -> Integrals:
    """A product of functions of a few coordinates each, by slices of it through ``origin``.

    Coordinates are those of ``basis``; those without a block stay where they are.
    """
    here = float(log_values(problem, origin[None] @ basis.T)[0])
    log_mass, mean, covariance = here, origin.copy(), np.zeros((problem.dim, problem.dim))
    corner, corner_log = origin.copy(), here
    for block, nodes in blocks.items():
        points = np.tile(origin, (len(nodes.points), 1))
        points[:, block] = nodes.points
        slope = log_values(problem, points @ basis.T) - here
        found = integrals(nodes.points, slope + np.log(nodes.weights))
        log_mass += found.log_mass
        mean[list(block)], covariance[np.ix_(block, block)] = found.mean, found.covariance
        beside = len(slope) // 3
        corner[list(block)] = nodes.points[beside]
        corner_log += slope[beside]
    np.testing.assert_allclose(log_values(problem, corner[None] @ basis.T), corner_log, rtol=1e-9)
    return Integrals(log_mass, basis @ mean, basis @ covariance @ basis.T)


def along_axes(axes: dict[int, Nodes]) -> dict[tuple[int, ...], Nodes]:
    return {(axis,): nodes for axis, nodes in axes.items()}


def integrate_grid(problem: Problem, nodes: Nodes) -> Integrals:
    return integrals(nodes.points, log_values(problem, nodes.points) + np.log(nodes.weights))


PLANE = grid(steps(-1.0, 11.0, 0.06), steps(-1.0, 11.0, 0.06))


def integrate_cylinders(problem: Problem, extra: Nodes) -> Integrals:
    blocks = {(0, 1): PLANE, **along_axes(dict.fromkeys(range(2, 8), extra))}
    return integrate_product(problem, np.full(8, 1.3), blocks, np.eye(8))


def integrate_gaussian(problem: Problem, axes: list[Nodes]) -> Integrals:
    origin = np.array([nodes.points[len(nodes.points) // 2, 0] for nodes in axes])
    return integrate_product(problem, origin, along_axes(dict(enumerate(axes))), np.eye(problem.dim))


def integrate_pair(problem: Problem) -> Integrals:
    """One coordinate along the line through the modes; across it the density is one product."""
    dim = problem.dim
    basis = np.linalg.qr(np.column_stack([np.ones(dim), np.eye(dim)[:, 1:]]))[0]
    along, across = steps(-30.0, 30.0, 0.1), steps(-6.0, 6.0, 0.1)
    blocks = along_axes({0: along, **dict.fromkeys(range(1, dim), across)})
    return integrate_product(problem, np.zeros(dim), blocks, basis)


def integrate_banana(problem: Problem) -> Integrals:
    bend = grid(steps(-70.0, 70.0, 1.0), steps(-15.0, 160.0, 0.3))
    blocks = {(0, 1): bend, **along_axes(dict.fromkeys(range(2, problem.dim), steps(-9.0, 9.0, 0.3)))}
    return integrate_product(problem, np.zeros(problem.dim), blocks, np.eye(problem.dim))


def integrate_funnel(problem: Problem, necks: Nodes) -> Integrals:
    """Slice by slice: where the first coordinate is fixed the others are independent."""
    slices = []
    for neck in necks.points[:, 0]:
        width = np.exp(0.5 * neck)
        axes = dict.fromkeys(range(1, problem.dim), steps(-9.0 * width, 9.0 * width, 0.3 * width))
        origin = np.append(neck, np.zeros(problem.dim - 1))
        slices.append(integrate_product(problem, origin, along_axes(axes), np.eye(problem.dim)))
    log_mass = np.array([part.log_mass for part in slices]) + np.log(necks.weights)
    whole = integrals(np.array([part.mean for part in slices]), log_mass)
    share = np.exp(log_mass - whole.log_mass)
    within = np.einsum("k,kij->ij", share, [part.covariance for part in slices])
    return whole._replace(covariance=whole.covariance + within)


def integrate_widths(problem: Problem) -> Integrals:
    """Fine steps in a box about the narrow mode, coarse ones everywhere else."""
    centre, narrow = problem.modes[1], 0.01
    reach = 12.0 * narrow
    fine = grid(*[steps(place - reach, place + reach, 0.3 * narrow) for place in centre])
    coarse = grid(*[steps(-12.0, 5.0, 0.3)] * 2)
    outside = np.abs(coarse.points - centre).max(axis=1) > reach
    points = np.concatenate([fine.points, coarse.points[outside]])
    return integrate_grid(problem, Nodes(points, np.concatenate([fine.weights, coarse.weights[outside]])))


def integrate_bananas(problem: Problem) -> Integrals:
    bends = grid(steps(-70.0, 70.0, 1.0), steps(-180.0, 180.0, 0.3))
    return integrate_product(problem, np.zeros(3), {(0, 1): bends, (2,): steps(-9.0, 9.0, 0.3)}, np.eye(3))


def integrate_thick_rings(problem: Problem) -> Integrals:
    """Fine steps, since the density has a kink in the middle of each ring."""
    plane = grid(steps(-14.0, 14.0, 0.02), steps(-7.0, 7.0, 0.02))
    return integrate_product(problem, np.zeros(3), {(0, 1): plane, (2,): steps(-6.0, 6.0, 0.2)}, np.eye(3))


INTEGRATED: dict[str, Callable[[], Integrals]] = {
    "peaks": lambda: integrate_grid(PEAKS, PLANE),
    "normal cylinders": lambda: integrate_cylinders(NORMAL_CYLINDERS, steps(-9.0, 9.0, 0.3)),
    "uniform cylinders": lambda: integrate_cylinders(UNIFORM_CYLINDERS, walled(0.0, 10.0)),
    "gaussian": lambda: integrate_gaussian(GAUSSIAN, [steps(-5.0, 8.0, 0.2)] * 4),
    "uneven gaussian": lambda: integrate_gaussian(
        UNEVEN_GAUSSIAN, [steps(0.0, 2.0, 0.03), steps(-11.0, 7.0, 0.3), steps(-300.0, 300.0, 9.0)]
    ),
    "pair": lambda: integrate_pair(PAIR),
    "small pair": lambda: integrate_grid(SMALL_PAIR, steps(-8.0, 8.0, 0.1)),
    "banana": lambda: integrate_banana(BANANA),
    "funnel": lambda: integrate_funnel(FUNNEL, steps(-30.0, 40.0, 1.0)),
    "tame funnel": lambda: integrate_funnel(TAME_FUNNEL, steps(-5.0, 5.5, 0.2)),
    "labels 2": lambda: integrate_grid(LABELS[2], grid(*[steps(-40.0, 40.0, 0.4)] * 2)),
    "labels 3": lambda: integrate_grid(LABELS[3], grid(*[steps(-16.0, 16.0, 0.4)] * 3)),
    "widths": lambda: integrate_widths(WIDTHS),
    "rare": lambda: integrate_pair(RARE),
    "bananas": lambda: integrate_bananas(BANANAS),
    "rings": lambda: integrate_grid(RINGS, grid(steps(-20.0, 20.0, 0.1), steps(-10.0, 10.0, 0.1))),
    "shells": lambda: integrate_grid(SHELLS, grid(*[steps(-5.9, 5.9, 0.02)] * 2)),
    "thick rings": lambda: integrate_thick_rings(THICK_RINGS),
    "tame students": lambda: integrate_grid(
        TAME_STUDENTS, grid(*[steps(-40.0, 40.0, 0.5)] * 2, steps(-25.0, 25.0, 0.5))
    ),
    "distant": lambda: integrate_pair(DISTANT),
    "spike": lambda: integrate_grid(SPIKE, grid(*[steps(-5.0, 5.0, 0.02)] * 2)),
    "box": lambda: integrate_grid(BOX, grid(*[walled(-1.0, 1.0)] * 3)),
    "scattered": lambda: integrate_grid(SCATTERED, grid(*[steps(-1.0, 11.0, 0.06)] * 2)),
}


def agrees(problem: Problem, found: Integrals) -> bool:
    sd = np.sqrt(np.diag(problem.covariance))
    return (
        abs(found.log_mass - problem.log_normaliser) < 1e-5
        and np.allclose((found.mean - problem.mean) / sd, 0.0, atol=1e-5)
        and np.allclose((found.covariance - problem.covariance) / np.outer(sd, sd), 0.0, atol=1e-5)
    )


def broken_answers(problem: Problem) -> Iterator[Problem]:
    step = 0.001 * np.eye(problem.dim)[-1] * np.sqrt(problem.covariance[-1, -1])
    yield replace(problem, log_normaliser=problem.log_normaliser + 0.001)
    yield replace(problem, mean=problem.mean + step)
    yield replace(
        problem, covariance=problem.covariance + np.diag(step) * np.sqrt(problem.covariance[-1, -1])
    )


@pytest.mark.parametrize("name", INTEGRATED)
def test_exact_answers_equal_integrals_of_the_density(name) -> None:
    problem, found = EXACT[name], INTEGRATED[name]()
    assert agrees(problem, found), (problem, found)
    assert not any(agrees(broken, found) for broken in broken_answers(problem))
    np.testing.assert_allclose(problem.second_moments, found.mean**2 + np.diag(found.covariance), rtol=1e-4)


def test_uniform_cylinders_end_at_their_walls() -> None:
    inside = np.full(8, 5.0)
    for wall in (-1e-9, 10.0 + 1e-9):
        outside = np.array([np.where(np.arange(8) == i, wall, inside) for i in range(2, 8)])
        assert np.all(log_values(UNIFORM_CYLINDERS, outside) == -np.inf)


# Exact draws


def replicates(problem: Problem, seed: int) -> np.ndarray:
    return problem.draw(REPLICATES * DRAWS, seed).reshape(REPLICATES, DRAWS, problem.dim)


def judge_moments(problem: Problem, draws: np.ndarray):
    """Means, squares and products with the next coordinate, in units of the exact sd."""
    sd = np.sqrt(np.diag(problem.covariance))
    z = (draws - problem.mean) / sd
    products = [z, z**2, z[..., 1:] * z[..., :-1]]
    found = np.concatenate([product.mean(axis=1) for product in products], axis=1)
    correlation = np.diag(problem.covariance / np.outer(sd, sd), 1)
    truth = np.concatenate([np.zeros(problem.dim), np.ones(problem.dim), correlation])
    return judge_means(found, truth, np.full(len(truth), VISIBLE))


def assert_caught(verdict) -> None:
    assert not verdict.passed
    assert "no power" not in verdict.detail


@pytest.mark.parametrize("name", [name for name in EXACT if name not in HEAVY])
def test_draws_have_the_exact_moments(name, seed) -> None:
    problem = EXACT[name]
    draws = replicates(problem, seed)
    verdict = judge_moments(problem, draws)
    assert verdict.passed, verdict.detail
    sd = np.sqrt(np.diag(problem.covariance))
    assert_caught(judge_moments(problem, draws + VISIBLE * sd))
    assert_caught(judge_moments(problem, problem.mean + np.sqrt(1.0 + VISIBLE) * (draws - problem.mean)))


def log_normal(x: np.ndarray, mean: np.ndarray | float, sd: np.ndarray | float) -> np.ndarray:
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi)


def log_mixture(logs: list[np.ndarray]) -> np.ndarray:
    """Of normalised densities with uneven weights, so that wrong weights show too."""
    weights = np.arange(1.0, len(logs) + 1.0)
    return special.logsumexp(np.array(logs), axis=0, b=(weights / weights.sum())[:, None])


def log_peaks(x: np.ndarray, centres: np.ndarray, sd: np.ndarray | float) -> np.ndarray:
    return log_mixture([log_normal(x, centre, sd).sum(axis=1) for centre in centres])


def log_inside(x: np.ndarray) -> np.ndarray:
    extra = np.where(np.all((x[:, 2:] > 0.0) & (x[:, 2:] < 8.0), axis=1), -6.0 * np.log(8.0), -np.inf)
    return log_peaks(x[:, :2], PEAKS.modes, 0.08) + extra


def log_in_banana(x: np.ndarray) -> np.ndarray:
    across = x[:, 1] - 0.03 * (x[:, 0] ** 2 - 100.0)
    return log_normal(x[:, 0], 0.0, 8.0) + log_normal(np.c_[across, x[:, 2:]], 0.0, 0.9).sum(axis=1)


def log_in_funnel(x: np.ndarray) -> np.ndarray:
    width = 0.9 * np.exp(0.5 * x[:, :1])
    return log_normal(x[:, 0], 0.0, 2.5) + log_normal(x[:, 1:], 0.0, width).sum(axis=1)


def log_in_widths(x: np.ndarray) -> np.ndarray:
    parts = zip(WIDTHS.modes, (0.8, 0.008), strict=True)
    return log_mixture([log_normal(x, centre, sd).sum(axis=1) for centre, sd in parts])


def log_in_rare(x: np.ndarray) -> np.ndarray:
    """The rare mode is three times as heavy; much more, and its few draws would decide alone."""
    logs = [log_normal(x, centre, 0.8).sum(axis=1) for centre in RARE.modes]
    return special.logsumexp(logs, axis=0, b=np.array([[0.003], [0.997]]))


def log_in_bananas(x: np.ndarray) -> np.ndarray:
    """Each is moved to where the single banana is."""
    moved = [np.c_[x[:, 0], sign * x[:, 1] - 13.0, x[:, 2]] for sign in (-1.0, 1.0)]
    return log_mixture([log_in_banana(points) for points in moved])


def log_in_rings(x: np.ndarray) -> np.ndarray:
    """Normal distances from the centres, at even angles."""
    distances = [np.linalg.norm(x - centre, axis=1) for centre in RINGS.modes]
    return log_mixture([log_normal(r, 5.0, 0.4) - np.log(2.0 * np.pi * r) for r in distances])


def log_in_shells(x: np.ndarray) -> np.ndarray:
    """Thinner ones, with all of the radius's density at their own circumference."""
    distances = [np.linalg.norm(x - centre, axis=1) for centre in SHELLS.modes]
    return log_mixture([log_normal(r, 2.0, 0.08) - np.log(2.0 * np.pi * r) for r in distances])


def log_in_many(x: np.ndarray) -> np.ndarray:
    """The nearest peak alone: the others are more than six sds beyond their border."""
    nearest, weights = MANY.nearest_mode(x), np.arange(1.0, len(MANY.modes) + 1.0)
    return np.log(weights[nearest] / weights.sum()) + log_normal(x, MANY.modes[nearest], 0.06).sum(axis=1)


@dataclass(frozen=True)
class Envelope:
    """A normalised density of lighter tails, and a jitter that makes the draws wrong."""

    log_density: Callable[[np.ndarray], np.ndarray]
    jitter: np.ndarray


ROUND = np.array([0.08, 0.08] + [0.9] * 6)
ENVELOPES = {
    "peaks": Envelope(lambda x: log_peaks(x, PEAKS.modes, 0.08), np.full(2, 0.07)),
    "normal cylinders": Envelope(lambda x: log_peaks(x, NORMAL_CYLINDERS.modes, ROUND), 0.7 * ROUND),
    "uniform cylinders": Envelope(log_inside, np.array([0.07] * 2 + [0.0] * 6)),
    "gaussian": Envelope(lambda x: log_peaks(x, GAUSSIAN.modes, 0.56), np.full(4, 0.4)),
    "uneven gaussian": Envelope(
        lambda x: log_peaks(x, UNEVEN_GAUSSIAN.modes, np.array([0.08, 0.8, 24.0])),
        np.array([0.07, 0.7, 20.0]),
    ),
    "pair": Envelope(lambda x: log_peaks(x, PAIR.modes, 0.45), np.full(20, 0.2)),
    "small pair": Envelope(lambda x: log_peaks(x, SMALL_PAIR.modes, 0.4), np.full(1, 0.5)),
    "banana": Envelope(log_in_banana, np.array([0.0, 0.7, 0.7, 0.7])),
    "funnel": Envelope(log_in_funnel, np.array([0.0] + [1.0] * 9)),
    **{
        f"labels {k}": Envelope(lambda x, k=k: log_peaks(x, LABELS[k].modes, 0.4), np.full(k, 0.5))
        for k in LABELS
    },
    "widths": Envelope(log_in_widths, np.full(2, 0.007)),
    "rare": Envelope(log_in_rare, np.full(5, 0.5)),
    "bananas": Envelope(log_in_bananas, np.array([0.0, 0.7, 0.7])),
    "rings": Envelope(log_in_rings, np.full(2, 0.3)),
    "shells": Envelope(log_in_shells, np.full(2, 0.07)),
    "thick rings": Envelope(lambda x: log_peaks(x, THICK_RINGS.modes, 0.4), np.full(3, 0.4)),
    "students": Envelope(lambda x: log_peaks(x, STUDENTS.modes, 0.9), np.full(2, 0.8)),
    "tame students": Envelope(lambda x: log_peaks(x, TAME_STUDENTS.modes, 0.9), np.full(3, 0.8)),
    "many": Envelope(log_in_many, np.full(3, 0.05)),
    "scattered": Envelope(lambda x: log_peaks(x, SCATTERED.modes, 0.07), np.full(2, 0.06)),
}


def ratios(problem: Problem, envelope: Envelope, draws: np.ndarray) -> np.ndarray:
    """Means of g / f in each replicate: E[g / f] = 1 for draws of f and any normalised g that f covers."""
    points = draws.reshape(-1, problem.dim)
    log_g, log_f = envelope.log_density(points), log_values(problem, points) - problem.log_normaliser
    ratio = np.exp(np.where(log_g > -np.inf, log_g - log_f, -np.inf))
    return ratio.reshape(draws.shape[:2]).mean(axis=1)[:, None]


def judge_ratios(found: np.ndarray):
    return judge_means(found, np.ones(1), np.array([VISIBLE]))


@pytest.mark.parametrize("name", ENVELOPES)
def test_draws_follow_the_density(name, seed) -> None:
    problem, envelope, draws = EXACT[name], ENVELOPES[name], replicates(EXACT[name], seed)
    found = ratios(problem, envelope, draws)
    verdict = judge_ratios(found)
    assert verdict.passed, verdict.detail
    assert_caught(judge_ratios(np.exp(-VISIBLE) * found))  # a wrong constant
    noise = np.random.default_rng(seed + 1).standard_normal(draws.shape)
    assert_caught(judge_ratios(ratios(problem, envelope, draws + envelope.jitter * noise)))


# Modes

WITH_MODES = [name for name, problem in EXACT.items() if problem.modes is not None and len(problem.modes) > 1]


def judge_weights(problem: Problem, draws: np.ndarray):
    """A mode that is missing is seen, however light it is."""
    found = np.array([problem.occupancy(chain) for chain in draws])
    return judge_means(found, problem.mode_weights, np.minimum(problem.mode_weights, 0.02))


@pytest.mark.parametrize("name", WITH_MODES)
def test_draws_occupy_the_modes_by_their_weights(name, seed) -> None:
    problem, draws = EXACT[name], replicates(EXACT[name], seed)
    verdict = judge_weights(problem, draws)
    assert verdict.passed, verdict.detail
    assert problem.mode_weights.sum() == pytest.approx(1.0, abs=1e-12)
    draws[:, : DRAWS // 20] = problem.modes[0]
    assert_caught(judge_weights(problem, draws))


def distance_to_maximum(problem: Problem, point: np.ndarray) -> float:
    """How far the local maximum is that is uphill from a point, in any coordinate."""
    found = optimize.minimize(lambda x: -problem.log_density(x), point, method="BFGS")
    return float(np.abs(found.x - point).max())


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("peaks", 0.02),
        ("small pair", 1e-3),
        ("pair", 1e-3),
        ("gaussian", 1e-3),
        ("labels 3", 0.02),
        ("widths", 1e-4),
        ("rare", 1e-3),
        ("bananas", 1e-3),
        ("students", 0.02),
        ("tame students", 1e-3),
        ("many", 1e-3),
        ("scattered", 1e-3),
    ],
)
def test_modes_are_close_to_maxima(name, close) -> None:
    problem = EXACT[name]
    assert max(distance_to_maximum(problem, mode) for mode in problem.modes) < close
    assert distance_to_maximum(problem, 0.4 * problem.modes[0] + 0.6 * problem.modes[-1] + 0.2) > close


def test_nearest_mode_equals_its_twin(rng) -> None:
    for problem in (PEAKS, NORMAL_CYLINDERS, PAIR, LABELS[3]):
        points = problem.mean + 5.0 * rng.standard_normal((500, problem.dim))
        twin = [np.argmin([np.linalg.norm(point - mode) for mode in problem.modes]) for point in points]
        np.testing.assert_array_equal(problem.nearest_mode(points), twin)
        np.testing.assert_array_equal(problem.nearest_mode(problem.modes), np.arange(len(problem.modes)))
        shares = [twin.count(k) / 500 for k in range(len(problem.modes))]
        np.testing.assert_allclose(problem.occupancy(points), shares, rtol=1e-12)


def test_nearest_mode_takes_little_memory(rng) -> None:
    points = rng.uniform(0.0, 10.0, (100_000, 8))
    tracemalloc.start()
    NORMAL_CYLINDERS.nearest_mode(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * points.nbytes


# Single problems


def test_label_switching_is_likelihood_times_prior(rng) -> None:
    for k, problem in LABELS.items():
        values = np.concatenate([np.array(group) for group in labels.GROUPS[:k]])
        for x in 4.0 * rng.standard_normal((20, k)):
            likelihood = np.log(stats.norm.pdf(values[:, None], x, 1.0).mean(axis=1)).sum()
            twin = likelihood + stats.norm.logpdf(x, 0.0, 8.0).sum()
            assert problem.log_density(x) == pytest.approx(twin, rel=1e-12)
            for renamed in itertools.permutations(x):
                assert problem.log_density(np.array(renamed)) == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize(("levels", "all_seen"), [(1, False), (8, True)])
def test_labels_switch_only_with_tempering(levels, all_seen, seed) -> None:
    """The problem is genuine: a plain walk stays with the order in which it began, or learns one more."""
    problem = LABELS[3]
    options = {"levels": levels, "draws": 4_000, "chains": 4, "seed": seed, "progress": False}
    result = tp.sample(problem, initial=problem.modes[0], **options)
    assert [bool(np.all(problem.occupancy(chain) > 0.0)) for chain in result.draws] == [all_seen] * 4


def student_twin(x: np.ndarray, problem: Problem, dof: float) -> float:
    logs = [stats.multivariate_t.logpdf(x, centre, np.eye(problem.dim), dof) for centre in problem.modes]
    return float(special.logsumexp(logs, b=problem.mode_weights))


@pytest.mark.parametrize(("name", "dof"), [("students", 3.0), ("tame students", 15.0)])
def test_student_modes_equal_those_of_scipy(name, dof, rng) -> None:
    problem = EXACT[name]
    for x in 30.0 * rng.standard_normal((20, problem.dim)):
        found = problem.log_density(x) - problem.log_normaliser
        assert found == pytest.approx(student_twin(x, problem, dof), rel=1e-12)
        assert found != pytest.approx(student_twin(x, problem, dof + 0.01), rel=1e-6)


def test_skew_modes_equal_those_of_scipy(rng) -> None:
    """Far out on the steep side as well, where the distribution function is no number any more."""
    sides = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    places = np.array([[0.0, 0.0, 0.0], [14.0, 0.0, 0.0], [28.0, 0.0, 0.0]])
    for x in np.array([14.0, 0.0, 0.0]) + 15.0 * rng.standard_normal((20, 3)):
        logs = [
            stats.skewnorm.logpdf(x, 4.0 * side, place).sum()
            for side, place in zip(sides, places, strict=True)
        ]
        twin = float(special.logsumexp(logs, b=SKEWED.mode_weights))
        assert SKEWED.log_density(x) - SKEWED.log_normaliser == pytest.approx(twin, rel=1e-6)


def test_oriented_modes_are_normals_that_differ_in_shape(rng) -> None:
    """Each mode by its exact draws: tenfold longer than wide, along axes of its own."""
    draws = ORIENTED.draw(50_000, 3)
    groups = [draws[ORIENTED.nearest_mode(draws) == k] for k in range(5)]
    shapes = [np.cov(group.T) for group in groups]
    for group, shape, centre in zip(groups, shapes, ORIENTED.modes, strict=True):
        np.testing.assert_allclose(np.sqrt(np.linalg.eigvalsh(shape)[[0, -1]]), [0.2, 2.0], rtol=0.06)
        np.testing.assert_allclose(group.mean(axis=0), centre, atol=0.2)
    assert min(np.abs(one - shapes[0]).max() for one in shapes[1:]) > 0.5
    centres, roots = oriented._shapes(5)
    exact = [
        stats.multivariate_normal(centre, root @ root.T) for centre, root in zip(centres, roots, strict=True)
    ]
    twin = special.logsumexp(
        [one.logpdf(draws[:5]) for one in exact], axis=0, b=ORIENTED.mode_weights[:, None]
    )
    found = np.array([ORIENTED.log_density(x) for x in draws[:5]]) - ORIENTED.log_normaliser
    np.testing.assert_allclose(found, twin, rtol=1e-10)


@pytest.mark.parametrize("problem", [MANY, SCATTERED, tp.zoo.many_modes(40, 1)], ids=repr)
def test_scattered_modes_are_ten_sds_apart(problem) -> None:
    n_modes, dim = problem.modes.shape
    gap = 5.0 / n_modes ** (1.0 / dim)
    assert spatial.distance.pdist(problem.modes).min() >= gap
    assert np.all((problem.modes >= 0.0) & (problem.modes <= 10.0))
    within = problem.covariance - np.cov(problem.modes.T, bias=True)
    np.testing.assert_allclose(within, (0.1 * gap) ** 2 * np.eye(dim), atol=1e-12)


MANY_PLACES = (
    (6.7037008866875345, 5.599270904792274, 3.7978721939595683),
    (2.7426196277808037, 7.160836999928188, 0.11768037221412064),
)


def test_scattered_modes_stay_where_they_are() -> None:
    """Other places would be another problem, and old results would no longer compare."""
    np.testing.assert_allclose(MANY.modes[[0, -1]], MANY_PLACES, atol=1e-12)


@pytest.mark.parametrize("name", ["widths", "rare", "bananas", "rings", "many", "skewed", "oriented"])
def test_plain_walks_stay_in_their_mode(name, seed) -> None:
    """The problems are genuine: only the tails of the students let a walk cross."""
    problem, options = EXACT[name], {"levels": 1, "draws": 4_000, "chains": 2, "progress": False}
    options["settings"] = PLAIN  # a walk that neither jumps nor takes coordinates one by one
    for home in (0, len(problem.modes) - 1):
        result = tp.sample(problem, initial=problem.modes[home], seed=seed, **options)
        assert min(problem.occupancy(chain)[home] for chain in result.draws) > 0.99


def test_the_same_numbers_compile_once() -> None:
    for name in (
        "unequal_widths",
        "rare_mode",
        "two_bananas",
        "rings",
        "student_modes",
        "skew_modes",
        "oriented_modes",
        "many_modes",
        "far_pair",
        "many_well",
    ):
        assert tp.zoo.get(name).log_density is tp.zoo.get(name).log_density
    assert BANANAS.log_density is tp.zoo.two_bananas(7).log_density


def test_diabetes_data_are_those_of_scikit_learn() -> None:
    design, response = regression.diabetes()
    expected = load_diabetes()
    np.testing.assert_allclose(design, expected.data, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(response, expected.target - expected.target.mean(), atol=1e-10)


def bridge_twin(x: np.ndarray, *, penalty: float, power: float, jacobian: bool = True) -> float:
    design, response = load_diabetes(return_X_y=True)
    noise = np.exp(0.5 * x[-1])
    likelihood = stats.norm.logpdf(response - response.mean(), design @ x[:-1], noise).sum()
    prior = -penalty * (np.abs(x[:-1]) ** power).sum() - 2.0 * x[-1]
    return float(likelihood + prior + jacobian * x[-1])


@pytest.mark.parametrize(("penalty", "power"), [(3.0, 0.5), (1.0, 1.3)])
def test_bridge_is_likelihood_times_prior(penalty, power, rng) -> None:
    problem = tp.zoo.bridge(penalty=penalty, power=power)
    points = problem.start(rng) + rng.standard_normal((20, 11)) * np.append(np.full(10, 100.0), 0.5)
    found = np.array([problem.log_density(x, problem.data) for x in points])
    twin = np.array([bridge_twin(x, penalty=penalty, power=power) for x in points])
    wrong = np.array([bridge_twin(x, penalty=penalty, power=power, jacobian=False) for x in points])
    assert np.ptp(found - twin) < 1e-6
    assert np.ptp(found - wrong) > 0.1


def test_bridge_starts_at_least_squares(rng) -> None:
    design, response = load_diabetes(return_X_y=True)
    response = response - response.mean()
    coefficients, squares, *_ = np.linalg.lstsq(design, response)
    expected = np.append(coefficients, np.log(squares[0] / len(response)))
    np.testing.assert_allclose(BRIDGE.start(rng), expected, rtol=1e-9)
    np.testing.assert_array_equal(BRIDGE.start(rng), BRIDGE.start(rng))


def test_a_regression_of_ones_own(rng) -> None:
    design, response = rng.standard_normal((30, 2)), rng.standard_normal(30)
    data = tp.zoo.bridge_data(design, response, penalty=1.0, power=1.0)
    result = tp.sample(
        BRIDGE.log_density, initial=np.zeros(3), data=data, levels=2, draws=20, tune=20, progress=False
    )
    assert result.draws.shape[2] == 3


@pytest.mark.parametrize("dim", [1, 5])
def test_gaussian_densities_take_any_dimension(dim) -> None:
    """One mean and sd make one function, compiled once, whatever the dimension."""
    problem = tp.zoo.gaussian(dim, mean=1.5, sd=0.7)
    assert problem.log_density is GAUSSIAN.log_density
    assert problem.log_density(np.full(dim, 1.5 + 0.7)) == pytest.approx(-0.5 * dim)


# All problems

EVERY = {**EXACT, "bridge": BRIDGE}


@pytest.mark.parametrize("name", EVERY)
def test_starts_are_inside_the_support(name, seed) -> None:
    problem = EVERY[name]
    rng = np.random.default_rng(seed)
    points = np.array([problem.start(rng) for _ in range(100)])
    assert points.shape == (100, problem.dim)
    arguments = () if problem.data is None else (problem.data,)
    assert np.all(np.isfinite([problem.log_density(x, *arguments) for x in points]))
    if problem.covariance is not None and name not in HEAVY:
        assert np.all(points.std(axis=0) > 0.5 * np.sqrt(np.diag(problem.covariance))), "too narrow"


@pytest.mark.parametrize("name", tp.zoo.names())
def test_every_problem_can_be_sampled(name, seed) -> None:
    problem = tp.zoo.get(name)
    result = tp.sample(
        problem, levels=3, draws=50, tune=50, chains=1,
        seed=seed, progress=False,
    )  # fmt: skip
    assert result.draws.shape == (1, 50, problem.dim)


@pytest.mark.parametrize("name", tp.zoo.names())
def test_problems_survive_pickling(name, rng) -> None:
    problem = tp.zoo.get(name)
    copy = pickle.loads(pickle.dumps(problem))
    point = problem.start(rng)
    arguments = () if problem.data is None else (problem.data,)
    assert copy.log_density(point, *arguments) == problem.log_density(point, *arguments)
    if problem.sampler is not None:
        np.testing.assert_array_equal(copy.draw(5, 1), problem.draw(5, 1))


def test_every_factory_has_its_name() -> None:
    helpers = {"Problem", "Posterior", "bridge_data", "get", "names"}
    posteriors = {"epidemic", "localisation", "sinusoid", "three_normals", "two_exponentials"}
    assert tp.zoo.names() == sorted(set(tp.zoo.__all__) - helpers - posteriors)
    for name in tp.zoo.names():
        assert repr(tp.zoo.get(name)) == repr(getattr(tp.zoo, name)())


def test_draws_repeat_with_their_seed() -> None:
    assert PEAKS.draw(7, 3).shape == (7, 2)
    np.testing.assert_array_equal(PEAKS.draw(7, 3), PEAKS.draw(7, 3))
    assert not np.any(PEAKS.draw(7, 3) == PEAKS.draw(7, 4))


def test_answers_cannot_be_overwritten() -> None:
    problem = tp.zoo.twenty_peaks()
    with pytest.raises(ValueError, match="read-only"):
        problem.modes[0] = 0.0
    assert not np.shares_memory(problem.modes, tp.zoo.twenty_peaks().modes)


def test_repr_says_what_is_known() -> None:
    assert (
        repr(BANANA)
        == "<Problem 'banana, 4-d': dim 4; known exactly: mean, covariance, log_normaliser, sampler>"
    )
    assert (
        repr(BRIDGE) == "<Problem 'bridge regression (variance prior s^-2)': dim 11; known exactly: nothing>"
    )
    assert "dim 2, number of modes 20" in repr(PEAKS)


INPUT, TYPE = tp.InvalidInputError, tp.InvalidTypeError
HALF = {"name": "half", "dim": 2, "log_density": None, "start": None}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tp.zoo.get("peaks"), INPUT, r"must be one of 'banana', .*'unequal_widths', got 'peaks'"),
        (lambda: tp.zoo.twenty_cylinders("flat"), INPUT, "one of 'normal', 'uniform', got 'flat'"),
        (lambda: BRIDGE.draw(3, 1), INPUT, r"bridge .* has no exact sampler; known exactly: nothing"),
        (lambda: BRIDGE.second_moments, INPUT, r"bridge regression .* has no exact mean"),
        (lambda: BANANA.nearest_mode(np.zeros((2, 4))), INPUT, "banana, 4-d has no exact modes"),
        (lambda: PEAKS.draw(0, 1), INPUT, "n must be at least 1, got 0"),
        (lambda: PEAKS.draw(2.0, 1), TYPE, "n must be a whole number, got float"),
        (lambda: PEAKS.draw(2, -1), INPUT, "seed must be at least 0"),
        (lambda: PEAKS.occupancy(np.zeros((4, 9, 2))), INPUT, r"\(n, 2\), got \(4, 9, 2\).*reshape"),
        (lambda: PEAKS.occupancy(np.zeros((0, 2))), INPUT, "points must have at least one row"),
        (lambda: PEAKS.occupancy(np.full((3, 2), np.nan)), INPUT, "points must be finite"),
        (lambda: PEAKS.occupancy("here"), TYPE, "points must be an array of numbers"),
        (lambda: tp.zoo.gaussian(0), INPUT, "dim must be at least 1"),
        (lambda: tp.zoo.gaussian(2, sd=0.0), INPUT, "sd must be positive"),
        (lambda: tp.zoo.gaussian(3, mean=[0.0, 1.0]), INPUT, "mean must be one finite number or 3 of them"),
        (lambda: tp.zoo.two_modes(2, right_weight=1.0), INPUT, r"right_weight must lie in \(0, 1\)"),
        (lambda: tp.zoo.banana(1), INPUT, "dim must be at least 2"),
        (lambda: tp.zoo.funnel(sd=40.0), INPUT, r"sd must lie in \(0, 30\]"),
        (lambda: tp.zoo.label_switching(1), INPUT, "components must be at least 2"),
        (lambda: tp.zoo.label_switching(5), INPUT, "components must be at most 4, got 5"),
        (lambda: tp.zoo.unequal_widths(ratio=0.5), INPUT, r"ratio must lie in \[1, 1e\+09\], got 0.5"),
        (lambda: tp.zoo.unequal_widths(0), INPUT, "dim must be at least 1, got 0"),
        (lambda: tp.zoo.rare_mode(rarity=0.0), INPUT, r"rarity must lie in \[1, 1e\+09\], got 0"),
        (lambda: tp.zoo.distant_modes(distance=-1.0), INPUT, r"distance must lie in \[0, 1e\+06\], got -1"),
        (lambda: tp.zoo.spike(mass=1.0), INPUT, r"mass must lie in \(0, 1\), got 1"),
        (lambda: tp.zoo.spike(ratio=0.5), INPUT, r"ratio must lie in \[1, 1e\+06\], got 0.5"),
        (lambda: tp.zoo.flat_box(0), INPUT, "dim must be at least 1, got 0"),
        (lambda: tp.zoo.two_bananas(1), INPUT, "dim must be at least 2, got 1"),
        (lambda: tp.zoo.two_bananas(curvature=-1.0), INPUT, r"curvature must lie in \[0, inf\), got -1"),
        (lambda: tp.zoo.two_bananas(upper_weight=1.0), INPUT, r"upper_weight must lie in \(0, 1\), got 1"),
        (lambda: tp.zoo.rings(1), INPUT, "dim must be at least 2, got 1"),
        (lambda: tp.zoo.rings(radius=-1.0), INPUT, r"radius must lie in \[0, inf\), got -1"),
        (lambda: tp.zoo.rings(thickness=0.0), INPUT, r"thickness must lie in \(0, inf\), got 0"),
        (lambda: tp.zoo.student_modes(dof=2.0), INPUT, r"dof must lie in \(2, 1e\+06\], got 2"),
        (lambda: tp.zoo.student_modes(n_modes=1), INPUT, "n_modes must be at least 2, got 1"),
        (lambda: tp.zoo.many_modes(2.5), TYPE, "n_modes must be a whole number, got float"),
        (lambda: tp.zoo.many_modes(3, 0), INPUT, "dim must be at least 1, got 0"),
        (lambda: tp.zoo.bridge(power=0.0), INPUT, "power must lie in"),
        (lambda: tp.zoo.bridge_data(np.zeros((3, 2)), np.zeros(2)), INPUT, "design and response must have"),
        (lambda: Problem(**HALF, mean=np.zeros(3)), INPUT, r"mean must have shape \(2,\), got \(3,\)"),
        (lambda: Problem(**HALF, mode_weights=np.ones(1)), INPUT, r"mode_weights must have shape \(0,\)"),
    ],
)  # fmt: skip
def test_misuse_is_refused_by_name(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()
