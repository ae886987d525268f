"""Broken kernels, and which of them the invariance test catches. Run with the compiler off."""

import json
import math
import sys
from dataclasses import replace
from unittest import mock

import numpy as np

from invariance import BETAS, Case, frozen_run, p_values, two_bumps
from judge import judge_sequentially
from strategies import STRATEGIES, SWEEPS
from temperance.core import accept, iteration, swap
from temperance.core.lanes import LANES
from temperance.core.move import begin_level
from temperance.core.numeric import capped_log_prob, tempered_difference
from temperance.core.state import JUMP, LEAP
from temperance.moves import coordinate, corresponding, independence, slicing
from temperance.moves import humps as hump_moves
from temperance.swaps import weighted
from temperance.swaps.strategy import repeated

_own_rng = np.random.default_rng(5)
_accept, _step_levels, _advance_moves = swap.swap_log_accept, iteration.step_levels, iteration.advance_moves
_choose_origin = corresponding.choose_origin
_follow, _choose_moves = slicing.follow, iteration.choose_moves
_mixture_log_density, _finish_iteration = independence.mixture_log_density, iteration.finish_iteration


def turned_exponent(log_i, log_j, beta_i, beta_j, ratio):
    return _accept(log_i, log_j, beta_j, beta_i, ratio)


def ratio_forgotten(log_i, log_j, beta_i, beta_j, ratio):
    return _accept(log_i, log_j, beta_i, beta_j, 0.0)


def neighbour_for_partner(log_i, log_j, beta_i, beta_j, ratio):
    ladder = BETAS["spread"]
    return _accept(log_i, log_j, beta_i, ladder[ladder.index(beta_i) + 1], ratio)


def untempered_walk(level, k, state, info):
    return capped_log_prob(info.log_density[k] - state.log_density[level])


def prior_tempered_too(level, k, state, info):
    new = info.log_density[k] + info.log_prior[k]
    old = state.log_density[level] + state.log_prior[level]
    return capped_log_prob(state.beta[level] * (new - old))


def stale_exchange(i, j, state):
    state.position[[i, j]] = state.position[[j, i]]
    state.replica[[i, j]] = state.replica[[j, i]]


def duplicating_exchange(i, j, state):
    """A cycle without a spare place: one state is lost, the other stands twice."""
    state.position[i], state.log_density[i] = state.position[j], state.log_density[j]
    state.position[j], state.log_density[j] = state.position[i], state.log_density[i]


def positions_only(view, i, j):
    """The reverse weights then see the log densities where they were before."""
    view.position[[i, j]] = view.position[[j, i]]


def prior_left_behind(i, j, state):
    state.position[[i, j]] = state.position[[j, i]]
    state.log_density[[i, j]] = state.log_density[[j, i]]


def drifting_proposal(chain, row):
    _step_levels(chain, row)
    chain.info.proposal[:] += 0.25


def repeat_until_accepted(chain, row):
    """Propose again and again until every level moves."""
    state = chain.state
    chain.info.n_asked[0] = 0
    for level in range(len(state.beta)):
        while True:
            step = 3.0 * math.exp(state.log_scale[level]) * _own_rng.standard_normal(1)
            point = state.position[level] + step
            value = two_bumps(point)
            if math.log(_own_rng.random()) < state.beta[level] * (value - state.log_density[level]):
                break
        state.position[level], state.log_density[level] = point, value


def jump_without_ratio(chain, row, level):
    begin_level(chain, row, level)
    if level == 0:
        chain.info.log_proposal_ratio[level] = 0.0


def refresh_without_ratio(chain, row, level):
    begin_level(chain, row, level)
    if level > 0:
        chain.info.log_proposal_ratio[level] = 0.0


def best_component_only(point, mixture):
    """The density of the component that explains the point best, as if it were the whole mixture."""
    parts = [
        type(mixture)(mixture.chance, *(column[k : k + 1] for column in mixture[1:]))
        for k in range(len(mixture.centre))
    ]
    return max(_mixture_log_density(point, part) for part in parts)


def refitted_meanwhile(chain, row, level):
    """The mixture follows the state: its components are moved to where the base level is."""
    if level == 0 and chain.schedule.kind[chain.info.move[0]] == JUMP:
        chain.jumps.centre[:] = chain.state.position[0] + np.array([[0.5], [1.0], [1.5]])
    begin_level(chain, row, level)


def coordinates_adapt(propose_pair, chain, row):
    """Scales of coordinates that go on learning, settings or not."""
    _finish_iteration(propose_pair, chain, row)
    coordinate.learn(chain, row, 0.1, chain.schedule.move[0])


