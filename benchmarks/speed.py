"""All timings of the project: prints them, and writes docs/speed.md with its figure.

Run with ``make bench`` on a machine that does nothing else.
"""

import sys
from pathlib import Path

import goals
import growth
from timing import heading

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "tools" / "speed_template.md"


def main() -> None:
    """Measure, print and write."""
    print(f"{heading()}\n")
    rows = []
    for row in goals.rows():
        rows.append(row)
        print(goals_line(row), flush=True)
    dims, levels = growth.by_dim(), growth.by_levels()
    parts = {
        "heading": heading(),
        "turns": str(goals.TURNS),
        "slow_turns": str(goals.SLOW_TURNS),
        "goals": goals_table(rows),
        "dims": growth.dim_table(dims),
        "levels": growth.levels_table(levels),
    }
    print(f"\n{parts['dims']}\n\n{parts['levels']}")
    growth.draw(dims, levels, ROOT / "docs" / "images" / "speed.svg")
    page = TEMPLATE.read_text()
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    (ROOT / "docs" / "speed.md").write_text(page)
    sys.exit(0 if all(row.reached for row in rows) else "not every goal was reached")


def goals_table(rows: list[goals.Row]) -> str:
    """Every goal as a line of a Markdown table."""
    head = "| case | an iteration | measured | goal | |\n|---|---|---|---|---|"
    return "\n".join([head, *(goals_line(row) for row in rows)])


def goals_line(row: goals.Row) -> str:
    """One goal."""
    verdict = "reached" if row.reached else "**not reached**"
    return f"| {row.name} | {row.parts} | {row.measured} | {row.goal} | {verdict} |"


if __name__ == "__main__":
    main()
