"""Do the adapters that state their evaluations state them rightly? A run with a counter in the density.

``python -m peers.jax_count PEER`` in the peer's environment prints both numbers, and fails when they differ.
Nothing of the algorithm may be skipped, so the counter is a side effect that the compiler must keep.
"""

import sys
from dataclasses import replace
from typing import Any

from peers import jax_density
from peers.contract import load_adapter
from peers.density import Density
from peers.tasks import get_task

SMALL_BUDGET = 2_000


def main(peer: str) -> None:
    """Compare what is stated with what is called."""
    import jax

    calls = []
    adapter: Any = load_adapter(peer)
    adapter.log_density = lambda task: _counted(jax_density.log_density(task), calls)
    task = replace(get_task("twenty_peaks-37500"), budget=SMALL_BUDGET)
    run = adapter.prepare(task, Density(task))
    jax.effects_barrier()
    calls.clear()
    stated = run(1).evaluations
    jax.effects_barrier()
    print(f"{peer}: {stated} evaluations stated, {len(calls)} called")
    if stated != len(calls):
        raise SystemExit(1)


def _counted(log_density: Any, calls: list[int]) -> Any:
    import jax

    def counted(x: Any) -> Any:
        jax.debug.callback(lambda _: calls.append(1), x[0])
        return log_density(x)

    return counted


if __name__ == "__main__":
    main(sys.argv[1])
