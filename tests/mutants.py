"""Broken kernels, and which of them the invariance test catches. Run with the compiler off."""

import json
import math
import sys
from unittest import mock

import numpy as np

from invariance import BETAS, exact_law, frozen_run, p_values
from judge import judge_sequentially
from strategies import STRATEGIES
from temperance.core import iteration, jump, swap, walk
from temperance.core.numeric import capped_log_prob
from temperance.swaps import weighted

N_FIRST = 1500
N_FIRST_WEAK = 3000
WEAK = {
    "drifting_proposal",
    "prior_left_behind",
    "neighbour_for_partner",
    "ratio_forgotten",
    "unswapped_ratio",
}
_own_rng = np.random.default_rng(5)
_accept, _propose, _accept_walk = swap.swap_log_accept, walk.propose, walk.accept_walk
_propose_jumps, _mixture_log_density = jump.propose_jumps, jump.mixture_log_density


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
    info.proposal[:] += 0.1


def repeat_until_accepted(noise, row, state, info):
    """Propose again and again until every level moves."""
    from invariance import two_bumps

    for level in range(len(state.beta)):
        while True:
            point = state.position[level] + math.exp(state.log_scale[level]) * _own_rng.standard_normal(1)
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


# name: (mode, strategy, walks, module, what is replaced, by what)
MUTANTS = {
    "turned_exponent": ("spread", "equi_energy", "short", swap, "swap_log_accept", turned_exponent),
    "ratio_forgotten": ("spread", "lopsided", "short", swap, "swap_log_accept", ratio_forgotten),
    "untempered_walk": ("power", "adjacent", "long", walk, "walk_log_accept", untempered_walk),
    "stale_exchange": ("power", "equi_energy", "long", swap, "exchange_levels", stale_exchange),
    "duplicating_exchange": ("power", "uniform", "long", swap, "exchange_levels", duplicating_exchange),
    "unswapped_ratio": ("spread", "lopsided", "short", weighted, "exchange_view", positions_only),
    "drifting_proposal": ("power", "adjacent", "long", iteration, "propose", drifting_proposal),
    "neighbour_for_partner": ("spread", "uniform", "short", swap, "swap_log_accept", neighbour_for_partner),
    "repeat_until_accepted": ("power", "adjacent", "long", iteration, "accept_walk", repeat_until_accepted),
    "prior_tempered_too": ("prior", "adjacent", "long", walk, "walk_log_accept", prior_tempered_too),
    "prior_left_behind": ("prior", "uniform", "long", swap, "exchange_levels", prior_left_behind),
    "jump_without_ratio": ("power", "adjacent", "long", iteration, "propose_jumps", jump_without_ratio),
    "refresh_without_ratio": ("power", "adjacent", "long", iteration, "propose_jumps", refresh_without_ratio),
    "best_component_only": (
        "power",
        "adjacent",
        "long",
        jump,
        "mixture_log_density",
        best_component_only,
    ),
    "refitted_meanwhile": (
        "power",
        "adjacent",
        "long",
        iteration,
        "propose_jumps",
        refitted_meanwhile,
    ),
    "unbroken_jumps": ("power", "adjacent", "long", iteration, "propose_jumps", _propose_jumps),
    "unbroken": ("power", "equi_energy", "long", swap, "swap_log_accept", _accept),
    "unbroken_prior": ("prior", "lopsided", "long", swap, "swap_log_accept", _accept),
}


def caught(name: str, seed: int) -> bool:
    mode, strategy, walks, module, attribute, replacement = MUTANTS[name]
    n_first = N_FIRST_WEAK if name in WEAK else N_FIRST
    jumps = "both" if "jump" in attribute or module is jump else "none"
    law, run = exact_law(mode), frozen_run(mode, STRATEGIES[strategy], walks, jumps=jumps)
    with mock.patch.object(module, attribute, replacement):
        verdict = judge_sequentially(
            lambda n, rng: p_values(run, law, n, rng), np.random.default_rng(seed), n_first=n_first
        )
    return not verdict.passed


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: caught(name, int(sys.argv[1])) for name in MUTANTS}))
