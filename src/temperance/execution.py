"""From chains that are ready to a result: what every way to start or continue a run ends with."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from temperance.checks import whole_number
from temperance.core.state import FloatArray
from temperance.errors import BoundWarning, IncompleteWarning, LearningWarning, RunError, TemperanceError
from temperance.executors.threads import Threads
from temperance.models.constrain import Shapes, values_of
from temperance.models.contract import ModelSpec
from temperance.results.result import Result
from temperance.results.warnings.running import BOUND_NAMES
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import warn_of_substitute_cache
from temperance.runs.describe import describe
from temperance.runs.drive import default_cores, drive
from temperance.runs.plan import Plan
from temperance.runs.progress import display_for
from temperance.store.contract import Store
from temperance.text import counted

CALLER = 4  # frames from a warning to the user's line: the function that warns, `execute`, ``sample()``


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A run that can be made: what of, how, from which seed, by how many workers."""

    spec: ModelSpec
    plan: Plan
    seed: Any  # as it is recorded
    shapes: Shapes  # of the values that the model's ``constrain`` makes
    workers: int
    progress: bool


def workers_for(plan: Plan, chains: int, cores: Any) -> int:
    """How many chains run at once: as told, or as many as help."""
    if cores is not None:
        return whole_number("cores", cores, least=1)
    return default_cores(chains, runs_in_parallel=plan.target.runs_in_parallel)


def execute(job: Job, runs: Sequence[ChainRun], store: Store) -> Result:
    """Run the chains to their end, or as far as they get, and gather what they leave."""
    warn_of_substitute_cache(CALLER)
    drive(runs, Threads(job.workers), store, display_for(runs, job.progress))
    result = gathered(job, runs)
    _warn_of_the_end(result)
    _warn_of_bounds(result)
    _warn_of_setbacks(result)
    return result


def gathered(job: Job, runs: Sequence[ChainRun]) -> Result:
    """The result of all chains; the failure of one is raised, and has the result."""
    result = Result(
        chains=tuple(run.leave() for run in runs),
        n_levels_at_start=job.plan.n_levels,
        n_tune=job.plan.tune,
        swap_strategy=job.plan.strategy.name,
        seed=job.seed,
        complete=all(run.finished for run in runs),
        setup=describe(job.plan),
        names=job.spec.names,
    )
    ended: list[Any] = [run.failure for run in runs if run.failure is not None]
    failures = [one for one in ended if not isinstance(one, KeyboardInterrupt)]  # a Ctrl-C, whoever raised it
    try:
        result = _with_values(job, result)
    except BaseException as error:  # noqa: BLE001  raised below; no draw is lost to it
        failures.append(RunError(str(error)) if isinstance(error, TemperanceError) else error)
    for failure in failures:
        failure.result = result
        raise failure
    return result


def _with_values(job: Job, result: Result) -> Result:
    """The same with the draws in the terms of the model, too."""
    if job.spec.constrain is None:
        return result
    chains = [
        replace(
            chain,
            values=values_of(job.spec, chain.sampling.draws, job.shapes),
            level_points=_level_points(job.spec, chain.sampling.level_draws),
        )
        for chain in result.chains
    ]
    return replace(result, chains=tuple(chains), value_names=job.spec.value_names)


def _level_points(spec: ModelSpec, draws: FloatArray) -> FloatArray | None:
    """The draws of all levels in the terms of a model that shows its parameters."""
    if spec.points is None:
        return None
    rows = spec.points(draws.reshape(-1, draws.shape[-1]))
    return rows.reshape(*draws.shape[:-1], rows.shape[-1])


def _warn_of_the_end(result: Result) -> None:
    if not result.complete:
        warnings.warn(
            "the run was interrupted; the result holds what was drawn", IncompleteWarning, stacklevel=CALLER
        )


def _warn_of_bounds(result: Result) -> None:
    hits = np.sum([chain.bound_hits for chain in result.chains], axis=0)
    for name, count in zip(BOUND_NAMES, hits, strict=True):
        if count:
            warnings.warn(
                f"the bound on {name} was hit {count} times; the target may be flat or improper in some "
                f"direction, or Bounds({name}=...) too narrow",
                BoundWarning,
                stacklevel=CALLER,
            )


def _warn_of_setbacks(result: Result) -> None:
    setbacks = [setback for chain in result.chains for setback in chain.setbacks]
    if setbacks:
        warnings.warn(
            f"learning failed {counted(len(setbacks), 'time')} and went back to what was known; the last "
            f"time it was {setbacks[-1]}",
            LearningWarning,
            stacklevel=CALLER,
        )
