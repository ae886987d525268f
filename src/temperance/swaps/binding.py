"""A strategy tied to the levels of one chain."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from temperance.core.state import FloatArray, IntArray, SwapView
from temperance.swaps.strategy import Kernel, Strategy


@dataclass
class BoundStrategy:
    """A strategy's kernel, what it sees, and the errors of weights written in Python."""

    kernel: Kernel
    view: SwapView
    failures: list[BaseException] = field(default_factory=list)
    keep_alive: Any = None


def bind(
    strategy: Strategy, position: FloatArray, log_density: FloatArray, beta: FloatArray, n_levels: IntArray
) -> BoundStrategy:
    """Let a strategy see these levels, now and as they change."""
    most = len(beta)
    view = SwapView(
        position=position,
        log_density=log_density,
        beta=beta,
        n_levels=n_levels,
        parameters=strategy.parameters.copy(),
        context=np.zeros(1, dtype=np.int64),
        clock=np.zeros(2, dtype=np.int64),
        pair=np.full(2, -1, dtype=np.int64),
        weight=np.zeros(most * (most - 1) // 2 + 2 * most),
        order=np.zeros(most, dtype=np.int64),
    )
    bound = BoundStrategy(strategy.kernel(), view)
    if strategy.callback is not None:
        bound.keep_alive = strategy.callback(view, bound.failures)
        view.context[0] = id(bound.keep_alive)
    return bound
