"""Workers change nothing in what chains learn: shared modes, longer tuning, trimming, sweeps, resume."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from densities import two_modes
from kinds import form
from temperance import asked
from temperance.modes.policy import LEARNING
from temperance.runs import drive, lengthen
from temperance.runs.chain import ChainRun
from temperance.runs.sent import Made
from temperance.runs.snapshot import snapshot
from temperance.targets.answers import Answer
from test_pool import Here, _set, assert_same_runs, chains, orders, points

TUNE = 240
OPTIONS = {
    "initial": np.full(2, 0.5), "levels": 3, "chains": 3, "seed": 8, "draws": 150, "progress": False,
}  # fmt: skip
TRIMMED = tp.Settings(trimming=tp.Trimming(after=40, every=5, slack=0.9, min_levels=2))
APART = tp.Settings(jumps=tp.Jumps(share=False))
plain, rows = form("plain", two_modes), form("vectorized", two_modes)


def far_apart(x):
    """Two modes that only heat connects, where nobody jumps."""
    left, right = -0.5 * float(x @ x), -0.5 * float((x - 400.0) @ (x - 400.0))
    return max(left, right) + math.log1p(math.exp(-abs(left - right)))


def bent(x):
    """A mode that one component does not reproduce, so that all rounds are made."""
    return -0.5 * float(x[0] ** 2) - 8.0 * float(x[1] - x[0] ** 2) ** 2


def bent_rows(x):
    return -0.5 * x[:, 0] ** 2 - 8.0 * (x[:, 1] - x[:, 0] ** 2) ** 2


def crowded_rows(x):
    """Rows that do not stand alone: the last bits of a sum over all of them are in each."""
    return bent_rows(x) + 1e-12 * float(np.sum(x)) * len(x)


FAR_STARTS = np.array([[0.0, 0.0], [400.0, 400.0], [0.0, 0.0]])  # one for each level
ROUNDS = {
    "tune": 5 * TUNE,
    "settings": tp.Settings(jumps=tp.Jumps(rounds=True), trimming=tp.Trimming(min_levels=3)),
}
NO_JUMPS = tp.Settings(jumps=tp.Jumps(enabled=False), growth=tp.Growth(most=12))
# What chains learn, and how long they tune: longer than was planned without ``tune``, see `given`. A line
# here is tried by points and by chains, with 1, 2, 3 and 7 workers, in threads and in processes, and stopped
# in the middle; one in `IN_PARENT` with Dask and MPI, too.
SETUPS = {
    "together": {"model": plain, "tune": TUNE},
    "together, compiled": {"model": two_modes, "tune": TUNE},
    "together, vectorised": {"model": rows, "vectorized": True, "tune": TUNE},
    "apart": {"model": plain, "tune": TUNE, "settings": APART},
    "longer": {"model": plain},
    "longer, compiled": {"model": two_modes, "swaps": tp.swaps.heat_bath()},
    "longer, one chain": {"model": plain, "chains": 1},
    "longer, trimmed": {"model": plain, "settings": TRIMMED, "levels": 5},
    "trimmed, sweeps": {
        "model": plain, "tune": TUNE, "settings": TRIMMED, "levels": 5, "swaps": tp.swaps.even_odd(),
    },
    "priors, sweeps": {
        "log_likelihood": plain, "log_prior": lambda x: -0.05 * float(x @ x), "tune": TUNE,
        "swaps": tp.swaps.even_odd(),
    },
    "thinned": {"model": plain, "tune": TUNE, "thin": 4},
    "growing": {"model": far_apart, "initial": FAR_STARTS, "tune": 2 * TUNE, "settings": NO_JUMPS},
    "rounds": {"model": bent, **ROUNDS},
    "rounds, vectorised": {"model": bent_rows, "vectorized": True, **ROUNDS},
    "rounds, crowded": {"model": crowded_rows, "vectorized": True, **ROUNDS},
    "rounds, apart": {
        "model": bent, **ROUNDS, "chains": 2,
        "settings": replace(ROUNDS["settings"], jumps=tp.Jumps(rounds=True, share=False)),
    },
}  # fmt: skip
QUICK = ("together", "longer, one chain", "growing", "rounds")
# Those in which nothing is decided by a worker that is patched here.
IN_PARENT = (
    "together", "together, compiled", "together, vectorised", "longer", "trimmed, sweeps", "growing",
    "rounds", "rounds, crowded",
)  # fmt: skip
EVER_LONGER = replace(LEARNING, near_zero=(-1.0, 2.0), rising=0.0)


def every(names, quick):
    """All of them; those that are not among the quick ones are slow."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


def made(name, **options):
    return tp.sample(**{**OPTIONS, **SETUPS[name], **options})


def going_on(put=setattr):
    """By default tuning is short, and goes on to its cap."""
    put(lengthen, "_have_met", lambda *_: False)
    put(asked, "default_tune", lambda _: 60)


@pytest.fixture(autouse=True)
def given(request, monkeypatch):
    going_on(monkeypatch.setattr)
    if "one chain" in request.node.name:
        monkeypatch.setattr(lengthen, "LEARNING", EVER_LONGER)


