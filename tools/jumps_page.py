"""Makes docs/jumps.md from docs/jumps/cells.json, which ``make bench-jumps`` measures."""

import json
import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from jumps import (  # noqa: E402
    FOUR_CHAINS,
    MAIN,
    NEAR,
    NOTHING_SET,
    ONE_CHAIN,
    OTHERS,
    PAPER,
    VARIANTS,
    WITHOUT_JUMPS,
)
from peers.ours import TUNE_SHARE  # noqa: E402
from peers.tasks import TASKS  # noqa: E402
from temperance.core.state import JUMP_DOF  # noqa: E402
from temperance.modes.policy import LEARNING, TEACHING  # noqa: E402
from temperance.runs.plan import LONGEST_TUNE  # noqa: E402

FOLDER = ROOT / "docs" / "jumps"
NORMAL = 1.96
WORSE = 1.1
TITLES = {
    "twenty_peaks-37500": "twenty peaks: occupancy error (all modes found)",
    "twenty_cylinders-150000": "cylinders, 8-d: occupancy error (all modes found)",
    "two_modes-100000": "two modes, 20-d: RMSE of the weight ⅔",
    "bridge-100000": f"bridge, 11-d: RMSE of coefficient 3 (within {NEAR:.0f})",
}
WORDS = {"mean": "means", "variance": "second moments", "weight": "weights", "coefficient": "coefficient 3"}
NOT_LEFT_OUT = (PAPER, NOTHING_SET)
Cell = dict[str, Any]


def main() -> None:
    """Write the page."""
    cells = json.loads((FOLDER / "cells.json").read_text(encoding="utf-8"))
    (ROOT / "docs" / "jumps.md").write_text(page(cells, compared()), encoding="utf-8")


def compared() -> dict[str, Cell]:
    """What ``make bench-zoo`` measured, problem by problem."""
    return measured("against.json")


def measured(name: str) -> dict[str, Cell]:
    """What is in a file beside the cells, or nothing yet."""
    rows = FOLDER / name
    return json.loads(rows.read_text(encoding="utf-8")) if rows.exists() else {}


def beside(name: str) -> str:
    """What a benchmark printed into a file beside the cells."""
    return (FOLDER / name).read_text(encoding="utf-8").strip()


