"""From what a user gives as ``pool`` to workers that can be asked."""

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from temperance.checks import number_between, one_of, whole_number
from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.executors.contract import Engine
from temperance.executors.cores import cores_here
from temperance.executors.pools import DASK_COST, FromExecutor, FromMap
from temperance.executors.work import WORLD_SIZES, done, done_under_mpi
from temperance.executors.workers import Workers

KINDS = (
    "a number of workers, a concurrent.futures.Executor, an object with map (such as a multiprocessing "
    "pool), a Dask client, or a temperance.Pool of one of these"
)
SIZES = ("workers", "_max_workers", "_processes", "num_workers", "size")  # what pools call their number


@dataclass(frozen=True)
class Pool:
    """Workers that evaluate the log density: ``sample(pool=temperance.Pool(4, timeout=60))``.

    Parameters
    ----------
    of
        A number of workers of our own; or a ``concurrent.futures.Executor``, any object with ``map``, or a
        Dask client.
    timeout
        Seconds that an answer may take; a worker of ours that takes longer is killed and replaced, another
        pool is given up. None waits for ever.
    retries
        How often a question that a worker of ours died over is asked again.
    share
        What workers share: ``"points"`` that chains ask for, or ``"chains"``, which they then run themselves,
        segment by segment. None takes chains where there are several and a point takes less than a
        millisecond, or what asking for ten of them costs another pool.

    In a ``with`` statement, workers of our own stay for several runs::

        with temperance.Pool(4) as pool:
            results = [temperance.sample(model, pool=pool, seed=seed) for seed in range(10)]
    """

    of: Any
    timeout: float | None = None
    retries: int = 3
    share: Literal["points", "chains"] | None = None
    _open: list[Engine] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.timeout is not None:
            number_between("timeout", self.timeout, 0.0, float("inf"))
        whole_number("retries", self.retries, least=0)
        if self.share is not None:
            one_of("share", self.share, ("points", "chains"))
        if isinstance(self.of, int | float):
            whole_number("pool", self.of, least=1)
        elif not callable(getattr(self.of, "map", None)):
            raise InvalidTypeError(f"pool must be {KINDS}; got {type(self.of).__name__}: {self.of!r}")

    def __enter__(self) -> "Pool":
        if not self._open:
            self._open.append(_engine(self))
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.pop().close()


def as_pool(given: Any) -> Pool:
    """A pool, from whatever a user may give."""
    return given if isinstance(given, Pool) else Pool(given)


@contextlib.contextmanager
def opened(pool: Pool) -> Iterator[Engine]:
    """Workers, for as long as this is open; those of a pool that is open already stay."""
    if pool._open:
        yield pool._open[0]
        return
    with pool:
        yield pool._open[0]


def _engine(pool: Pool) -> Engine:
    of, limit = pool.of, pool.timeout
    if isinstance(of, int):
        if is_frozen():
            raise InvalidInputError(
                f"pool: {of} workers cannot be started by a frozen program, which has no Python to start; "
                "give an executor, or an object with map"
            )
        return Workers(of, timeout=limit, retries=pool.retries)
    _require_a_world(of)
    if callable(getattr(of, "scatter", None)):  # a Dask client
        submit = functools.partial(of.submit, pure=False)  # asked again, it is to be done again
        return FromExecutor(submit, _dask_workers(of), limit, cost=DASK_COST)
    do = done_under_mpi if _is_of_mpi(of) else done
    if callable(getattr(of, "submit", None)):
        is_here = isinstance(of, ThreadPoolExecutor)
        return FromExecutor(of.submit, _number(of), limit, in_this_process=is_here, do=do)
    return FromMap(of, _number(of), limit, do=do)


def _number(pool: Any) -> int:
    """How many workers a pool has; where it does not say, as many as there are cores."""
    said = [getattr(pool, name, None) for name in SIZES]
    numbers = [number for number in said if isinstance(number, int) and number >= 1]
    return numbers[0] if numbers else cores_here()


def _dask_workers(client: Any) -> int:
    return max(1, int(sum(client.nthreads().values())))


def is_frozen() -> bool:
    """Whether this program is no Python interpreter that could be started once more."""
    return bool(getattr(sys, "frozen", False)) or not sys.executable


def _is_of_mpi(pool: Any) -> bool:
    """Whether its workers are processes of MPI; schwimmbad has other pools, too."""
    kinds = {(kind.__module__.partition(".")[0], "MPI" in kind.__name__) for kind in type(pool).__mro__}
    return bool(kinds & {("mpi4py", True), ("schwimmbad", True)}) and "mpi4py" in sys.modules


def _require_a_world(pool: Any) -> None:
    """Refuse MPI whose processes do not know of each other: each would make the whole run by itself."""
    if not _is_of_mpi(pool):
        return
    size = importlib.import_module("mpi4py.MPI").COMM_WORLD.Get_size()
    told = {name: os.environ[name] for name in WORLD_SIZES if name in os.environ}
    for name, value in told.items():
        if value.isdigit() and int(value) > 1 and size == 1:
            raise InvalidInputError(
                f"pool: the launcher says that there are {value} processes ({name}), but MPI knows of one; "
                "mpi4py was made for another MPI than this mpiexec: use the mpiexec that belongs to it"
            )
