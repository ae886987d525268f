"""The same command again: a run in a folder goes on if it is there and is the one that is asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from temperance.errors import InvalidInputError
from temperance.runs.seeds import recorded_seed, seed_to_plain
from temperance.stored import read_run

PASSED_ON = ("cores", "pool", "vectorized", "data")  # what may be another than before, and what is not stored


def options_to_resume(folder: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `resume` takes of the options of `sample`; the others must be those of the run."""
    commit, _ = read_run(folder)
    run = commit.facts["run"]
    asked = {name: options.get(name) for name in ("chains", "levels", "tune", "thin", "seed")}
    if asked["seed"] is not None:
        asked["seed"] = seed_to_plain(recorded_seed(asked["seed"]))
    made = {
        "chains": len(commit.snapshots),
        "levels": len(run["plan"]["betas"]),
        "tune": run["plan"]["tune"],
        "thin": run["plan"]["thin"],
        "seed": run["seed"],
    }
    for name, value in asked.items():
        if value is not None and value != made[name]:
            raise InvalidInputError(
                f"store: the run in {folder} was begun with {name} {made[name]}, got {value}; say what it "
                "was, or choose another folder"
            )
    length = {"draws": options["draws"]} if options.get("until") is None else {"until": options["until"]}
    return {**{name: options[name] for name in PASSED_ON if name in options}, **length}