def discovery_table(cells: dict[str, Cell]) -> str:
    """What ``make bench-discovery`` measured: how often, how well, at what cost, beside the commit before."""
    if not cells:
        return "Not measured yet."
    lines = [
        "| problem | found | before | error where found | evaluations | before | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, cell in cells.items():
        new, old = cell["new"], cell["old"]
        error = "-" if math.isnan(new["rmse"]) else f"{new['rmse']:.4f}"
        shares = f"{100.0 * new['found']:.0f} % | {100.0 * old['found']:.0f} %"
        costs = f"{new['evaluations']:,.0f} | {old['evaluations']:,.0f}"
        lines.append(f"| {name} | {shares} | {error} | {costs} | {new['runs']} |")
    about = {
        f"seeds from {cell['first_seed']:,}, against {cell['against']}; {cell['versions']}; {cell['date']}"
        for cell in cells.values()
    }
    said = "; ".join(sorted(about))
    return "\n".join([*lines, "", f"{said[0].upper()}{said[1:]}."])


def page(cells: dict[str, Cell], against: dict[str, Cell]) -> str:
    """The template with its tables filled in."""
    parts = {
        "dof": str(JUMP_DOF),
        "rounds_share": f"{100.0 * TEACHING.share:.0f} %",
        "rounds_chance": f"{100.0 * TEACHING.max_chance:.0f} %",
        "meetings": ", ".join(f"{100.0 * share:.0f}" for share in LEARNING.meetings),
        "longest": str(LONGEST_TUNE),
        "tune_share": f"{100 * TUNE_SHARE:.0f}",
        "heading": heading(cells),
        "main": main_table(cells, (ONE_CHAIN, WITHOUT_JUMPS, PAPER, FOUR_CHAINS)),
        "zoo": zoo_table(cells),
        "against": against_table(against),
        "discovery": discovery_table(measured("discovery.json")),
        "screening": beside("screening.md"),
        "unset": unset_table(cells),
        "ablation": main_table(cells, [name for name in VARIANTS if name not in NOT_LEFT_OUT]),
        "clustering": beside("clustering.md").partition("\n\n")[2].strip(),
        "cpu": cpu_in_words(cells),
    }
    text = (ROOT / "tools" / "jumps_template.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def heading(cells: dict[str, Cell]) -> str:
    """When, with what and from which seeds the cells were measured."""
    dates = sorted({cell["date"] for cell in cells.values()})
    versions = "; ".join(sorted({cell["versions"] for cell in cells.values()}))
    seed = next(iter(cells.values()))["first_seed"]
    return f"Seeds from {seed}; {versions}; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}."


def main_table(cells: dict[str, Cell], variants: Any) -> str:
    """One row for each variant, one column for each of the four tasks."""
    lines = ["| | " + " | ".join(TITLES.values()) + " |", "|---" * (len(TITLES) + 1) + "|"]
    for variant in variants:
        shown = [in_words(name, cells.get(f"{name} | {variant}")) for name in MAIN]
        if any(text != "–" for text in shown):
            lines.append(f"| {variant} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def unset_table(cells: dict[str, Cell]) -> str:
    """What ``sample(log_density, initial=...)`` spends on each of the four tasks, and what it gets."""
    lines = ["| error | nothing set | evaluations | CPU seconds |", "|---" * 4 + "|"]
    for name, title in TITLES.items():
        cell = cells.get(f"{name} | {NOTHING_SET}")
        if cell is not None:
            spent, seconds = cell["evaluations"]["mean"], cell["cpu_seconds"]["mean"]
            lines.append(f"| {title} | {in_words(name, cell)} | {spent:,.0f} | {seconds:.2g} |")
    return "\n".join(lines)


def in_words(name: str, cell: Cell | None) -> str:
    """The number that matters for a task, with its interval and the number of runs."""
    if cell is None:
        return "–"
    runs = f"n = {cell['runs']}"
    if name.startswith("twenty"):
        found = 100.0 * cell["found"]["mean"]
        half = NORMAL * cell["occupancy"]["error"]
        return f"{cell['occupancy']['mean']:.4f} ± {half:.4f} ({found:.1f} %), {runs}"
    if name.startswith("two"):
        return f"{root(cell, 'weight'):.4f} {interval(cell, 'weight', 4)}, {runs}"
    near = 100.0 * cell["near"]["mean"]
    return f"{root(cell, 'coefficient'):.1f} {interval(cell, 'coefficient', 1)} ({near:.0f} %), {runs}"


def root(cell: Cell, column: str) -> float:
    """Root of a mean square."""
    return math.sqrt(cell[column]["mean"])


def interval(cell: Cell, column: str, digits: int) -> str:
    """95 % of a root mean square."""
    ends = [cell[column]["mean"] + sign * NORMAL * cell[column]["error"] for sign in (-1.0, 1.0)]
    return f"[{', '.join(f'{math.sqrt(max(end, 0.0)):.{digits}f}' for end in ends)}]"


def zoo_table(cells: dict[str, Cell]) -> str:
    """Root mean square errors with and without jumps, and their ratio."""
    head = "| problem | evaluations | error of | with jumps | without | ratio |"
    lines = [head, "|---" * 6 + "|"]
    for name in (*MAIN, *OTHERS):
        pair = [cells.get(f"{name} | {variant}") for variant in (ONE_CHAIN, WITHOUT_JUMPS)]
        if None in pair:
            continue
        title = f"{TASKS[name].problem.name}" if name in TASKS else name
        budget = TASKS[name].budget if name in TASKS else OTHERS[name][1]
        for column in WORDS:
            if column in pair[0]:
                lines.append(zoo_row(title, budget, column, *pair))
                title, budget = "", ""
    return "\n".join(lines)


def against_table(rows: dict[str, Cell]) -> str:
    """Errors of this version beside those of another commit; a sentence where nothing was measured."""
    missing = [name for name in (*MAIN, *OTHERS) if name not in rows]
    if not rows:
        return "Not measured yet."
    one = next(iter(rows.values()))
    measured = f"{one['runs']} runs each, seeds from {one['first_seed']:,}; {one['versions']}; {one['date']}"
    lines = [
        f"Against commit {one['against']}, {measured}.",
        "",
        "| problem | error now | before | ratio |",
        "|---" * 4 + "|",
    ]
    for name, row in rows.items():
        title = TASKS[name].problem.name if name in TASKS else name
        text = f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        ratio = f"**{text}**" if row["low"] > WORSE else text
        lines.append(f"| {title} | {row['new']:.3g} | {row['old']:.3g} | {ratio} |")
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    return "\n".join(lines)


def zoo_row(title: str, budget: int | str, column: str, jumps: Cell, none: Cell) -> str:
    """One error of one problem."""
    with_jumps, without = root(jumps, column), root(none, column)
    spent = f"{budget:,}" if budget else ""
    shown = f"| {title} | {spent} | {WORDS[column]} | {with_jumps:.3g} | {without:.3g} |"
    if not with_jumps or not without:
        return f"{shown} – |"
    ratio = with_jumps / without
    # The log of a root mean square has half the relative error of the mean square.
    spread = 0.5 * math.hypot(*(cell[column]["error"] / cell[column]["mean"] for cell in (jumps, none)))
    low, high = (ratio * math.exp(sign * NORMAL * spread) for sign in (-1.0, 1.0))
    text = f"{ratio:.2f} [{low:.2f}, {high:.2f}]"
    return f"{shown} {f'**{text}**' if low > WORSE else text} |"


def cpu_in_words(cells: dict[str, Cell]) -> str:
    """CPU seconds of a run with and without jumps, for the four tasks."""
    texts = []
    for name in MAIN:
        both = [cells.get(f"{name} | {variant}") for variant in (ONE_CHAIN, WITHOUT_JUMPS)]
        if None not in both:
            seconds = [cell["cpu_seconds"]["mean"] for cell in both]
            texts.append(f"{TASKS[name].problem.name}: {seconds[0]:.2g} s of CPU against {seconds[1]:.2g} s")
    return "; ".join(texts)


if __name__ == "__main__":
    main()
