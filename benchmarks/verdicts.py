"""Are verdicts right? Healthy problems, and problems made to fail in silence.

Run with ``make bench-verdicts``. Of healthy problems: how many runs are told not to be relied on, and how far
the estimates of the others are off in their own errors. Of problems made for it: how many runs miss a mode of
5 % or more, or are off by more than five of their errors, with a verdict that does not warn; and in how many
of these a point of that mode was evaluated, or given as a start. Written are docs/verdicts/verdicts.json and
docs/verdicts/table.txt.
"""

import datetime
import json
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numba
import numpy as np
from numpy.typing import NDArray

import temperance as tp
from temperance import zoo
from temperance.results.modes import given_modes
from timing import versions_in_words

Array = NDArray[np.float64]
FOLDER = Path(__file__).parent.parent / "docs" / "verdicts"
FIRST_SEED = 991_001
HEAVY = 0.05  # of the mass: a mode that may not be missed in silence
FAR = 5.0  # errors, beyond which an estimate is wrong
WITHIN = 2.0  # root mean squared distances of its points from its centre, within which a point is a mode's


@dataclass(frozen=True, kw_only=True)
class Case:
    """A target with its modes, widths and weights, and how it is sampled."""

    log_density: Any
    modes: Array
    widths: Array
    weights: Array
    mean: Array
    options: Mapping[str, Any] = field(default_factory=dict)
    given: bool = False  # whether the call has a start in each mode


class Counting:
    """A log density that notes in which modes it was evaluated."""

    def __init__(self, case: Case) -> None:
        self.inner, self.case = case.log_density, case
        self.seen = np.zeros(len(case.modes), dtype=np.bool_)

    def __call__(self, x: Array) -> float:
        """The log density of a point."""
        _note(x, self.case.modes, WITHIN * self.case.widths, self.seen)
        return float(self.inner(x))


@numba.njit
def _note(x: Array, modes: Array, radii: Array, seen: NDArray[np.bool_]) -> None:
    """In which modes a point lies, in place: by its distance over the root of the dimension."""
    for k in range(len(modes)):
        square = 0.0
        for i in range(len(x)):
            square += (x[i] - modes[k, i]) ** 2
        if square < radii[k] ** 2 * len(x):
            seen[k] = True


def far_modes(dim: int, distance: float, *, narrow: float, given: bool) -> Case:
    """Two normal modes, the second of ``narrow`` times the width; all chains start in the first."""
    modes = np.zeros((2, dim))
    modes[1, 0] = distance
    constant = dim * math.log(narrow)

    @numba.njit
    def log_density(x: Array) -> float:
        rest = 0.0
        for i in range(1, len(x)):
            rest += x[i] ** 2
        left = -0.5 * (x[0] ** 2 + rest)
        right = -0.5 * ((x[0] - distance) ** 2 + rest) / narrow**2 - constant
        return max(left, right) + math.log1p(math.exp(-abs(left - right)))

    levels = 7
    starts = np.zeros((4, levels, dim))
    if given:
        starts[3, :, 0] = distance
    return Case(
        log_density=log_density, modes=modes, widths=np.array([1.0, narrow]), weights=np.array([0.5, 0.5]),
        mean=modes.mean(axis=0), given=given,
        options={"initial": starts, "levels": levels, "draws": 2_000, "tune": 3_000},
    )  # fmt: skip


HARD: dict[str, Callable[[], Case]] = {
    "15 sd apart, one start": lambda: far_modes(2, 15.0, narrow=1.0, given=False),
    "40 sd apart, one start": lambda: far_modes(2, 40.0, narrow=1.0, given=False),
    "40 sd apart, given to one chain": lambda: far_modes(2, 40.0, narrow=1.0, given=True),
    "400 sd apart, given to one chain": lambda: far_modes(2, 400.0, narrow=1.0, given=True),
    "widths 1 : 0.05, one start": lambda: far_modes(2, 12.0, narrow=0.05, given=False),
    "widths 1 : 0.05 in 5-d, given": lambda: far_modes(5, 12.0, narrow=0.05, given=True),
    "widths 1 : 0.3 in 5-d, one start": lambda: far_modes(5, 12.0, narrow=0.3, given=False),
    "widths 1 : 0.5 in 10-d, one start": lambda: far_modes(10, 12.0, narrow=0.5, given=False),
    "widths 1 : 0.3 in 10-d, one start": lambda: far_modes(10, 12.0, narrow=0.3, given=False),
    "widths 1 : 0.02, one start": lambda: far_modes(2, 12.0, narrow=0.02, given=False),
}
HEALTHY: dict[str, tuple[Callable[[], zoo.Problem], dict[str, Any]]] = {
    "one Gaussian, 2-d": (lambda: zoo.gaussian(2), {"draws": 2_000}),
    "one Gaussian, 10-d": (lambda: zoo.gaussian(10), {"draws": 2_000}),
    "two modes, 2-d": (lambda: zoo.two_modes(2), {"draws": 2_000}),
    "two modes, 5-d": (lambda: zoo.two_modes(5), {"draws": 2_000}),
    "twenty peaks": (zoo.twenty_peaks, {"draws": 4_000}),
    "label switching": (zoo.label_switching, {"draws": 4_000}),
    "five Student modes": (zoo.student_modes, {"draws": 4_000}),
}


