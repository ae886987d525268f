"""A ladder that grows while it tunes: its rules against naive ones, and runs that keep all their promises."""

import itertools
import math
import warnings
from dataclasses import replace

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from densities import gaussian
from harness import HandTarget, make_plan, make_run
from temperance.core import schema
from temperance.core.lanes import LANES
from temperance.core.state import N_KINDS
from temperance.core.temper import adapt_gaps, measure_edges
from temperance.core.unimodal import NEXT
from temperance.executors.threads import Threads
from temperance.modes.components import Components
from temperance.modes.policy import HEATING, LEAPING
from temperance.runs import growing, heat
from temperance.runs import plan as plans
from temperance.runs.chain import ChainRun
from temperance.runs.drive import Crew, drive, meetings
from temperance.runs.heat import Change, Sight
from temperance.runs.levels import covariances
from temperance.runs.plan import kernel_settings, looks
from temperance.runs.progress import Silent
from temperance.runs.seeds import NORMALS, stream
from temperance.runs.snapshot import snapshot
from temperance.runs.starts import Starts
from temperance.store.memory import InPlace
from temperance.targets import gather, make_target
from test_segments import assert_same, rows_of

DIM = 3
FAR = np.array([400.0, 0.0, 0.0])
GROWING = tp.Settings(growth=tp.Growth(enabled=True))
NO_JUMPS = replace(GROWING, jumps=tp.Jumps(enabled=False))


@numba.njit
def far_modes(x):
    """Two round modes four hundred widths apart."""
    first = second = 0.0
    for i in range(x.shape[0]):
        first += x[i] ** 2
        second += (x[i] - (400.0 if i == 0 else 0.0)) ** 2
    return np.logaddexp(-0.5 * first, -0.5 * second)


@numba.njit
def narrow(x):
    """A likelihood a hundred times narrower than `wide`."""
    return 1e4 * gaussian(x)


@numba.njit
def wide(x):
    """A normal prior, but for its constant."""
    return gaussian(x)


@numba.njit
def cauchy(x):
    """Independent tails without a variance."""
    total = 0.0
    for i in range(x.shape[0]):
        total -= np.log(1.0 + x[i] ** 2)
    return total


def hand_plan(betas, dim=2, *, prior=None, **changes):
    return make_plan(HandTarget(gaussian, prior), betas, dim, growth=tp.Growth(enabled=True), **changes)


# ---- rows


