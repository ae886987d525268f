"""The contract between a swap strategy and the loop.

A strategy answers one question: which pair? Its kernel ``propose_pair(view, u, v)`` gets two uniforms,
writes levels ``i < j`` into ``view.pair`` (or -1 when no pair has any weight) and returns
``log p_ij(T_ij x) - log p_ij(x)``, with p normalised. The loop does the rest, by Eq. (3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from temperance.core.compile import compiled_for
from temperance.core.state import FloatArray, propose_pair_signature


def _no_parameters() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A way to choose the pair of levels to exchange."""

    name: str
    symmetric: bool  # p_ij(T_ij x) = p_ij(x), so that Eq. (7) is enough
    kernel: Callable[[], Callable[..., float]] = field(repr=False)  # compiles on first use
    parameters: FloatArray = field(default_factory=_no_parameters, repr=False)


def pair_kernel(function: Callable[..., float]) -> Callable[..., float]:
    """Compile a pair proposal for the loop's signature and keep it on disk."""
    return compiled_for(propose_pair_signature())(function)
