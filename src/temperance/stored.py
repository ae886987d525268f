"""A run in a folder: what is written of it beside its rows, its chains to go on with, its result."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from temperance.core.state import Trace
from temperance.errors import DamagedFileError, DamageWarning
from temperance.models.contract import Meaning
from temperance.models.transform import meaning_from_plain
from temperance.parameters import names_from_plain, names_to_plain
from temperance.results.diagnostics import smallest_ess
from temperance.results.result import Result
from temperance.runs.allocate import kept_draws, no_rows, sampled_columns, tuning_columns
from temperance.runs.chain import ChainRun
from temperance.runs.describe import describe, exactness
from temperance.runs.facts import Observer, progress_from
from temperance.runs.keep import kept_columns
from temperance.runs.leave import LOG_SCALE, record_of
from temperance.runs.plan import Plan, plan_to_plain
from temperance.runs.progress import line as progress_line
from temperance.runs.record import ChainRecord, RunSetup
from temperance.runs.seeds import seed_from_plain, seed_to_plain
from temperance.runs.snapshot import restored
from temperance.runs.state import RunState
from temperance.runs.window import WAITING, window_rows
from temperance.store.contract import PHASES, SAMPLING, TUNING
from temperance.store.disk import Disk
from temperance.store.layout import is_run
from temperance.store.lock import holder
from temperance.store.memory import InPlace, Memory
from temperance.store.reading import ChunkRows, Commit, damage, last_commit
from temperance.store.rows import InMemory, Source, alike, lazy_trace, of_levels
from temperance.text import duration
from temperance.valued import with_values


def run_facts(
    plan: Plan, seed: Any, meaning: Meaning, reference: str | None, about: Mapping[str, Any]
) -> dict[str, Any]:
    """All of a run that is neither rows nor a function, as JSON knows it."""
    return {
        "plan": plan_to_plain(plan),
        "seed": seed_to_plain(seed),
        "setup": asdict(replace(describe(plan), **about)),
        "names": names_to_plain(meaning.names),
        "transform": meaning.transform,
        "reference": reference,
        "exactness": exactness(),
    }


def store_in_memory(plan: Plan, runs: Sequence[ChainRun], first: int | None = None) -> InPlace | Memory:
    """Where rows stay that are not written: with chains that have room for all, or what is kept of them.

    There is room for the first draws, where it is not known how many there will be.
    """
    if all(run.rows.is_whole for run in runs):
        return InPlace(runs)
    return Memory(kept_draws(plan if first is None else replace(plan, draws=first), len(runs)))


def new_disk(
    folder: Path, facts: Mapping[str, Any], plan: Plan, runs: Sequence[ChainRun], **options: Any
) -> Disk:
    """The store of a run; all chains hand over where they are, so that each can go on from there."""
    columns = sampled_columns(plan)
    empty, observer = no_rows(plan.n_levels, plan.dim), Observer(runs, smallest_ess)
    options["observe"] = lambda: asdict(observer.look())
    disk = Disk(folder, facts, empty, kept=columns, n_chains=len(runs), **options)
    for run in runs:
        disk.append(run.index, run.hand_over())
    disk.begin()
    return disk


def chains_of(
    folder: Path, commit: Commit, plan: Plan, seeds: Sequence[np.random.SeedSequence]
) -> list[ChainRun]:
    """The chains of a run where they were when it was committed."""
    return [
        ChainRun.from_snapshot(
            plan,
            chain,
            seed,
            commit.snapshots[chain],
            window=window_rows(plan),
            tuning=of_levels(_committed(folder, commit, chain, TUNING, tuning_columns()), plan.most_levels),
            given={phase: commit.n_rows(chain, phase) for phase in PHASES},
        )
        for chain, seed in enumerate(seeds)
    ]


def holds_run(path: Any) -> bool:
    """Whether a folder holds a run that `resume` can go on with; one ended before its first draws is none.

    For scripts that are started again and again, as batch jobs are::

        if temperance.holds_run("run"):
            result = temperance.resume("run", model)
        else:
            result = temperance.sample(model, store="run")
    """
    return is_run(Path(path))


def read_run(folder: Path, *, thorough: bool = False) -> tuple[Commit, list[str]]:
    """The last record that is good, cut off before what is damaged; and what is wrong, in words."""
    commit, bad = last_commit(folder)
    commit, more = damage(folder, commit, thorough=thorough)
    return commit, [*bad, *more]


def load_folder(folder: Path, *, thorough: bool) -> Result:
    """What a run has drawn, also one that is under way; of a damaged one what is before the damage."""
    commit, wrong = read_run(folder, thorough=thorough)
    if wrong:
        warnings.warn("; ".join(wrong), DamageWarning, stacklevel=3)
    if not all(commit.snapshots):
        raise DamagedFileError(f"path: {folder} holds a run that has not begun")
    return result_of(folder, commit)


def stored_reference(folder: Path) -> str | None:
    """The name by which the model of a run may be found again."""
    reference: str | None = read_run(folder)[0].facts["run"]["reference"]
    return reference


@dataclass(frozen=True)
class Standing:
    """Where a run on disk stands, in words."""

    text: str
    is_running: bool


def standing(folder: Path) -> Standing:
    """Look at a run, also one that another process is writing."""
    writer = holder(folder)
    commit, wrong = read_run(folder)
    ended, facts = commit.facts["ended"], commit.facts
    if ended.get("complete"):
        state = "complete"
    elif writer is not None:
        state = f"running, process {writer['pid']} on {writer['host']}"
    else:
        state = f"ended by {ended['reason']}" if ended.get("reason") else "ended early"
    written = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(facts["time"]))
    lines = [f"{folder}: {state}, last written {written}, {duration(facts['seconds'])} in all"]
    if facts["progress"]:
        lines.append(progress_line(progress_from(facts["progress"])))
    return Standing("\n".join([*lines, *wrong]), is_running=writer is not None)


def result_of(folder: Path, commit: Commit) -> Result:
    """The result of a run on disk; rows are read when they are asked for."""
    run = commit.facts["run"]
    most = max(int(snapshot["now.most_levels"]) for snapshot in commit.snapshots)
    chains = alike([_record(folder, commit, chain) for chain in range(len(commit.snapshots))], most)
    setup = RunSetup(**run["setup"])
    result = Result(
        chains=chains,
        n_levels_at_start=len(run["plan"]["betas"]),
        n_tune=int(commit.snapshots[0]["now.tune"]),
        swap_strategy=setup.settings["swaps"]["name"],
        seed=seed_from_plain(run["seed"]),
        complete=all(chain.complete for chain in chains),
        setup=setup,
        names=names_from_plain(run["names"]),
        ended_by=commit.facts["ended"].get("reason", ""),
        folder=str(folder),
    )
    meaning = meaning_from_plain(run.get("transform"))
    shapes = {} if meaning.value_names is None else dict(meaning.value_names.shapes)
    return with_values(result, meaning, shapes, at_once=False)


def _record(folder: Path, commit: Commit, chain: int) -> ChainRecord:
    plan, arrays = commit.facts["run"]["plan"], commit.snapshots[chain]
    now: RunState = restored(RunState, arrays, "now")
    adapting = plan["settings"]["adaptation"]["when"] == "always"
    columns = kept_columns(plan["keep"], adapting=adapting)
    sampling = _committed(folder, commit, chain, SAMPLING, columns)
    n_wanted = plan["draws"] // plan["thin"]
    return record_of(
        now,
        arrays[LOG_SCALE],
        tuning=_tuned(folder, commit, chain),
        sampling=sampling,
        complete=commit.n_rows(chain, SAMPLING) == n_wanted and now.n_done == now.tune + plan["draws"],
        thin=plan["thin"],
    )


def _committed(folder: Path, commit: Commit, chain: int, phase: str, columns: Sequence[str]) -> Trace:
    """Rows of one chain, read when they are asked for."""
    plan = commit.facts["run"]["plan"]
    stored = ChunkRows(folder, commit.chunks, chain, phase)
    return lazy_trace(no_rows(len(plan["betas"]), plan["dim"]), columns, [stored])


def _tuned(folder: Path, commit: Commit, chain: int) -> Trace:
    """The rows of the tuning, with those that are not final: they wait in the snapshot."""
    plan, arrays = commit.facts["run"]["plan"], commit.snapshots[chain]
    sources: list[Source] = [ChunkRows(folder, commit.chunks, chain, TUNING)]
    if f"{WAITING}.{TUNING}.draws" in arrays and not commit.is_cut:
        sources.append(InMemory(restored(Trace, arrays, f"{WAITING}.{TUNING}")))
    return lazy_trace(no_rows(len(plan["betas"]), plan["dim"]), tuning_columns(), sources)
