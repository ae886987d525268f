"""Is the advice good? Problems that raise each serious warning, and runs that do as they are told.

Run with ``make bench-advice``. A program follows `Result.changes`, and where the advice is about the density
itself takes what the problem offers in its place. It stops when no warning is serious, or after three times.
Written are docs/advice/advice.json, the table docs/advice/table.txt, and of each problem what was printed.
"""

import datetime
import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

import temperance as tp
from advice_problems import Problem, problems
from temperance.results.reached import evaluations_of
from timing import versions_in_words

FOLDER = Path(__file__).parent.parent / "docs" / "advice"
FIRST_SEED = 1_771_001
ROUNDS = 3  # times that advice is followed
SAME = 1.5  # a factor, within which a standard deviation is right
NEAR = 0.2  # of a standard deviation, within which a mean is right


def followed(options: Mapping[str, Any], result: tp.Result, problem: Problem) -> dict[str, Any]:
    """The next call: what the advice changes, and what a user has mended."""
    changed, settings = dict(options), options.get("settings") or tp.Settings()
    for name, value in result.changes.items():
        if name.startswith("settings."):
            settings = changed_settings(settings, name.split(".")[1:], value)
        else:
            changed[name] = value
    changed["settings"] = settings
    for one in result.advice:
        changed |= problem.reworks.get(one.rework, {})
    if "levels" in result.changes:
        changed.pop("temperatures", None)
    return with_fitting_starts(changed)


def changed_settings(settings: tp.Settings, path: list[str], value: Any) -> tp.Settings:
    """Settings with one field of a part changed."""
    part, name = path
    return replace(settings, **{part: replace(getattr(settings, part), **{name: value})})


def with_fitting_starts(options: dict[str, Any]) -> dict[str, Any]:
    """Starts of each level, where the number of levels has changed: those of the first."""
    start, levels = options.get("initial"), options.get("levels")
    if isinstance(start, np.ndarray) and start.ndim == 3 and levels is not None:
        options["initial"] = np.repeat(start[:, :1], levels, axis=1)
    return options


def is_right(result: tp.Result, problem: Problem) -> bool:
    """Whether all means are near the truth, and all standard deviations."""
    if not result.draws.size:
        return False
    values = problem.quantities(result.draws)
    mean, sd = values.mean(axis=(0, 1)), values.std(axis=(0, 1))
    near = np.abs(mean - problem.means) <= NEAR * problem.sds
    return bool(np.all(near & (sd < SAME * problem.sds) & (sd > problem.sds / SAME)))


def run(options: Mapping[str, Any], seed: int) -> tp.Result:
    """One run, without its Python warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tp.sample(**options, seed=seed, cores=1, progress=False)


def told(problem: Problem, seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Rounds of a problem: what was seen and what was changed, and all that was printed."""
    options, rows, texts = dict(problem.options), [], []
    for number in range(ROUNDS + 1):
        result = run(options, seed + 1_000 * number)
        serious = [one.name for one in result.warnings if one.serious]
        rows.append({
            "serious": serious, "right": is_right(result, problem), "evaluations": evaluations_of(result),
            "causes": [one.cause for one in result.advice],
        })  # fmt: skip
        texts.append(str(result))
        if not serious:
            break
        options = followed(options, result, problem)
    return rows, texts


def table(known: Mapping[str, Any]) -> str:
    """What came of it, a row for each problem, and the shares of all."""
    lines = [
        "| problem | warnings that were serious | first cause told | cured and right after 1 | after 3 | "
        "evaluations before | in all |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in known["problems"].items():
        runs = one["runs"]
        raised = [rows for rows in runs if rows[0]["serious"]]
        first = raised[0][0] if raised else runs[0][0]
        counts = [sum(cured(rows, most) for rows in raised) for most in (1, ROUNDS)]
        before = np.mean([rows[0]["evaluations"] for rows in runs])
        in_all = np.mean([sum(row["evaluations"] for row in rows) for rows in runs])
        lines.append(
            f"| {name} | {', '.join(first['serious']) or 'none'} | "
            f"{first['causes'][0] if first['causes'] else ''} | "
            f"{counts[0]} of {len(raised)} | {counts[1]} of {len(raised)} | {before:,.0f} | {in_all:,.0f} |"
        )
    raised = [rows for one in known["problems"].values() for rows in one["runs"] if rows[0]["serious"]]
    shares = [sum(cured(rows, most) for rows in raised) / max(len(raised), 1) for most in (1, ROUNDS)]
    lines.append(
        f"\nOf {len(raised)} runs with a serious warning, {shares[0]:.0%} had none and the right answer "
        "after "
        f"the advice was followed once, {shares[1]:.0%} after it was followed up to {ROUNDS} times. "
        "Seeds from "
        f"{known['first_seed']} on, {known['date']}, {known['versions']}."
    )
    return "\n".join(lines) + "\n"


def cured(rows: list[dict[str, Any]], most: int) -> bool:
    """Whether after so many rounds at most no warning is serious, and the answer right."""
    return any(not row["serious"] and row["right"] for row in rows[1 : most + 1])


@click.command()
@click.option("--problem", "names", multiple=True, help="Only these.")
@click.option("--seeds", default=2, show_default=True, type=click.IntRange(min=1), help="Runs of each.")
@click.option("--first-seed", default=FIRST_SEED, show_default=True)
@click.option("--dry", is_flag=True, help="Write nothing.")
@click.option("--afresh", is_flag=True, help="Forget what was made before.")
def main(names: tuple[str, ...], seeds: int, first_seed: int, dry: bool, afresh: bool) -> None:
    """Make the runs of problems that are missing, and write table and printouts as each is done."""
    place = FOLDER / "advice.json"
    known: dict[str, Any] = {"problems": {}}
    if place.exists() and not afresh:
        known = json.loads(place.read_text())
    known |= {"date": str(datetime.date.today()), "versions": versions_in_words(), "first_seed": first_seed}
    for problem in problems():
        if (names and problem.name not in names) or problem.name in known["problems"]:
            continue
        made = [told(problem, first_seed + k) for k in range(seeds)]
        known["problems"][problem.name] = {"runs": [rows for rows, _ in made]}
        for rows, _ in made:
            click.echo(f"{problem.name}: {json.dumps(rows)}")
        if not dry:
            keep(known, problem.name, made[0][1])
    click.echo(table(known))


def keep(known: dict[str, Any], name: str, texts: list[str]) -> None:
    """Write all that is known, and what was printed of one problem."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = f"{name.replace(' ', '_').replace(',', '').replace(':', 'to')}.txt"
    text = "\n\n==== the advice was followed ====\n\n".join(texts)
    (FOLDER / file).write_text(f"{text}\n", encoding="utf-8")
    (FOLDER / "advice.json").write_text(json.dumps(known, indent=1) + "\n")
    (FOLDER / "table.txt").write_text(table(known), encoding="utf-8")


if __name__ == "__main__":
    main()
