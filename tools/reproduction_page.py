"""Write docs/reproduction.md from the committed runs in docs/reproduction.

``python tools/reproduction_page.py`` writes the page anew. With the folder of a finished
``temperance reproduce all`` as its argument it first takes over the runs and figures of that folder.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from temperance.paper.experiments import STUDIES, TRIMMED_BRIDGE
from temperance.paper.figures import FIGURES
from temperance.paper.printed import TABLES
from temperance.paper.running import wanted_runs
from temperance.paper.store import CELLS, NOTE, Store, load_store
from temperance.paper.study import Cell, Study
from temperance.paper.tables import as_markdown, compare

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).with_name("reproduction_template.md")
PAGE = ROOT / "docs" / "reproduction.md"
RUNS = ROOT / "docs" / "reproduction"
CHECK = "check.json"
CHECKED = """\
Since then the streams of random numbers were keyed anew. `tools/check_reproduction.py` made {n_cells} of the
cells again ({origin}) and set them beside these."""
MADE_ANEW = """\
The sources behind this page, run once more in the {n_cells} cells that differ most ({origin}), were set
beside the new runs too."""
COMPARED = """\
Of {comparisons} means and spreads over runs {different}, at {false_alarms:.0%} of false alarms in all: the
largest z is {largest}, the limit {limit}, and a shift of {visible_shift} standard deviations over runs would
be seen nine times in ten. Beyond 2 lie {beyond_2}, where {beyond_2_by_chance} would by chance; columns depend
on one another, and {as_many_when_relabelled:.0%} of random relabellings of the runs have as many."""
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def main() -> None:
    """Take over a run if one is given, and write the page."""
    if len(sys.argv) > 1:
        take_over(Path(sys.argv[1]))
    PAGE.write_text(render(load_store(RUNS)), encoding="utf-8")


def take_over(folder: Path) -> None:
    """Copy runs and vector figures, nothing else."""
    load_store(folder)
    shutil.rmtree(RUNS, ignore_errors=True)
    shutil.copytree(folder / CELLS, RUNS / CELLS)
    shutil.copy(folder / NOTE, RUNS / NOTE)
    for name in FIGURES:
        shutil.copy(folder / f"{name}.svg", RUNS / f"{name}.svg")


def render(store: Store) -> str:
    """The page: the template with tables, figures and facts of the runs filled in."""
    makers = _makers(store)
    template = TEMPLATE.read_text(encoding="utf-8")
    unknown = set(PLACEHOLDER.findall(template)) - set(makers)
    if unknown:
        raise SystemExit(f"{TEMPLATE.name} names what nobody makes: {', '.join(sorted(unknown))}")
    return PLACEHOLDER.sub(lambda found: makers[found[1]](), template)


def _makers(store: Store) -> dict[str, Callable[[], str]]:
    def read(cell: Cell) -> dict[str, np.ndarray]:
        return store.columns(cell, wanted_runs(cell, None))

    tables = {name: lambda name=name: as_markdown(compare(TABLES[name], read)) for name in TABLES}
    figures = {name: lambda name=name: _figure(name) for name in FIGURES}
    return {
        **tables,
        **figures,
        "studies": _studies,
        "origin": lambda: _origin(store.note),
        "check": lambda: _check(store.folder / CHECK),
        "wall_time": lambda: _minutes(sum(store.note["seconds"].values())),
        "figure6_levels": lambda: _levels_left(read),
    }


def _figure(name: str) -> str:
    number = name.removeprefix("figure")
    caption = FIGURES[name].caption
    return f"![Figure {number}]({RUNS.name}/{name}.svg)\n\n*Figure {number}. {caption}*"


def _studies() -> str:
    header = "| study | target | strategies and levels | burn-in + draws | gain | starts | runs |"
    rows = [
        f"| {study.name} | {study.problem().name} | {_arms(study)} | {study.burn_in:,} + {study.draws:,} | "
        f"n^−{study.exponent:g} | {study.start} | {study.runs} |"
        for study in STUDIES.values()
    ]
    return "\n".join([header, "|---" * 7 + "|", *rows])


def _arms(study: Study) -> str:
    levels: dict[str, list[int]] = {}
    for strategy, n_levels in study.arms:
        levels.setdefault(strategy, []).append(n_levels)
    return "; ".join(f"{strategy} {_range(found)}" for strategy, found in levels.items())


def _range(levels: list[int]) -> str:
    whole = len(levels) > 2 and levels == list(range(levels[0], levels[-1] + 1))
    return f"{levels[0]}–{levels[-1]}" if whole else ", ".join(str(n_levels) for n_levels in levels)


def _origin(note: dict[str, Any]) -> str:
    versions = note["versions"]
    packages = ", ".join(f"{name} {versions[name]}" for name in ("temperance", "python", "numpy", "numba"))
    return f"seed {note['seed']}, {packages}, kernels {versions['kernels']}, begun {note['begun']}"


def _check(path: Path) -> str:
    """How later sources compare with the runs, if that was looked at (tools/check_reproduction.py)."""
    if not path.exists():
        return ""
    found = json.loads(path.read_text(encoding="utf-8"))
    parts = [CHECKED.format(n_cells=len(found["runs"]), origin=_origin(found)), _compared(found)]
    if "earlier_sources" in found:
        earlier = found["earlier_sources"]
        parts += [MADE_ANEW.format(n_cells=len(earlier["runs"]), origin=_origin(earlier)), _compared(earlier)]
    return "\n".join(parts)


def _compared(found: dict[str, Any]) -> str:
    different = f"there differ {', '.join(found['different'])}" if found["different"] else "none differs"
    return COMPARED.format(**{**found, "different": different})


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60.0:.1f} min"


def _levels_left(read: Callable[[Cell], dict[str, np.ndarray]]) -> str:
    """How many runs end with how many levels, by gain, rule and swaps."""
    lines = ["| gain | rule | swaps | most often | eight levels | fewer than six |", "|---" * 6 + "|"]
    for (exponent, leniency), study in TRIMMED_BRIDGE.items():
        rule = f"ε = {leniency:g}" if leniency else "Eq. (11)"
        for cell in study.cells:
            left = read(cell)["n_levels"]
            usual = int(np.bincount(left.astype(int)).argmax())
            shares = f"{100.0 * np.mean(left == 8):.0f} % | {100.0 * np.mean(left < 6):.0f} %"
            lines.append(f"| n^−{exponent:g} | {rule} | {cell.strategy} | {usual} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