def row(state, name, level):
    _, field = schema.fields(type(state))[name]
    array = getattr(state, name)
    return array[level // LANES, ..., level % LANES] if field.axes[0] == "bundle" else array[level]


@pytest.mark.parametrize("where", [1, 2, 4, 5])
def test_a_level_is_put_in_as_a_copy_of_the_colder_one_beside_it(where, rng) -> None:
    """Whatever fields there are; the naive twin makes a list of levels and puts one into it."""
    plan = hand_plan((1.0, 0.5, 0.2, 0.1, 0.05), settings=NO_JUMPS)
    run = make_run(plan)
    state, n_levels = run.state, 5
    for column in (state.position, state.log_density, state.mean, state.coordinate_log_scale):
        column[...] = rng.standard_normal(column.shape)
    state.cov_factor[...] = rng.standard_normal(state.cov_factor.shape)
    state.cov_diag[...] = rng.uniform(0.5, 2.0, state.cov_diag.shape)
    state.spread[...], state.iteration[0] = 1.5, 77
    names = [name for name, (_, field) in schema.fields(type(state)).items() if field.belongs_to is not None]
    before = {name: [np.copy(row(state, name, level)) for level in range(n_levels)] for name in names}
    growing.put_in(state, where, {1: 1.3, 2: 3.0, 4: 15.0, 5: 50.0}[where], 9, np.random.SeedSequence(4))
    assert state.n_levels[0] == 6
    own = {"beta", "log_gap", "cov_diag", "deviation", "coordinate_log_scale", "spread", "put_in", "replica",
           "born", "normal_stream", "uniform_stream", "move_stream"}  # fmt: skip
    for name in names:
        _, field = schema.fields(type(state))[name]
        expected = before[name].copy()
        new = expected[where - 1] if field.inherited else np.full_like(expected[where - 1], field.fill)
        expected.insert(where, new)
        for level in range(6):
            if name == "log_gap" or (level == where and name in own):
                continue
            np.testing.assert_allclose(row(state, name, level), expected[level], rtol=1e-12, err_msg=name)
    assert math.isnan(state.spread[where, 0])
    assert state.spread[where, NEXT] == 0.0
    assert (state.put_in[where], state.born[where], state.replica[where]) == (77, 9, 9)
    np.testing.assert_array_equal(state.normal_stream[where], stream(np.random.SeedSequence(4), NORMALS, 9))
    temperature = 1.0 / state.beta[:6]
    np.testing.assert_allclose(np.exp(state.log_gap[:5]), np.diff(temperature))
    between = temperature[where] / temperature[where - 1]
    if where < n_levels:  # its variances are between those of its neighbours, by their logarithms
        hotter = before["cov_diag"][where]
        between = np.exp(0.5 * np.mean(np.log(hotter) - np.log(before["cov_diag"][where - 1])))
    np.testing.assert_allclose(row(state, "cov_diag", where), between * before["cov_diag"][where - 1])


def test_a_level_that_is_taken_out_leaves_the_others_as_they_are(rng) -> None:
    run = make_run(hand_plan((1.0, 0.5, 0.2, 0.1, 0.0), prior=gaussian, settings=NO_JUMPS))
    run.state.position[...] = rng.standard_normal(run.state.position.shape)
    before = schema.snapshot(run.state)
    growing.take_out(run.state, 2)
    kept = [0, 1, 3, 4]
    assert run.state.n_levels[0] == 4
    np.testing.assert_array_equal(run.state.position[:4], before["position"][kept])
    np.testing.assert_array_equal(run.state.born[:4], kept)
    np.testing.assert_allclose(run.state.beta[:4], before["beta"][kept])
    np.testing.assert_allclose(np.exp(run.state.log_gap[:2]), [1.0, 8.0])


def test_new_temperatures_lie_between_above_and_before_the_prior() -> None:
    run = make_run(hand_plan((1.0, 0.25, 0.0), prior=gaussian, settings=NO_JUMPS))
    born = growing.changed(run.state, Change(between=(0, 1)), 3.0, 3, np.random.SeedSequence(1))
    assert born == 2
    np.testing.assert_allclose(run.state.beta[:5], [1.0, 0.5, 0.25, 0.0625, 0.0])
    assert run.state.born[:5].tolist() == [0, 4, 1, 3, 2]
    run = make_run(hand_plan((1.0, 0.25), settings=NO_JUMPS))
    growing.changed(run.state, Change(above=2), 3.0, 2, np.random.SeedSequence(1))
    np.testing.assert_allclose(run.state.beta[:4], [1.0, 0.25, 0.25 / 3.0, 0.25 / 9.0])
    assert run.state.born[:4].tolist() == [0, 1, 2, 3]


# ---- rules


def sight_of(n_levels, **changes):
    usual = {
        "temperature": 3.0 ** np.arange(n_levels),
        "score": np.full(n_levels, 1.1),
        "rate": np.full(n_levels - 1, 0.234),
        "base_gap": 0.0,
        "hot_gap": 0.0,
        "is_far": False,
        "off": np.empty(0, dtype=np.int64),
        "jumps_carry": False,
    }
    return Sight(**{**usual, **changes})


PLAN = hand_plan(3.0 ** -np.arange(5.0), dim=4, settings=NO_JUMPS, tune=1_000)
PRIOR_PLAN = hand_plan((1.0, 0.3, 0.1, 0.0), dim=4, prior=gaussian, settings=NO_JUMPS, tune=1_000)


def test_a_ladder_that_suffices_stays() -> None:
    assert heat.change(PLAN, sight_of(5), 250) == Change()


@pytest.mark.parametrize("gap", [50.0, 101.0, 400.0, 1e6])
def test_modes_far_apart_at_the_hottest_level_ask_for_levels_above(gap) -> None:
    """One by one, the twin heats until the squared distance has fallen to that of modes that merge.

    Where there is not room for as many levels there are none: they would be paid for and join nothing.
    """
    wanted, left, ratio = 0, gap, math.exp(heat.step_ratio(PLAN))
    while gap > HEATING.apart and left > HEATING.merged:
        wanted, left = wanted + 1, left / ratio
    made = wanted * (wanted <= PLAN.most_levels - 5)
    found = heat.change(PLAN, sight_of(5, hot_gap=gap), 250)
    assert found.above == min(made, 5)
    assert bool(found.why) == (made > 0)
    assert heat.change(PLAN, sight_of(5, hot_gap=gap), 50) == Change(), "nothing has settled"
    assert heat.change(PLAN, sight_of(5, hot_gap=gap, jumps_carry=True), 250) == Change()
    assert heat.change(PLAN, sight_of(5, hot_gap=gap, is_far=True), 250) == Change()
    full = replace(PLAN, settings=replace(NO_JUMPS, growth=tp.Growth(enabled=True, most=6)))
    assert heat.change(full, sight_of(5, hot_gap=gap), 250).above == wanted * (wanted == 1)


@pytest.mark.parametrize(
    ("score", "several"),
    [
        ((1.0, 1.0, 0.9, 0.5, 0.3), True),  # stuck in one mode each, up to where both are seen
        ((0.3, 0.3, 0.2, 0.3, 0.4), False),
        ((0.01, 0.02, 0.04, 0.06, 0.1), True),  # no shape is as bad as that
        ((0.4, 0.4, 0.4, 0.4, 0.4), False),  # no level is at ease with the shape
        ((1.0, 1.0, 1.0, 0.9, 0.8), False),
        ((1.0, 1.0, 1.0, 0.9, math.nan), False),
        ((math.nan, math.nan, 1.0, 0.2, 0.3), True),
        ((0.1, 0.3, 0.6, 0.3, 0.1), False),  # joined by the third level, and from there on cut by walls
    ],
)
def test_what_scores_say_of_the_hottest_level(score, several) -> None:
    gap = heat.gap_by_score(PLAN, sight_of(5, score=np.array(score)))
    assert (gap > HEATING.merged) == several
    if several:  # D²/4 more than the spread d of one mode
        assert math.isclose(gap / 4.0 / PLAN.dim + 1.0, 1.0 / score[-1] ** 2)


def test_an_edge_that_nearly_nothing_passes_gets_a_level_in_its_middle() -> None:
    rate = np.array([0.2, 0.01, 0.3, 0.001])
    found = heat.change(PLAN, sight_of(5, rate=rate, base_gap=1e4), 250)
    assert found.between == (1, 3)
    assert heat.change(PLAN, sight_of(5, rate=rate), 250) == Change(), "there is one mode"
    close = sight_of(5, rate=rate, base_gap=1e4, temperature=np.array([1.0, 2.0, 2.1, 5.0, 5.1]))
    assert heat.change(PLAN, close, 250).between == ()


def test_levels_without_end_go_and_nothing_is_heated() -> None:
    off = sight_of(8, off=np.array([6, 7]), hot_gap=1e6)
    assert heat.change(PLAN, off, 250) == Change(out=(6, 7), why="they had no end to go to")
    assert heat.change(PLAN, sight_of(8, off=np.array([1])), 250).out == (5, 6, 7), "those of the start stay"
    assert heat.change(PLAN, sight_of(5, off=np.array([3, 4]), hot_gap=1e6), 250) == Change()


def test_what_came_back_is_not_named() -> None:
    """Ever farther out at one look and not at the next: it was on its way to where it belongs."""
    run = make_run(PLAN)
    off, back = sight_of(5, off=np.array([3])), sight_of(5)
    named = []
    for sight in (off, off, back, off):
        run.take_change(sight, Change())
        named.append(len(run.now.ran_off))
    assert named == [1, 2, 0, 1]


def test_nothing_is_heated_where_leaps_carry() -> None:
    """Of leaps nothing is known before they were made: what was taken for granted does not count."""
    plan = hand_plan((1.0, 0.5), dim=30, settings=GROWING)
    learner = make_run(plan).now.learner
    known = Components(np.zeros((2, 30)), np.stack([np.eye(30)] * 2), np.zeros(2), np.ones(2, dtype=np.int64))
    for acceptance, carries in ((LEAPING.prior_acceptance, False), (0.3, True)):
        leaps = replace(learner.leaps, chance=np.full(N_KINDS, 0.06), acceptance=np.full(N_KINDS, acceptance))
        told = replace(learner, components=known, acceptance=0.0, efficiency=0.0, leaps=leaps)
        assert heat.carries(told, plan) == carries
        never_made = replace(told, leaps=replace(leaps, chance=np.zeros(N_KINDS)))
        assert not heat.carries(never_made, plan)


@pytest.mark.parametrize("rate", [(0.05, 0.06, 0.04), (0.9, 0.8, 0.95), (0.25, 0.2, 0.3), (0.6, 0.9, 0.2)])
def test_before_a_prior_levels_are_as_many_as_the_barrier_asks_for(rate) -> None:
    def width(rate):  # two normals of unit variance so far apart would exchange at this rate
        low, high = 0.0, 50.0
        while high - low > 1e-12:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if math.erfc(middle / math.sqrt(8.0)) > rate else (low, middle)
        return low

    edges = 1
    while width(tp.Adaptation().swap_acceptance) * edges < sum(width(one) for one in rate):
        edges += 1
    found = heat.change(PRIOR_PLAN, sight_of(4, rate=np.array(rate)), 250)
    assert len(found.between) == min(max(edges - 3, 0), 4)
    assert len(found.out) == min(max(3 - edges, 0), 2)
    if 0 < len(found.between) < 3:
        assert set(found.between) == set(np.argsort(rate)[: len(found.between)])
    kept = replace(PRIOR_PLAN, settings=replace(NO_JUMPS, trimming=tp.Trimming(enabled=False)))
    assert heat.change(kept, sight_of(4, rate=np.array(rate)), 250).out == ()


def test_the_widest_gap_is_the_longest_edge_of_the_shortest_tree(rng) -> None:
    """Against all ways to cut the points in two: what is left between the parts is the shortest link."""
    points, shape = rng.standard_normal((6, 2)) * 3.0, np.array([[2.0, 0.5], [0.5, 1.0]])
    inverse = np.linalg.inv(shape)
    links = []
    for size in (1, 2, 3):
        for part in itertools.combinations(range(6), size):
            rest = set(range(6)) - set(part)
            links.append(min((points[i] - points[k]) @ inverse @ (points[i] - points[k])
                             for i in part for k in rest))  # fmt: skip
    assert math.isclose(heat.widest_gap(points, shape), max(links))
    assert heat.widest_gap(points[:1], shape) == 0.0


def test_chains_in_different_modes_count_as_one_that_sees_both(rng) -> None:
    plan = hand_plan((1.0, 0.5), settings=NO_JUMPS)
    runs = [make_run(plan) for _ in range(2)]
    for run, centre in zip(runs, (0.0, 8.0), strict=True):
        run.state.mean[:2], run.state.spread[:2, 0] = centre, 1.0
    together = heat.pooled_score(plan, [run.state for run in runs])
    alone = heat.pooled_score(plan, [runs[0].state])
    shape = covariances(runs[0].state)
    # Two means 8 apart in both coordinates: variance 32 each, beside the level's own.
    expected = alone / np.sqrt(1.0 + 32.0 / shape[:, 0, 0])
    np.testing.assert_allclose(together, expected)


def test_a_level_runs_off_when_it_is_twice_as_far_at_each_look() -> None:
    run = make_run(hand_plan((1.0, 0.5, 0.25), settings=NO_JUMPS))
    seen = []
    for out, near in ((300.0, 300.0), (3_000.0, 500.0), (30_000.0, 900.0), (2e5, 1_000.0)):
        run.state.position[1], run.state.position[2] = near, out
        seen.append(heat.runs_off(run.state).tolist())
        heat.note_reach(run.state)
    assert seen == [[], [], [2], [2]]
    for out, near in ((0.5, 0.0), (2.0, 0.0), (4_000.0, 0.0)):  # from mode to mode
        run.state.position[1], run.state.position[2] = near, out
        assert not len(heat.runs_off(run.state))
        heat.note_reach(run.state)


def test_a_level_in_another_mode_is_not_far_out() -> None:
    """As far as in a tail, but its log density is as high as at the base."""
    run = make_run(hand_plan((1.0, 0.5), settings=NO_JUMPS))
    run.state.position[1] = 900.0
    for value, far in ((-1.0, False), (-500.0, True)):
        run.state.log_density[:2] = 0.0, value
        assert heat.is_far_out(run.state) == far


def test_equal_edges_follow_their_mean(rng) -> None:
    """Phase 4 against the naive one, which is given the mean rate as its target."""
    run = make_run(hand_plan((1.0, 0.5, 0.2, 0.0), prior=gaussian, settings=NO_JUMPS, tune=50))
    settings = kernel_settings(run.plan, adapting=True)
    assert settings.equal_edges
    assert settings.trim_after == -1
    state, info = run.state, run.info
    state.log_density[:4] = rng.standard_normal(4)
    temperature = np.append(1.0 / state.beta[:3], np.inf)
    measure_edges(state, info)
    mean = info.adjacent_swap_accept[:3].mean()
    adapt_gaps(state, info, settings)
    gain = naive.gain(1, 1.0, settings.gap_gain_exponent, settings.gap_gain_delay)
    expected = naive.temperature_step(
        naive.NaiveState(**{**dict.fromkeys(naive.NaiveState.__dataclass_fields__),
                            "temperature": temperature}),
        state.log_density[:4], gain, mean,
    )  # fmt: skip
    np.testing.assert_allclose(1.0 / state.beta[:3], expected[:3])
    assert state.beta[3] == 0.0


# ---- runs


def grown_plan(*, jumps=False, draws=60, tune=400, chains=1):
    """Both modes are known from the start, and nothing but heat goes from one to the other."""
    target = make_target(gather(log_density=far_modes), vectorized=False)
    settings = tp.Settings(jumps=tp.Jumps(enabled=jumps))
    return make_plan(
        target,
        (1.0, 0.5, 0.25),
        DIM,
        tune=tune,
        draws=draws,
        growth=tp.Growth(enabled=True),
        chains=chains,
        settings=settings,
        strategy=tp.swaps.even_odd(),
    )


def forced(monkeypatch, *changes):
    """These changes, one a look, whatever is seen, and looks from the first rows on."""
    kept = list(changes)
    monkeypatch.setattr(plans, "HEATING", replace(HEATING, least_iterations=0))

    def change(plan, sight, n_done):
        places = sorted(looks(plan))
        return kept[places.index(n_done)] if places.index(n_done) < len(kept) else Change()

    monkeypatch.setattr(heat, "change", change)


CHANGES = (Change(), Change(above=2, why="a test wanted it"), Change(between=(0, 3), why="a test wanted it"),
           Change(out=(2,), why="a test wanted it"))  # fmt: skip


def chain_of(plan, index=0):
    starts = Starts(np.array([np.zeros(DIM), FAR, np.zeros(DIM)]), np.random.default_rng(0))
    return ChainRun(plan, index, starts, np.random.SeedSequence(5 + index))


@pytest.fixture
def whole(monkeypatch):
    forced(monkeypatch, *CHANGES)
    run = chain_of(grown_plan())
    run.run()
    assert run.finished
    assert run.failure is None
    return run


def test_a_run_grows_and_says_so(whole) -> None:
    counts = whole.tuning.n_levels
    assert counts.max() == 7
    assert counts[: int(0.12 * 400)].max() == 3
    assert np.all(whole.sampling.n_levels == whole.sampling.n_levels[0]), "never while drawing"
    record = whole.leave()
    assert len(record.ladder) == 3
    assert "2 levels put in" in record.ladder[0]
    assert len(set(whole.state.born[: whole.state.n_levels[0]])) == whole.state.n_levels[0]
    n_levels = int(whole.state.n_levels[0])
    values = [far_modes(point) for point in whole.state.position[:n_levels]]
    np.testing.assert_array_equal(whole.state.log_density[:n_levels], values)


def test_log_densities_of_new_levels_are_those_of_their_points(monkeypatch) -> None:
    """Right after they were put in, before any of them has moved."""
    forced(monkeypatch, *CHANGES)
    run = chain_of(grown_plan())
    for look in sorted(looks(run.plan))[:4]:
        run.advance(look - run.n_done)
        run.advance(0)  # what is due after this iteration
        n_levels = int(run.state.n_levels[0])
        values = [far_modes(point) for point in run.state.position[:n_levels]]
        np.testing.assert_array_equal(run.state.log_density[:n_levels], values)
    assert n_levels == 6


@pytest.mark.parametrize("size", [1, 7])
def test_blocks_of_any_size_make_the_same_run(size, whole, monkeypatch) -> None:
    run = chain_of(grown_plan())
    run._noise.block_size = size
    run.run()
    assert_same(rows_of(run), rows_of(whole))


def test_segments_and_snapshots_make_the_same_run(whole, rng) -> None:
    run = chain_of(grown_plan())
    while not run.finished:
        run.advance(int(rng.integers(1, 40)))
        run = ChainRun.from_snapshot(
            run.plan, 0, np.random.SeedSequence(5), run.snapshot(),
            tuning=run.tuning, given={"tuning": 0, "sampling": 0},
        )  # fmt: skip
    assert_same(snapshot(run.now).values(), snapshot(whole.now).values())
    np.testing.assert_array_equal(run.tuning.log_density, whole.tuning.log_density)


def test_a_level_put_in_later_shifts_nobody_s_random_numbers(monkeypatch) -> None:
    """Streams of those that were there are where they are without it; a shared stream is seen."""

    def streams(*changes):
        with monkeypatch.context() as patched:
            forced(patched, *changes)
            run = chain_of(grown_plan(tune=200, draws=0))
            run.run()
        born = run.state.born[: run.state.n_levels[0]]
        return {int(number): tuple(run.state.normal_stream[level]) for level, number in enumerate(born)}

    alone, grown = streams(), streams(Change(), Change(between=(0,), above=1))
    assert set(grown) == {0, 1, 2, 3, 4}
    assert all(alone[number] == grown[number] for number in alone)
    assert len(set(grown.values())) == 5
    monkeypatch.setattr(growing, "stream", lambda seed, purpose, born: stream(seed, purpose, 0))
    shared = streams(Change(), Change(between=(0,), above=1))
    assert len(set(shared.values())) < 5, "a stream that new levels share"


@pytest.mark.parametrize("workers", [1, 3])
def test_chains_that_share_grow_alike_whatever_the_threads(workers, monkeypatch) -> None:
    forced(monkeypatch, Change(), Change(above=1, why="a test wanted it"))

    def driven(n_workers):
        plan = grown_plan(jumps=True, chains=2, tune=300, draws=20)
        runs = [chain_of(plan, index) for index in range(2)]
        drive(runs, Crew(Threads(n_workers), InPlace(runs), Silent()), meetings(runs))
        return runs

    runs, alone = driven(workers), driven(1)
    for run, other in zip(runs, alone, strict=True):
        assert run.finished
        assert len(run.now.ladder) == 1
        assert_same(rows_of(run), rows_of(other))
    assert runs[0].now.ladder == runs[1].now.ladder


def test_a_stored_run_that_grew_is_read_and_gone_on_with(monkeypatch, tmp_path) -> None:
    forced(monkeypatch, *CHANGES)
    start = np.array([np.zeros(DIM), FAR, np.zeros(DIM)])
    options = {"initial": start, "levels": 3, "tune": 400, "draws": 300, "chains": 2, "seed": 3,
               "settings": NO_JUMPS, "progress": False, "preflight": False}  # fmt: skip
    expected = tp.sample(lambda x: float(far_modes(x)), **options)
    calls = [0]

    def stopping(x):
        calls[0] += 1
        if calls[0] == 5_000:
            raise KeyboardInterrupt
        return float(far_modes(x))

    with pytest.warns(tp.IncompleteWarning):
        tp.sample(stopping, **options, store=tmp_path / "run")
    calls[0] = -(10**9)
    result = tp.resume(tmp_path / "run", stopping, progress=False)
    read = tp.load(tmp_path / "run")
    for one in (result, read):
        np.testing.assert_array_equal(one.draws, expected.draws)
        for chain, other in zip(one.chains, expected.chains, strict=True):
            assert chain.ladder == other.ladder
            np.testing.assert_array_equal(chain.sampling.log_density, other.sampling.log_density)
            np.testing.assert_array_equal(chain.tuning.beta, other.tuning.beta)
    expected.save(tmp_path / "saved")
    assert tp.load(tmp_path / "saved.npz").chains[0].ladder == expected.chains[0].ladder
    assert expected.n_levels_at_start == 3
    assert max(expected.n_levels) > 3
    assert "levels put in" in str(expected)


def test_where_growth_is_off_there_is_room_for_none() -> None:
    for settings in (tp.paper_settings(), tp.Settings(growth=tp.Growth(enabled=False))):
        plan = replace(grown_plan(), settings=settings)
        assert not plan.grows
        assert plan.most_levels == plan.n_levels
        assert not looks(plan)
        assert not kernel_settings(plan, adapting=True).equal_edges


def test_room_for_levels_to_come_is_no_start() -> None:
    """Rows of levels that are not there yet hold zeros, as a start there would, of a high density."""
    peaks = tp.zoo.twenty_peaks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tp.sample(
            peaks,
            initial=[5.0, 5.0],
            chains=1,
            settings=GROWING,
            draws=500,
            tune=2_000,
            seed=1,
            progress=False,
        )
    assert result.searched.starts == 1
    assert np.linalg.norm(result.chains[0].modes.centre, axis=1).min() > 1.0


def test_looks_are_meetings_of_chains_that_share() -> None:
    plan = replace(grown_plan(jumps=True, chains=4), tune=1_000)
    assert plan.shares
    assert sorted(looks(plan)) == [120, 250, 500, 1_000], "after sixty iterations rates say nothing"


# ---- what it is for


def test_heat_is_added_until_far_modes_are_joined() -> None:
    """One position of three is in the second mode, or two: with a short ladder shares stay like that."""
    starts = np.array([[np.zeros(DIM), FAR, np.zeros(DIM)], [FAR, np.zeros(DIM), FAR]])
    options = {"initial": starts, "temperatures": [1.0, 2.0, 4.0], "chains": 2, "tune": 6_000,
               "draws": 20_000, "seed": 1, "progress": False}  # fmt: skip
    short = replace(NO_JUMPS, growth=tp.Growth(enabled=False), trimming=tp.Trimming(enabled=False))
    stuck = tp.sample(far_modes, **options, settings=short)
    np.testing.assert_allclose(share_beyond(stuck), [1.0 / 3.0, 2.0 / 3.0], atol=0.05)
    joined = tp.sample(far_modes, **options, settings=NO_JUMPS)
    assert min(joined.n_levels) > 3
    np.testing.assert_allclose(share_beyond(joined), 0.5, atol=0.1)


def share_beyond(result):
    """Of the draws of each chain, how many are in the second mode."""
    return [np.mean(draws[:, 0] > 200.0) for draws in result.draws]


def test_edges_down_to_a_prior_exchange_alike() -> None:
    """A likelihood a hundred times narrower than the prior, from far too few levels."""
    result = tp.sample(
        log_likelihood=narrow, log_prior=wide, initial=np.zeros(3), levels=3, tune=4_000,
        draws=2_000, chains=2, seed=1, settings=NO_JUMPS, progress=False,
    )  # fmt: skip
    for chain in result.chains:
        assert chain.beta[-1] == 0.0
        assert len(chain.beta) > 3
        rates = chain.sampling.adjacent_swap_accept[:, : len(chain.beta) - 1].mean(axis=0)
        assert rates.min() > 0.05
        assert rates.max() < 4.0 * rates.min()
    truth = 1.5 * math.log(1.0 / (1.0 + 1e4))
    evidence = result.log_evidence()
    assert abs(evidence.value - truth) < 5.0 * evidence.error + 0.05


def test_heavy_tails_stop_the_heating_and_are_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.BoundWarning)  # temperatures run off before that is seen
        result = tp.sample(cauchy, initial=np.zeros(5), draws=500, seed=1, settings=GROWING, progress=False)
    assert any(chain.ran_off for chain in result.chains)
    assert "endless heat" in [warning.name for warning in result.warnings]
    healthy = tp.sample(gaussian, initial=np.zeros(5), draws=500, seed=1, settings=GROWING, progress=False)
    assert not any(chain.ran_off or chain.ladder for chain in healthy.chains)


@pytest.mark.parametrize("field", [{"most": 0}, {"most": 2.5}, {"enabled": "yes"}])
def test_bad_settings_are_named(field) -> None:
    with pytest.raises((tp.InvalidInputError, tp.InvalidTypeError), match=next(iter(field))):
        tp.Growth(**field)
