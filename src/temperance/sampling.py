"""The front doors: ``sample()``, ``resume()`` and ``load()``."""

import contextlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Never

from temperance.asked import (
    check_memory,
    check_sameness,
    checked_stop,
    checked_thin,
    draws_in_all,
    facts_about,
    goals_of,
    known_model,
    look_of,
    require_proper,
    settings_with,
    starts_of,
    stored_about,
    stored_goals,
    tuning_of,
)
from temperance.automatic import those_who_work
from temperance.checks import flag, whole_number
from temperance.errors import DamagedFileError, DamageWarning
from temperance.execution import Job, execute, workers_for
from temperance.keywords import SAMPLE, require_known
from temperance.looking import LOOK
from temperance.models.constrain import value_shapes
from temperance.models.read import model_meaning, model_spec
from temperance.models.reference import reference_of
from temperance.moves import Move
from temperance.results import storage
from temperance.results.diagnostics import smallest_ess
from temperance.results.result import Result
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import note_compiling, require_compiler
from temperance.runs.keep import kept_parts, usual_parts
from temperance.runs.ladder import first_betas
from temperance.runs.plan import Plan, plan_from_plain
from temperance.runs.preflight import Glance, along_rays, asked_again
from temperance.runs.progress import watcher
from temperance.runs.seeds import chain_seeds, recorded_seed, seed_from_plain
from temperance.runs.stopping import Stop
from temperance.runs.window import window_rows
from temperance.searching import Search, scatter, scattered, share_of
from temperance.settings import Settings
from temperance.store.opening import claimed, held
from temperance.stored import chains_of, load_folder, new_disk, read_run, run_facts, store_in_memory
from temperance.swaps import Strategy
from temperance.until import Until
from temperance.valued import in_terms_of

CALLER = 3  # frames from a warning to the user's line


