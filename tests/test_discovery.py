"""Modes that are found: nothing given is forgotten, and no evaluated point; a wider search."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from harness import alone
from temperance.core import surprise
from temperance.core.schema import allocate, sizes
from temperance.core.state import Info, State
from temperance.core.surprise import watch_points
from temperance.modes.components import Components
from temperance.modes.mixture import make_mixture
from temperance.modes.policy import SURPRISE
from temperance.modes.surprise import explained_by, nothing_explained, surprises, tail_dof
from temperance.runs import departures, events
from temperance.runs.candidates import no_points
from temperance.runs.chain import ChainRun
from temperance.searching import search_from_words

FAR, NARROW, BROAD, RARITY = 400.0, 0.1, 1_000.0, 12.0


@numba.njit
def far_pair(x):
    """Two normals of equal mass, one narrow, on a very wide one that hot levels wander off in."""
    wide, narrow = 0.0, -x.shape[0] * np.log(NARROW)
    broad = -x.shape[0] * np.log(BROAD) - RARITY
    for i in range(x.shape[0]):
        wide -= 0.5 * x[i] ** 2
        narrow -= 0.5 * ((x[i] - FAR) / NARROW) ** 2
        broad -= 0.5 * (x[i] / BROAD) ** 2
    largest = max(wide, narrow)
    return np.logaddexp(largest + np.log(np.exp(wide - largest) + np.exp(narrow - largest)), broad)


def starts_in_both(n_levels, dim=3):
    """The hottest level starts on the slope of the narrow mode, which it leaves at once."""
    starts = np.zeros((n_levels, dim))
    starts[-1] = FAR + 4.0 * NARROW
    return starts


SHORT = {"draws": 500, "tune": 2_000, "levels": 4, "progress": False}


def share_of_the_far_mode(chains, seed):
    result = tp.sample(far_pair, initial=starts_in_both(4), chains=chains, seed=seed, **SHORT)
    known = [(np.abs(chain.modes.centre[:-1] - FAR).max(axis=1) < 1.0).any() for chain in result.chains]
    return float((result.draws[..., 0] > 0.5 * FAR).mean()), known


@pytest.mark.parametrize("chains", [1, 3])
def test_a_mode_that_a_user_gave_is_not_forgotten(chains, seed) -> None:
    """Neither by a chain alone nor by chains that learn together."""
    share, known = share_of_the_far_mode(chains, seed)
    assert all(known)
    assert share > 0.1


def test_without_scouts_from_starts_it_is_forgotten(seed, monkeypatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(departures, "_starts", lambda learner, plan, n_free: (learner, no_points(plan.dim)))
    share, known = share_of_the_far_mode(1, seed)
    assert share == 0.0
    assert not any(known)


# ---- screening


def some_modes(dim):
    """Three components of different shapes, as a fit would leave them."""
    rng = np.random.default_rng(dim)
    factors = rng.standard_normal((3, dim, dim)) / np.sqrt(dim) + 1.5 * np.eye(dim)
    centres = 6.0 * rng.standard_normal((3, dim))
    covariances = factors @ np.swapaxes(factors, 1, 2)
    components = Components(centres, covariances, np.array([0.0, -3.0, 4.0]), np.full(3, 50))
    return components, make_mixture(components, np.zeros(dim), 40.0 * np.eye(dim))


class Watched(NamedTuple):
    """As much of a chain as the screening looks at."""

    state: Any
    info: Any
    explained: Any


def watched(components, mixture, dof, n_levels, *, unlimited=True):
    dim = components.centre.shape[1]
    lengths = sizes(n_levels, dim, gradient=0)
    explained = explained_by(components, mixture, dof)
    if unlimited:
        explained.allowance[0] = 1e9
    return Watched(allocate(State, lengths), allocate(Info, lengths), explained)


def watch(chain, points, log_target, levels):
    """Show them to the kernel, as many at a time as there are levels."""
    n = len(chain.info.log_density)
    for first in range(0, len(points), n):
        part = slice(first, first + n)
        chain.info.n_asked[0] = len(points[part])
        chain.info.proposal[: len(points[part])] = points[part]
        chain.info.log_density[: len(points[part])] = log_target[part]
        chain.info.asker[: len(points[part])] = levels[part]
        alone(watch_points)(chain)


def points_to_watch(components, rng, n=4_000):
    dim = components.centre.shape[1]
    near = components.centre[rng.integers(0, 3, n)] + rng.choice([1.0, 3.0, 30.0], (n, 1)) * (
        rng.standard_normal((n, dim))
    )
    return near, rng.choice([-500.0, -20.0, 3.0], n) + 5.0 * rng.standard_normal(n)


@pytest.mark.parametrize("dof", [10_000.0, 30.0, 1.0])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_screening_equals_the_naive_one(dim, dof, rng) -> None:
    components, mixture = some_modes(dim)
    points, log_target = points_to_watch(components, rng)
    levels = rng.integers(0, 4, len(points))
    chain = watched(components, mixture, dof, 4)
    watch(chain, points, log_target, levels)
    expected = naive.most_surprising(
        points, log_target, levels, components.centre, components.covariance, components.log_peak,
        dof, SURPRISE.tightness, SURPRISE.margin,
    )  # fmt: skip
    assert set(expected) == set(range(4))
    for level, (above, value, point) in expected.items():
        np.testing.assert_allclose(chain.state.surprise[level], above, rtol=1e-8)
        assert chain.state.surprise_log_target[level] == value
        np.testing.assert_array_equal(chain.state.surprise_point[level], point)
    best = np.argmax(log_target)
    assert chain.state.best_log_target[0] == log_target[best]
    np.testing.assert_array_equal(chain.state.best_point, points[best])


def bound_forgotten(component, point, limit, explained):
    """Broken: a distance that is given up at the first coordinate."""
    return -1.0, 1.0


def nearest_only(point, explained):
    """Broken: what the first mode predicts, as if there were no other."""
    square, _ = surprise.square_within(0, point, np.inf, explained)
    return explained.log_peak[0] - 0.5 * (explained.dof[0] + len(point)) * np.log1p(square / explained.dof[0])


@pytest.mark.parametrize(
    ("name", "broken", "status"),
    [
        ("square_within", "t.bound_forgotten", 0),
        ("prediction", "t.nearest_only", 0),
        ("prediction", "surprise.prediction", 3),
    ],
    ids=["bound", "nearest", "unbroken"],
)
def test_broken_screening_is_caught(name, broken, status) -> None:
    """With the compiler off, in a process of its own: what is replaced is compiled in otherwise."""
    code = (
        "import test_discovery as t, numpy as np\n"
        "from temperance.core import surprise\n"
        f"surprise.{name} = {broken}\n"
        "try:\n"
        "    t.test_screening_equals_the_naive_one(2, 30.0, np.random.default_rng(3))\n"
        "except (AssertionError, KeyError):\n"
        "    raise SystemExit(0)\n"
        "raise SystemExit(3)\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == status, done.stderr.decode()[-2_000:]


def test_looking_stays_within_the_allowance(rng) -> None:
    """Points are looked at by a fixed rule: as much work as they bring, whatever they are, by level."""
    components, mixture = some_modes(5)
    chain = watched(components, mixture, 30.0, 2, unlimited=False)
    points, log_target = points_to_watch(components, rng)
    log_target[:] = 3.0
    looked = 0
    for point, value in zip(points, log_target, strict=True):
        before = chain.state.credit[1, 0]
        watch(chain, point[None], np.array([value]), np.array([1]))
        looked += chain.state.credit[1, 0] < before
    allowance = chain.explained.allowance[0]
    assert 0.05 * len(points) < looked < 0.8 * len(points)
    assert np.all(chain.state.credit[0] == 0.0)
    assert -chain.state.credit[1, 0] < 50.0 * allowance


def test_without_known_modes_only_the_best_point_is_kept(rng) -> None:
    components, mixture = some_modes(2)
    chain = watched(components, mixture, 30.0, 2)._replace(explained=nothing_explained(2))
    points, log_target = points_to_watch(components, rng, 50)
    watch(chain, points, log_target, np.zeros(50, dtype=np.int64))
    assert np.all(chain.state.surprise == -np.inf)
    assert chain.state.best_log_target[0] == log_target.max()


def test_tails_become_heavier_where_scouts_came_back_in_vain() -> None:
    """Points of a tail that is known by then surprise no more, those of another mode still do."""
    components, mixture = some_modes(2)
    tail = components.centre[0] + np.array([[15.0, 0.0], [0.0, -20.0]])
    log_target = np.array([-9.0, -11.0])
    dof = tail_dof(tail, log_target, components, mixture)
    assert dof < SURPRISE.dofs[0]
    assert np.all(surprises(tail, log_target, components, mixture, dof) <= SURPRISE.margin)
    assert np.any(surprises(tail, log_target, components, mixture, SURPRISE.dofs[0]) > SURPRISE.margin)
    assert tail_dof(tail[:0], log_target[:0], components, mixture) == SURPRISE.dofs[0]


# ---- what scouts meet


def plain_pair(x):
    return float(np.logaddexp(-0.5 * x @ x, -0.5 * (x - 8.0) @ (x - 8.0)))


class Meets:
    """A density that does something at the calls of scouts, of which some are out at once."""

    def __init__(self, what) -> None:
        self.what, self.n_met, self.armed = what, 0, False

    def __call__(self, x):
        if self.armed and x[0] > 11.0:
            self.n_met += 1
            if isinstance(self.what, Exception):
                raise self.what
            return self.what
        return plain_pair(x)


def run_with(density, monkeypatch, **options):
    """A run in which the density meets scouts alone with what it does far out."""
    walk = ChainRun._walk

    def armed(run, *arguments):
        density.armed = True
        try:
            return walk(run, *arguments)
        finally:
            density.armed = False

    monkeypatch.setattr(ChainRun, "_walk", armed)
    options = {"draws": 200, "tune": 1_500, "chains": 1, "levels": 4, "cores": 1, **options}
    return tp.sample(density, initial=np.zeros(2), progress=False, **options)


@pytest.mark.parametrize("what", [ZeroDivisionError("far out"), np.nan, np.inf], ids=repr)
@pytest.mark.filterwarnings("ignore::temperance.LearningWarning")
def test_what_a_scout_meets_ends_that_scout_and_not_the_run(what, seed, monkeypatch) -> None:
    density = Meets(what)
    result = run_with(density, monkeypatch, seed=seed, search=tp.Search(bounds=(-20.0, 20.0)))
    modes = result.chains[0].modes
    assert result.complete
    assert density.n_met > 0
    assert modes.n_scouts_lost > 0
    (setback,) = result.chains[0].setbacks
    assert "one of them ended at" in setback
    assert ("far out" if isinstance(what, Exception) else "NaN or +inf") in setback
    assert f"{modes.n_scouts_lost} of these ended by an error" in str(result.searched)
    assert len(result.modes) == 2, "the others found the mode"


# ---- scouts side by side


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.filterwarnings("ignore::temperance.LearningWarning")
def test_scouts_see_the_same_whoever_walks_beside_them(at_once, seed, monkeypatch) -> None:
    """One by one, or as many as there are levels; also where one of them meets an error."""
    draws = []
    for number in (at_once, 4):
        with monkeypatch.context() as patched:
            patched.setattr(events, "side_by_side", lambda n_rows, dim, number=number: min(number, n_rows))
            density = Meets(ZeroDivisionError("far out"))
            result = run_with(density, patched, seed=seed, search=tp.Search(bounds=(-20.0, 20.0)))
        draws.append(result.draws)
        assert result.chains[0].modes.n_climbs > 4
        assert result.chains[0].modes.n_scouts_lost > 0
    np.testing.assert_array_equal(draws[0], draws[1])


# ---- a wider search


def distant_pair(x):
    return float(np.logaddexp(-0.5 * x @ x, -0.5 * (x - 300.0) @ (x - 300.0)))


@pytest.mark.parametrize(
    "search",
    [
        tp.Search(bounds=(-400.0, 400.0)),
        tp.Search(bounds=[(-400.0, 400.0)] * 2, share=0.3),
        tp.Search(draw=lambda rng: 300.0 + 30.0 * rng.standard_normal(2)),
        tp.Search(points=[[250.0, 280.0], [310.0, 330.0]]),
    ],
    ids=["bounds", "pairs", "draw", "points"],
)
def test_a_search_finds_what_no_level_comes_near(search, seed) -> None:
    options = {"draws": 300, "tune": 3_000, "chains": 2, "levels": 3, "cores": 1, "progress": False}
    result = tp.sample(distant_pair, initial=np.zeros(2), seed=seed, search=search, **options)
    assert 0.3 < (result.draws[..., 0] > 150.0).mean() < 0.7
    assert result.searched.climbs > 0
    without = tp.sample(distant_pair, initial=np.zeros(2), seed=seed, **options)
    assert (without.draws[..., 0] > 150.0).mean() == 0.0


def test_a_search_goes_on_in_a_folder_and_through_json(seed, tmp_path) -> None:
    options = {
        "initial": np.zeros(2), "draws": 200, "tune": 900, "chains": 2, "levels": 3, "cores": 1,
        "progress": False, "seed": seed, "search": tp.Search(bounds=(-400.0, 400.0)),
    }  # fmt: skip
    whole = tp.sample(distant_pair, **options)
    stop = tp.Stop()
    calls = [0]

    def stopping(x):
        calls[0] += 1
        if calls[0] == 3_000:
            stop.set()
        return distant_pair(x)

    with pytest.warns(tp.IncompleteWarning):
        tp.sample(stopping, store=tmp_path / "run", stop=stop, **options)
    resumed = tp.resume(tmp_path / "run", distant_pair, progress=False)
    np.testing.assert_array_equal(resumed.draws, whole.draws)
    assert str(resumed.searched) == str(whole.searched)
    resumed.save(tmp_path / "kept")
    assert str(tp.load(tmp_path / "kept.npz").searched) == str(whole.searched)


def test_a_model_is_searched_in_its_own_units(seed) -> None:
    """By the names of its parameters, or where its prior is."""

    def likelihood(p):
        return float(
            np.logaddexp(-0.5 * (np.log(p["rate"]) / 0.01) ** 2, -0.5 * ((p["rate"] - 50.0) / 0.1) ** 2)
        )

    model = tp.Model(likelihood, parameters={"rate": tp.priors.uniform(0.0, 100.0)})
    options = {"initial": {"rate": 1.0}, "levels": 2, "chains": 1, "draws": 200, "tune": 1_200, "cores": 1}
    for search in (tp.Search(bounds={"rate": (45.0, 55.0)}), tp.Search()):
        result = tp.sample(model, seed=seed, search=search, progress=False, **options)
        assert result.searched.climbs > 0
    assert result.searched.source == "prior"
    with pytest.raises(tp.InvalidInputError, match=r"search.bounds has 'speed', and the parameters are rate"):
        tp.sample(model, search=tp.Search(bounds={"speed": (1.0, 2.0)}), progress=False, **options)
    with pytest.raises(tp.InvalidInputError, match=r"search.bounds: .*within the support"):
        tp.sample(model, search=tp.Search(bounds={"rate": (200.0, 300.0)}), progress=False, **options)


INPUT, TYPE = tp.InvalidInputError, tp.InvalidTypeError


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"share": 0.0}, INPUT, r"search.share must lie in \(0, 1\), got 0"),
        ({"share": "all"}, TYPE, "search.share must be a number"),
        ({"bounds": (1.0, -1.0)}, INPUT, "search.bounds must have its low bound below its high one"),
        ({"bounds": (0.0, np.inf)}, INPUT, "search.bounds must be finite"),
        ({"bounds": (0.0, 1.0, 2.0)}, INPUT, r"search.bounds must be a pair \(low, high\), got shape \(3,\)"),
        ({"bounds": {"a": (2.0, 2.0)}}, INPUT, r"search.bounds\['a'\] must have its low bound below"),
        ({"draw": 3.0}, TYPE, "search.draw must be a function of a numpy Generator, got float"),
        (
            {"bounds": (0.0, 1.0), "points": [[0.0]]},
            INPUT,
            "search must have one of .*, got bounds and points",
        ),
    ],
)
def test_a_search_that_makes_no_sense_is_rejected_by_name(options, error, text) -> None:
    with pytest.raises(error, match=text):
        tp.Search(**options)


@pytest.mark.parametrize(
    ("search", "error", "text"),
    [
        (tp.Search(), INPUT, "search must say where to look"),
        (tp.Search(bounds=[(0.0, 1.0)] * 3), INPUT, r"one for each coordinate, of shape \(2, 2\)"),
        (tp.Search(bounds={"x": (0.0, 1.0)}), INPUT, "search.bounds by name are for a temperance.Model"),
        (tp.Search(draw=lambda rng: np.zeros(3)), INPUT, r"search.draw: a point must have shape \(2,\)"),
        (tp.Search(draw=lambda rng: np.full(2, np.nan)), INPUT, "search.draw: a point must be finite"),
        (tp.Search(points=np.zeros((2, 3))), INPUT, r"search.points must have shape \(point, 2\), got"),
        (tp.Search(points=[[0.0, 0.0], [60.0, 0.0]]), INPUT, "search.points must lie in the support"),
        ("wide", TYPE, "search must be a temperance.Search"),
    ],
)
def test_a_search_that_does_not_fit_is_rejected_by_name(search, error, text) -> None:
    def bounded(x):
        return -0.5 * float(x @ x) if abs(x[0]) < 50.0 else -np.inf

    with pytest.raises(error, match=text):
        tp.sample(bounded, initial=np.zeros(2), search=search, cores=1, progress=False)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [("-10:10", [-10.0, 10.0]), ("a=0:5,b=-1:1", {"a": [0.0, 5.0], "b": [-1.0, 1.0]}), ("prior", None)],
)
def test_a_search_can_be_typed(text, bounds) -> None:
    found = search_from_words(text)
    if isinstance(bounds, dict):
        assert {name: pair.tolist() for name, pair in found.bounds.items()} == bounds
    else:
        assert found.bounds is None if bounds is None else found.bounds.tolist() == bounds
    with pytest.raises(tp.InvalidInputError, match=r"search must be LOW:HIGH, .* got '1-2'"):
        search_from_words("1-2")


def test_a_search_needs_jumps() -> None:
    settings = tp.Settings(jumps=tp.Jumps(enabled=False))
    with pytest.raises(tp.InvalidInputError, match="search needs jumps"):
        tp.sample(distant_pair, initial=np.zeros(2), search=tp.Search(bounds=(0.0, 1.0)), settings=settings)


# ---- found, and weighed right


@pytest.mark.parametrize(("dim", "ratio"), [(3, 4.0), (5, 1.0 / 0.3)])
def test_a_narrow_mode_is_found_from_the_wide_one_and_weighed_right(dim, ratio, seed) -> None:
    """Eight runs of a problem that was missed in more than half of them; three misses would be a surprise."""
    problem = tp.zoo.unequal_widths(dim, ratio=ratio)
    shares = [
        problem.occupancy(
            tp.sample(
                problem.log_density, initial=problem.modes[0], seed=seed + k, cores=1, progress=False
            ).draws.reshape(-1, dim)
        )[1]
        for k in range(8)
    ]
    found = [share for share in shares if share > 0.0]
    assert len(found) > 5
    assert np.sqrt(np.mean((np.array(found) - 0.5) ** 2)) < 0.02
