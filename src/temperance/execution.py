"""From chains that are ready to a result: what every way to start or continue a run ends with."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from temperance.checks import whole_number
from temperance.errors import BoundWarning, IncompleteWarning, LearningWarning, RunError, TemperanceError
from temperance.executors.threads import Threads
from temperance.looking import Looks
from temperance.models.constrain import Shapes
from temperance.models.contract import ModelSpec
from temperance.results.result import Result
from temperance.results.warnings.running import BOUND_NAMES
from temperance.runs.chain import ChainRun
from temperance.runs.compiling import warn_of_substitute_cache
from temperance.runs.describe import describe
from temperance.runs.drive import Barrier, Crew, default_cores, drive, meetings
from temperance.runs.plan import Plan, plan_to_plain
from temperance.runs.progress import Watcher
from temperance.runs.record import RunSetup
from temperance.runs.stopping import Stop
from temperance.store.contract import Store
from temperance.store.rows import alike
from temperance.targets.pooled import PooledTarget
from temperance.text import counted
from temperance.until import Until
from temperance.valued import with_values

COMPLETE, REASON = "complete", "reason"  # what is written of the end of a run
CALLER = 4  # frames from a warning to the user's line: the function that warns, `execute`, ``sample()``


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A run that can be made: what of, how, from which seed, by how many workers."""

    spec: ModelSpec
    plan: Plan
    seed: Any  # as it is recorded
    shapes: Shapes  # of the values that the model's ``constrain`` makes
    workers: int
    watch: Watcher  # how the run shows itself
    stop: Stop
    folder: Path | None  # where it is written to
    until: Until | None = None  # what it is to reach
    about: Mapping[str, Any] = field(default_factory=dict)  # facts of its setup that no plan has
    look_at: int = 0  # draws after which that is looked at first


def workers_for(plan: Plan, chains: int, cores: Any) -> int:
    """How many chains run at once: as told, or as many as help; all of them, where they only wait."""
    if cores is not None:
        return whole_number("cores", cores, least=1)
    if isinstance(plan.target, PooledTarget):
        return chains
    return default_cores(chains, runs_in_parallel=plan.target.runs_in_parallel)


def execute(job: Job, runs: Sequence[ChainRun], store: Store) -> Result:
    """Run the chains to their end, or as far as they get, and gather what they leave.

    Whatever ends the run, its draws are kept first; then what ended it is raised, and has the result.
    """
    warn_of_substitute_cache(CALLER)
    looks = (
        None
        if job.until is None
        else Looks(job.until, job.look_at, lambda: gathered(job, runs, store), store)
    )
    ended = [_driven(job, runs, store, meetings(runs) if looks is None else looks.barriers(runs))]
    ended.extend(run.failure for run in runs)
    if any(isinstance(one, KeyboardInterrupt) for one in ended):  # a Ctrl-C, whoever raised it
        job.stop.set("SIGINT")
    complete = all(run.finished for run in runs)
    reason = job.stop.reason if not complete else "" if looks is None else looks.ended_by
    ended.append(_closed(job, runs, store, reason))
    result, trouble = gathered(job, runs, store, reason)
    failures = [one for one in ended if one is not None and not isinstance(one, KeyboardInterrupt)]
    for failure in [*failures, *([] if trouble is None else [trouble])]:
        raise _with_result(failure, result, job)
    _warn_of_the_end(result, job, runs)
    _warn_of_bounds(result)
    _warn_of_setbacks(result)
    return result


def _driven(
    job: Job, runs: Sequence[ChainRun], store: Store, barriers: Iterable[Barrier]
) -> BaseException | None:
    """Make the run; what ended it that is no chain's failure."""
    crew = Crew(Threads(job.workers), store, job.watch.display(runs), job.stop)
    try:
        drive(runs, crew, barriers)
    except BaseException as error:  # noqa: BLE001  raised again when the draws are kept
        return error
    return None


def _closed(job: Job, runs: Sequence[ChainRun], store: Store, reason: str) -> BaseException | None:
    """Keep all that was drawn for good; what kept it from being kept."""
    complete = all(run.finished for run in runs)
    try:
        if complete and job.until is not None:  # as many draws as it came to
            store.tell({"plan": plan_to_plain(_planned(job, runs)), "setup": asdict(_setup(job, runs))})
        store.close({COMPLETE: complete, REASON: reason})
        store.check()
    except BaseException as error:  # noqa: BLE001  raised again when the result is made
        return error
    return None


def _planned(job: Job, runs: Sequence[ChainRun]) -> Plan:
    return replace(job.plan, draws=runs[0].plan.draws)


def _setup(job: Job, runs: Sequence[ChainRun]) -> RunSetup:
    return replace(describe(_planned(job, runs)), **job.about)


def gathered(
    job: Job, runs: Sequence[ChainRun], store: Store, reason: str = ""
) -> tuple[Result, BaseException | None]:
    """The result of all chains, and what its values failed with."""
    result = Result(
        chains=alike([run.leave(store.sampled(run.index)) for run in runs], _most_levels(runs)),
        n_levels_at_start=job.plan.n_levels,
        n_tune=runs[0].plan.tune,
        swap_strategy=job.plan.strategy.name,
        seed=job.seed,
        complete=all(run.finished for run in runs),
        setup=_setup(job, runs),
        names=job.spec.names,
        ended_by=reason,
        folder="" if job.folder is None else str(job.folder),
    )
    try:
        # Rows on a disk may be more than memory holds; others are made at once, so that an error shows.
        return with_values(result, job.spec, job.shapes, at_once=job.folder is None), None
    except BaseException as error:  # noqa: BLE001  raised by the caller; no draw is lost to it
        return result, RunError(str(error)) if isinstance(error, TemperanceError) else error


def _most_levels(runs: Sequence[ChainRun]) -> int:
    return max(run.now.most_levels for run in runs)


def _with_result(failure: BaseException, result: Result, job: Job) -> BaseException:
    """A failure that has what was drawn before, and says how to go on."""
    anything: Any = failure
    anything.result = result
    if job.folder is not None and isinstance(failure, RunError):
        failure.args = (f"{failure}; {_how_to_go_on(job.folder)}", *failure.args[1:])
    return failure


def _how_to_go_on(folder: Path) -> str:
    return f"what was drawn is in {folder}, and temperance.resume({str(folder)!r}, ...) goes on from there"


def _warn_of_the_end(result: Result, job: Job, runs: Sequence[ChainRun]) -> None:
    if result.complete:
        return
    how = {"SIGINT": "was interrupted", "Stop": "was stopped"}.get(
        result.ended_by, f"was ended by {result.ended_by}"
    )
    where = "the result holds what was drawn" if job.folder is None else _how_to_go_on(job.folder)
    n_wasted = sum(run.forget_what_comes() for run in runs)
    wasted = f"; {counted(n_wasted, 'evaluation')} ahead of time had no use" if n_wasted else ""
    warnings.warn(f"the run {how}; {where}{wasted}", IncompleteWarning, stacklevel=CALLER)


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
