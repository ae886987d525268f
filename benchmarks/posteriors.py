"""Real posteriors at 250,000 evaluations: default settings, one chain, and errors against the references.

Run with ``make bench-posteriors``: makes the runs that docs/jumps/posteriors.json does not have and writes
what they come to there; ``--anew`` forgets it first. An error is the root of the mean square over runs and
quantities, each in standard deviations of the posterior. ``--print`` shows what is there.
"""

import datetime
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

import temperance as tp
from peers.contract import FloatArray
from peers.ours import affordable_draws, evaluations
from temperance import zoo
from timing import versions_in_words

ROWS = Path(__file__).parent.parent / "docs" / "jumps" / "posteriors.json"
POSTERIORS = {
    # name: what makes it
    "two exponentials": zoo.two_exponentials,
    "sinusoid": zoo.sinusoid,
    "localisation": zoo.localisation,
    "epidemic": zoo.epidemic,
    "three normals": zoo.three_normals,
}
BUDGET, TUNE_SHARE = 250_000, 0.45
RUNS, FIRST_SEED = 100, 2_300_001  # no seed was looked at before
WRONG = 4.0  # standard errors that are reported, beyond which a run is wrong


def one_run(posterior: zoo.Posterior, seed: int, budget: int = BUDGET, **options: Any) -> dict[str, Any]:
    """A run of default settings with so many evaluations, and what its estimates are worth."""
    common = {"chains": 1, "cores": 1, "seed": seed, "progress": False, **options}
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        levels = tp.sample(posterior, **common, draws=0, tune=1).n_levels_at_start
        tuned = tp.sample(posterior, **common, draws=0, tune=int(TUNE_SHARE * budget / levels), store=path)
        draws = affordable_draws(tuned, budget)
        result = tp.resume(path, posterior, draws=draws, cores=1, progress=False)
        result.draws  # noqa: B018  read before the folder goes
        row = judged(posterior, result)
    row["cpu"] = time.process_time() - began
    return row


def judged(posterior: zoo.Posterior, result: tp.Result) -> dict[str, Any]:
    """Estimates, their reported errors, and what else there is to say."""
    found = result.expect(lambda rows: posterior.quantities(posterior.values(rows)))
    modes = result.chains[0].modes
    off = np.abs(found.value - np.array(list(posterior.expected.values()))) / spread(posterior)
    return {
        "value": np.round(found.value, 6).tolist(),
        "error": np.round(found.error, 6).tolist(),
        "off": float(np.sqrt(np.mean(off**2))),
        "by": found.by,
        "warnings": [warning.name for warning in result.warnings if warning.serious],
        "evaluations": evaluations(result),
        "efficiency": 0.0 if modes is None else modes.efficiency,
        "components": 0 if modes is None else len(modes.weight),
    }


def spread(posterior: zoo.Posterior) -> FloatArray:
    """Standard deviation of each quantity under the posterior."""
    return np.array([posterior.deviations[name] for name in posterior.expected])


def main_figures(posterior: zoo.Posterior, rows: list[dict[str, Any]]) -> dict[str, float]:
    """What a few runs come to."""
    expected = np.array(list(posterior.expected.values()))
    value, error = (np.array([row[name] for row in rows]) for name in ("value", "error"))
    off = (value - expected) / spread(posterior)
    wrong = np.any(np.abs(value - expected) > WRONG * error, axis=1)
    warned = np.array([len(row["warnings"]) > 0 for row in rows])
    return {
        "error": math.sqrt(float(np.mean(off**2))),
        "median": float(np.median(np.sqrt(np.mean(off**2, axis=1)))),
        "worst": float(np.sqrt(np.mean(off**2, axis=1)).max()),
        "covered": float(np.mean(np.abs(value - expected) <= 1.96 * error)),
        "wrong": float(wrong.mean()),
        "wrong and not warned": float(np.mean(wrong & ~warned)),
        "warned": float(warned.mean()),
        "weighted": float(np.mean([row["by"] == "weighted" for row in rows])),
        "cpu": float(np.mean([row["cpu"] for row in rows])),
        "efficiency": float(np.median([row["efficiency"] for row in rows])),
        "components": float(np.median([row["components"] for row in rows])),
        "evaluations": float(np.mean([row["evaluations"] for row in rows])),
        "runs": len(rows),
    }


def shown(name: str, rows: list[dict[str, Any]]) -> str:
    """One line."""
    figures = main_figures(POSTERIORS[name](), rows)
    return f"{name}: " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items())


@click.command()
@click.option("--problem", "names", multiple=True, help="Only these.")
@click.option("--runs", default=RUNS, show_default=True)
@click.option("--first-seed", default=FIRST_SEED, show_default=True)
@click.option("--file", default=ROWS, type=click.Path(path_type=Path), help="Where the rows go.")
@click.option("--anew", is_flag=True, help="Forget the chosen problems first.")
@click.option("--print", "only", is_flag=True, help="Only show what is there.")
def main(
    names: tuple[str, ...],
    runs: int,
    first_seed: int,
    file: Path,
    anew: bool,
    only: bool,
) -> None:
    """Measure what is missing, problem by problem."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name in names or POSTERIORS:
        rows = [] if anew or name not in known else known[name]["rows"]
        posterior = POSTERIORS[name]()
        for k in range(len(rows), 0 if only else runs):
            rows.append(one_run(posterior, first_seed + k))
            about = {"date": str(datetime.date.today()), "versions": versions_in_words()}
            known[name] = {"first_seed": first_seed, **about, "rows": rows}
            file.write_text(json.dumps(known) + "\n", encoding="utf-8")
        if rows:
            click.echo(shown(name, rows))


if __name__ == "__main__":
    main()
