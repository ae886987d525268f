"""The page: what goes into the template, and writing it."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from temperance.checks import flag
from temperance.extras import needed
from temperance.files import require_writable, write_text
from temperance.results.report.figures import BY_LEVEL, FIGURES, PANEL_ROW, Figure, inline_svg
from temperance.results.result import Result
from temperance.results.show import MAX_ROWS, headline, levels_line, run_lines
from temperance.results.summary import Summary

CAVEAT = (
    "Diagnostics see what the chains have seen: a mode that no chain ever reached leaves no trace in any of "
    "them."
)
PANELS_A_ROW = 5


def write_report(result: Result, path: Any, *, title: str, overwrite: bool) -> Path:
    """Write the page, whole or not at all."""
    target = Path(path)
    require_writable(target, overwrite=flag("overwrite", overwrite))
    write_text(target, render(result, title))
    return target


def render(result: Result, title: str) -> str:
    """The page as text."""
    environment = _environment()
    files = resources.files("temperance.results.report")
    template = environment.from_string(files.joinpath("page.html").read_text(encoding="utf-8"))
    return str(
        template.render(
            title=title,
            style=files.joinpath("style.css").read_text(encoding="utf-8"),
            tone=_tone(result),
            result=result,
            caveat=CAVEAT,
            lines=_lines(result),
            tables=_tables(result.summary()),
            figures=[(figure, inline_svg(figure, result)) for figure in _figures(result)],
            priors=result.setup.priors,
            settings=dict(_flat(result.setup.settings)),
            facts=_facts(result),
        )
    )


def _environment() -> Any:
    _, jinja2 = needed("the report needs", "matplotlib", "jinja2")
    return jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )


def _tone(result: Result) -> str:
    if any(warning.serious for warning in result.warnings):
        return "serious"
    return "remark" if result.warnings else "fine"


def _lines(result: Result) -> list[str]:
    drawn = run_lines(result) if result.draws.size else []
    return [headline(result), *drawn, levels_line(result)]


def _tables(summary: Summary) -> list[Any]:
    parts = (summary.parameters, summary.modes.head(MAX_ROWS), summary.chains, summary.levels)
    return [part for part in parts if len(part)]


def _figures(result: Result) -> list[Figure]:
    """All figures that the run has something for."""
    if not result.draws.size:
        return [figure for figure in FIGURES if figure.name in ("scales", "ladder", "history", "levels")]
    if not result.keeps_levels:
        return list(FIGURES)
    rows = -(-result.n_levels[result.kept_numbers[0]] // PANELS_A_ROW)

    def draw(shown: Result, ax: Any) -> Any:
        return BY_LEVEL.draw(shown, chain=shown.kept_numbers[0], ax=ax)

    return [*FIGURES, replace(BY_LEVEL, draw=draw, size=(8.6, PANEL_ROW * rows + 0.4))]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as lines."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(_plain(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(result: Result) -> dict[str, Any]:
    return {
        "seed": result.seed,
        "chains": len(result.chains),
        "draws asked for, a chain": result.setup.draws,
        "tuning iterations": result.n_tune,
        "levels at the start": result.n_levels_at_start,
        "complete": "yes" if result.complete else "no",
        **result.setup.versions,
        "report made": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
