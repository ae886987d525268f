"""Algorithm 1: the phases in the paper's order, and the loop around them."""

import functools
from collections.abc import Callable
from typing import Any

from numba import types

from temperance.core.adapt import adapt_walks, average_late
from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.coordinate import adapt_coordinates, propose_coordinates
from temperance.core.evaluate import ask
from temperance.core.jump import propose_jumps
from temperance.core.numeric import power_gain
from temperance.core.record import record
from temperance.core.robust import note_directions
from temperance.core.schema import numba_type
from temperance.core.state import (
    LEVEL,
    RUNNING,
    STATUS,
    SWAPPING,
    Chain,
    evaluate_type,
    propose_pair_type,
)
from temperance.core.swap import forget_swaps, swap
from temperance.core.temper import adapt_gaps, measure_edges
from temperance.core.trim import trim, trim_is_due
from temperance.core.walk import accept_walk, choose_active, propose


@compiled
def finish_iteration(propose_pair: Callable[..., float], chain: Chain, row: int) -> None:
    """Everything after the densities of the proposals are known; in place."""
    state, info, _, settings, _, _, noise, _, control = chain
    gain = 0.0
    if settings.adapting:
        gain = power_gain(
            state.iteration[0] + 1, settings.gain_scale, settings.gain_exponent, settings.gain_delay
        )
        if settings.robust:
            note_directions(noise, row, state, info)
    accept_walk(noise, row, state, info)
    if settings.adapting:
        adapt_walks(state, info, settings, gain)
        adapt_coordinates(state, info, settings)
    forget_swaps(info)
    if info.n_active[0] == state.n_levels[0]:
        control[LEVEL] = SWAPPING
        swap(propose_pair, chain, row)
        if control[STATUS] != RUNNING:
            return
        measure_edges(state, info)
    if settings.adapting:
        adapt_gaps(state, info, settings, gain)
        average_late(state, settings)
        if trim_is_due(state.iteration[0], settings):
            trim(state, settings)
    state.iteration[0] += 1


@functools.cache
def compiled_loop() -> Callable[..., int]:
    """The loop, compiled on first use and cached whatever the density and the strategy."""
    digest = kernel_digest()
    signature = types.int64(
        evaluate_type(), types.intp, propose_pair_type(), numba_type(Chain), types.int64, types.int64
    )

    @compiled_for(signature)
    def run_block(
        evaluate: Any, context: int, propose_pair: Any, chain: Chain, first_row: int, n_iterations: int
    ) -> int:
        """Run up to ``n_iterations``, recording from ``first_row`` on; how many were finished.

        Ends early after an iteration that changed the number of levels: each has random numbers of its own.
        """
        digest  # noqa: B018  a closure constant, so part of the cache key
        state, info, _, settings, _, _, noise, trace, control = chain
        n_levels = state.n_levels[0]
        for row in range(n_iterations):
            choose_active(state, settings, info)
            propose(state, noise, row, info)
            propose_coordinates(noise, row, state, settings, info)
            propose_jumps(chain, row)
            if not ask(evaluate, context, chain):
                return row
            finish_iteration(propose_pair, chain, row)
            if control[STATUS] != RUNNING:
                return row
            record(state, info, first_row + row, trace)
            if state.n_levels[0] != n_levels:
                return row + 1
        return n_iterations

    return run_block
