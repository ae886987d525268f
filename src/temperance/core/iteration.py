"""Algorithm 1: the phases in the paper's order, and the loop around them."""

import functools
import math
from collections.abc import Callable
from typing import Any

from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.evaluate import ask
from temperance.core.move import advance_level, begin_level, learn_moves
from temperance.core.numeric import power_gain
from temperance.core.record import record
from temperance.core.schedule import choose_moves
from temperance.core.schema import numba_type
from temperance.core.shape import average_late, step_levels
from temperance.core.state import (
    ASKED_TOO_OFTEN,
    BAD_RATIO,
    CHANGED,
    LEVEL,
    RUNNING,
    STATUS,
    SWAPPING,
    Chain,
    Info,
    State,
    evaluate_type,
    propose_pair_type,
)
from temperance.core.surprise import watch_points
from temperance.core.swap import forget_swaps, swap
from temperance.core.temper import adapt_gaps, measure_edges
from temperance.core.trim import trim, trim_is_due


@compiled
def begin_moves(chain: Chain, row: int) -> None:
    """Every level that moves asks for its first point, in place."""
    step_levels(chain, row)
    info = chain.info
    info.n_asked[0] = info.n_active[0]
    for level in range(info.n_active[0]):
        begin_level(chain, row, level)
        info.asker[level] = level
        if math.isnan(info.log_proposal_ratio[level]):
            chain.control[STATUS] = BAD_RATIO
            chain.control[LEVEL] = level
            return


@compiled
def note_base_proposal(info: Info) -> None:
    """Keep the first point of the base level: later rounds of other levels write over its row; in place."""
    for i in range(info.proposal.shape[1]):
        info.base_proposal[i] = info.proposal[0, i]
    info.base_log_parts[0] = info.log_density[0]
    info.base_log_parts[1] = info.log_prior[0]


@compiled
def advance_moves(chain: Chain, row: int) -> None:
    """Every level that asked decides or asks again, in place; what is asked again moves up."""
    info, n_again = chain.info, 0
    if info.n_rounds[0] == 0:
        note_base_proposal(info)
    info.n_rounds[0] += 1
    for k in range(info.n_asked[0]):
        if not advance_level(chain, row, k):
            continue
        level = info.asker[k]
        if info.n_rounds[0] == chain.schedule.max_evaluations[info.move[level]]:
            chain.control[STATUS] = ASKED_TOO_OFTEN
            chain.control[LEVEL] = k
            return
        info.asker[n_again] = level
        for i in range(info.proposal.shape[1]):
            info.proposal[n_again, i] = info.proposal[k, i]
        n_again += 1
    info.n_asked[0] = n_again


@compiled
def finish_iteration(propose_pair: Callable[..., float], chain: Chain, row: int) -> None:
    """Everything after the levels have moved; in place."""
    state, info, settings = chain.state, chain.info, chain.settings
    if settings.adapting:
        gain = power_gain(
            state.iteration[0] + 1, settings.gain_scale, settings.gain_exponent, settings.gain_delay
        )
        learn_moves(chain, row, gain)
    forget_swaps(info)
    if info.n_active[0] == state.n_levels[0]:
        chain.control[LEVEL] = SWAPPING
        swap(propose_pair, chain, row)
        if chain.control[STATUS] != RUNNING:
            return
        measure_edges(state, info)
    if settings.adapting:
        adapt_gaps(state, info, settings)
        average_late(state, settings)
        if trim_is_due(state.iteration[0], settings):
            trim(state, settings, chain.schedule.move[-1])
    state.iteration[0] += 1


@functools.cache
def compiled_loop(state: type, info: type, keep: bool) -> Callable[..., int]:
    """The loop for records of these types, compiled on first use, whatever the density and the strategy.

    Where all moves are our own, ``keep`` keeps it on disk.
    """
    digest = kernel_digest()
    signature = types.int64(
        evaluate_type(), types.intp, propose_pair_type(), chain_type(state, info), types.int64, types.int64
    )

    @compiled_for(signature, keep=keep)
    def run_block(
        evaluate: Any, context: int, propose_pair: Any, chain: Chain, first_row: int, n_iterations: int
    ) -> int:
        """Run up to ``n_iterations``, recording from ``first_row`` on; how many were finished.

        Ends early after an iteration that changed the number of levels: each has random numbers of its own.
        """
        digest  # noqa: B018  a closure constant, so part of the cache key
        state, info, control = chain.state, chain.info, chain.control
        n_levels = state.n_levels[0]
        for row in range(n_iterations):
            control[CHANGED] = 0
            choose_moves(chain, row)
            begin_moves(chain, row)
            while control[STATUS] == RUNNING and info.n_asked[0] > 0:
                if ask(evaluate, context, state, info, chain.settings, control):
                    if chain.settings.watching:
                        watch_points(chain)
                        control[CHANGED] = 1
                    advance_moves(chain, row)
            if control[STATUS] != RUNNING:
                return row
            finish_iteration(propose_pair, chain, row)
            if control[STATUS] != RUNNING:
                return row
            record(chain, first_row + row)
            if state.n_levels[0] != n_levels:
                return row + 1
        return n_iterations

    return run_block


def chain_type(state: type, info: type) -> Any:
    """The numba type of a chain with a state and an info of these types."""
    return numba_type(Chain, {State: state, Info: info})
