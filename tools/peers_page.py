"""Write docs/peers.md and its figure from the committed results in docs/peers.

Run with ``make docs``, which puts benchmarks/ on the path.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from peers import figure, summary
from peers.contract import BALL, BOX, ONE_POINT, OURS, PEERS, load_adapter
from peers.reference import load as load_reference
from peers.store import Store
from peers.summary import Cell, Estimate
from peers.tasks import TASKS, Task

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).with_name("peers_template.md")
PAGE = ROOT / "docs" / "peers.md"
RESULTS = ROOT / "docs" / "peers" / "results"
FIGURE = ROOT / "docs" / "peers" / "errors.svg"
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
ALL = (*OURS, *PEERS)
WANTED = 20  # repetitions of a peer
FEWEST = 5  # with fewer runs a bootstrap says nothing
JUDGED = {
    "temperance": "temperance with its defaults",
    "temperance_weighted": "its weighted sample",
    "temperance_one_chain": "temperance with one chain",
    "temperance_one_chain_weighted": "its weighted sample with one chain",
}
STARTS = {ONE_POINT: "point", BALL: "ball", BOX: "box"}


def main() -> None:
    """Write the page and the figure."""
    store = Store(RESULTS)
    PAGE.write_text(render(store), encoding="utf-8")
    figure.draw({task.name: cells(store, task) for task in TASKS.values() if cells(store, task)}, FIGURE)


def render(store: Store) -> str:
    """The template with everything that comes from the rows filled in."""
    makers: dict[str, Callable[[], str]] = {
        "tasks": lambda: "\n\n".join(task_section(store, task) for task in TASKS.values()),
        "starts": starts,
        "peers": lambda: peers_table(store),
        "settings": lambda: settings_table(store),
        "shims": shims,
        "notes": notes,
        "reference": reference,
        "dates": lambda: dates(store),
    }
    template = TEMPLATE.read_text(encoding="utf-8")
    unknown = set(PLACEHOLDER.findall(template)) - set(makers)
    if unknown:
        raise SystemExit(f"{TEMPLATE.name} names what nobody makes: {', '.join(sorted(unknown))}")
    return PLACEHOLDER.sub(lambda found: makers[found[1]](), template)


def cells(store: Store, task: Task) -> list[Cell]:
    """The cells of a task that have finished repetitions, ours first."""
    found = (summary.load_cell(store, task, peer) for peer in ALL)
    return [cell for cell in found if cell is not None and cell.n]


def task_section(store: Store, task: Task) -> str:
    """Tables of one task, who does better than we, and what was not run."""
    found = cells(store, task)
    title = f"### {task.problem.name[0].upper()}{task.problem.name[1:]}, {task.budget:,} evaluations"
    if not found:
        return f"{title}\n\nNot run yet."
    parts = [title, accuracy_table(found), speed_table(found), verdicts(found), not_run(store, task)]
    return "\n\n".join(part for part in parts if part)


def accuracy_table(found: Sequence[Cell]) -> str:
    """Modes and moments."""
    task = found[0].task
    modes = ["missing modes", "none missing", "occupancy error"] if task.problem.modes is not None else []
    heads = ["sampler", "start", "n", *modes, *(f"RMSE of {summary.label(name)}" for name in task.moments)]
    return _table(heads, [_accuracy_row(cell) for cell in found])


def _accuracy_row(cell: Cell) -> list[str]:
    peer = load_adapter(cell.peer).PEER
    cut = f" ({len(cell.failures)} failed)" if cell.failures else ""
    row = [_title(cell.peer), STARTS[peer.start], f"{cell.n}{cut}"]
    if cell.task.problem.modes is not None:
        row += [_plus_minus(summary.mean(cell.columns["missing"]), 2)]
        row += [_percent(summary.share(cell.columns["missing"] == 0.0))]
        row += [_plus_minus(summary.mean(cell.columns["occupancy_error"]), 3)]
    return row + [
        _interval(summary.rmse(cell.columns[name], summary.truth(cell.task, name)))
        for name in cell.task.moments
    ]


def speed_table(found: Sequence[Cell]) -> str:
    """What a run used and what it cost."""
    heads = [
        "sampler",
        "evaluations used",
        "CPU seconds",
        "evaluations a second",
        "overhead, µs an evaluation",
    ]
    return _table(heads, [_speed_row(cell) for cell in found])


def _speed_row(cell: Cell) -> list[str]:
    used, seconds = cell.columns["evaluations"], cell.columns["cpu_seconds"]
    overhead = 1e6 * (seconds / used - cell.columns["bare_seconds"])
    return [
        _title(cell.peer),
        f"{used.mean():,.0f}",
        f"{seconds.mean():.3g}",
        f"{_rounded(used.sum() / seconds.sum()):,.0f}",
        f"{overhead.mean():.3g}",
    ]


def verdicts(found: Sequence[Cell]) -> str:
    """In words: who does better than we do and who does not, by default and with one chain."""
    cells = {cell.peer: cell for cell in found}
    others = [cell for cell in found if cell.peer not in OURS]
    judged = {title: cells[peer] for peer, title in JUDGED.items() if peer in cells}
    return "\n\n".join(verdict(ours, title, others) for title, ours in judged.items() if others)


def verdict(ours: Cell, title: str, others: Sequence[Cell]) -> str:
    """One of our rows against all peers, per evaluation and per second."""
    name, own = summary.headline(ours)[0], summary.headline_estimate(ours)
    return (
        f"Judged by the {name}, where {title} has {own.value:.3g} (in brackets, how many times a peer's "
        "error is smaller or larger):\n\n"
        f"- per evaluation, {_ranking(ours, others, per_second=False)}\n"
        f"- per second, {_ranking(ours, others, per_second=True)}"
    )


def _ranking(ours: Cell, others: Sequence[Cell], *, per_second: bool) -> str:
    groups: dict[str, list[str]] = {"better": [], "even": [], "worse": [], "few": []}
    for cell in others:
        if cell.n < FEWEST:
            groups["few"].append(f"{_title(cell.peer)} (n = {cell.n})")
            continue
        ratio = summary.log_ratio(ours, cell, per_second=per_second)
        group = "even" if ratio.low <= 0.0 <= ratio.high else "better" if ratio.value > 0.0 else "worse"
        groups[group].append(f"{_title(cell.peer)} ({_times(ratio.value)})")
    return (
        f"we lose to {_listed(groups['better'])}; no clear difference from {_listed(groups['even'])}; "
        f"we do better than {_listed(groups['worse'])}"
        + (f"; too few runs of {_listed(groups['few'])}." if groups["few"] else ".")
    )


def not_run(store: Store, task: Task) -> str:
    """Cells without rows or with few, and how long the rest would take."""
    lines = []
    for peer in PEERS:
        cell = summary.load_cell(store, task, peer)
        missing = WANTED - (cell.n + len(cell.failures) if cell else 0)
        if missing > 0:
            hours = estimated_hours(store, task, peer, missing)
            cost = "not tried" if hours is None else f"about {hours:.1f} h of one core"
            lines.append(f"{_title(peer)}: {missing} of {WANTED} repetitions not run ({cost})")
    return "Left out for want of time: " + "; ".join(lines) + "." if lines else ""


def estimated_hours(store: Store, task: Task, peer: str, repetitions: int) -> float | None:
    """From what an evaluation cost on this task, or on the others the peer was run on."""
    found = [summary.load_cell(store, other, peer) for other in (task, *TASKS.values())]
    run = [cell for cell in found if cell is not None and cell.n]
    if not run:
        return None
    an_evaluation = run[0].columns["cpu_seconds"].sum() / run[0].columns["evaluations"].sum()
    return float(repetitions * task.budget * an_evaluation / 3600.0)


def starts() -> str:
    """Where the samplers start, task by task."""
    rows = []
    for key, task in {task.key: task for task in TASKS.values()}.items():
        box = "; ".join(f"[{low:g}, {high:g}]{times}" for low, high, times in _sides(task))
        rows.append([key.replace("_", " "), _START_WORDS[key], box])
    return _table(["problem", "the one point", "box"], rows)


_START_WORDS = {
    "twenty_peaks": "the middle of the square, on no peak",
    "twenty_cylinders": "the middle of the square, and zeros",
    "bridge": "least squares",
    "two_modes": "the centre of the lighter mode",
}


def _sides(task: Task) -> list[tuple[float, float, str]]:
    sides: dict[tuple[float, float], int] = {}
    for low, high in task.box.tolist():
        sides[low, high] = sides.get((low, high), 0) + 1
    powers = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return [(*side, str(n).translate(powers) if n > 1 else "") for side, n in sides.items()]


def peers_table(store: Store) -> str:
    """Who takes part."""
    rows = []
    for name in ALL:
        peer = load_adapter(name).PEER
        versions = {text for task in TASKS.values() for text in _texts(store, task, name, "versions")}
        rows.append([peer.title, peer.kind, peer.start, "<br>".join(sorted(versions)) or "–"])
    return _table(["sampler", "method", "starts from", "versions"], rows)


def settings_table(store: Store) -> str:
    """How each sampler was set on each task."""
    rows = []
    for name in ALL:
        texts = ["<br>".join(_texts(store, task, name, "settings")) or "–" for task in TASKS.values()]
        rows.append([_title(name), *texts])
    heads = [f"{task.key.replace('_', ' ')}, {task.budget:,}" for task in TASKS.values()]
    return _table(["sampler", *heads], rows)


def shims() -> str:
    """What peers need to run at all."""
    found = [(load_adapter(name).PEER.title, load_adapter(name).PEER.shims) for name in ALL]
    return "\n".join(f"- {title}: {text}" for title, text in found if text)


def notes() -> str:
    """How each is called."""
    return "\n".join(f"- {load_adapter(name).PEER.title}: {load_adapter(name).PEER.notes}" for name in ALL)


def reference() -> str:
    """The bridge's reference values with their Monte Carlo errors."""
    note = load_reference()
    values = [
        f"{summary.label(name)} = {value:.4g} ± {note['standard_error'][name]:.2g}"
        for name, value in note["mean"].items()
    ]
    return (
        f"{', '.join(values)} (standard errors over {note['chains']} chains of {note['draws']:,} draws, "
        f"{note['levels']} levels, temperance {note['temperance']}, {note['date']})"
    )