def sampled(model: Any, seed: int, **options: Any) -> tp.Result:
    """One run, without its Python warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tp.sample(model, seed=seed, cores=1, progress=False, **options)


def facts(result: tp.Result, mean: Array, modes: Array | None, weights: Array | None) -> dict[str, Any]:
    """What a run said, and how far it was off in its own errors."""
    some = range(min(len(mean), 2))
    table = result.estimates
    z = [(table["mean"][k] - mean[k]) / table["mcse"][k] for k in some]
    missed: list[int] = []
    if modes is not None and weights is not None and len(modes) > 1:
        found = given_modes(result, modes)
        z += list((found.weight - weights) / found.weight_error)
        missed = [int(k) for k in np.flatnonzero((found.draw_weight == 0.0) & (weights >= HEAVY))]
    return {
        "serious": list(result.doubts),
        "remarks": [one.name for one in result.warnings if not one.serious],
        "searched": result.searched.enough,
        "found_late": result.searched.found_late,
        "z": [round(float(value), 3) for value in z],
        "missed": missed,
    }


def healthy(name: str, seed: int) -> dict[str, Any]:
    """One run of a healthy problem."""
    make, options = HEALTHY[name]
    problem = make()
    result = sampled(problem, seed, **options)
    return facts(result, np.asarray(problem.mean), problem.modes, problem.mode_weights)


def hard(case: Case, seed: int) -> dict[str, Any]:
    """One run of a problem that is made to fail, and whether a missed mode had been evaluated or given."""
    counting = Counting(case)
    result = sampled(counting, seed, preflight=False, **case.options)
    row = facts(result, case.mean, case.modes, case.weights)
    return {**row, "evaluated": bool(case.given or any(counting.seen[k] for k in row["missed"]))}


def off(row: dict[str, Any], limit: float) -> bool:
    """Whether any estimate is off by more than so many of its errors; one of zero is infinitely small."""
    return any(abs(value) > limit for value in row["z"] if not math.isnan(value))


def silent(row: dict[str, Any]) -> bool:
    """Whether it failed, and the verdict does not say so."""
    return not row["serious"] and (bool(row["missed"]) or off(row, FAR))


def table(known: Mapping[str, Any]) -> str:
    """Both kinds for the page."""
    lines = [
        "| healthy problem | runs | told not to be relied on | remarks | named as found late | clean, "
        "and an estimate "
        "off by more than 3 errors | of these estimates |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rows in known["healthy"].items():
        lines.append(f"| {name} | {_healthy_row(rows)} |")
    lines.append(f"| all | {_healthy_row([row for rows in known['healthy'].values() for row in rows])} |")
    lines += [
        "",
        "| problem made to fail | runs | a mode missed | told | called unsearched | silent | silent, "
        "though the "
        "mode was evaluated or given | silent, and called clean |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in known["hard"].items():
        lines.append(f"| {name} | {_hard_row(rows)} |")
    lines.append(f"| all | {_hard_row([row for rows in known['hard'].values() for row in rows])} |")
    lines.append(f"\nSeeds from {FIRST_SEED} on, {known['date']}, {known['versions']}.")
    return "\n".join(lines) + "\n"


def _healthy_row(rows: list[dict[str, Any]]) -> str:
    alarms = sum(bool(row["serious"]) for row in rows)
    remarks = sum(bool(row["remarks"]) for row in rows)
    late = sum(row["found_late"] > 0 for row in rows)
    clean = [row for row in rows if not row["serious"]]
    wrong = sum(off(row, 3.0) for row in clean)
    estimates = [abs(value) > 3.0 for row in clean for value in row["z"] if not math.isnan(value)]
    share = f"{np.mean(estimates):.2%}" if estimates else "-"
    return f"{len(rows)} | {alarms} | {remarks} | {late} | {wrong} | {share} of {len(estimates):,}"


def _hard_row(rows: list[dict[str, Any]]) -> str:
    missed = [row for row in rows if row["missed"]]
    quiet = [row for row in rows if silent(row)]
    told = sum(bool(row["serious"]) for row in missed)
    unsearched = sum(not row["searched"] for row in missed)
    known = sum(row["evaluated"] for row in quiet)
    clean = sum(row["searched"] for row in quiet)
    return f"{len(rows)} | {len(missed)} | {told} | {unsearched} | {len(quiet)} | {known} | {clean}"


@click.command()
@click.option(
    "--runs", default=100, show_default=True, type=click.IntRange(min=1), help="Of each healthy one."
)
@click.option("--hard-runs", default=40, show_default=True, type=click.IntRange(min=1), help="Of each other.")
@click.option("--dry", is_flag=True, help="Write nothing.")
def main(runs: int, hard_runs: int, dry: bool) -> None:
    """Make all runs, and write them with a table."""
    known: dict[str, Any] = {"date": str(datetime.date.today()), "versions": versions_in_words()}
    known["healthy"] = {name: [healthy(name, FIRST_SEED + k) for k in range(runs)] for name in HEALTHY}
    known["hard"] = {}
    for name, make in HARD.items():
        case = make()
        known["hard"][name] = [hard(case, FIRST_SEED + k) for k in range(hard_runs)]
    click.echo(table(known))
    if not dry:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "verdicts.json").write_text(json.dumps(known) + "\n")
        (FOLDER / "table.txt").write_text(table(known), encoding="utf-8")


if __name__ == "__main__":
    main()
