"""T3: exact draws from every level, a few steps of the frozen kernel, and the law must still be exact.

Works with the compiler on or off; with it off, kernels can be replaced by broken ones.
"""

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic
from scipy import stats

import temperance as tp
from harness import PLAIN, HandTarget, give_mixtures, make_plan, make_run
from temperance.core.compile import KERNEL_OPTIONS
from temperance.core.iteration import chain_type, compiled_loop
from temperance.core.lanes import LANES
from temperance.core.numba_internals.functions import NO_POINTER
from temperance.core.state import (
    JUMP_UNIFORMS,
    SWAP_UNIFORMS,
    Chain,
    Humps,
    Maps,
    Noise,
    evaluate_type,
    propose_pair_type,
)
from temperance.modes.maps import Places, make_maps
from temperance.modes.student import from_parts
from temperance.moves import records_of
from temperance.runs.plan import kernel_settings

BETAS = {
    "power": (1.0, 0.5, 0.25, 0.1),
    "spread": (1.0, 0.8, 0.15, 0.05),
    "prior": (1.0, 0.4, 0.1, 0.0),
    "six": (1.0, 0.7, 0.5, 0.3, 0.2, 0.1),  # more than one bundle of levels
    "six prior": (1.0, 0.6, 0.3, 0.15, 0.05, 0.0),
}
# A few long walks show what is wrong with walks; many short ones do not hide what is wrong with swaps.
# Where a strategy makes many swaps an iteration, one is enough.
N_STEPS = {"long": 5, "short": 30, "once": 1}
LOG_SCALES = {"long": (-0.3, 1.0), "short": (-4.0, -4.0), "once": (-4.0, -4.0)}  # coldest and hottest level
SLANT = 0.6  # so that neither modes nor ridges lie along an axis
# What a frozen kernel may change of a state.
MOVING = {"position", "log_density", "log_prior", "replica", "iteration", "n_refused"}
_AT_ONCE = 4_000  # draws whose noise is in memory


@numba.njit
def two_bumps(x):
    """Two modes in each slanted coordinate z_i = x_i + SLANT x_{i+1}, all independent."""
    total, next_one = 0.0, 0.0
    for i in range(x.shape[0] - 1, -1, -1):
        z = x[i] + SLANT * next_one
        next_one = x[i]
        left = math.log(0.7) - 0.5 * ((z + 1.2) / 0.5) ** 2 - math.log(0.5)
        right = math.log(0.3) - 0.5 * ((z - 1.5) / 0.35) ** 2 - math.log(0.35)
        largest = max(left, right)
        total += largest + math.log(math.exp(left - largest) + math.exp(right - largest))
    return total


@numba.njit
def wide_prior(x):
    total, next_one = 0.0, 0.0
    for i in range(x.shape[0] - 1, -1, -1):
        total -= 0.5 * ((x[i] + SLANT * next_one - 1.0) / 1.5) ** 2
        next_one = x[i]
    return total


def bump_of(z: np.ndarray) -> np.ndarray:
    """What each slanted coordinate adds to `two_bumps`."""
    left = math.log(0.7 / 0.5) - 0.5 * ((z + 1.2) / 0.5) ** 2
    return np.logaddexp(left, math.log(0.3 / 0.35) - 0.5 * ((z - 1.5) / 0.35) ** 2)


def prior_of(z: np.ndarray) -> np.ndarray:
    """What each adds to `wide_prior`."""
    return -0.5 * ((z - 1.0) / 1.5) ** 2


def slanted(x: np.ndarray) -> np.ndarray:
    z = x.copy()
    z[..., :-1] += SLANT * x[..., 1:]
    return z


def straight(z: np.ndarray) -> np.ndarray:
    """The inverse of `slanted`."""
    x = z.copy()
    for i in range(z.shape[-1] - 2, -1, -1):
        x[..., i] -= SLANT * x[..., i + 1]
    return x


