"""A vectorised density is asked for points to come with those it must give: fewer calls, the same draws."""

import math

import numpy as np
import pytest

import temperance as tp
from densities import two_modes
from kinds import form
from temperance.core.state import Trace
from temperance.runs import batching, chain, drive
from temperance.runs.allocate import no_rows
from temperance.targets.batches import ENOUGH, ROWS, Batches
from test_pool import _set, assert_same_runs

rows = form("vectorized", two_modes)
OPTIONS = {
    "initial": np.full(2, 0.5), "levels": 4, "chains": 1, "seed": 5, "progress": False, "preflight": False,
    "tune": 1_000, "draws": 1_200, "vectorized": True,
}  # fmt: skip
TRIMMED = tp.Settings(trimming=tp.Trimming(after=40, every=5, slack=0.9, min_levels=2))


def cut(points):
    """A prior that vanishes somewhere, where the likelihood is then not asked for."""
    return np.where(points[:, 0] > 4.0, -math.inf, -0.01 * points[:, 0] ** 2)


SETUPS = {
    "rows": {"model": rows},
    "two chains, trimmed, sweeps": {
        "model": rows, "chains": 2, "settings": TRIMMED, "swaps": tp.swaps.even_odd(),
    },
    "two parts": {"log_likelihood": rows, "log_prior": cut},
    "slices": {"model": rows, "settings": tp.Settings(adaptation=tp.Adaptation(walk="slice"))},
    "thinned, with goals": {
        "model": rows, "draws": 400, "thin": 2, "until": tp.Until(ess=10**6, draws=1_200),
    },
}  # fmt: skip


class Counted:
    """The same density, and how many rows each call had."""

    def __init__(self, density=rows):
        self.density, self.sizes = density, []

    def __call__(self, points):
        self.sizes.append(len(points))
        return self.density(points)


@pytest.fixture
def blind(monkeypatch):
    """Runs a call without a look ahead."""

    def run(call):
        with monkeypatch.context() as patched:
            patched.setattr(chain, "can_look_ahead", lambda *_: False)
            return call()

    return run


def sampled(model=rows, **options):
    parts = {} if "log_likelihood" in options else {"model": model}
    return tp.sample(**{**OPTIONS, **parts, **options})