def betas_of_the_first_bundle(level, k, state, info):
    tempered = tempered_difference(state.beta[level % LANES], info.log_density[k], state.log_density[level])
    return capped_log_prob(tempered + info.log_proposal_ratio[level])


def resting_levels_accept(chain, row):
    """Those at rest try the proposal of their latest move once more, as a walk of the base would."""
    info, n_levels = chain.info, chain.state.n_levels[0]
    info.n_asked[0], info.asker[:n_levels], info.move[1:n_levels] = n_levels, range(n_levels), info.move[0]
    _advance_moves(chain, row)
    info.n_asked[0] = 0


def looks_at_the_state(chain, row):
    """Levels on the left sit still where others would move: a schedule that depends on the state."""
    _choose_moves(chain, row)
    if chain.state.position[0, 0] < 0.0:
        chain.info.n_active[0] = 0


def height_times_beta(chain, row, level):
    """The height of the slice is tempered once more."""
    begin_level(chain, row, level)
    chain.info.line[level, slicing.LOG_HEIGHT] *= chain.state.beta[level]


def shrinks_from_the_left(inside, line, count):
    """Whichever side of the state the point is on."""
    if count[slicing.PHASE] == slicing.POINT:
        line[slicing.LEFT] = line[slicing.AT]
        count[slicing.N_SHRUNK] += 1
    else:
        _follow(inside, line, count)


def always_to_the_right(chain, row, level):
    """The interval begins at the state instead of around it, and steps out on one side alone."""
    chain.noise.move_uniforms[level, row, [slicing.OFFSET, slicing.SHARE]] = 0.0
    begin_level(chain, row, level)


def last_point_is_taken(chain, row):
    """A level that has used up its budget goes to the last point instead of staying."""
    info = chain.info
    asked = [(int(info.asker[k]), k) for k in range(info.n_asked[0])]
    points = info.proposal.copy(), info.log_density.copy(), info.log_prior.copy()
    before = chain.state.position.copy()
    _advance_moves(chain, row)
    still = {int(level) for level in info.asker[: info.n_asked[0]]}
    for level, k in asked:
        if level not in still and np.array_equal(before[level], chain.state.position[level]):
            info.proposal[k], info.log_density[k], info.log_prior[k] = (array[k] for array in points)
            accept.settle_at(level, k, chain.state, info, chain.control)


def leap_without_jacobian(chain, row, level):
    begin_level(chain, row, level)
    info, maps = chain.info, chain.maps
    if chain.schedule.kind[info.move[level]] == LEAP:
        kind, uniform = info.variant[level], chain.noise.jump_uniforms[row, 0, corresponding.ORIGIN]
        origin = corresponding.choose_origin(uniform, kind, chain.state.position[level], maps, info)
        volume = maps.log_volume[kind, info.which[level]] - maps.log_volume[kind, origin]
        info.log_proposal_ratio[level] -= volume


def responsibility_of_one_side(kind, mode, claim, point, maps, whitened):
    """As if the point could only belong to the mode that the leap led to."""
    return claim


def weights_not_renormalised(origin, goal, maps):
    """The weight of the goal as it is, though the origin was none of the choices."""
    return maps.log_weight[goal]


def maps_follow_the_state(chain, row, level):
    if level == 0 and chain.schedule.kind[chain.info.move[0]] == LEAP:
        chain.maps.centre[2] = 1.6 + 0.5 * chain.state.position[0]
    begin_level(chain, row, level)


def wrong_mode_of_origin(uniform, kind, point, maps, info):
    """The mode after the one that the point belongs to."""
    return (_choose_origin(uniform, kind, point, maps, info) + 1) % len(maps.centre)


def humps_without_density(which, value, humps):
    return 0.0


