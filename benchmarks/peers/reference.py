"""Reference values for the bridge, of which nothing is known exactly: many long chains of ours.

``python -m peers.reference`` writes docs/peers/reference.json. The chains start all over the box, so that
they do not share a mode by their start; their spread gives the Monte Carlo error.
"""

import datetime
import json
from typing import Any

import numpy as np

import temperance as tp
from peers.contract import Outcome
from peers.environments import ROOT
from peers.measures import measure
from peers.tasks import Task, get_task

PATH = ROOT / "docs" / "peers" / "reference.json"
TASK = "bridge-100000"
CHAINS, TUNE, DRAWS, SEED = 64, 50_000, 600_000, 1
LEVELS, HOTTEST = 10, 30.0


def main() -> None:
    """Run the chains one after another and write their means."""
    task = get_task(TASK)
    found = np.array([chain_moments(task, seed) for seed in range(SEED, SEED + CHAINS)])
    errors = found.std(axis=0, ddof=1) / np.sqrt(CHAINS)
    note: dict[str, Any] = {
        "task": TASK, "chains": CHAINS, "tune": TUNE, "draws": DRAWS, "levels": LEVELS, "first_seed": SEED,
        "temperance": tp.__version__, "date": str(datetime.date.today()),
        "mean": dict(zip(task.moments, found.mean(axis=0).round(6).tolist(), strict=True)),
        "standard_error": dict(zip(task.moments, errors.round(6).tolist(), strict=True)),
    }  # fmt: skip
    PATH.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")


def chain_moments(task: Task, seed: int) -> list[float]:
    """Means of one long chain with a fixed number of levels."""
    lower, upper = task.box.T
    result = tp.sample(
        task.problem, initial=lambda rng: rng.uniform(lower, upper),
        draws=DRAWS, tune=TUNE, chains=1, seed=seed, temperatures=np.geomspace(1.0, HOTTEST, LEVELS),
        settings=tp.Settings(trimming=tp.Trimming(enabled=False)), progress=False,
    )  # fmt: skip
    row = measure(task, Outcome(draws=result.draws[0], settings=""))
    return [row[name] for name in task.moments]


def load() -> dict[str, Any]:
    """What `main` wrote."""
    if not PATH.exists():
        raise FileNotFoundError(f"{PATH.name} is missing; write it with python -m peers.reference")
    note: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return note


if __name__ == "__main__":
    main()
