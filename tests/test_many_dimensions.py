"""Beyond thirty dimensions: what one mode must not cost, and modes that must not be lost."""

from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from densities import gaussian
from harness import PLAIN, HandTarget, make_plan
from temperance import zoo
from temperance.modes.components import Components
from temperance.modes.humps import humps_of
from temperance.modes.mixture import make_mixture, mode_weights, with_mass
from temperance.modes.policy import HEATING, JUMPING, MANY, SCOUTING
from temperance.modes.worth import tuning_chance
from temperance.runs import heat
from temperance.runs.brought import Found
from temperance.runs.candidates import Starts, no_points
from temperance.runs.chain import ChainRun
from temperance.runs.departures import to_scout, usual_steps
from temperance.runs.leaping import _humps
from temperance.runs.learner import first_learner
from temperance.runs.scouting import with_found
from temperance.runs.state import first_run_state
from temperance.theory import learnt_acceptance
from test_growth import sight_of

DIM = 40
JUMPS = replace(PLAIN, jumps=tp.Jumps())


def slow_walk(rng, n, dim):
    """States of a walk that forgets in a hundred steps or so."""
    states, steps = np.empty((n, dim)), rng.standard_normal((n, dim))
    states[0] = steps[0]
    for k in range(1, n):
        states[k] = 0.99 * states[k - 1] + np.sqrt(1.0 - 0.99**2) * steps[k]
    return states


def test_a_walk_that_is_slow_makes_no_humps(rng) -> None:
    walk = slow_walk(rng, MANY.states_per_dim * DIM, DIM)
    assert len(humps_of(walk).coordinate) > 0, "the rule has something to do"
    assert len(_humps(walk, len(walk)).coordinate) == 0
    assert len(_humps(walk[: 10 * DIM], 10 * DIM).coordinate) == 0, "too early"
    walk[:, 3] = np.where(walk[:, 3] > 0.0, 2.0, -2.0) + 0.3 * rng.standard_normal(len(walk))
    assert _humps(walk, len(walk)).coordinate.tolist() == [3]
    few = walk[:, :5]
    assert _humps(few, len(few)).coordinate.tolist() == humps_of(few).coordinate.tolist()


def test_jumps_that_are_worth_nothing_are_rare() -> None:
    assert tuning_chance(0.0, MANY.beyond) == JUMPING.tuning_chance[0]
    assert tuning_chance(0.0, MANY.beyond + 1) == MANY.jump_chance
    assert tuning_chance(0.9, MANY.beyond + 1) == pytest.approx(JUMPING.tuning_chance[1], rel=0.01)


def test_acceptance_by_theory_is_that_of_proposals_from_a_learnt_covariance(rng) -> None:
    """Half of the log ratio's variance is what its mean falls by: exp(−d²/2n) in order of magnitude."""
    dim, n = 20, 400
    root = np.linalg.cholesky(np.cov(rng.standard_normal((dim, n))))
    x, y = rng.standard_normal((4_000, dim)), rng.standard_normal((4_000, dim)) @ root.T

    def log_ratio(z):
        return 0.5 * np.sum(np.linalg.solve(root, z.T) ** 2, axis=0) - 0.5 * np.sum(z**2, axis=1)

    accepted = np.exp(np.minimum(0.0, log_ratio(y) - log_ratio(x))).mean()
    assert learnt_acceptance(dim, n) == pytest.approx(accepted, abs=0.2)
    assert learnt_acceptance(dim, 0.0) == 0.0
    assert learnt_acceptance(100, 200.0) < 1e-10


def test_levels_are_put_in_between_modes_only_if_states_of_one_lie_closer() -> None:
    assert heat.apart(MANY.beyond) == HEATING.apart
    plan = replace(
        make_plan(None, 3.0 ** -np.arange(5.0), 100, tune=1_000),
        settings=tp.Settings(growth=tp.Growth(enabled=True)),
    )
    rate = np.array([0.2, 0.01, 0.3, 0.001])
    assert heat.change(plan, sight_of(5, rate=rate, base_gap=200.0), 250) == heat.Change()
    assert heat.change(plan, sight_of(5, rate=rate, base_gap=400.0), 250).between == (1, 3)


def modes_and_a_stray(dim, n_states):
    """Two modes of many states, and a few states of a tail that look like a mode of any volume."""
    centres = np.array([np.full(dim, -1.0), np.full(dim, 1.0), np.full(dim, 4.0)])
    covariances = np.array([0.5 * np.eye(dim), np.eye(dim), 100.0 * np.eye(dim)])
    return Components(centres, covariances, np.array([0.0, -10.0, -20.0]), np.array([n_states, n_states, 6]))