def dates(store: Store) -> str:
    """When the rows were made."""
    found = {text for task in TASKS.values() for name in ALL for text in _texts(store, task, name, "dates")}
    return " to ".join(sorted({min(found), max(found)})) if found else "not yet"


def _texts(store: Store, task: Task, peer: str, field: str) -> tuple[str, ...]:
    cell = summary.load_cell(store, task, peer)
    texts: tuple[str, ...] = getattr(cell, field) if cell else ()
    return texts


def _title(peer: str) -> str:
    return load_adapter(peer).PEER.title


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _plus_minus(estimate: Estimate, digits: int) -> str:
    half = "" if np.isnan(estimate.low) else f" ± {estimate.value - estimate.low:.{digits}f}"
    return f"{estimate.value:.{digits}f}{half}"


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.0f} % [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def _interval(estimate: Estimate) -> str:
    bounds = "" if np.isnan(estimate.low) else f" [{_short(estimate.low)}, {_short(estimate.high)}]"
    return f"{_short(estimate.value)}{bounds}"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.2g}"


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _times(log_ratio: float) -> str:
    factor = np.exp(abs(log_ratio))
    size = f"{_rounded(factor):,.0f}" if factor >= 10.0 else f"{factor:.1f}"
    return f"{size} × {'smaller' if log_ratio > 0.0 else 'larger'}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


if __name__ == "__main__":
    main()
