"""What an adapter offers and what a repetition leaves."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from peers.density import Density
    from peers.tasks import Task

FloatArray = npt.NDArray[np.float64]

ONE_POINT, BALL, BOX = "one point", "a small ball", "the box"
OURS = (
    "temperance",
    "temperance_weighted",
    "temperance_one_chain",
    "temperance_one_chain_weighted",
    "temperance_paper",
)
# Whose runs are judged by their weighted sample as well, and the name of those rows.
WEIGHTED = {"temperance": "temperance_weighted", "temperance_one_chain": "temperance_one_chain_weighted"}
PEERS = (
    "emcee",
    "ptemcee",
    "reddemcee",
    "eryn",
    "ptmcmcsampler",
    "pypesto",
    "tfp",
    "blackjax",
    "pymc",
    "dynesty",
    "ultranest",
    "nautilus",
)


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What is said about a peer without running it.

    Attributes:
        title: What people read.
        kind: The family of its method.
        start: Where it starts: one point, a small ball round that point, or all over the box.
        packages: What pip installs into its environment; the first is the peer itself. Empty: our own.
        shims: What it takes to run it beside current versions of other packages.
        notes: How it is called, what is vectorised, what was tried.
    """

    title: str
    kind: str
    start: str
    packages: tuple[str, ...] = ()
    shims: str = ""
    notes: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a sampler leaves: draws ``(n, dim)``, their weights if they differ, and how it was set.

    ``evaluations`` is None when the density itself counted; where it cannot (compiled by the peer), the
    adapter states the number, and says in its notes how it is made up. ``cpu_seconds`` is None for the whole
    call. ``weighted`` is the same run by its weighted sample, of a peer in `WEIGHTED`.
    """

    draws: FloatArray
    settings: str
    weights: FloatArray | None = field(default=None)
    evaluations: int | None = None
    cpu_seconds: float | None = None
    weighted: Outcome | None = None


Sampler = Callable[[int], Outcome]  # from a seed


class Adapter(Protocol):
    """A module of `peers.adapters`."""

    PEER: Peer

    def prepare(self, task: Task, density: Density) -> Sampler:
        """Get ready, untimed: imports and compilation. What is returned is timed."""
        ...


def load_adapter(name: str) -> Adapter:
    """The adapter of this name."""
    known = (*PEERS, *OURS)
    if name not in known:
        raise ValueError(f"peer must be one of {', '.join(known)}; got {name!r}")
    adapter: Adapter = importlib.import_module(f"peers.adapters.{name}")  # type: ignore[assignment]
    return adapter