@pytest.mark.parametrize("name", SETUPS)
def test_a_look_ahead_changes_no_draw_and_saves_calls(name, blind, monkeypatch):
    """In segments that end anywhere.

    Broken: answers in another order than the points; parts mixed up.
    """
    monkeypatch.setattr(drive, "SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(drive, "FIRST_SEGMENT", 1)
    setup = dict(SETUPS[name])
    where = "log_likelihood" if "log_likelihood" in setup else "model"
    seen, ahead = Counted(), Counted()
    expected = blind(lambda: sampled(**{**setup, where: seen}))
    assert_same_runs(sampled(**{**setup, where: ahead}), expected)
    n_draws = sum(len(one.sampling.draws) for one in expected.chains) * expected.chains[0].thin
    n_saved = len(seen.sizes) - len(ahead.sizes)
    n_jumps = sum(int(np.sum(one.sampling.jump >= 0)) for one in expected.chains)
    assert n_jumps > 100
    assert ROWS in ahead.sizes
    assert ROWS not in seen.sizes
    if name != "slices":
        assert n_saved > 0.4 * n_draws


def test_hot_levels_are_known_ahead_where_that_pays(blind, monkeypatch):
    """Broken: points of hot levels that nobody asks for any more."""
    counts = {}
    for pays in (False, True):
        monkeypatch.setattr(chain, "hot_pays", lambda *_, pays=pays: pays)
        made = Counted()
        assert_same_runs(sampled(made, draws=2_500), blind(lambda: sampled(draws=2_500)))
        counts[pays] = len(made.sizes)
    assert counts[True] < counts[False] - 25


def crowded(points):
    """Last bits that depend on the number of rows, as those of a matrix product may."""
    return rows(points) * (1.0 + 2.0**-50 * (len(points) > 8))


def alone(points):
    return rows(points) * (1.0 + 2.0**-50 * (len(points) == 1))


def seldom(points):
    """Of which one row in a hundred shows it."""
    return np.where((points[:, 0] * 1e6) % 100.0 < 1.0, crowded(points), rows(points))


def elsewhere(points):
    """Fails where many come together."""
    if len(points) == ROWS:
        raise MemoryError
    return rows(points)


@pytest.mark.parametrize("density", [crowded, alone, seldom, elsewhere])
def test_rows_that_do_not_stand_alone_are_asked_for_as_ever(density, blind):
    made = Counted(density)
    assert_same_runs(sampled(made), blind(lambda: sampled(density)))
    assert made.sizes.count(ROWS) <= 16, "some were looked at"


def test_rows_taken_to_stand_alone_that_do_not_would_be_seen(blind, monkeypatch):
    """Broken: a look that finds nothing."""
    expected = blind(lambda: sampled(crowded))
    monkeypatch.setattr(chain, "can_look_ahead", lambda *_: True)
    with pytest.raises(AssertionError):
        assert_same_runs(sampled(crowded), expected)


def test_the_first_draws_look_ahead():
    """Broken: jumps to come that are read off the streams after the first block has moved them on."""
    seen = Counted()
    sampled(seen, draws=1_200)
    calls = [k for k, size in enumerate(seen.sizes) if size == ROWS]
    first_draw = calls[batching.MOST_ROWS // ROWS - 1]
    assert calls[batching.MOST_ROWS // ROWS] - first_draw < ROWS


def test_a_stored_run_goes_on_looking_ahead(blind, tmp_path):
    """Stopped in the draws, where what was known ahead counts as wasted; and taken up again twice."""
    stop, seen = tp.Stop(), Counted()
    looked = batching.MOST_ROWS // ROWS  # calls that see whether rows stand alone

    def stopping(points):
        if seen.sizes.count(ROWS) > looked + 2 and len(points) < ROWS:
            stop.set()
        return seen(points)

    with pytest.warns(tp.IncompleteWarning, match=r"\d evaluations? ahead of time had no use"):
        sampled(stopping, store=tmp_path / "run", stop=stop, draws=2_500)
    with pytest.warns(tp.IncompleteWarning):
        tp.resume(tmp_path / "run", rows, vectorized=True, progress=False, stop=_set())
    again = Counted()
    made = tp.resume(tmp_path / "run", again, vectorized=True, progress=False)
    assert again.sizes.count(ROWS) > looked
    assert_same_runs(made, blind(lambda: sampled(draws=2_500)))


@pytest.mark.parametrize("value", [math.nan, ValueError("not there")])
def test_what_is_met_ahead_takes_effect_when_its_turn_comes(value, blind):
    """Broken: an error that ends the run when it is met, or that is told of another level."""
    drawn = blind(sampled).chains[0].sampling
    jumps = np.flatnonzero(drawn.jump >= 0)
    turn = jumps[len(jumps) // 2]
    bad = drawn.proposal[turn]

    def density(points):
        found = np.all(points == bad, axis=1)
        if found.any() and isinstance(value, Exception):
            raise value
        return np.where(found, value if isinstance(value, float) else 0.0, rows(points))

    ended = {}
    for name, run in (("ahead", lambda call: call()), ("blind", blind)):
        with pytest.raises(tp.DensityError) as ended[name]:
            run(lambda: sampled(density))
    assert str(ended["ahead"].value) == str(ended["blind"].value)
    assert f"iteration {1_000 + turn + 1}" in str(ended["ahead"].value)
    np.testing.assert_array_equal(ended["ahead"].value.result.draws, ended["blind"].value.result.draws)
    assert ended["ahead"].value.result.draws.shape[1] == turn


@pytest.mark.parametrize(
    "options",
    [
        {"draws": 999},
        {"tune": 200},
        {"settings": tp.Settings(jumps=tp.Jumps(enabled=False))},
        {"adapt": "always"},
        {"keep": ("draws",), "draws": 999},
    ],
    ids=["few draws", "short tuning", "no jumps", "always adapting", "draws alone"],
)
def test_where_it_is_no_use_nothing_is_looked_at(options):
    made = Counted()
    sampled(made, **options)
    assert ROWS not in made.sizes


# ---- the look


def trace_of(points, values):
    return no_rows(1, 2)._replace(proposal=points, proposal_log_density=values)


def test_a_look_that_would_take_long_is_given_up(monkeypatch):
    """A stop would have to wait for a call; rows beside one that takes long are no matter."""
    points = np.random.default_rng(1).standard_normal((batching.LEAST_ROWS, 2))
    trace = trace_of(points, points[:, 0].copy())
    clock, sizes = [0.0], []
    monkeypatch.setattr(batching.time, "perf_counter", lambda: clock[0])

    def taking(one, more):
        def values(rows):
            sizes.append(len(rows))
            clock[0] += one + more * len(rows)
            return rows[:, 0]

        return values

    assert batching.can_look_ahead(taking(10.0, 0.01), trace, 10_000)
    assert batching.can_look_ahead(taking(0.0, 1e-3), trace, 10_000)
    sizes.clear()
    assert not batching.can_look_ahead(taking(0.0, 0.01), trace, 10_000)
    assert max(sizes) == batching.FEW, "it was never asked for many"


def test_a_look_needs_rows():
    points = np.zeros((batching.LEAST_ROWS - 1, 2))
    assert not batching.can_look_ahead(lambda rows: rows[:, 0], trace_of(points, points[:, 0]), 10_000)
    assert isinstance(trace_of(points, points[:, 0]), Trace)


# ---- batches


class Room:
    """The two columns of answers."""

    def __init__(self, log_density=None, log_prior=None):
        self.log_density = np.full(4, np.nan) if log_density is None else log_density
        self.log_prior = np.zeros(4) if log_prior is None else log_prior

    def _replace(self, **columns):
        return Room(**columns)


def batches():
    """Whose density is the first coordinate, and the prior the second; and the calls."""
    calls, info = [], Room()

    def fill(points, room):
        calls.append(points.copy())
        if np.any(points == 13.0):
            raise ValueError
        room.log_density[: len(points)], room.log_prior[: len(points)] = points[:, 0], points[:, 1]
        points[:] = np.nan  # a user's function may

    return Batches(fill, info), info, calls


def many(n, first=100.0):
    return first + np.arange(2.0 * n).reshape(n, 2)


def test_calls_have_one_size_and_are_made_when_needed():
    """Broken: a call for points that come, when enough are known."""
    ahead, info, calls = batches()
    coming = many(3 * ROWS)
    ahead.expect(iter(coming))
    assert ahead.answer(np.array([[1.0, 2.0]]))
    assert (info.log_density[0], info.log_prior[0]) == (1.0, 2.0)
    np.testing.assert_array_equal(calls[0], np.concatenate([[[1.0, 2.0]], coming[: ROWS - 1]]))
    for point in coming[: ROWS - 1 - ENOUGH]:
        assert ahead.answer(point[None])
        assert (info.log_density[0], info.log_prior[0]) == tuple(point)
    assert not ahead.answer(np.array([[3.0, 4.0]])), "enough are known: the caller asks"
    assert ahead.answer(coming[ROWS - 1 - ENOUGH : ROWS - ENOUGH])
    assert len(calls) == 1
    assert ahead.answer(np.array([[3.0, 4.0]]))
    assert len(calls) == 2
    assert {len(call) for call in calls} == {ROWS}
    assert ahead.forget() == ENOUGH - 1 + ROWS - 1
    assert not ahead.expects


def test_the_last_points_are_padded_and_then_there_are_none():
    ahead, info, calls = batches()
    ahead.expect(iter(many(2)))
    assert ahead.answer(np.array([[1.0, 2.0]]))
    assert len(calls[0]) == ROWS
    assert ahead.answer(many(1))
    assert not ahead.answer(np.array([[3.0, 4.0]])), "nothing comes any more"
    mixed = np.array([[5.0, 6.0], *many(2)[1:]])
    assert ahead.answer(mixed), "one is known, so the other is asked for alone"
    np.testing.assert_array_equal(calls[1], mixed[:1])
    np.testing.assert_array_equal(info.log_density[:2], mixed[:, 0])
    assert ahead.forget() == 0


def test_points_that_came_to_be_known_go_first():
    ahead, _, calls = batches()
    found = [[np.array([7.0, 7.0]), np.array([8.0, 8.0])], list(many(2 * ROWS, 1e6))]
    ahead.expect(iter(many(5)), lambda: found.pop(0) if found else [])
    assert ahead.answer(np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(calls[0][1:3], [[7.0, 7.0], [8.0, 8.0]])
    twice = np.array([[8.0, 8.0], [8.0, 8.0]])
    assert ahead.answer(twice), "two levels may ask for one point"
    assert ahead.answer(np.array([[9.0, 9.0]]))
    assert len(calls[1]) == ROWS, "more are found than there is room for"


def test_more_levels_than_rows_are_asked_for_by_the_caller():
    ahead, _, calls = batches()
    ahead.expect(iter(many(5)))
    assert not ahead.answer(many(ROWS + 1, 1e5))
    assert calls == []


def test_after_an_error_nothing_is_looked_ahead_for():
    ahead, _, calls = batches()
    ahead.expect(iter([*many(70), np.array([13.0, 13.0]), *many(70, 1e5)]))
    assert ahead.answer(np.array([[1.0, 2.0]]))
    for point in many(ROWS - 1):
        assert ahead.answer(point[None])
    assert not ahead.answer(np.array([[3.0, 4.0]]))
    assert not ahead.answer(np.array([[3.0, 4.0]]))
    assert len(calls) == 2
    assert ahead.expects, "it is not told again"


@pytest.mark.parametrize("cores", [1, 2])
def test_chains_in_threads_look_ahead_each_for_itself(cores, blind):
    options, made = {"chains": 2, "cores": cores}, Counted()
    assert_same_runs(sampled(made, **options), blind(lambda: sampled(**options)))
    assert made.sizes.count(ROWS) > 20