def sample(
    model: Any = None,
    *,
    initial: Any = None,
    log_likelihood: Any = None,
    log_prior: Any = None,
    data: Any = None,
    vectorized: bool = False,
    draws: int = 5_000,
    until: Until | None = None,
    tune: int | None = None,
    chains: int = 4,
    cores: int | None = None,
    pool: Any = None,
    seed: Any = None,
    progress: Any = True,
    levels: int | None = None,
    temperatures: Any = None,
    inverse_temperatures: Any = None,
    swaps: Strategy | None = None,
    adapt: Literal["tuning", "always"] | None = None,
    keep: Any = None,
    thin: int = 1,
    settings: Settings | None = None,
    store: Any = None,
    overwrite: bool = False,
    stop: Stop | None = None,
    memory_limit: float | None = None,
    preflight: bool = True,
    unimodal: bool = False,
    search: Search | None = None,
    **_unknown: Never,
) -> Result:
    """Draw from a density that may have many modes, by adaptive parallel tempering.

    Parameters
    ----------
    model
        The log of the unnormalised density: a function of one vector, plain Python or ``@numba.njit``
        (the whole loop then runs compiled), ``jax.jit``, or a function of C by its address. Level β targets
        its power β. Or a model: a `temperance.Model` of parameters with priors, a ``pymc.Model``, a
        `temperance.numpyro.model`, a ``bridgestan.StanModel``, a problem of `temperance.zoo`, or any object
        with ``dim`` and ``log_density`` (or ``log_likelihood`` and ``log_prior``), and with ``data``,
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
    draws, tune, chains, cores, seed
        As in PyMC. ``tune=None`` gives the covariances time to settle: 600 iterations a dimension,
        and 5,000 at least. Where jumps are worth next to nothing then, but ever more, or chains that share
        have been in no mode in common, it is made twice as long, four times at most, and the result says so.
        ``cores`` is the number of chains that run at once; it never changes the draws. Without it and
        without ``pool``, a density in plain Python has worker processes if the run may take long.
    until
        A `temperance.Until`: goals, such as an effective sample size, and budgets. After ``draws`` it is seen
        whether all goals are met; if not, there are more draws, until they are or a budget is spent, at the
        latest after 20 times ``draws``. ``result.reached`` says which. The draws are those of a run that was
        asked for as many. Without ``tune``, tuning takes half of a budget of evaluations at most.
    pool
        Workers that evaluate the log density: a number of processes of our own, a
        ``concurrent.futures.Executor``, any object with ``map``, a Dask client, or a `temperance.Pool` of one
        of these, which has a time-out. It never changes the draws. All chains then run at once.
    progress
        True shows live bars in a terminal and a notebook, and elsewhere a line of log now and then;
        ``"log"`` lines everywhere; False nothing. A function is called every second or so with a
        `temperance.Progress`, which has the same facts as data.
    levels, temperatures, inverse_temperatures
        The number of levels, or the first ladder itself, from 1 on. None gives as many levels as take a
        Gaussian of this dimension to a temperature of 150: 4 in the plane, 7 in eight dimensions.
    swaps
        Which pairs of levels to exchange; see `temperance.swaps`. None leaves it to ``settings``.
    adapt
        ``"tuning"`` freezes everything for the draws, ``"always"`` never stops adapting.
        None leaves it to ``settings``.
    keep
        What to keep: ``"draws"``; ``"statistics"``, from which most diagnostics are made; ``"proposals"`` of
        jumps, from which weighted estimates and the evidence are made; and ``"levels"``, the draws of the
        hot levels, in ``result.level_draws``. None keeps the first two and, with jumps, the third.
    thin
        Of the ``draws`` that are made, keep one in so many. Counts and rates are of all.
    settings
        Adaptation, trimming, jumps, bounds, swaps and what a NaN does; see `temperance.Settings`.
    store
        A folder to which the run is written while it goes on, a second or two after it was drawn. `load`
        reads it, `resume` goes on with it, whatever ended the run. Memory then does not grow with ``draws``.
    overwrite
        Replace a run that the folder holds.
    stop
        A `temperance.Stop`, with which another thread can end the run.
    memory_limit
        Memory in GiB that the run may take. None is what the machine has free.
    preflight
        Look at the log density first, with 20 evaluations at most: whether it has the same values when it is
        asked again at the starts (`temperance.VaryingDensityWarning`), and whether it falls off far away
        (`temperance.FlatDensityWarning`). It never changes the draws.
    search
        A `temperance.Search`: part of the tuning goes to climbs from points scattered within bounds, by a
        function, or as they are given; of a `temperance.Model` from its prior, where nothing else is said.
        Modes that such climbs end in are found, however far they are from where chains start.
    unimodal
        You know that there is one mode: the result then does not say that others were not searched for.

    Returns
    -------
    Result
        Its ``draws`` are ``(chain, draw, dim)``. A Ctrl-C, SIGTERM, SIGHUP, ``stop``, or a KeyboardInterrupt
        that the density raises, returns what was drawn so far, marked incomplete (``result.ended_by``). A
        second Ctrl-C does not wait for the call of the density that is under way.

    Raises
    ------
    RunError
        The log density (DensityError) or a swap weight (SwapWeightError) failed on the way; the error's
        ``result`` keeps all earlier draws. Or the store could not be written to (StoreError).
    SystemExit
        The log density or a swap weight raised it; it carries such a ``result``, too.
    """
    require_known(sample, _unknown, SAMPLE)
    require_compiler()
    given = model_spec(
        model, log_likelihood=log_likelihood, log_prior=log_prior, data=data, vectorized=vectorized
    )
    watch = watcher(progress, smallest_ess)
    with contextlib.ExitStack() as within:
        workers = those_who_work(given, within, pool=pool, cores=cores, shows=watch.shows)
        spec = workers.spec
        chains = whole_number("chains", chains, least=1)
        seed = recorded_seed(seed)
        seeds = chain_seeds(seed, chains)
        starts = starts_of(spec, initial, seeds[0])
        chosen = settings_with(settings, adapt, swaps, refuses_bad=spec.refuses_bad)
        is_ladder_given = temperatures is not None or inverse_temperatures is not None
        betas = first_betas(
            levels,
            temperatures,
            inverse_temperatures,
            dim=starts.dim,
            has_prior=spec.target.has_prior and (is_ladder_given or not spec.improper),
            swap_acceptance=chosen.adaptation.swap_acceptance,
        )
        require_proper(spec, betas)
        n_tune, max_tune = tuning_of(tune, until, dim=starts.dim, levels=len(betas), chains=chains)
        plan = Plan(
            target=spec.target,
            settings=chosen,
            betas=betas,
            dim=starts.dim,
            draws=whole_number("draws", draws, least=0),
            tune=n_tune,
            keep=usual_parts(jumps=chosen.jumps.enabled) if keep is None else kept_parts("keep", keep),
            thin=checked_thin(thin, draws),
            chains=chains,
            max_tune=max_tune,
            search=share_of(search, chosen),
        )
        goals = goals_of(until, plan, draws)
        plan = plan if goals is None or goals.draws is None else replace(plan, draws=goals.draws)
        starts.check(chains, plan.n_levels)
        folder = None if store is None else Path(store)
        check_memory(plan, chains, folder, memory_limit)
        job = Job(
            spec=spec,
            plan=plan,
            seed=seed,
            shapes=value_shapes(spec, starts.example),
            workers=workers_for(plan, chains, cores),
            watch=watch,
            stop=checked_stop(stop),
            folder=folder,
            until=goals,
            look_at=draws,
        )
        flag("overwrite", overwrite)
        flag("preflight", preflight)
        flag("unimodal", unimodal)
        with contextlib.nullcontext() if folder is None else claimed(folder, overwrite=overwrite):
            in_place = folder is None and goals is None and plan.thin == 1 and "statistics" in plan.keep
            window = None if in_place else window_rows(plan)
            climbs = [] if search is None else scattered(search, spec, plan, seeds)
            with note_compiling(watch.shows):
                begun = workers.begun(seeds, lambda k, own: ChainRun(plan, k, starts, own, window=window))
            seen = [] if search is None else [Glance(scatter(begun, climbs, search), {})]
            seen += [asked_again(begun[0], job.stop, CALLER)] if preflight else []

            def again(other: Plan) -> list[ChainRun]:
                return [
                    ChainRun.from_snapshot(other, k, own, begun[k].snapshot(), window=window)
                    for k, own in enumerate(seeds)
                ]

            shared, runs = workers.share(plan, begun, seeds, again)
            seen += [along_rays(runs[0], job.stop, CALLER)] if preflight else []
            about = facts_about(runs, goals, spec, seen, unimodal=unimodal, search=search)
            job = replace(job, plan=shared, workers=workers_for(shared, chains, cores), about=about)
            if folder is None:
                return execute(job, runs, store_in_memory(plan, runs, first=draws))
            facts = run_facts(plan, seed, spec, reference_of(model), about)
            return execute(job, runs, new_disk(folder, facts, plan, runs))


