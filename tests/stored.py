"""Runs on disk under a test's full control: when they are written, and which operation fails."""

import io
import shutil
from pathlib import Path

import numpy as np

import temperance as tp
from temperance.core.state import Trace
from temperance.files import THE_DISK, FileSystem
from temperance.models.contract import Meaning
from temperance.runs.chain import ChainRun
from temperance.runs.starts import Starts
from temperance.store import disk
from temperance.store.opening import claimed
from temperance.stored import new_disk, run_facts

NEVER = 1e9  # seconds until the writer writes by itself
COLUMNS = Trace._fields


def chains_for(plan, n_chains, window=None):
    """Chains as ``sample(seed=7)`` would begin them."""
    seeds = np.random.SeedSequence(7).spawn(n_chains)
    starts = Starts(np.full(plan.dim, 0.5), np.random.default_rng(0))
    return [ChainRun(plan, k, starts, seed, window=window) for k, seed in enumerate(seeds)]


def write_run(folder, plan, stops, *, n_chains=1, window=None, system=THE_DISK, noted=None):
    """Make a run that is written after each of these iterations and left there, as after a kill.

    ``noted`` gets the number of rows that are safe, each time that something was committed.
    """
    with claimed(folder, overwrite=False, system=system):
        runs = chains_for(plan, n_chains, window)
        store = new_disk(folder, run_facts(plan, 7, Meaning(), None, {}), plan, runs, system=system)
        try:
            for stop in stops:
                for run in runs:
                    advance_to(run, store, stop - run.index if stop > run.index else stop)
                store._flush({})
                if noted is not None:
                    noted.append([run.n_done for run in runs])
        finally:
            send_home(store)
    return runs


def send_home(store):
    """End the writer, which has not written a thing."""
    with store._told:
        store._closing = True
        store._told.notify_all()
    store._writer.join()


def advance_to(run, store, iteration):
    while run.n_done < iteration:
        run.advance(iteration - run.n_done)
        store.append(run.index, run.hand_over())


def by_hand(monkeypatch):
    """Nothing is written but when the test says so."""
    monkeypatch.setattr(disk, "FLUSH_SECONDS", NEVER)


def assert_beginning(result, whole):
    """All rows that there are are those of the whole run, in all columns and all bits."""
    for part, full in zip(result.chains, whole, strict=True):
        for phase in ("tuning", "sampling"):
            mine, theirs = getattr(part, phase), getattr(full, phase)
            for name in COLUMNS:
                column = getattr(mine, name)
                np.testing.assert_array_equal(column, getattr(theirs, name)[: len(column)], err_msg=name)


def assert_whole(result, whole):
    """The same, and none is missing; and the parameters that the chains ended with."""
    assert_beginning(result, whole)
    assert result.complete
    for part, full in zip(result.chains, whole, strict=True):
        assert len(part.tuning.draws) == len(full.tuning.draws)
        assert part.n_draws == full.n_draws
        for name in ("beta", "log_scale", "mean", "covariance", "n_bad_density", "bound_hits", "setbacks"):
            np.testing.assert_array_equal(getattr(part, name), getattr(full, name))
        assert (part.modes is None) == (full.modes is None)
        for name, value in vars(full.modes).items() if full.modes is not None else ():
            np.testing.assert_array_equal(getattr(part.modes, name), value)


class Killed(BaseException):
    """The process is gone."""


class Raw(io.RawIOBase):
    """A file whose writes are operations of a system, and can be cut off in the middle."""

    def __init__(self, system, path):
        self._file = path.open("xb", buffering=0)
        self._system, self.path = system, path

    def writable(self):
        return True

    def write(self, data):
        half = memoryview(data)[: len(data) // 2]
        self._system.step(lambda: self._file.write(half))
        return self._file.write(data)

    def fileno(self):
        return self._file.fileno()

    def close(self):
        self._file.close()
        super().close()


class Failing(FileSystem):
    """Counts operations; one of them, and all after it, raise.

    ``power`` also forgets what was not synced: contents that no `sync` and names that no `sync_folder`
    followed.
    """

    def __init__(self, at=None, error=Killed, *, power=False, lasting=True):
        self.n_steps, self.at, self.error, self.lasting = 0, at, error, lasting
        self.power = power
        self._safe_content, self._safe_names, self._names = {}, {}, {}

    def step(self, halfway=lambda: None):
        self.n_steps += 1
        if self.at is not None and (self.n_steps == self.at or (self.lasting and self.n_steps > self.at)):
            if self.n_steps == self.at:
                halfway()
            raise self.error

    def make_folder(self, path):
        self.step()
        super().make_folder(path)

    def create(self, path):
        self.step()
        self._names[path.name] = path.name
        return io.BufferedWriter(Raw(self, path), 1 << 16)

    def sync(self, file):
        file.flush()
        self.step()
        super().sync(file)
        path = file.raw.path
        self._safe_content[path.name] = path.read_bytes()

    def replace(self, old, new):
        self.step()
        super().replace(old, new)
        self._names[new.name] = self._names.pop(old.name)

    def sync_folder(self, folder):
        self.step()
        super().sync_folder(folder)
        self._safe_names = dict(self._names)

    def remove(self, path):
        self.step()
        super().remove(path)
        self._names.pop(path.name, None)

    def lose_power(self, folder: Path):
        """What a disk may hold afterwards: names as they were last synced, with what was synced of them."""
        for path in folder.iterdir():
            if path.name != "lock":
                path.unlink()
        for name, origin in self._safe_names.items():
            (folder / name).write_bytes(self._safe_content.get(origin, b""))


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


def resume(folder, parts, **options):
    return tp.resume(
        folder,
        parts.get("log_density"),
        progress=False,
        **{**{k: v for k, v in parts.items() if k != "log_density"}, **options},
    )
