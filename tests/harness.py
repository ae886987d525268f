"""Single chains under a test's full control: state, noise and settings set by hand."""

import functools
from dataclasses import replace
from typing import Any

import numba
import numpy as np

import temperance as tp
from temperance.core.compile import KERNEL_OPTIONS, compiled_around_for
from temperance.core.iteration import compiled_loop
from temperance.core.lanes import LANES
from temperance.core.state import EVALUATE_SIGNATURE, JUMP_UNIFORMS, SWAP_UNIFORMS, Noise
from temperance.modes.mixture import with_chance
from temperance.moves import records_of
from temperance.runs.chain import ChainRun
from temperance.runs.plan import Plan, kernel_settings
from temperance.runs.starts import Starts
from temperance.targets import Bound

# The paper's walks and nothing else: what is beside them is put in by the tests that are about it.
PLAIN = tp.Settings(
    adaptation=tp.Adaptation(walk="covariance", coordinate_every=0),
    trimming=tp.Trimming(enabled=False),
    growth=tp.Growth(enabled=False),
    jumps=tp.Jumps(enabled=False),
)


@functools.cache
def alone(kernel: Any) -> Any:
    """A kernel compiled so that Python can call it, which it cannot as a part of the loop."""
    return numba.jit(**KERNEL_OPTIONS)(getattr(kernel, "py_func", kernel))


class HandTarget:
    """A target from two functions of (row of points): works with the compiler on or off."""

    name = "hand"
    runs_in_parallel = True

    def __init__(self, tempered: Any, prior: Any = None) -> None:
        self.has_prior = prior is not None
        self.tempered, self.prior = tempered, prior

    def bind(self, buffers: Any) -> Bound:
        return Bound(_hand_evaluation(self.tempered, self.prior), 0)


@functools.cache
def _hand_evaluation(tempered: Any, prior: Any) -> Any:
    if prior is None:

        @compiled_around_for(EVALUATE_SIGNATURE)
        def evaluate(context, proposal, n_points, log_density, log_prior, gradient, scratch, control):
            for k in range(n_points):
                log_density[k] = tempered(proposal[k])
                log_prior[k] = 0.0
    else:

        @compiled_around_for(EVALUATE_SIGNATURE)
        def evaluate(context, proposal, n_points, log_density, log_prior, gradient, scratch, control):
            for k in range(n_points):
                log_density[k] = tempered(proposal[k])
                log_prior[k] = prior(proposal[k])

    return evaluate


def make_plan(target: Any, betas: Any, dim: int, **changes: Any) -> Plan:
    """A plan with room for these levels and no more, unless a ``growth`` is given."""
    growth = changes.pop("growth", tp.Growth(enabled=False))
    strategy = changes.pop("strategy", tp.swaps.equi_energy())
    plan = Plan(
        target=target,
        settings=replace(changes.pop("settings", PLAIN), swaps=strategy, growth=growth),
        betas=np.array(betas, dtype=float),
        dim=dim,
        draws=changes.pop("draws", 1),
        tune=changes.pop("tune", 1),
    )
    return replace(plan, **changes)


def make_run(plan: Plan, start: Any = None, seed: int = 0) -> ChainRun:
    points = np.zeros(plan.dim) if start is None else np.asarray(start, dtype=float)
    return ChainRun(plan, 0, Starts(points, np.random.default_rng(0)), np.random.SeedSequence(seed))


def make_noise(
    rng: np.random.Generator,
    n_iterations: int,
    n_levels: int,
    dim: int,
    n_swaps: int = 1,
    n_move_uniforms: int = 0,
) -> Noise:
    return Noise(
        in_lanes(rng.standard_normal((n_levels, n_iterations, dim))),
        rng.random((n_levels, n_iterations)),
        rng.random((n_levels, n_iterations, n_move_uniforms)),
        rng.random((n_iterations, SWAP_UNIFORMS * n_swaps)),
        rng.random((n_iterations, 2, JUMP_UNIFORMS)),
    )


def in_lanes(values: np.ndarray) -> np.ndarray:
    """From (level, …) to (bundle, …, LANES); lanes without a level get zeros."""
    n_bundles = -(-len(values) // LANES)
    padded = np.zeros((n_bundles * LANES, *values.shape[1:]))
    padded[: len(values)] = values
    bundles = padded.reshape(n_bundles, LANES, *values.shape[1:])
    return np.ascontiguousarray(np.moveaxis(bundles, 1, -1))


def out_of_lanes(bundles: np.ndarray, n_levels: int) -> np.ndarray:
    """From (bundle, …, LANES) to (level, …)."""
    lanes = np.moveaxis(bundles, -1, 1)
    return lanes.reshape(-1, *lanes.shape[2:])[:n_levels]


def advance(run: ChainRun, noise: Noise, *, adapting: bool, row: int = 0, rest_every: int = 1) -> int:
    """Run as many iterations as there is noise for; how many were finished."""
    give_mixtures(run, rest_every=rest_every)
    settings = kernel_settings(run.plan, adapting=adapting)
    chain = run._chain(settings, noise, run.tuning if adapting else run.sampling)
    n = len(noise.swap_uniforms)
    loop = compiled_loop(*records_of(run.plan.moves))
    return loop(run._bound.evaluate, 0, run._swaps.kernel, chain, row, n)


def give_mixtures(
    run: ChainRun,
    jumps: Any = None,
    refresh: Any = None,
    rest_every: int | None = None,
    leaps: Any = None,
) -> None:
    """What the base and the hottest level jump from with which chance, and how often hot levels move.

    ``leaps`` are maps, humps, and the chance of each kind.
    """
    if leaps is not None:
        maps, humps, chance = leaps
        made = replace(run.now.learner.leaps, maps=maps, humps=humps, chance=np.array(chance))
        run.now.learner = replace(run.now.learner, leaps=made)
    if jumps is not None:
        run.now.learner = replace(run.now.learner, mixture=with_chance(*jumps))
    if refresh is not None:
        run.now.refresh = with_chance(*refresh)
    if rest_every is not None:
        run.now.learner = replace(run.now.learner, rest_every=rest_every)


def place(run: ChainRun, points: np.ndarray) -> None:
    """Put a chain at these points, with their log densities."""
    n_levels = int(run.state.n_levels[0])
    run.info.n_asked[0] = n_levels
    run.info.proposal[:n_levels] = points
    run._bound.fill(run._buffers)
    run._take_start()