def test_what_many_states_have_seen_is_not_negligible() -> None:
    modes = modes_and_a_stray(DIM, 300)
    assert len(with_mass(modes)) == 3
    assert mode_weights(modes)[2] <= mode_weights(modes)[:2].max()
    low = replace(modes, log_peak=np.array([0.0, -80.0, -200.0]))
    assert len(with_mass(low)) == 2, "seen, however little it seems to weigh"
    assert len(with_mass(modes_and_a_stray(30, 300))) == 1, "as ever in fewer dimensions"
    assert len(with_mass(modes_and_a_stray(DIM, 6))) == 1, "nobody knows better"


def knowing_one_mode(dim):
    plan = make_plan(HandTarget(gaussian), [1.0, 0.5], dim, tune=1_000, settings=JUMPS)
    one = Components(np.zeros((1, dim)), np.eye(dim)[None], np.zeros(1), np.array([300]))
    mixture = make_mixture(one, np.zeros(dim), np.eye(dim))
    return plan, replace(first_learner(plan), components=one, mixture=mixture)


@pytest.mark.parametrize(("depth", "is_new"), [(135.0, False), (20.0, True)])
def test_a_scout_in_a_tail_has_found_no_mode(depth, is_new, rng) -> None:
    """At six widths in every coordinate a tail is that low; another mode would be as high as its kind."""
    plan, learner = knowing_one_mode(DIM)
    kept = 6.0 * np.ones(DIM) + rng.standard_normal((10, DIM)) / 3.0
    found = Found(kept, np.full(10, -depth), kept, np.full(10, -depth), 3.0)  # where walks are wide
    assert len(with_found(learner, plan, found).components) == 1 + is_new


def sent(dim, *, at_end=False, best=-1.0, before=0.0, n_evaluations=0):
    """Points that scouts leave from, of a chain with one mode and two hot levels far out."""
    plan, learner = knowing_one_mode(dim)
    now = first_run_state(plan, np.random.SeedSequence(1))
    state = now.core
    state.position[:2] = np.array([[0.0], [30.0]])
    state.best_point[:], state.best_log_target[0] = 0.1, best
    learner = replace(learner, best_scouted=before, efficiency=1.0, next_check=0)
    learner = replace(learner, starts=Starts(no_points(dim), np.empty(0)))
    return to_scout(learner, plan, state, plan.tune if at_end else 500, n_evaluations)[1]


def test_no_scout_is_free_for_levels() -> None:
    assert len(sent(DIM)) == 0
    enough = round(1.1 * usual_steps(DIM) / tp.Jumps().scout_share)
    assert len(sent(DIM, n_evaluations=enough)) == 1
    assert SCOUTING.free > 0
    assert len(sent(30)) == 1


def test_the_best_point_at_the_end_has_to_surprise() -> None:
    assert len(sent(DIM, at_end=True, best=0.5, before=0.0)) == 0, "as high as the mode explains"
    assert len(sent(DIM, at_end=True, best=50.0, before=0.0)) == 1
    assert len(sent(30, at_end=True, best=0.5, before=0.0)) == 2, "and the level"
    assert len(sent(DIM, best=0.5, before=-np.inf)) == 1, "the first time always"


@pytest.mark.parametrize("options", [{"levels": 2, "tune": 6_000}, {"tune": 1_500}])
def test_one_mode_costs_next_to_nothing(options, seed) -> None:
    """No levels put in, no leaps, nothing fresh for the hottest level, scouts within their share."""
    problem = zoo.gaussian(60)
    result = tp.sample(problem, initial=np.zeros(60), chains=1, draws=500, seed=seed, cores=1, **options)
    chain = result.chains[0]
    assert result.n_levels[0] <= result.n_levels_at_start
    assert np.mean(chain.sampling.jump != -1) < 0.05
    share = tp.Jumps().scout_share
    spent = chain.tuning.evaluations.sum()
    assert chain.modes.n_scouts * usual_steps(60) <= share * spent + usual_steps(60)


def test_what_the_hottest_level_draws_afresh_would_be_refused(seed, monkeypatch) -> None:
    """In many dimensions it gets nothing; in few it does."""
    runs, leave = [], ChainRun.leave

    def leaving(run, *arguments):
        runs.append(run)
        return leave(run, *arguments)

    monkeypatch.setattr(ChainRun, "leave", leaving)
    for dim in (5, 60):
        tp.sample(
            zoo.gaussian(dim),
            initial=np.zeros(dim),
            chains=1,
            levels=2,
            draws=1,
            tune=4_000,
            seed=seed,
            cores=1,
            progress=False,
        )
    assert [len(run.now.refresh.centre) for run in (runs[0], runs[-1])] == [1, 0]
