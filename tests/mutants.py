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
from temperance.core import iteration, jump, swap, walk
from temperance.core.coordinate import adapt_coordinates
from temperance.core.lanes import LANES
from temperance.core.numeric import capped_log_prob, tempered_difference
from temperance.swaps import weighted
from temperance.swaps.strategy import repeated

_own_rng = np.random.default_rng(5)
_accept, _propose, _accept_walk = swap.swap_log_accept, walk.propose, walk.accept_walk
_propose_jumps, _mixture_log_density = jump.propose_jumps, jump.mixture_log_density
_finish_iteration = iteration.finish_iteration


def turned_exponent(log_i, log_j, beta_i, beta_j, ratio):
    return _accept(log_i, log_j, beta_j, beta_i, ratio)


def ratio_forgotten(log_i, log_j, beta_i, beta_j, ratio):
    return _accept(log_i, log_j, beta_i, beta_j, 0.0)


def neighbour_for_partner(log_i, log_j, beta_i, beta_j, ratio):
    ladder = BETAS["spread"]
    return _accept(log_i, log_j, beta_i, ladder[ladder.index(beta_i) + 1], ratio)


def untempered_walk(level, state, info):
    return capped_log_prob(info.log_density[level] - state.log_density[level])


def prior_tempered_too(level, state, info):
    new = info.log_density[level] + info.log_prior[level]
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


def drifting_proposal(state, noise, row, info):
    _propose(state, noise, row, info)
    info.proposal[:] += 0.25


def repeat_until_accepted(noise, row, state, info):
    """Propose again and again until every level moves."""
    for level in range(len(state.beta)):
        while True:
            step = 3.0 * math.exp(state.log_scale[level]) * _own_rng.standard_normal(1)
            point = state.position[level] + step
            value = two_bumps(point)
            if math.log(_own_rng.random()) < state.beta[level] * (value - state.log_density[level]):
                break
        state.position[level], state.log_density[level] = point, value


def jump_without_ratio(chain, row):
    _propose_jumps(chain, row)
    chain.info.log_proposal_ratio[0] = 0.0


def refresh_without_ratio(chain, row):
    _propose_jumps(chain, row)
    chain.info.log_proposal_ratio[-1] = 0.0


def best_component_only(point, mixture):
    """The density of the component that explains the point best, as if it were the whole mixture."""
    parts = [
        type(mixture)(mixture.chance, *(column[k : k + 1] for column in mixture[1:]))
        for k in range(len(mixture.centre))
    ]
    return max(_mixture_log_density(point, part) for part in parts)


def refitted_meanwhile(chain, row):
    """The mixture follows the state: its components are moved to where the base level is."""
    chain.jumps.centre[:] = chain.state.position[0] + np.array([[0.5], [1.0], [1.5]])
    _propose_jumps(chain, row)


def coordinates_adapt(propose_pair, chain, row):
    """Scales of coordinates that go on learning, settings or not."""
    _finish_iteration(propose_pair, chain, row)
    adapt_coordinates(chain.state, chain.info, chain.settings)


def betas_of_the_first_bundle(level, state, info):
    tempered = tempered_difference(
        state.beta[level % LANES], info.log_density[level], state.log_density[level]
    )
    return capped_log_prob(tempered + info.log_proposal_ratio[level])


def resting_levels_accept(noise, row, state, info):
    """Those at rest try the proposal of their latest move once more."""
    n_active = info.n_active[0]
    info.n_active[0] = state.n_levels[0]
    _accept_walk(noise, row, state, info)
    info.n_active[0] = n_active


ADJACENT, EVEN_ODD = STRATEGIES["adjacent"], SWEEPS["even_odd"]
EQUI_ENERGY, UNIFORM, LOPSIDED = (
    replace(STRATEGIES[name], attempts=repeated(10)) for name in ("equi_energy", "uniform", "lopsided")
)
WALKS = Case(mode="power", strategy=ADJACENT)
SWAPS = Case(mode="spread", strategy=UNIFORM, walks="once")
BOTH = Case(mode="power", strategy=EVEN_ODD)
PRIOR = Case(mode="prior", strategy=EVEN_ODD)
JUMPS = Case(mode="power", strategy=ADJACENT, jumps="often")
PLANE = Case(mode="six", strategy=EVEN_ODD, dim=2, coordinate_every=1, walk="robust")
RESTING = replace(PLANE, coordinate_every=2, rest_every=4)
# name: (draws at first, the frozen kernel, module, what is replaced, by what)
MUTANTS = {
    "turned_exponent": (400, SWAPS, swap, "swap_log_accept", turned_exponent),
    "ratio_forgotten": (4500, replace(SWAPS, strategy=LOPSIDED), swap, "swap_log_accept", ratio_forgotten),
    "untempered_walk": (1500, WALKS, walk, "walk_log_accept", untempered_walk),
    "stale_exchange": (3000, BOTH, swap, "exchange_levels", stale_exchange),
    "duplicating_exchange": (400, BOTH, swap, "exchange_levels", duplicating_exchange),
    "unswapped_ratio": (4500, replace(SWAPS, strategy=LOPSIDED), weighted, "exchange_view", positions_only),
    "drifting_proposal": (1500, WALKS, iteration, "propose", drifting_proposal),
    "neighbour_for_partner": (6000, SWAPS, swap, "swap_log_accept", neighbour_for_partner),
    "repeat_until_accepted": (4000, WALKS, iteration, "accept_walk", repeat_until_accepted),
    "prior_tempered_too": (400, PRIOR, walk, "walk_log_accept", prior_tempered_too),
    "prior_left_behind": (3000, PRIOR, swap, "exchange_levels", prior_left_behind),
    "jump_without_ratio": (500, JUMPS, iteration, "propose_jumps", jump_without_ratio),
    "refresh_without_ratio": (1500, JUMPS, iteration, "propose_jumps", refresh_without_ratio),
    "best_component_only": (4000, JUMPS, jump, "mixture_log_density", best_component_only),
    "refitted_meanwhile": (1500, JUMPS, iteration, "propose_jumps", refitted_meanwhile),
    "coordinates_adapt": (25, PLANE, iteration, "finish_iteration", coordinates_adapt),
    "betas_of_the_first_bundle": (1500, PLANE, walk, "walk_log_accept", betas_of_the_first_bundle),
    "resting_levels_accept": (3000, RESTING, iteration, "accept_walk", resting_levels_accept),
    "unbroken": (1500, replace(SWAPS, strategy=EQUI_ENERGY), swap, "swap_log_accept", _accept),
    "unbroken_jumps": (1500, JUMPS, iteration, "propose_jumps", _propose_jumps),
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