ADJACENT, EVEN_ODD = STRATEGIES["adjacent"], SWEEPS["even_odd"]
EQUI_ENERGY, UNIFORM, LOPSIDED = (
    replace(STRATEGIES[name], attempts=repeated(10)) for name in ("equi_energy", "uniform", "lopsided")
)
WALKS = Case(mode="power", strategy=ADJACENT)
SWAPS = Case(mode="spread", strategy=UNIFORM, walks="once")
BOTH = Case(mode="power", strategy=EVEN_ODD)
PRIOR = Case(mode="prior", strategy=EVEN_ODD)
JUMPS = Case(mode="power", strategy=ADJACENT, jumps="often")
LEAPING = Case(mode="power", strategy=ADJACENT, leaps="mostly")
HUMPS = Case(mode="power", strategy=ADJACENT, leaps="nothing but humps")
SLICES = Case(mode="power", strategy=ADJACENT, walk="slice", log_width=2.0)
# Along a direction that may as well be its opposite, some mistakes make up for each other.
ALONG = replace(SLICES, dim=2, coordinate_every=1)
WIDE = replace(SLICES, log_width=12.0)  # so that the budget runs out
PLANE = Case(mode="six", strategy=EVEN_ODD, dim=2, coordinate_every=1, walk="robust")
RESTING = replace(PLANE, coordinate_every=2, rest_every=4)
# name: (draws at first, the frozen kernel, module, what is replaced, by what)
MUTANTS = {
    "turned_exponent": (400, SWAPS, swap, "swap_log_accept", turned_exponent),
    "ratio_forgotten": (4500, replace(SWAPS, strategy=LOPSIDED), swap, "swap_log_accept", ratio_forgotten),
    "untempered_walk": (1500, WALKS, accept, "log_accept", untempered_walk),
    "stale_exchange": (3000, BOTH, swap, "exchange_levels", stale_exchange),
    "duplicating_exchange": (400, BOTH, swap, "exchange_levels", duplicating_exchange),
    "unswapped_ratio": (4500, replace(SWAPS, strategy=LOPSIDED), weighted, "exchange_view", positions_only),
    "drifting_proposal": (1500, WALKS, iteration, "step_levels", drifting_proposal),
    "neighbour_for_partner": (6000, SWAPS, swap, "swap_log_accept", neighbour_for_partner),
    "repeat_until_accepted": (4000, WALKS, iteration, "advance_moves", repeat_until_accepted),
    "prior_tempered_too": (400, PRIOR, accept, "log_accept", prior_tempered_too),
    "prior_left_behind": (3000, PRIOR, swap, "exchange_levels", prior_left_behind),
    "jump_without_ratio": (500, JUMPS, iteration, "begin_level", jump_without_ratio),
    "refresh_without_ratio": (1500, JUMPS, iteration, "begin_level", refresh_without_ratio),
    "best_component_only": (4000, JUMPS, independence, "mixture_log_density", best_component_only),
    "refitted_meanwhile": (1500, JUMPS, iteration, "begin_level", refitted_meanwhile),
    "coordinates_adapt": (25, PLANE, iteration, "finish_iteration", coordinates_adapt),
    "betas_of_the_first_bundle": (1500, PLANE, accept, "log_accept", betas_of_the_first_bundle),
    "resting_levels_accept": (3000, RESTING, iteration, "advance_moves", resting_levels_accept),
    "looks_at_the_state": (1500, WALKS, iteration, "choose_moves", looks_at_the_state),
    "height_times_beta": (1500, SLICES, iteration, "begin_level", height_times_beta),
    "shrinks_from_the_left": (1500, ALONG, slicing, "follow", shrinks_from_the_left),
    "always_to_the_right": (1500, SLICES, iteration, "begin_level", always_to_the_right),
    "last_point_is_taken": (1500, WIDE, iteration, "advance_moves", last_point_is_taken),
    "leap_without_jacobian": (1500, LEAPING, iteration, "begin_level", leap_without_jacobian),
    "responsibility_of_one_side": (
        3000,
        LEAPING,
        corresponding,
        "log_claims_with",
        responsibility_of_one_side,
    ),
    "weights_not_renormalised": (1500, LEAPING, corresponding, "log_choice", weights_not_renormalised),
    "maps_follow_the_state": (6000, LEAPING, iteration, "begin_level", maps_follow_the_state),
    "wrong_mode_of_origin": (1500, LEAPING, corresponding, "choose_origin", wrong_mode_of_origin),
    "humps_without_density": (6000, HUMPS, hump_moves, "log_hump_density", humps_without_density),
    "unbroken_leaps": (1500, replace(LEAPING, leaps="all"), iteration, "begin_level", begin_level),
    "unbroken_slices": (1500, WIDE, slicing, "follow", _follow),
    "unbroken": (1500, replace(SWAPS, strategy=EQUI_ENERGY), swap, "swap_log_accept", _accept),
    "unbroken_jumps": (1500, JUMPS, iteration, "begin_level", begin_level),
    "unbroken_prior": (1500, PRIOR, swap, "swap_log_accept", _accept),
    "unbroken_plane": (1500, RESTING, iteration, "finish_iteration", _finish_iteration),
}


def caught(name: str, seed: int) -> bool:
    n_first, case, module, attribute, replacement = MUTANTS[name]
    run = frozen_run(case)
    with mock.patch.object(module, attribute, replacement):
        verdict = judge_sequentially(
            lambda n, rng: p_values(run, n, rng), np.random.default_rng(seed), n_first=n_first
        )
    return not verdict.passed


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: caught(name, int(sys.argv[1])) for name in MUTANTS}))
