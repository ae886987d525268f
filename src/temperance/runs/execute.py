"""Chains in threads. The main thread watches, and answers Ctrl-C at once."""

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from temperance.runs.chain import ChainRun
from temperance.runs.progress import Display

REFRESH_SECONDS = 0.05


def default_cores(chains: int, *, runs_in_parallel: bool) -> int:
    """As many threads as help: one for densities that hold the interpreter."""
    return min(chains, os.cpu_count() or 1) if runs_in_parallel else 1


def run_chains(runs: Sequence[ChainRun], cores: int, display: Display) -> bool:
    """Run all chains; False when a Ctrl-C ended them early. A failed chain stops the others."""
    with ThreadPoolExecutor(max_workers=cores) as pool, display:
        try:
            _watch({pool.submit(run.run) for run in runs}, runs, display)
        except KeyboardInterrupt:
            stop_all(runs)
            return False
        except BaseException:
            stop_all(runs)
            raise
    return True


def stop_all(runs: Sequence[ChainRun]) -> None:
    """Ask every chain to end."""
    for run in runs:
        run.stop()


def _watch(futures: set[Future[None]], runs: Sequence[ChainRun], display: Display) -> None:
    while futures:
        done, futures = wait(futures, timeout=REFRESH_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        if any(run.failure is not None for run in runs):
            stop_all(runs)
        display.update()
