"""Makes docs/weights.md from what ``make bench-intervals bench-evidence bench-weighing`` measured."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from evidence import RUNS, cases  # noqa: E402
from intervals import CASES  # noqa: E402
from peers.tasks import TASKS  # noqa: E402
from temperance.results.weighting.evidence import FAR  # noqa: E402
from temperance.results.weighting.strata import MAX_ROWS  # noqa: E402

FOLDER = ROOT / "docs" / "weights"
LOW, HIGH, DOUBT = 0.93, 0.97, 2.0  # coverage as it should be; standard errors
ESTIMATES = {
    "mean.draws": "means, draws",
    "mean.weighted": "means, weighted",
    "weight.draws": "mode weights, draws",
    "weight.weighted": "mode weights, weighted",
    "evidence": "log evidence",
}
OWN = "temperance"
Row = dict[str, Any]


def main() -> None:
    """Write the page."""
    measured = [
        json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("intervals", "evidence", "cpu")
    ]
    (ROOT / "docs" / "weights.md").write_text(page(*measured), encoding="utf-8")


def page(intervals: dict[str, Row], evidence: dict[str, Row], cpu: Row) -> str:
    """The template with its tables filled in."""
    parts = {
        "max_rows": f"{MAX_ROWS:,}",
        "intervals_heading": heading(list(intervals.values())),
        "intervals": intervals_table(intervals),
        "outside": outside(intervals),
        "evidence_heading": evidence_heading(evidence),
        "evidence": evidence_table(evidence),
        "opinions": opinions(evidence),
        "cpu_runs": str(cpu["runs"]),
        "cpu_heading": heading([cpu]),
        "cpu": cpu_table(cpu["rows"]),
    }
    text = (ROOT / "tools" / "weights_template.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def heading(cells: Sequence[Row]) -> str:
    """When, with what and from which seeds."""
    seeds = sorted({f"{cell['first_seed']:,}" for cell in cells})
    versions = "; ".join(sorted({cell["versions"] for cell in cells}))
    return f"Seeds from {', '.join(seeds)}; {versions}; {dates([cell['date'] for cell in cells])}"


def dates(days: Sequence[str]) -> str:
    """The first and the last."""
    ordered = sorted(days)
    return f"{' to '.join(dict.fromkeys((ordered[0], ordered[-1])))}."


def intervals_table(intervals: dict[str, Row]) -> str:
    """One row for each problem and estimate."""
    head = "| problem (draws) | estimate | runs | covered | bias | RMSE | reported | serious |"
    lines = [head, "|---" * 8 + "|"]
    for name, cell in intervals.items():
        title, serious = f"{name} ({cell['options']['draws']:,})", f"{100 * cell['serious']:.0f} %"
        for what, words in ESTIMATES.items():
            if cell[what]:
                lines.append(interval_row(title, words, cell[what], serious))
                title = serious = ""
    return "\n".join(lines)


def interval_row(title: str, words: str, found: Row, serious: str) -> str:
    """One estimate of one problem."""
    covered = f"{100 * found['coverage']:.1f} ± {100 * found['coverage_error']:.1f} %"
    covered = f"**{covered}**" if is_outside(found) else covered
    bias = f"{found['bias']:.3f} ({found['bias_by_chance']:.3f})"
    numbers = f"{found['runs']:,} | {covered} | {bias} | {found['rmse']:.2g} | {found['error']:.2g}"
    return f"| {title} | {words} | {numbers} | {serious} |"


def is_outside(found: Row) -> bool:
    """Whether the coverage is not what it should be, beyond doubt."""
    doubt = DOUBT * found["coverage_error"]
    return bool(found["coverage"] + doubt < LOW or found["coverage"] - doubt > HIGH)


def outside(intervals: dict[str, Row]) -> str:
    """What is outside, and which runs had no bridge."""
    wrong = [
        f"{name} ({words})"
        for name, cell in intervals.items()
        for what, words in ESTIMATES.items()
        if cell[what] and is_outside(cell[what])
    ]
    none = [
        f"{name} {100 * cell['without_bridge']:.1f} %"
        for name, cell in intervals.items()
        if cell["without_bridge"]
    ]
    text = f"Outside 93 to 97 % beyond doubt: {'; '.join(wrong) or 'nothing'}."
    text += f" Runs that fell back to the draws: {'; '.join(none)}." if none else ""
    return text + not_run([name for name in CASES if name not in intervals])


def not_run(names: Sequence[str]) -> str:
    """What the command would measure and has not."""
    return f" Not run yet: {'; '.join(names)}." if names else ""


def evidence_heading(evidence: dict[str, Row]) -> str:
    """From which seeds, when, and with which versions."""
    seed = min(row["seed"] for cell in evidence.values() for row in cell["rows"])
    versions = {
        f"{key.split(' | ')[1]} {row['version']}"
        for key, cell in evidence.items()
        for row in cell["rows"]
        if "version" in row
    }
    days = dates([cell["date"] for cell in evidence.values()])
    return "; ".join([f"Seeds from {seed:,}", *sorted(versions), days])


def evidence_table(evidence: dict[str, Row]) -> str:
    """One row for each problem and sampler."""
    head = "| problem | truth | sampler | runs | error | reported | covered | far off | evaluations | CPU s |"
    lines = [head, "|---" * 10 + "|"]
    for problem in dict.fromkeys(key.split(" | ")[0] for key in evidence):
        own = [key for key in evidence if key.startswith(f"{problem} |")]
        samplers = {key.split(" | ")[1]: evidence[key]["rows"] for key in own}
        title = f"{problem} | {samplers[OWN][0]['truth']:.4f}"
        for sampler, rows in samplers.items():
            lines.append(f"| {title} | {sampler} | {evidence_row(rows)} |")
            title = " | "
    return "\n".join(lines)


def evidence_row(rows: Sequence[Row]) -> str:
    """What the runs of one sampler come to."""
    known = [row for row in rows if row["value"] is not None]
    spent = f"{mean([row['evaluations'] for row in rows]):,.0f}"
    seconds = f"{mean([row['cpu_seconds'] for row in rows]):.2g}"
    if not known:
        return f"{len(rows)} | – | – | – | – | {spent} | {seconds}"
    off = [abs(row["value"] - row["truth"]) for row in known]
    said = [row["error"] for row in known]
    within, far = (
        sum(one <= limit * error for one, error in zip(off, said, strict=True)) for limit in (2.0, FAR)
    )
    numbers = f"{root(off):.2g} | {root(said):.2g} | {within} of {len(known)} | {len(known) - far}"
    return f"{len(rows)} | {numbers} | {spent} | {seconds}"


def opinions(evidence: dict[str, Row]) -> str:
    """What our other ways say, and whether runs that are far off say so."""
    rows = [row for key, cell in evidence.items() if key.endswith(f"| {OWN}") for row in cell["rows"]]
    pairs = [(*pair, row["truth"]) for row in rows for pair in row["others"].values()]
    within = sum(abs(value - truth) <= 2.0 * error for value, error, truth in pairs)
    second = [row for row in rows if row["agree"] is not None]
    far = [
        row
        for row in rows
        if row["value"] is not None and abs(row["value"] - row["truth"]) > FAR * row["error"]
    ]
    said = sum(bool(row["serious"]) or row["agree"] is False for row in far)
    agreed = sum(row["agree"] for row in second)
    return (
        f"Of our {len(rows)} runs {len(second)} had a second opinion from the ladder; of these opinions "
        f"{within} of {len(pairs)} were within two of their errors, and they agreed with the bridge in "
        f"{agreed} runs. {len(far)} runs were far off, and {said} of them said so, by their verdict or by "
        "ways that do not agree."
    ) + not_run(missing(evidence))


def missing(evidence: dict[str, Row]) -> list[str]:
    """Problems and samplers without a run."""
    wanted = [f"{problem} | {sampler}" for problem in cases() for sampler in RUNS]
    return [key.replace(" | ", " by ") for key in wanted if key not in evidence]


def cpu_table(rows: Sequence[Row]) -> str:
    """Seconds by task and number of chains; where there was no bridge, there is nothing to weigh."""
    lines = ["| task | evaluations | chains | draws a chain | CPU s |", "|---" * 5 + "|"]
    for row in rows:
        task = TASKS[row["task"]]
        seconds = f"{row['seconds']:.3f}" if row["weighted"] else "– (no bridge)"
        lines.append(
            f"| {task.problem.name} | {task.budget:,} | {row['chains']} | {row['draws']:,} | {seconds} |"
        )
    return "\n".join(lines)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values)


def root(values: Sequence[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(mean([value**2 for value in values]))


if __name__ == "__main__":
    main()