@pytest.fixture
def short_segments(monkeypatch):
    monkeypatch.setattr(drive, "SENT_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(drive, "FIRST_SEGMENT", 7)


@pytest.fixture(scope="module")
def kept():
    """Runs without workers, each made once."""
    return {}


@pytest.fixture
def serial(kept):
    def get(name):
        if name not in kept:
            kept[name] = made(name)
        return kept[name]

    return get


def assert_same(one, other):
    """All that `assert_same_runs` compares, and all that was learnt."""
    assert one.n_tune == other.n_tune
    assert_same_runs(one, other)
    for chain, twin in zip(one.chains, other.chains, strict=True):
        assert (chain.lengthened, chain.setbacks) == (twin.lengthened, twin.setbacks)
        assert chain.ladder == twin.ladder
        assert (chain.modes is None) == (twin.modes is None)
        for name, array in {} if chain.modes is None else snapshot(chain.modes).items():
            np.testing.assert_array_equal(array, snapshot(twin.modes)[name], err_msg=name)


@pytest.mark.parametrize("name", every(SETUPS, QUICK))
def test_what_is_compared_is_there(name, serial):
    """Chains have learnt from each other, tuning went on, levels came or went: where a name says so."""
    result = serial(name)
    first = result.chains[0]
    if name == "growing":
        assert all(len(chain.beta) > len(FAR_STARTS) and chain.ladder for chain in result.chains)
        return
    assert any(chain.sampling.jump.max() >= 0 for chain in result.chains), "some jumped"
    assert result.n_tune == (240 if "longer" in name else SETUPS[name]["tune"])
    assert len(first.lengthened) == (2 if "longer" in name else 0)
    if "trimmed" in name:
        assert min(len(chain.beta) for chain in result.chains) < 5
    if len(result.chains) > 1:
        centres = [chain.modes.centre for chain in result.chains]
        assert all(np.array_equal(centres[0], one) for one in centres) == ("apart" not in name)
    if "rounds" in name:
        assert all(chain.modes.n_broad > 1 for chain in result.chains), "what rounds have made is jumped from"
        assert all(chain.tuning.evaluations[-1] > 1_000 for chain in result.chains)


@pytest.mark.parametrize("size", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 3, 7))])
@pytest.mark.parametrize("name", every(SETUPS, (QUICK[0], "rounds")))
def test_points_by_worker_make_the_same_run(name, size, serial):
    assert_same(made(name, pool=points(Here(size))), serial(name))


@pytest.mark.parametrize("size", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 3, 7))])
@pytest.mark.parametrize("name", every(SETUPS, QUICK))
def test_chains_by_worker_make_the_same_run(name, size, serial, short_segments):
    pool = Here(size)
    assert_same(made(name, pool=chains(pool)), serial(name))
    assert orders(pool) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", SETUPS)
def test_threads_make_the_same_run(name, serial):
    """Chains in threads, and points in threads of others."""
    for cores in (1, 2, 3):
        assert_same(made(name, cores=cores), serial(name))
    with ThreadPoolExecutor(3) as threads:
        assert_same(made(name, pool=threads), serial(name))


class Lengthening:
    """A density that makes the tuning go on wherever it arrives: workers know nothing of what is patched."""

    def __call__(self, x):
        return two_modes(x)

    def __reduce__(self):
        return arrived, ()


def arrived():
    lengthen.LEARNING = EVER_LONGER
    return Lengthening()


@pytest.mark.slow
@pytest.mark.parametrize("share", [points, chains])
@pytest.mark.parametrize("name", SETUPS)
def test_processes_make_the_same_run(name, share, serial, short_segments):
    density = {"model": Lengthening()} if name == "longer, one chain" else {}
    assert_same(made(name, pool=share(3), **density), serial(name))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("share", [points, chains])
@pytest.mark.parametrize("name", ["together", "together, vectorised", "trimmed, sweeps"])
def test_any_number_of_processes_makes_the_same_run(name, share, size, serial):
    assert_same(made(name, pool=share(size)), serial(name))


ENOUGH = 600  # draws of a run that is stopped after a few


def stopped_halfway(name, folder, **options):
    """A run that is stopped when all chains have some draws: none gets far ahead of the others."""
    stop = tp.Stop()

    def told(facts):
        if facts.draws > 100:
            stop.set()

    slow = {"model": slowly} if name != "together, vectorised" else {"model": slow_rows}
    with pytest.warns(tp.IncompleteWarning):
        made(name, store=folder, stop=stop, progress=told, draws=ENOUGH, **slow, **options)


def slowly(x):
    time.sleep(0.001)
    return plain(x)


def slow_rows(x):
    time.sleep(0.005)
    return rows(x)


def gone_on(name, folder, **options):
    """The same to its end, and the run that was never stopped."""
    functions = {key: value for key, value in SETUPS[name].items() if key in FUNCTIONS}
    assert 0 < tp.load(folder).draws.shape[1] < ENOUGH
    return tp.resume(folder, progress=False, **functions, **options), made(name, draws=ENOUGH)


