"""The front doors: ``sample()`` and ``load()``."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from temperance.checks import flag, instance_of, one_of, whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.execution import Job, execute, workers_for
from temperance.models.constrain import value_shapes
from temperance.models.contract import ModelSpec
from temperance.models.read import model_spec
from temperance.results import storage
from temperance.results.result import Result
from temperance.runs.allocate import new_traces, require_memory
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import note_compiling, require_compiler
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan, default_tune
from temperance.runs.seeds import chain_seeds, recorded_seed
from temperance.runs.starts import Starts
from temperance.settings import Settings
from temperance.store.memory import Memory
from temperance.swaps import Strategy


def sample(
    model: Any = None,
    *,
    initial: Any = None,
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
    model
        The log of the unnormalised density: a function of one vector, plain Python or ``@numba.njit``
        (the whole loop then runs compiled). Level β targets its power β. Or a model: a
        `temperance.Model` of parameters with priors, a problem of `temperance.zoo`, or any object with
        ``dim`` and ``log_density`` (or ``log_likelihood`` and ``log_prior``), and with ``data``,
        ``vectorized``, ``start``, ``names``, ``dims``, ``coords`` and ``constrain`` as far as it knows them;
        see the guide.
    initial
        One start ``(dim,)``, one for each level ``(level, dim)``, one for each chain and level
        ``(chain, level, dim)``, or a function of a ``numpy.random.Generator`` that returns a
        point and is asked again when that lies outside the support. A model may know its own; of a
        `temperance.Model` it is a dict of parameters in their own units, or a function that returns one.
    log_likelihood, log_prior
        The target in two parts instead of ``model``: level β targets prior · likelihood^β.
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
    spec = model_spec(
        model, log_likelihood=log_likelihood, log_prior=log_prior, data=data, vectorized=vectorized
    )
    chains = whole_number("chains", chains, least=1)
    seed = recorded_seed(seed)
    seeds = chain_seeds(seed, chains)
    starts = _starts(spec, initial, seeds[0])
    chosen = _settings(settings, adapt, swaps)
    is_ladder_given = temperatures is not None or inverse_temperatures is not None
    betas = first_betas(
        levels,
        temperatures,
        inverse_temperatures,
        dim=starts.dim,
        has_prior=spec.target.has_prior and (is_ladder_given or not spec.improper),
        swap_acceptance=chosen.adaptation.swap_acceptance,
    )
    _require_proper(spec, betas)
    plan = Plan(
        target=spec.target,
        settings=chosen,
        betas=betas,
        dim=starts.dim,
        draws=whole_number("draws", draws, least=0),
        tune=default_tune(starts.dim) if tune is None else whole_number("tune", tune, least=0),
        keep_levels=flag("keep_levels", keep_levels),
    )
    starts.check(chains, plan.n_levels)
    require_memory(plan, chains)
    job = Job(
        spec=spec,
        plan=plan,
        seed=seed,
        shapes=value_shapes(spec, starts.example),
        workers=workers_for(plan, chains, cores),
        progress=flag("progress", progress),
    )
    with note_compiling(job.progress):
        traces = [new_traces(plan) for _ in seeds]
        runs = [ChainRun(plan, k, starts, own, rows=traces[k]) for k, own in enumerate(seeds)]
    return execute(job, runs, Memory(traces))


def load(path: Any) -> Result:
    """Read a result that `Result.save` wrote; a file that is none, or is damaged, is refused by name."""
    return storage.load(path, Result)


def _starts(spec: ModelSpec, initial: Any, seed: np.random.SeedSequence) -> Starts:
    """Where chains start: as told, or where the model says."""
    probe = np.random.default_rng(seed)
    if initial is not None:
        given = initial if spec.unconstrain is None else spec.unconstrain(initial)
        return Starts(given, probe, dim=spec.dim)
    if spec.start is None and spec.improper:
        raise InvalidInputError(
            f"initial must be given, since the prior of {spec.improper[0]!r} cannot be drawn from: a dict of "
            "parameters"
        )
    if spec.start is None:
        raise InvalidInputError(
            f"initial must be given, since {spec.target.name} does not say where to start: a point, or a "
            "function of a numpy Generator"
        )
    return Starts(spec.start, probe, dim=spec.dim, name="model.start")


def _require_proper(spec: ModelSpec, betas: FloatArray) -> None:
    """A ladder may end in the prior where there is a proper one."""
    if spec.improper and betas[-1] == 0.0:
        raise InvalidInputError(
            f"a ladder may reach beta = 0 only with a proper prior, and that of {spec.improper[0]!r} is not; "
            "end it above zero"
        )


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
