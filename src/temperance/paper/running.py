"""Runs cells over the cores, keeping every run that is finished."""

import functools
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from temperance.errors import BoundWarning, IncompleteWarning
from temperance.paper.experiments import STUDIES
from temperance.paper.measure import Measures
from temperance.paper.store import Store
from temperance.paper.study import Cell, Study
from temperance.results.result import Result
from temperance.runs.record import ChainRecord
from temperance.sampling import sample
from temperance.settings import Settings, paper_settings
from temperance.swaps import Strategy, adjacent, equi_energy, uniform
from temperance.zoo import Problem

SWAPS: dict[str, Callable[[], Strategy]] = {
    "EE": equi_energy,
    "AL": adjacent,
    "RA": uniform,
    "RWM": equi_energy,  # with one level there is nothing to swap
}

Watch = Callable[[Cell, int], None]  # told which cell is at work and how many of its runs were finished


def run_cells(cells: Iterable[Cell], store: Store, *, runs: int | None, cores: int, watch: Watch) -> bool:
    """Make all runs that the store lacks; False when a Ctrl-C ended it early."""
    wanted = {cell: wanted_runs(cell, runs) for cell in cells}
    for cell, count in wanted.items():
        watch(cell, sum(index < count for index in store.read(cell)))
    try:
        return all(
            run_cell(cell, store, runs=count, cores=cores, watch=watch) for cell, count in wanted.items()
        )
    except KeyboardInterrupt:  # between runs: `sample` itself returns what it has
        return False


def wanted_runs(cell: Cell, runs: int | None) -> int:
    """How many runs of a cell there shall be: as many as in the paper when nothing is said."""
    return STUDIES[cell.study].runs if runs is None else runs


def run_cell(cell: Cell, store: Store, *, runs: int, cores: int, watch: Watch) -> bool:
    """Make the runs of one cell that the store lacks."""
    store.check_study(STUDIES[cell.study])
    done = store.read(cell)
    missing = [index for index in range(runs) if index not in done]
    for batch in _batches(missing, cores):
        began = time.perf_counter()
        result = sample_cell(cell, store.seed, batch, cores=cores)
        finished = zip(batch, result.chains, strict=True)
        rows = {index: _measured(cell, record) for index, record in finished if record.complete}
        store.add(cell, rows, time.perf_counter() - began)
        watch(cell, len(rows))
        if not result.complete:
            return False
    return True


def sample_cell(
    cell: Cell,
    seed: int,
    indices: Sequence[int],
    *,
    cores: int,
    keep: Sequence[str] = ("draws", "statistics"),
) -> Result:
    """The runs of a cell with these indices; each depends on the seed, the cell and its index alone."""
    study, problem = STUDIES[cell.study], _problem(cell.study)
    with warnings.catch_warnings():
        # A level stuck in a flat place may run into the bounds: the paper's adaptation does that.
        warnings.simplefilter("ignore", BoundWarning)
        warnings.simplefilter("ignore", IncompleteWarning)
        return sample(
            problem,
            initial=None if study.initial is None else study.initial(problem),
            temperatures=np.arange(1.0, cell.levels + 1.0),
            draws=study.draws,
            tune=study.burn_in,
            chains=len(indices),
            cores=cores,
            seed=[_run_seed(cell, seed, index) for index in indices],
            progress=False,
            keep=keep,
            settings=_settings(study, cell.strategy),
        )


@functools.cache
def _problem(study: str) -> Problem:
    return STUDIES[study].problem()


def _measured(cell: Cell, record: ChainRecord) -> Measures:
    return STUDIES[cell.study].measure(record, _problem(cell.study))


def _settings(study: Study, strategy: str) -> Settings:
    settings = paper_settings(exponent=study.exponent)
    return replace(settings, swaps=SWAPS[strategy](), trimming=study.trimming)


def _run_seed(cell: Cell, seed: int, index: int) -> Any:
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(cell.name.encode()), index))


def _batches(indices: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(indices), size):
        yield indices[first : first + size]
