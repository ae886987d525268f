"""The runner: ``python -m peers`` makes every repetition that has no row yet, task by task."""

import subprocess

import click

from peers.contract import OURS, PEERS, WEIGHTED, load_adapter
from peers.environments import ROOT, interpreter, variables
from peers.store import Store
from peers.tasks import TASKS, Task

RESULTS = ROOT / "docs" / "peers" / "results"
REPETITIONS = {**dict.fromkeys(PEERS, 20), **dict.fromkeys(OURS, 500), "temperance_paper": 200}
FIRST_SEED = {**dict.fromkeys(PEERS, 1), **dict.fromkeys(OURS, 2_840_001), "temperance_paper": 1}
NO_LIMIT = 1e9


@click.command()
@click.option("--peer", "names", multiple=True, type=click.Choice((*PEERS, *OURS)), help="Only these peers.")
@click.option("--task", "tasks", multiple=True, type=click.Choice(list(TASKS)), help="Only these tasks.")
@click.option("--ours", is_flag=True, help="Only our own samplers, in this environment.")
@click.option("--repetitions", type=click.IntRange(min=1), help="A cell; by default 20, ours 500.")
@click.option("--minutes", type=float, default=NO_LIMIT, help="Begin no repetition of a cell after so many.")
@click.option("--anew", is_flag=True, help="Forget the chosen cells' rows first.")
def main(
    names: tuple[str, ...],
    tasks: tuple[str, ...],
    ours: bool,
    repetitions: int | None,
    minutes: float,
    anew: bool,
) -> None:
    """Run peers side by side; rows go to docs/peers/results as they come, and finished ones stay."""
    chosen = OURS if ours else names or (*PEERS, *OURS)
    store = Store(RESULTS)
    for task in map(TASKS.__getitem__, tasks or TASKS):
        for name in chosen:
            if name in WEIGHTED.values():  # made with the draws of the same runs
                continue
            if anew:
                store.forget(task, name)
                store.forget(task, WEIGHTED.get(name, name))
            run_cell(store, task, name, repetitions or REPETITIONS[name], minutes)


def run_cell(store: Store, task: Task, name: str, repetitions: int, minutes: float) -> None:
    """The missing repetitions of one peer on one task, in a process of the peer's environment."""
    first = FIRST_SEED[name]
    seeds = store.missing_seeds(task, name, range(first, first + repetitions))
    click.echo(f"{task.name}: {name}, {len(seeds)} of {repetitions} repetitions to make")
    if not seeds:
        return
    python = interpreter(name, load_adapter(name).PEER)
    command = [python, "-m", "peers.worker", name, task.name, store.folder, str(60.0 * minutes)]
    ended = subprocess.run([*command, *map(str, seeds)], env=variables(), check=False)
    if ended.returncode:
        click.echo(f"{task.name}: {name} ended with exit code {ended.returncode}", err=True)


if __name__ == "__main__":
    main()
