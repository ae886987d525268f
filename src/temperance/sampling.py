"""``sample()``: the front door."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from temperance.checks import flag, instance_of, one_of, whole_number
from temperance.errors import BoundWarning, IncompleteWarning, InvalidInputError, LearningWarning
from temperance.executors.threads import Threads
from temperance.results.result import Result
from temperance.results.warnings.running import BOUND_NAMES
from temperance.runs.allocate import covariance_bytes, new_traces, trace_bytes
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import note_compiling, require_compiler, warn_of_substitute_cache
from temperance.runs.describe import describe
from temperance.runs.drive import default_cores, drive
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan, default_tune
from temperance.runs.progress import display_for
from temperance.runs.seeds import chain_seeds, recorded_seed
from temperance.runs.starts import Starts
from temperance.settings import Settings
from temperance.store.memory import Memory
from temperance.swaps import Strategy
from temperance.targets import gather, make_target
from temperance.text import counted

MEMORY_LIMIT = 8 * 2**30  # bytes for the covariances and traces of one call


def sample(
    log_density: Any = None,
    *,
    initial: Any,
    log_likelihood: Any = None,
    log_prior: Any = None,
    data: Any = None,
    vectorized: bool = False,
    draws: int = 5_000,
    tune: int | None = None,
    chains: int = 4,
    cores: int | None = None,
    seed: Any = None,
    progress: bool = True,
    levels: int | None = None,
    temperatures: Any = None,
    inverse_temperatures: Any = None,
    swaps: Strategy | None = None,
    adapt: Literal["tuning", "always"] | None = None,
    keep_levels: bool = False,
    settings: Settings | None = None,
) -> Result:
    """Draw from a density that may have many modes, by adaptive parallel tempering.

    Parameters
    ----------
    log_density
        Log of the unnormalised density: a function of one vector, plain Python or ``@numba.njit``
        (the whole loop then runs compiled). Level β targets its power β.
    initial
        One start ``(dim,)``, one for each level ``(level, dim)``, one for each chain and level
        ``(chain, level, dim)``, or a function of a ``numpy.random.Generator`` that returns a
        point and is asked again when that lies outside the support.
    log_likelihood, log_prior
        The target in two parts instead: level β targets prior · likelihood^β.
    data
        Arrays, or a tuple of arrays, passed on to functions of ``(x, data)``, which cannot change them.
    vectorized
        The functions take the rows of an ``(n, dim)`` array and return n values.
    draws, tune, chains, cores, seed, progress
        As in PyMC. ``tune=None`` gives the covariances time to settle: 600 iterations a dimension,
        and 5,000 at least. ``cores`` is the number of chains that run at once; it never changes the draws.
    levels, temperatures, inverse_temperatures
        The number of levels, or the first ladder itself, from 1 on. None gives as many levels as take a
        Gaussian of this dimension to a temperature of 150: 4 in the plane, 7 in eight dimensions.
    swaps
        Which pairs of levels to exchange; see `temperance.swaps`. None leaves it to ``settings``.
    adapt
        ``"tuning"`` freezes everything for the draws, ``"always"`` never stops adapting.
        None leaves it to ``settings``.
    keep_levels
        Keep the draws of the hot levels too, in ``result.level_draws``.
    settings
        Adaptation, trimming, jumps, bounds, swaps and what a NaN does; see `temperance.Settings`.

    Returns
    -------
    Result
        Its ``draws`` are ``(chain, draw, dim)``. A Ctrl-C, or a KeyboardInterrupt that the density raises,
        returns what was drawn so far, marked incomplete.

    Raises
    ------
    RunError
        The log density (DensityError) or a swap weight (SwapWeightError) failed on the way; the error's
        ``result`` keeps all earlier draws.
    SystemExit
        The log density or a swap weight raised it; it carries such a ``result``, too.
    """
    require_compiler()
    functions = gather(log_density, log_likelihood, log_prior, data)
    target = make_target(functions, vectorized=flag("vectorized", vectorized))
    chains = whole_number("chains", chains, least=1)
    seed = recorded_seed(seed)
    root = chain_seeds(seed, chains)
    starts = Starts(initial, np.random.default_rng(root[0]))
    chosen = _settings(settings, adapt, swaps)
    betas = first_betas(
        levels,
        temperatures,
        inverse_temperatures,
        dim=starts.dim,
        has_prior=target.has_prior,
        swap_acceptance=chosen.adaptation.swap_acceptance,
    )
    plan = Plan(
        target=target,
        settings=chosen,
        betas=betas,
        dim=starts.dim,
        draws=whole_number("draws", draws, least=0),
        tune=default_tune(starts.dim) if tune is None else whole_number("tune", tune, least=0),
        keep_levels=flag("keep_levels", keep_levels),
    )
    starts.check(chains, plan.n_levels)
    _check_memory(plan, chains)
    n_cores = default_cores(chains, runs_in_parallel=target.runs_in_parallel)
    if cores is not None:
        n_cores = whole_number("cores", cores, least=1)
    flag("progress", progress)
    with note_compiling(progress):
        traces = [new_traces(plan) for _ in root]
        runs = [
            ChainRun(plan, index, starts, chain_seed, rows=traces[index])
            for index, chain_seed in enumerate(root)
        ]
    warn_of_substitute_cache()
    drive(runs, Threads(n_cores), Memory(traces), display_for(runs, progress))
    return _finish(plan, runs, seed)


def _settings(
    settings: Settings | None, adapt: Literal["tuning", "always"] | None, swaps: Strategy | None
) -> Settings:
    """The settings, with what was said in the call put in."""
    chosen = Settings() if settings is None else settings
    instance_of("settings", chosen, Settings, "a temperance.Settings")
    if swaps is not None:
        chosen = replace(chosen, swaps=swaps)
    if adapt is not None:
        one_of("adapt", adapt, ("tuning", "always"))
        chosen = replace(chosen, adaptation=replace(chosen.adaptation, when=adapt))
    return chosen


def _check_memory(plan: Plan, chains: int) -> None:
    needed = chains * (covariance_bytes(plan) + trace_bytes(plan))
    if needed > MEMORY_LIMIT:
        raise InvalidInputError(
            f"{chains} chains x {plan.n_levels} levels in {plan.dim} dimensions need "
            f"{needed / 2**30:.1f} GiB ({chains * covariance_bytes(plan) / 2**30:.1f} for covariances, "
            f"the rest for draws), more than the {MEMORY_LIMIT / 2**30:.0f} GiB allowed; "
            "use fewer levels, chains or draws"
        )


def _finish(plan: Plan, runs: Sequence[ChainRun], seed: Any) -> Result:
    result = Result(
        chains=tuple(run.leave() for run in runs),
        n_levels_at_start=plan.n_levels,
        n_tune=plan.tune,
        swap_strategy=plan.strategy.name,
        seed=seed,
        complete=all(run.finished for run in runs),
        setup=describe(plan),
    )
    failures: list[Any] = [run.failure for run in runs if run.failure is not None]
    for failure in failures:
        if not isinstance(failure, KeyboardInterrupt):  # which is a Ctrl-C, whoever raised it
            failure.result = result
            raise failure
    if not result.complete:
        warnings.warn(
            "the run was interrupted; the result holds what was drawn", IncompleteWarning, stacklevel=3
        )
    _warn_of_bounds(result)
    _warn_of_setbacks(result)
    return result


def _warn_of_bounds(result: Result) -> None:
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    for name, count in zip(BOUND_NAMES, hits, strict=True):
        if count:
            warnings.warn(
                f"the bound on {name} was hit {count} times; the target may be flat or improper in some "
                f"direction, or Bounds({name}=...) too narrow",
                BoundWarning,
                stacklevel=4,
            )


def _warn_of_setbacks(result: Result) -> None:
    setbacks = [setback for chain in result.chains for setback in chain.setbacks]
    if setbacks:
        warnings.warn(
            f"learning failed {counted(len(setbacks), 'time')} and went back to what was known; the last "
            f"time it was {setbacks[-1]}",
            LearningWarning,
            stacklevel=4,
        )