@dataclass(frozen=True)
class Law:
    """The exact law that each slanted coordinate has at each level, on a fine grid."""

    grid: np.ndarray  # (level, place)
    cdf: np.ndarray  # likewise
    has_prior: bool

    def draw(self, rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
        """Points, (draw, level, dim)."""
        uniforms = rng.random((n, len(self.cdf), dim))
        z = np.stack([np.interp(u, cdf, grid) for u, grid, cdf in self._by_level(uniforms)], axis=1)
        return straight(z)

    def pit(self, points: np.ndarray) -> np.ndarray:
        """Uniform and independent if the law is right, (draw, level, dim)."""
        levels = self._by_level(slanted(points))
        return np.stack([np.interp(z, grid, cdf) for z, grid, cdf in levels], axis=1)

    def log_densities(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tempered part and the prior, (draw, level)."""
        z = slanted(points)
        prior = prior_of(z).sum(axis=2) if self.has_prior else np.zeros(z.shape[:2])
        return bump_of(z).sum(axis=2), prior

    def _by_level(self, values: np.ndarray) -> Any:
        return zip(values.transpose(1, 0, 2), self.grid, self.cdf, strict=True)


@functools.cache
def exact_law(betas: tuple[float, ...], *, has_prior: bool) -> Law:
    grids, cdfs = [], []
    for beta in betas:
        # A level that was learnt may be hot, and then it is wide.
        grid = np.linspace(-30.0, 30.0, 50_001) / (1.0 if has_prior else min(1.0, math.sqrt(20.0 * beta)))
        log_density = beta * bump_of(grid) + (prior_of(grid) if has_prior else 0.0)
        density = np.exp(log_density - log_density.max())
        area = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        grids.append(grid)
        cdfs.append(area / area[-1])
    return Law(np.array(grids), np.array(cdfs), has_prior)


# What the base level and the hottest jump from: two components on one mode and one on the other, with weights
# that are not the target's, so that whatever is left out of the ratio shows.
MODES = (np.array([0.15, 0.15, 0.7]), np.array([-1.3, -1.1, 1.6]), np.array([0.4, 0.4, 0.3]))
OWN = (np.ones(1), np.array([0.4]), np.array([6.0]))
JUMPS = {
    "none": (0.0, 0.0),
    "jumps": (0.5, 0.0),
    "refresh": (0.0, 0.5),
    "both": (0.4, 0.6),
    "often": (0.9, 0.9),
}
# Chances of leaps with the pooled shape, with own shapes, and between humps.
LEAPS = {
    "none": (0.0, 0.0, 0.0),
    "pooled": (0.5, 0.0, 0.0),
    "own": (0.0, 0.5, 0.0),
    "humps": (0.0, 0.0, 0.5),
    "all": (0.2, 0.2, 0.2),
    "mostly": (0.47, 0.47, 0.0),
    "nothing but humps": (0.0, 0.0, 0.95),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One frozen kernel."""

    mode: str
    strategy: Any
    walks: str = "long"
    walk: str = "covariance"
    jumps: str = "none"
    leaps: str = "none"
    dim: int = 1
    coordinate_every: int = 0
    rest_every: int = 1
    log_width: float = 0.0  # of slices

    @property
    def has_prior(self) -> bool:
        return self.mode.endswith("prior")


def target_of(has_prior: bool) -> HandTarget:
    return HandTarget(two_bumps, wide_prior if has_prior else None)


def frozen_run(case: Case) -> Any:
    target, jumping = target_of(case.has_prior), (case.jumps, case.leaps) != ("none", "none")
    adaptation = replace(PLAIN.adaptation, walk=case.walk, coordinate_every=case.coordinate_every)
    settings = replace(PLAIN, adaptation=adaptation, jumps=tp.Jumps(enabled=jumping))
    betas, draws = BETAS[case.mode], N_STEPS[case.walks]
    plan = make_plan(target, betas, case.dim, strategy=case.strategy, draws=draws, settings=settings)
    run = make_run(plan)
    run.state.log_scale[:] = np.linspace(*LOG_SCALES[case.walks], len(betas))
    run.state.cov_factor[:] = -0.5 * SLANT
    if case.walk == "slice":
        run.state.direction_log_width[:] = run.state.coordinate_log_width[:] = case.log_width
    give_mixtures(run, rest_every=case.rest_every)
    if case.jumps != "none":
        jumping, refreshing = JUMPS[case.jumps]
        own = _spread_out(OWN, case.dim)
        give_mixtures(run, (_spread_out(MODES, case.dim), jumping), (own, refreshing))
    give_mixtures(run, leaps=(maps_in(case.dim), humps_in(case.dim), LEAPS[case.leaps]))
    return run


def maps_in(dim: int) -> Maps:
    """Modes with weights, places and widths that are not the target's; own shapes are turned as well."""
    _, centre, variance = MODES
    weights = np.array([0.3, 0.5, 0.2])  # with these, what either side is due differs most
    root = np.linalg.cholesky(straight(np.eye(dim)).T @ straight(np.eye(dim)))
    turns = np.random.default_rng(7).normal(0.0, 0.3, (len(weights), dim, dim))
    own = [
        v * (root + turn) @ (root + turn).T + 0.05 * np.eye(dim)
        for v, turn in zip(variance, turns, strict=True)
    ]
    centres = straight(np.repeat(centre[:, None], dim, axis=1))
    return make_maps(Places(weights, centres, root @ root.T, variance, np.array(own)))


def humps_in(dim: int) -> Humps:
    """Two humps of every coordinate but the last of several."""
    which = np.arange(max(1, dim - 1))
    share, place, sd = (np.tile(pair, (len(which), 1)) for pair in ((0.4, 0.6), (-1.3, 1.0), (0.7, 0.9)))
    return Humps(which, share, place, sd)


def _spread_out(parts: tuple[np.ndarray, ...], dim: int) -> Any:
    """The same centre and variance in all slanted coordinates."""
    weights, centre, variance = parts
    root = straight(np.eye(dim)).T
    centres = straight(np.repeat(centre[:, None], dim, axis=1))
    return from_parts(weights, centres, variance[:, None, None] * (root @ root.T))


def learnt_run(seed: int, *, dim: int, n_levels: int, min_levels: int, n_steps: int) -> Any:
    """A whole run: its ladder, walks, mixture and rest are what its tuning made of them."""
    plan = make_plan(
        target_of(False), np.geomspace(1.0, 0.05, n_levels), dim, strategy=tp.swaps.even_odd(), tune=12_000,
        draws=n_steps, settings=tp.Settings(trimming=tp.Trimming(min_levels=min_levels)),
    )  # fmt: skip
    run = make_run(plan, seed=seed)
    run.run()
    return run


def law_of(run: Any) -> Law:
    """Of the live levels."""
    live = int(run.state.n_levels[0])
    return exact_law(tuple(run.state.beta[:live].tolist()), has_prior=run.plan.target.has_prior)


def p_values(run: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """One-sample KS of each level and coordinate, correlations, and whether all else is as it was."""
    law, before = law_of(run), parameters(run)
    points = law.draw(rng, n, run.plan.dim)
    after = np.concatenate([stepped(run, law, points[k : k + _AT_ONCE], rng) for k in range(0, n, _AT_ONCE)])
    pit = law.pit(after)
    uniform = [stats.kstest(pit[:, k, i], "uniform").pvalue for k, i in np.ndindex(pit.shape[1:])]
    scores = stats.norm.ppf(np.clip(pit, 1e-12, 1 - 1e-12))
    correlation = np.array([np.corrcoef(a, b)[0, 1] for a, b in _neighbours(scores)])
    same = [np.array_equal(*pair, equal_nan=True) for pair in zip(before, parameters(run), strict=True)]
    unmoved = float(all(same))
    return np.concatenate([uniform, 2 * stats.norm.sf(np.abs(math.sqrt(n) * correlation)), [unmoved]])


def parameters(run: Any) -> list[np.ndarray]:
    """All that a frozen kernel may not change, copied."""
    return [array.copy() for name, array in run.state._asdict().items() if name not in MOVING]


def _neighbours(scores: np.ndarray) -> Any:
    """The same coordinate at a level and the next, and two coordinates at one level."""
    n_levels, dim = scores.shape[1:]
    for level, i in itertools.product(range(n_levels - 1), range(dim)):
        yield scores[:, level, i], scores[:, level + 1, i]
    for level, (i, k) in itertools.product(range(n_levels), itertools.combinations(range(dim), 2)):
        yield scores[:, level, i], scores[:, level, k]


def stepped(run: Any, law: Law, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Where the levels are after as many iterations as the plan has draws, from each of the points."""
    n, n_levels, dim = points.shape
    n_steps, n_bundles = run.plan.draws, run.state.cov_diag.shape[0]
    noises = (
        rng.standard_normal((n, n_bundles, n_steps, dim, LANES)),
        rng.random((n, n_levels, n_steps)),
        rng.random((n, n_levels, n_steps, run.plan.walk.n_uniforms)),
        rng.random((n, n_steps, SWAP_UNIFORMS * run.plan.n_swaps)),
        rng.random((n, n_steps, 2, JUMP_UNIFORMS)),
    )
    log_density, log_prior = law.log_densities(points)
    settings = kernel_settings(run.plan, adapting=False)
    chain = run._chain(settings, Noise(*(array[0] for array in noises)), run.sampling)
    starts = points, log_density, log_prior
    after = np.empty_like(points)
    drive = driver(records_of(run.plan.moves))
    drive(run._bound.evaluate, run._swaps.kernel, chain, noises, starts, after)
    return after


@functools.cache
def driver(records: Any) -> Any:
    """The loop over many starts: a call of the compiled loop from Python takes longer than its few steps."""
    loop = compiled_loop(*records)
    if numba.config.DISABLE_JIT:
        call, address = (lambda _, *arguments: loop(*arguments)), 0
    else:
        call, address = _by_address(loop)

    def drive(evaluate, propose_pair, chain, noises, starts, after):
        state, info, swaps, settings, schedule, jumps, refresh, explained, maps, humps, _, trace, control = (
            chain
        )
        points, log_density, log_prior = starts
        n, n_levels, dim = points.shape
        for k in range(n):
            for level in range(n_levels):
                state.log_density[level], state.log_prior[level] = log_density[k, level], log_prior[k, level]
                for i in range(dim):
                    state.position[level, i] = points[k, level, i]
            noise = Noise(noises[0][k], noises[1][k], noises[2][k], noises[3][k], noises[4][k])
            known = swaps, settings, schedule, jumps, refresh, explained, maps, humps
            one = Chain(state, info, *known, noise, trace, control)
            call(address, evaluate, 0, propose_pair, one, 0, noise.swap_uniforms.shape[0])
            for level in range(n_levels):
                for i in range(dim):
                    after[k, level, i] = state.position[level, i]

    noises = types.Tuple([types.Array(types.float64, n + 1, "C") for n in (4, 2, 3, 2, 3)])
    starts = types.Tuple([types.Array(types.float64, n, "C") for n in (3, 2, 2)])
    chain = chain_type(*records[:2])
    signature = types.void(evaluate_type(), propose_pair_type(), chain, noises, starts, starts[0])
    return numba.jit(signature, **KERNEL_OPTIONS, **NO_POINTER)(drive)


def _by_address(loop: Any) -> tuple[Any, int]:
    """A way for compiled code to call the loop without taking it in, which would compile it once more."""
    (compiled,) = loop.overloads.values()
    arguments = compiled.signature.args

    @intrinsic
    def call(_, address, evaluate, context, propose_pair, chain, first_row, n_iterations):
        def generate(context, builder, _, values):
            kind = context.call_conv.get_function_type(types.int64, arguments)
            pointer = builder.inttoptr(values[0], kind.as_pointer())
            return context.call_conv.call_function(builder, pointer, types.int64, arguments, values[1:])[1]

        return types.int64(types.intp, *arguments), generate

    return call, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
