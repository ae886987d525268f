"""Write docs/advice.md from its template and the tables that the benchmarks left."""

from pathlib import Path
from string import Template

ROOT = Path(__file__).parent.parent
TABLES = {"advice": "advice", "verdicts": "verdicts", "stopping": "stopping"}


def page() -> str:
    """The page with its tables."""
    template = Template((ROOT / "tools" / "advice_template.md").read_text(encoding="utf-8"))
    return template.substitute({name: _table(folder) for name, folder in TABLES.items()})


def _table(folder: str) -> str:
    """What a benchmark left, or that it was not run yet."""
    file = ROOT / "docs" / folder / "table.txt"
    return file.read_text(encoding="utf-8").strip() if file.exists() else "*Not made yet.*"


if __name__ == "__main__":
    (ROOT / "docs" / "advice.md").write_text(page(), encoding="utf-8")
