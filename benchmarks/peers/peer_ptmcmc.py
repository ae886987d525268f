"""PTMCMCSampler."""

import copy
import tempfile
from collections import defaultdict, deque

import numpy as np
from greenlet import getcurrent, greenlet
from PTMCMCSampler.PTMCMCSampler import PTSampler
from tasks import Outcome, Task

REQUIREMENTS = ("ptmcmcsampler==2.1.4", "greenlet")
N_LEVELS = 8
HOTTEST = 100.0
UPDATE = 1000
SD = 0.01
SKIP = 100
DE = 20


class Rank:
    """One rank of a communicator whose ranks take turns in this process."""

    def __init__(self, rank: int, size: int, posted: dict, mail: dict) -> None:
        self.rank, self.size, self.posted, self.mail, self.calls = rank, size, posted, mail, 0

    def Get_rank(self) -> int:  # noqa: D102, N802
        return self.rank

    def Get_size(self) -> int:  # noqa: D102, N802
        return self.size

    def _all(self, value):
        """What every rank gives to the same collective call."""
        self.calls += 1
        self.posted.pop(self.calls - 2, None)
        values = self.posted[self.calls]
        values[self.rank] = value
        while len(values) < self.size:
            getcurrent().parent.switch()
        return values

    def barrier(self):
        self._all(None)

    def bcast(self, value, root):
        return self._all(value)[root]

    def gather(self, value, root):
        values = self._all(value)
        return [values[rank] for rank in range(self.size)] if self.rank == root else None

    def scatter(self, values, root):
        return self._all(values)[root][self.rank]

    def send(self, value, dest, tag):
        self.mail[dest, tag].append(copy.deepcopy(value))

    def recv(self, source, tag):
        while not self.mail[self.rank, tag]:
            getcurrent().parent.switch()
        return self.mail[self.rank, tag].popleft()


def run(task: Task, seed: int) -> Outcome:
    starts = task.starts(np.random.default_rng(seed), N_LEVELS)
    iterations = task.budget // N_LEVELS - 1
    posted, mail = defaultdict(dict), defaultdict(deque)

    def walk(rank: int, folder: str):
        sampler = PTSampler(
            task.dim, task.log_density, lambda x: 0.0, SD**2 * np.eye(task.dim),
            comm=Rank(rank, N_LEVELS, posted, mail), outDir=folder, verbose=False, seed=seed,
        )
        sampler.sample(starts[rank], iterations, Tmax=HOTTEST, covUpdate=UPDATE, burn=UPDATE, Tskip=SKIP, isave=iterations, thin=1, DEweight=DE)
        if rank==0: run.sampler=sampler

    with tempfile.TemporaryDirectory() as folder:
        ranks = [greenlet(walk) for _ in range(N_LEVELS)]
        for rank, thread in enumerate(ranks):
            thread.switch(rank, folder)
        while not all(thread.dead for thread in ranks):
            for thread in ranks:
                thread.switch()
        chain = np.loadtxt(f"{folder}/chain_1.0.txt")[:, :-4]
    return Outcome(chain[len(chain) // 2 :])
