"""Moves: slices against their twin, the schedule, gradients, and moves that break their contract."""

from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numba
import numpy as np
import pytest

import naive
import temperance as tp
from harness import PLAIN, HandTarget, advance, make_noise, make_plan, make_run, out_of_lanes, place
from temperance.core.schedule import choose_moves
from temperance.core.state import AT_BASE, AT_HOTTEST, RESTING
from temperance.modes.mixture import from_parts, with_chance
from temperance.moves import STEP, WALKS, FloatArray, kernel, metropolis, moves_with, of_level
from temperance.moves.coordinate import COORDINATE
from temperance.moves.independence import INDEPENDENCE
from temperance.moves.slicing import ALONG_COORDINATE, BUDGET, MAX_STEPS, SLICE
from temperance.runs.levels import covariances
from temperance.runs.schedule import Entry, as_arrays, make_schedule


@numba.njit
def bumpy(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * x[i] * x[i] * (1.0 + 0.3 * i)
    return total + 2.0 * np.sin(3.0 * x[0])


@numba.njit
def off_centre(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.2 * (x[i] - 1.0) ** 2
    return total


BUMPY, BUMPY_PRIOR = HandTarget(bumpy), HandTarget(bumpy, off_centre)


def slices(**adaptation):
    return replace(PLAIN, adaptation=replace(PLAIN.adaptation, walk="slice", **adaptation))


@pytest.mark.parametrize("log_width", [-4.0, 0.0, 3.0, 13.0])
@pytest.mark.parametrize(("dim", "every"), [(1, 0), (3, 0), (3, 2), (2, 1)])
def test_slices_step_out_and_shrink_as_neal_has_it(dim, every, log_width, rng) -> None:
    """Every level of many iterations, β = 0 too; widths from far too small to far too wide."""
    betas, n = [1.0, 0.3, 0.0], 40
    plan = make_plan(BUMPY_PRIOR, betas, dim, draws=n, settings=slices(coordinate_every=every))
    run = make_run(plan)
    place(run, rng.standard_normal((3, dim)))
    run.state.direction_log_width[:] = run.state.coordinate_log_width[:] = log_width
    roots = np.linalg.cholesky(covariances(run.state))
    stayed = 0
    for row in range(n):
        before = run.state.position.copy()
        noise = make_noise(rng, 1, 3, dim, n_move_uniforms=SLICE.n_uniforms)
        noise.swap_uniforms[:, 2] = 1.0
        advance(run, noise, adapting=False, row=row)
        single = every > 0 and row % every == every - 1
        total = 0
        for level in range(3):
            z = out_of_lanes(noise.normals, 3)[level, 0]
            direction = roots[level] @ z / np.linalg.norm(z)
            direction = np.eye(dim)[row // every % dim] if single else direction

            def log_f(t, x=before[level], along=direction, beta=betas[level]):
                def log_target(point):
                    return beta * bumpy(point) + off_centre(point)

                return log_target(x + t * along) - log_target(x)

            uniforms = noise.move_uniforms[level, 0]
            t, calls = naive.slice_step(log_f, np.exp(log_width), uniforms, MAX_STEPS, BUDGET)
            total += calls
            stayed += t == 0.0
            expected = before[level] + t * direction
            np.testing.assert_allclose(run.state.position[level], expected, rtol=1e-9, atol=1e-9)
            assert run.info.accept_prob[level] == (t != 0.0)
        assert run.sampling.evaluations[row] == total, "counted, whatever the moves"
    assert (stayed > 10) == (log_width > 10.0), "the budget runs out where the width is absurd"


def test_widths_of_slices_learn_to_grow_as_often_as_they_shrink(seed) -> None:
    """From a width that is a thousand times too small or too large, at every level and coordinate."""
    for factor in (1e-3, 1e3):
        result = tp.sample(
            scaled_gaussian, data=np.array([factor]), initial=np.zeros(3), settings=slices(), levels=3,
            tune=3_000, draws=500, chains=1, seed=seed, progress=False,
        )  # fmt: skip
        trace = result.chains[0].sampling
        assert 2.0 < (trace.evaluations / trace.n_moved).mean() < 7.0
        assert np.all(trace.walk_accept_prob[~np.isnan(trace.walk_accept_prob)] == 1.0)


@numba.njit
def scaled_gaussian(x, data):
    return gaussian_of(x / data[0])


def test_levels_of_slices_are_never_dropped(seed) -> None:
    """They cannot tell one mode from several, so that trimming abstains; nothing else minds."""
    result = tp.sample(
        tp.zoo.gaussian(2).log_density, data=tp.zoo.gaussian(2).data, initial=np.zeros(2), levels=4,
        settings=tp.Settings(adaptation=tp.Adaptation(walk="slice")), tune=2_000, draws=1_000, seed=seed,
        progress=False,
    )  # fmt: skip
    assert result.n_levels == [4] * 4
    assert np.all(np.isnan([chain.log_scale for chain in result.chains]))
    assert "slice" in str(result.setup.settings)
    assert not any(warning.serious for warning in result.warnings), str(result)


# The schedule.


def chosen(run, schedule, row, uniforms):
    """What every level does in one iteration."""
    noise = make_noise(np.random.default_rng(0), 1, len(run.state.beta), run.plan.dim)
    noise.jump_uniforms[0, :, 0] = uniforms
    run.state.iteration[0] = row
    chain = run._chain(None, noise, run.sampling)._replace(schedule=schedule)
    choose_moves(chain, 0)
    names = {number: move.name for number, move in enumerate(run.plan.moves)} | {RESTING: "rest"}
    return [names[int(number)] for number in run.info.move[: run.state.n_levels[0]]]


def test_the_schedule_is_a_list_of_entries_of_which_the_first_applies() -> None:
    run = make_run(make_plan(BUMPY, [1.0, 0.5, 0.2], 2))
    walk = run.plan.walk
    entries = [
        Entry(INDEPENDENCE, place=AT_BASE, chance=0.5),
        Entry(INDEPENDENCE, place=AT_HOTTEST, chance=0.25),
        Entry(COORDINATE, every=3),
        Entry(walk),
    ]
    schedule = as_arrays(entries, run.plan.moves, rest_every=2)
    seen = {(row, u): chosen(run, schedule, row, u) for row in range(12) for u in (0.1, 0.3, 0.6)}
    for (row, u), names in seen.items():
        base_turn, hot_turn = row % 3 == 2, row // 2 % 3 == 2
        base = "independence" if u < 0.5 else "coordinate" if base_turn else "covariance"
        middle = "coordinate" if hot_turn else "covariance"
        hottest = "independence" if u < 0.25 else middle
        assert names == ([base, middle, hottest] if row % 2 == 0 else [base, "rest", "rest"])
    assert schedule.in_use.tolist() == [1, 1, 1, 0, 0]


def test_the_base_is_never_the_hottest_level() -> None:
    run = make_run(make_plan(BUMPY, [1.0], 2))
    entries = [Entry(INDEPENDENCE, place=AT_HOTTEST, chance=1.0), Entry(run.plan.walk)]
    assert chosen(run, as_arrays(entries, run.plan.moves, 1), 0, 0.0) == ["covariance"]


def test_what_has_no_mixture_or_no_turn_is_not_in_the_schedule() -> None:
    plan = make_plan(BUMPY, [1.0, 0.5], 2, settings=replace(PLAIN, jumps=tp.Jumps()))
    some = from_parts(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    off, on = with_chance(some, 0.0), with_chance(some, 0.7)
    for jumps, refresh, every, n in ((off, off, 0, 1), (on, off, 0, 2), (on, on, 2, 4), (off, on, 2, 3)):
        schedule = make_schedule(
            plan, jumps=jumps, refresh=refresh, leaps=np.zeros(3), coordinate_every=every, rest_every=1
        )
        assert len(schedule.move) == n
        assert schedule.move[-1] == 0
    slicing = make_plan(BUMPY, [1.0, 0.5], 2, settings=slices())
    schedule = make_schedule(
        slicing, jumps=off, refresh=off, leaps=np.zeros(3), coordinate_every=2, rest_every=1
    )
    assert schedule.variant.tolist() == [ALONG_COORDINATE, 0]
    assert schedule.move.tolist() == [0, 0]


# Moves of a user's own. One with many faults, since each move means a loop of its own to compile.


GOOD, NAN, GREEDY, THAWED = range(4)
FAULT = [GOOD]


class Rows(NamedTuple):
    fault: Annotated[FloatArray, of_level()]
    n_seen: Annotated[FloatArray, of_level()]
    slope: Annotated[FloatArray, of_level("dim")]


@kernel
def begin(chain: Any, row: int, level: int) -> None:
    if chain.state.fault[level] == NAN and chain.state.iteration[0] == 7 and level == 1:
        chain.info.log_proposal_ratio[level] = np.nan


@kernel
def advance_awkwardly(chain: Any, row: int, level: int, k: int) -> bool:
    state, info = chain.state, chain.info
    if state.fault[level] == GREEDY and state.iteration[0] == 5 and level == 1:
        return True
    if state.fault[level] == THAWED:
        state.n_seen[level] += 1.0
    for i in range(state.position.shape[1]):
        expected = -(state.beta[level] + PRIOR_SLOPE) * info.proposal[k, i]
        slope = state.beta[level] * info.gradient[k, 0, i] + info.gradient[k, 1, i]
        if abs(slope - expected) > 1e-12:
            info.log_proposal_ratio[level] = np.nan  # which a test below would see as a rejection for ever
    return metropolis(chain, row, level, k)


def first(state: Any, variances: Any) -> None:
    state.fault[:] = FAULT[0]


PRIOR_SLOPE = 0.4
AWKWARD = tp.moves.Move(
    name="awkward", begin=begin, advance=advance_awkwardly, shape=STEP, max_evaluations=3, rows=Rows,
    first=first, needs_gradient=True,
)  # fmt: skip
RUN = {
    "initial": np.zeros(2),
    "levels": 3,
    "tune": 40,
    "draws": 60,
    "chains": 2,
    "seed": 1,
    "progress": False,
}


@numba.njit
def gaussian_of(x):
    return -0.5 * np.sum(x**2)


@numba.njit
def with_gradient(x):
    return -0.5 * np.sum(x**2), -x


@numba.njit
def prior_with_gradient(x):
    return -0.5 * PRIOR_SLOPE * np.sum(x**2), -PRIOR_SLOPE * x


@numba.njit
def short_gradient(x):
    return -0.5 * np.sum(x**2), -x[:1]


def awkward(fault=GOOD, likelihood=with_gradient, prior=prior_with_gradient, **others):
    FAULT[0] = fault
    settings = tp.Settings(
        adaptation=tp.Adaptation(walk=AWKWARD, coordinate_every=0),
        jumps=tp.Jumps(enabled=False),
        growth=tp.Growth(enabled=False),
    )
    return tp.sample(log_likelihood=likelihood, log_prior=prior, settings=settings, **{**RUN, **others})


@pytest.mark.parametrize(
    ("fault", "message", "n_rows"),
    [
        (NAN, r"move awkward gave NaN as the log ratio .* chain 1, level 2, iteration 8", 7),
        (GREEDY, r"move awkward asked for more than the 3 evaluations .* level 2, iteration 6", 5),
        (THAWED, r"move awkward changed n_seen while everything is frozen, in chain 1, between iter", 40),
    ],
    ids=["ratio", "greedy", "thawed"],
)  # fmt: skip
def test_a_move_that_breaks_its_contract_is_named_and_the_draws_are_kept(fault, message, n_rows) -> None:
    with pytest.raises(tp.MoveError, match=message) as caught:
        awkward(fault)
    result = caught.value.result
    assert len(result.chains[0].tuning.draws) == n_rows
    assert result.chains[0].n_draws == 0


def test_a_move_of_ones_own_runs_and_is_shown_by_its_name() -> None:
    result = awkward()
    assert result.complete
    assert "awkward" in str(result.setup.settings)
    assert np.all(np.isfinite(result.draws))
    assert result.chains[0].sampling.walk_accept_prob.mean() > 0.1


@pytest.mark.parametrize("walk", ["walker", 3, None, metropolis])
def test_what_is_no_move_is_refused(walk) -> None:
    with pytest.raises(tp.TemperanceError, match="walk must be"):
        tp.Adaptation(walk=walk)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_evaluations": 0}, "max_evaluations must be at least 1, got 0"),
        ({"n_uniforms": -1}, "n_uniforms must be at least 0, got -1"),
        ({"name": ""}, "name must be"),
        ({"advance": None}, "advance must be"),
        ({"advance": len}, "advance must be"),
        ({"learn": lambda chain, row, gain, own: None}, "learn must be"),
        ({"kind": 9}, "kind must be"),
        ({"shape": "round"}, "shape must be"),
        ({"rows": dict}, "rows must be"),
        ({"freeze": 3}, "freeze must be"),
        ({"name": "robust"}, "name must not be that of"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_move_says_what_is_wrong_with_it(change, message) -> None:
    with pytest.raises(tp.TemperanceError, match=message):
        tp.Adaptation(walk=tp.moves.Move(**{"name": "mine", "advance": begin, **change}))


# Gradients.


def in_python(function):
    return lambda x: function(x)


def over_rows(function):
    def rows(points):
        values, slopes = zip(*(function(point) for point in points), strict=True)
        return np.array(values), np.array(slopes)

    return rows


KINDS = {"compiled": lambda f: f, "python": in_python, "vectorised": over_rows}


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_a_move_from_every_kind_of_function(kind) -> None:
    """The move knows what they should be, and rejects everything otherwise."""
    make = KINDS[kind]
    result = awkward(
        likelihood=make(with_gradient), prior=make(prior_with_gradient), vectorized=kind == "vectorised"
    )
    assert result.chains[0].sampling.walk_accept_prob.mean() > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_that_nobody_wants_changes_nothing(kind) -> None:
    make, vectorized = KINDS[kind], kind == "vectorised"
    without = over_plain(gaussian_of) if vectorized else make(gaussian_of)
    runs = [tp.sample(f, vectorized=vectorized, **RUN) for f in (make(with_gradient), without)]
    np.testing.assert_array_equal(runs[0].draws, runs[1].draws)


def over_plain(function):
    return lambda points: np.array([function(point) for point in points])


@pytest.mark.parametrize("kind", KINDS)
def test_a_move_without_the_gradient_it_needs_is_refused(kind) -> None:
    make, vectorized = KINDS[kind], kind == "vectorised"
    density = over_plain(gaussian_of) if vectorized else make(gaussian_of)
    with pytest.raises(tp.InvalidInputError, match=r"move awkward needs gradients, and .* returned none"):
        awkward(likelihood=density, prior=make(prior_with_gradient), vectorized=vectorized)


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_of_the_wrong_length_is_named(kind) -> None:
    make = KINDS[kind]
    with pytest.raises(tp.TemperanceError) as caught:
        awkward(
            likelihood=make(short_gradient),
            prior=make(prior_with_gradient),
            vectorized=kind == "vectorised",
        )
    said = f"{caught.value} {caught.value.__cause__}"
    assert "gradient" in said
    assert "short_gradient" in said or kind != "compiled"


def test_every_walk_goes_by_its_name() -> None:
    assert set(WALKS) == {"robust", "covariance", "slice"}
    for name in WALKS:
        assert moves_with(name)[0].name == name


def test_a_run_with_a_move_of_ones_own_is_resumed_with_it(tmp_path) -> None:
    whole = awkward()
    awkward(draws=20, store=tmp_path / "run")
    functions = {"log_likelihood": with_gradient, "log_prior": prior_with_gradient, "progress": False}
    with pytest.raises(
        tp.InvalidInputError, match=r"walk is 'awkward', a move of yours, .* give walk= again"
    ):
        tp.resume(tmp_path / "run", draws=60, **functions)
    result = tp.resume(tmp_path / "run", draws=60, walk=AWKWARD, **functions)
    np.testing.assert_array_equal(result.draws, whole.draws)