def resume(
    path: Any,
    model: Any = None,
    *,
    log_likelihood: Any = None,
    log_prior: Any = None,
    data: Any = None,
    vectorized: bool = False,
    swaps: Strategy | None = None,
    walk: Move | None = None,
    draws: int | None = None,
    until: Until | None = None,
    cores: int | None = None,
    pool: Any = None,
    progress: Any = True,
    stop: Stop | None = None,
) -> Result:
    """Go on with a run that ``sample(store=...)`` began: after a stop, a crash, or its end.

    The draws are those of a run that was never stopped, bit for bit, on any number of cores.

    Parameters
    ----------
    path
        The folder of the run.
    model, log_likelihood, log_prior, data, vectorized, swaps, walk
        The functions of the run, which are never stored, so they are given again. Targets of the zoo, swaps
        without a function of yours and our own walks are known by name. The log density must give the values
        that it gave before, at the points where the first chain is.
    draws
        Draws of each chain in all, those made before included. None: as many as were asked for.
    until
        As in `sample`; None: what the run was to reach. A budget of seconds begins anew.
    cores, pool, progress, stop
        As in `sample`.
    """
    require_compiler()
    folder = Path(path)
    read_run(folder)  # a folder without a run is named before it is locked
    with held(folder), contextlib.ExitStack() as within:
        commit, wrong = read_run(folder, thorough=True)
        if commit.is_cut:
            raise DamagedFileError(f"path: the run cannot go on, since draws are lost: {'; '.join(wrong)}")
        if wrong:
            warnings.warn("; ".join(wrong), DamageWarning, stacklevel=2)
        stored = commit.facts["run"]
        known = known_model(stored) if model is None and log_likelihood is None else model
        given = model_spec(
            known, log_likelihood=log_likelihood, log_prior=log_prior, data=data, vectorized=vectorized
        )
        watch = watcher(progress, smallest_ess)
        workers = those_who_work(given, within, pool=pool, cores=cores, shows=watch.shows)
        spec = workers.spec
        plan = plan_from_plain(stored["plan"], spec.target, swaps=swaps, walk=walk, name="plan")
        goals, look_at = stored_goals(until, draws, stored, plan), look_of(stored, plan)
        n_asked = draws_in_all(draws, stored, plan) if goals is None else goals.draws or plan.draws
        plan = replace(plan, draws=n_asked)
        check_memory(plan, len(commit.snapshots), folder, None)
        seed = seed_from_plain(stored["seed"])
        job = Job(
            spec=spec,
            plan=plan,
            seed=seed,
            shapes=value_shapes(spec, commit.snapshots[0]["now.core.position"][0]),
            workers=workers_for(plan, len(commit.snapshots), cores),
            watch=watch,
            stop=checked_stop(stop),
            folder=folder,
            until=goals,
            look_at=look_at,
            about=stored_about(stored, goals),
        )
        seeds = chain_seeds(seed, len(commit.snapshots))

        def again(other: Plan) -> list[ChainRun]:
            return chains_of(folder, commit, other, seeds)

        with note_compiling(watch.shows):
            begun = again(plan)
        check_sameness(begun[0], stored["exactness"])
        shared, runs = workers.share(plan, begun, seeds, again)
        job = replace(job, plan=shared, workers=workers_for(shared, len(runs), cores))
        facts = run_facts(plan, seed, spec, stored["reference"], job.about)
        facts |= {} if goals is None else {LOOK: look_at}
        return execute(job, runs, new_disk(folder, facts, plan, runs, after=commit))


def load(path: Any, model: Any = None, *, verify: bool = False) -> Result:
    """Read a run: a file that `Result.save` wrote, or the folder of a run, also of one that is under way.

    Draws of a folder are read when they are asked for. A damaged file is named: of a folder, what comes
    before it is read, with a warning. ``verify`` reads everything to see whether it is as it was written;
    else only sizes are compared, and what is wrong inside a file shows as an error when it is read.

    The parameters of a `temperance.Model` come back in their units. What its ``derived`` makes of them, and
    what the ``constrain`` of another model makes, a folder does not have: with ``model`` it is made anew, or
    otherwise than before.
    """
    is_folder = Path(path).is_dir()
    meaning = None if model is None else model_meaning(model)
    result = (
        load_folder(Path(path), thorough=flag("verify", verify)) if is_folder else storage.load(path, Result)
    )
    return result if meaning is None else in_terms_of(result, meaning, at_once=not is_folder)
