"""CPU seconds that the weights take, at the budgets of the comparison with peers.

Run with ``make bench-weighing``: prints them, and writes them to docs/weights/cpu.json.
"""

import datetime
import json
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import click

import temperance as tp
from peers.ours import TUNE_SHARE, affordable_draws, bare_call
from peers.tasks import TASKS, Task
from timing import cpu_seconds, versions_in_words

ROWS = Path(__file__).parent.parent / "docs" / "weights" / "cpu.json"
FIRST_SEED = 730_001
RUNS, TURNS = 5, 3
CHAINS = (1, 4)


def run_of(task: Task, chains: int, seed: int) -> tp.Result:
    """A run with the budget of the task, as in `peers.ours`."""
    sample = partial(bare_call(task), chains=chains)
    n_levels = sample(draws=0, tune=1, seed=0).n_levels_at_start
    sample = partial(sample, tune=int(TUNE_SHARE * task.budget / (chains * n_levels)), seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sample(draws=affordable_draws(sample(draws=0), task.budget))


def seconds_of(result: tp.Result) -> float:
    """The weighted sample and the error of its log evidence, of a result that has computed nothing yet."""
    return min(cpu_seconds(lambda: replace(result).weighted) for _ in range(TURNS))


@click.command()
def main() -> None:
    """One row for each task and number of chains."""
    rows = []
    for task in TASKS.values():
        for chains in CHAINS:
            results = [run_of(task, chains, FIRST_SEED + k) for k in range(RUNS)]
            rows.append(
                {
                    "task": task.name,
                    "chains": chains,
                    "draws": median(result.draws.shape[1] for result in results),
                    "weighted": sum(result.weighting.bridge is not None for result in results),
                    "seconds": median(seconds_of(result) for result in results),
                }
            )
            click.echo(rows[-1])
    made = {"date": str(datetime.date.today()), "versions": versions_in_words(), "first_seed": FIRST_SEED}
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    ROWS.write_text(json.dumps({**made, "runs": RUNS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