@pytest.mark.slow
@pytest.mark.parametrize("other", [None, points, chains])
@pytest.mark.parametrize("share", [None, points, chains])
@pytest.mark.parametrize("name", ["together", "together, vectorised", "trimmed, sweeps"])
def test_processes_go_on_with_what_others_began(name, share, other, tmp_path, short_segments):
    """From the middle of the draws, with jumps ahead of time on both sides, or on one."""
    stopped_halfway(name, tmp_path / "run", **({"cores": 1} if share is None else {"pool": share(2)}))
    again, whole = gone_on(name, tmp_path / "run", **({"cores": 1} if other is None else {"pool": other(3)}))
    assert_same(again, whole)


STOPS = {"tuning": 0.2, "draws": 0.8}  # after how much of a run it is stopped
FUNCTIONS = ("model", "log_likelihood", "log_prior", "vectorized")


class Stopping(Here):
    """A pool that has the run stopped after so many rows: points that it evaluated, or iterations made."""

    def __init__(self, stop, n_rows):
        super().__init__(2, self.count)
        self.stop, self.n_left = stop, n_rows

    def count(self, answers):
        for one in answers:
            if isinstance(one, Made):
                self.n_left -= len(one.tuning.draws) + len(one.sampling.draws)
            elif isinstance(one, Answer):
                self.n_left -= len(one.values)
        if self.n_left < 0 and not self.stop.is_set():
            self.stop.set()
            time.sleep(0.2)  # until the run has seen it
        return answers


@pytest.mark.parametrize("when", STOPS)
@pytest.mark.parametrize("share", [points, chains])
@pytest.mark.parametrize("name", every((name for name in SETUPS if "crowded" not in name), QUICK[1:]))
def test_a_run_that_was_stopped_goes_on_with_others(name, share, when, serial, tmp_path, short_segments):
    """Stopped under workers; gone on with by none, until it is stopped again; and by other workers.

    Where rows do not stand alone, a run that goes on is told to be not the same in all bits.
    """
    functions = {key: value for key, value in SETUPS[name].items() if key in FUNCTIONS}
    expected, folder, stop = serial(name), tmp_path / "run", tp.Stop()
    n_rows = sum(
        int(trace.evaluations.sum()) if share is points else len(trace.draws)
        for chain in expected.chains for trace in (chain.tuning, chain.sampling)
    )  # fmt: skip
    with pytest.warns(tp.IncompleteWarning):
        made(name, pool=share(Stopping(stop, STOPS[when] * n_rows)), store=folder, stop=stop)
    with pytest.warns(tp.IncompleteWarning):
        again = tp.resume(folder, progress=False, stop=_set(), **functions)
    assert not again.complete
    assert_same(tp.resume(folder, progress=False, pool=share(Here(3)), **functions), expected)


@pytest.mark.parametrize("share", [points, chains])
@pytest.mark.filterwarnings("ignore::temperance.LearningWarning")
def test_what_scouts_meet_is_the_same_whoever_works(share):
    """They end there, by an error of the density that nothing but they come across."""

    def edged(x):
        if 30.0 < x[0] < 39.5:
            raise ValueError("not there")
        return plain(x)

    settings, far = (
        tp.Settings(jumps=tp.Jumps(share=False)),
        np.array([[40.0, 0.0], [40.0, 1.0], [40.0, 2.0]]),
    )
    options = {"tune": TUNE, "settings": settings, "levels": 1, "search": tp.Search(points=far)}
    serial = made("together", model=edged, cores=1, **options)
    assert sum(chain.modes.n_scouts_lost for chain in serial.chains) > 0
    assert_same(made("together", model=edged, pool=share(Here(2)), **options), serial)


@pytest.mark.parametrize(("share", "other"), [(None, chains), (points, None), (chains, points)])
def test_a_scout_that_fails_is_counted_once(share, other, serial, tmp_path, monkeypatch):
    """Broken: evaluations of a scout that failed in a worker, counted again when it is sent again.

    Likewise those of a scout that is the first thing that a worker does, not counted at all.
    """
    walk, seen, walking = ChainRun._walk, [], []

    def noted(run, *arguments):
        walking.append(run)
        try:
            return walk(run, *arguments)
        finally:
            walking.pop()

    def noting(x):
        seen.extend([x.tobytes()] if walking else [])
        return plain(x)

    with monkeypatch.context() as patched:
        patched.setattr(ChainRun, "_walk", noted)
        assert_same(made("apart", model=noting, cores=1), serial("apart"))
    bad = seen[len(seen) // 2]

    def failing(x):
        if x.tobytes() == bad:
            raise SystemExit("not there")
        return plain(x)

    pool = {} if share is None else {"pool": share(Here(2))}
    with pytest.raises(SystemExit, match="not there"):
        made("apart", model=failing, store=tmp_path / "run", **pool)
    expected, again = serial("apart"), {} if other is None else {"pool": other(Here(2))}
    assert_same(tp.resume(tmp_path / "run", plain, progress=False, **again), expected)
