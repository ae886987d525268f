"""Write docs/advice.md from its template and the tables that the benchmarks left."""

from pathlib import Path
from string import Template

ROOT = Path(__file__).parent.parent
TABLES = {"advice": "advice", "verdicts": "verdicts", "stopping": "stopping"}


def page() -> str:
    """The page with its tables."""
    template = Template((ROOT / "tools" / "advice_template.md").read_text(encoding="utf-8"))
    tables = {
        name: (ROOT / "docs" / folder / "table.txt").read_text(encoding="utf-8").strip()
        for name, folder in TABLES.items()
    }
    return template.substitute(tables)


if __name__ == "__main__":
    (ROOT / "docs" / "advice.md").write_text(page(), encoding="utf-8")
